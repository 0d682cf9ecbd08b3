package picture

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"privkern/experiments/dataset"
	"privkern/experiments/internal/trialtest"
	"privkern/runner/experiment"
)

// onDigits returns a trial on the handwritten digits. It skips the test without them.
func onDigits(t *testing.T) *experiment.Trial {
	t.Helper()
	const name = "mnist"
	if os.Getenv(dataset.DataVariable) == "" {
		t.Skip("needs the data set " + name + ": set $" + dataset.DataVariable)
	}
	folder, _, err := dataset.NewLocator("").Find(name)
	var missing *dataset.MissingError
	switch {
	case errors.As(err, &missing):
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
	return trialtest.New(t, trialtest.Options{Seed: 1, Folder: folder})
}

func TestLayersAreTheDistancesOfTheirPictures(t *testing.T) {
	_, out := passThrough(t, func(s *LayersSettings) { s.N, s.Layers, s.Sample = 5, 5, 3 })
	d, pictures := out.Series["layers"]["distance"], out.Series["pictures"]
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
	want := LayersMetrics{DistanceFirst: d[0], DistanceLast: d[4], Best: float64(best + 1), DistanceBest: d[best]}
	if out.Metrics != want {
		t.Errorf("metrics %+v of distances %v", out.Metrics, d)
	}
	if distance(pictures["output"], pictures[layerColumn(best+1)]) != 0 {
		t.Error("the output is not that of the nearest layer")
	}
	if distance(pictures["input"], formulaImages().RawRowView(3)) != 0 {
		t.Error("the input is not sample 3")
	}
}

// Fewer principal directions keep less of an image, as the layers of Fig. 6 show.
func TestLaterLayersAreFartherOnAnEight(t *testing.T) {
	trial := onDigits(t)
	s := Layers().With(func(s *LayersSettings) { s.Images.Images, s.N, s.Layers = 200, 10, 10 })
	out, err := Layers().Compute(t.Context(), trial, s)
	if err != nil {
		t.Fatal(err)
	}
	checkOutcome(t, out)
	if m := out.Metrics; !(m.DistanceFirst < m.DistanceLast) {
		t.Errorf("%+v", m)
	}
	if n := len(out.Series["pictures"]["x"]); n != digitSide*digitSide {
		t.Errorf("pictures of %d pixels", n)
	}
}

func TestImagesOfADigit(t *testing.T) {
	trial := onDigits(t)
	eights := func(n int) *Images {
		return &Layers().With(func(s *LayersSettings) { s.Images.Images = n }).Images
	}
	if _, err := eights(5852).draw(trial); err == nil ||
		!strings.Contains(err.Error(), "only 5851 training images of the digit 8") {
		t.Errorf("5852 eights: %v", err)
	}
	images, err := eights(50).draw(trial)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		for j := range i {
			if distance(images.RawRowView(i), images.RawRowView(j)) == 0 {
				t.Errorf("the images %d and %d are the same", i, j)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	layers, fabrication, toy := Layers().Experiment, Fabrication().Experiment, Toy().Experiment
	for _, c := range []struct {
		x     *experiment.Experiment
		given map[string]any
		want  string
	}{
		{layers, map[string]any{"digit": 10}, "digit"},
		{layers, map[string]any{"images": 7000}, "images"},
		{layers, map[string]any{"sample": 1000}, "use 0 to 999"},
		{layers, map[string]any{"images": 20}, "20 images span at most 19"},
		{layers, map[string]any{"layers": 21}, "at most n = 20 layers"},
		{fabrication, map[string]any{"digit": -1}, "digit"},
		{fabrication, map[string]any{"images": 5, "n": 2}, "there are only 5 images"},
		{fabrication, map[string]any{"images": 20}, "20 images span at most 19"},
		{fabrication, map[string]any{"epsilon": 0}, "epsilon"},
		{fabrication, map[string]any{"delta": 1}, "delta"},
		{fabrication, map[string]any{"variant": "honest"}, "variant"},
		{toy, map[string]any{"shape": "cirle"}, `did you mean "circle"`},
		{toy, map[string]any{"n": 3}, "the shape circle has only 2 dimensions"},
		{toy, map[string]any{"layers": 3}, "at most n = 2 layers"},
		{toy, map[string]any{"samples": 2}, "need at least 3"},
		{toy, map[string]any{"sd": -1}, "sd"},
		{toy, map[string]any{"grid": 1}, "grid"},
	} {
		t.Run(fmt.Sprint(c.x.Name, c.given), func(t *testing.T) {
			if _, err := c.x.Resolve(c.given); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want a message with %q", err, c.want)
			}
		})
	}
}
