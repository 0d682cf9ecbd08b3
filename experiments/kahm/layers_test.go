package kahm

import (
	"context"
	"errors"
	"hash/fnv"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset"
	"privkern/runner/experiment"
)

// pictureTrial is a trial of an experiment of the figures.
func pictureTrial(t *testing.T, e *experiment.Experiment, workers int, given map[string]any) *experiment.Trial {
	t.Helper()
	p, err := e.Resolve(given)
	if err != nil {
		t.Fatal(err)
	}
	return &experiment.Trial{
		Params: p, Backend: "cpu", DType: "float64", Workers: workers,
		Dataset: func(name string) string {
			folder, _, err := dataset.NewLocator("").Find(name)
			if err != nil {
				t.Fatal(err)
			}
			return folder
		},
		Progress: func(int, int, string) {},
		Stream: func(purpose string) *rand.Rand {
			h := fnv.New64a()
			_, _ = h.Write([]byte(purpose))
			return rand.New(rand.NewPCG(h.Sum64(), 1))
		},
	}
}

// onFormula runs an experiment of digits on 60 formula-generated samples of
// twelve columns instead.
func onFormula(t *testing.T, e *experiment.Experiment, workers int, given map[string]any) *experiment.Result {
	t.Helper()
	given = maps.Clone(given)
	given["images"] = 60
	tr := pictureTrial(t, e, workers, given)
	run := runLayers
	if e.Name == "kahm/fabrication" {
		run = runFabrication
	}
	r, err := run(context.Background(), tr, formulaClass(0, 60, 12))
	if err != nil {
		t.Fatal(err)
	}
	checkReported(t, e, r)
	return r
}

// checkReported holds a result against the experiment's documentation.
func checkReported(t *testing.T, e *experiment.Experiment, r *experiment.Result) {
	t.Helper()
	documented := map[string]bool{}
	for _, m := range e.Metrics {
		documented[m.Name] = true
	}
	for name, v := range r.Metrics {
		if !documented[name] {
			t.Errorf("%s: the metric %s is not documented", e.Name, name)
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.Errorf("%s: %s is %g", e.Name, name, v)
		}
	}
	for name, s := range r.Series {
		if len(s["x"]) == 0 {
			t.Errorf("%s: the series %s has no x", e.Name, name)
		}
		for column, v := range s {
			if len(v) != len(s["x"]) {
				t.Errorf("%s: series %s, column %s has %d values for %d", e.Name, name, column, len(v), len(s["x"]))
			}
		}
	}
}

// needsMNIST skips the test where the images are not there.
func needsMNIST(t *testing.T) {
	t.Helper()
	if os.Getenv(dataset.DataVariable) == "" {
		t.Skip("needs the data set mnist: set $" + dataset.DataVariable)
	}
	_, _, err := dataset.NewLocator("").Find(dataMNIST)
	var missing *dataset.MissingError
	switch {
	case errors.As(err, &missing):
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
}

func TestLayersAreTheDistancesOfTheirPictures(t *testing.T) {
	r := onFormula(t, layers(), 1, map[string]any{"n": 5, "layers": 5, "sample": 3})
	d, pictures := r.Series["layers"]["distance"], r.Series["pictures"]
	if len(d) != 5 {
		t.Fatalf("%d layers", len(d))
	}
	best := 0
	for l, v := range d {
		if want := distance(pictures["input"], pictures[layerColumn(l+1)]); math.Abs(v-want) > 1e-9 {
			t.Errorf("layer %d: distance %g, of the pictures %g", l+1, v, want)
		}
		if v < d[best] {
			best = l
		}
	}
	if r.Metrics["best_layer"] != float64(best+1) || r.Metrics["distance_best"] != d[best] ||
		r.Metrics["distance_layer_1"] != d[0] || r.Metrics["distance_layer_last"] != d[4] {
		t.Errorf("metrics %v of distances %v", r.Metrics, d)
	}
	if distance(pictures["output"], pictures[layerColumn(best+1)]) != 0 {
		t.Error("the output is not that of the nearest layer")
	}
	input := formulaClass(0, 60, 12).RawRowView(3)
	if distance(pictures["input"], input) != 0 {
		t.Error("the input is not sample 3")
	}
}

// Fewer principal directions say less: this is what the layers of Fig. 6 show.
func TestLaterLayersAreFartherOnAnEight(t *testing.T) {
	needsMNIST(t)
	e := layers()
	r, err := e.Run(context.Background(), pictureTrial(t, e, 1, map[string]any{"images": 200, "n": 10, "layers": 10}))
	if err != nil {
		t.Fatal(err)
	}
	checkReported(t, e, r)
	if !(r.Metrics["distance_layer_1"] < r.Metrics["distance_layer_last"]) {
		t.Errorf("%v", r.Metrics)
	}
	if n := len(r.Series["pictures"]["x"]); n != mnistSide*mnistSide {
		t.Errorf("pictures of %d pixels", n)
	}
	tr := pictureTrial(t, e, 1, map[string]any{"images": 5852})
	if _, err := digitImages(tr); err == nil || !strings.Contains(err.Error(), "only 5851 training images of the digit 8") {
		t.Errorf("5852 eights: %v", err)
	}
	images := mat.DenseCopyOf(mustImages(t, pictureTrial(t, e, 1, map[string]any{"images": 50})))
	for i := range 50 {
		for j := range i {
			if distance(images.RawRowView(i), images.RawRowView(j)) == 0 {
				t.Errorf("the images %d and %d are the same", i, j)
			}
		}
	}
}

func mustImages(t *testing.T, tr *experiment.Trial) *mat.Dense {
	t.Helper()
	images, err := digitImages(tr)
	if err != nil {
		t.Fatal(err)
	}
	return images
}

func TestPictureExperimentsRefuse(t *testing.T) {
	for _, tt := range []struct {
		e     *experiment.Experiment
		given map[string]any
		want  string
	}{
		{layers(), map[string]any{"digit": 10}, "digit"},
		{layers(), map[string]any{"images": 7000}, "images"},
		{layers(), map[string]any{"sample": 1000}, "use 0 to 999"},
		{layers(), map[string]any{"images": 20}, "20 images span at most 19"},
		{layers(), map[string]any{"layers": 21}, "at most n = 20 layers"},
		{fabrication(), map[string]any{"digit": -1}, "digit"},
		{fabrication(), map[string]any{"images": 5, "n": 2}, "there are only 5 images"},
		{fabrication(), map[string]any{"images": 20}, "20 images span at most 19"},
		{fabrication(), map[string]any{"epsilon": 0}, "epsilon"},
		{fabrication(), map[string]any{"delta": 1}, "delta"},
		{fabrication(), map[string]any{"variant": "honest"}, "variant"},
		{toy(), map[string]any{"shape": "cirle"}, `did you mean "circle"`},
		{toy(), map[string]any{"n": 3}, "the shape circle has only 2 dimensions"},
		{toy(), map[string]any{"layers": 3}, "at most n = 2 layers"},
		{toy(), map[string]any{"samples": 2}, "need at least 3"},
		{toy(), map[string]any{"sd": -1}, "sd"},
		{toy(), map[string]any{"grid": 1}, "grid"},
	} {
		if _, err := tt.e.Resolve(tt.given); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %v: %v, want a message with %q", tt.e.Name, tt.given, err, tt.want)
		}
	}
}
