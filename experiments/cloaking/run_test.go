package cloaking

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privkern/experiments/dataset"
	"privkern/runner/experiment"
)

// writeCensus writes a file in the format of the census whose females are
// given by formulas, so that tests need no data and another implementation can
// be run on the same numbers: i = 0, …, 286,
//
//	age    = ⌊88 (7i² mod 287 / 287)^1.5⌋ (19 different ones)
//	weight = 4 + 50 (1 − e^(−age/12)) + 3 sin i, three decimals
//	height = 60 + 95 (1 − e^(−age/8)) + 6 sin 1.7i, three decimals
func writeCensus(t *testing.T) (folder string) {
	t.Helper()
	var b strings.Builder
	b.WriteString(`"height";"weight";"age";"male"` + "\n")
	for i := range 287 {
		x := float64(i)
		age := math.Floor(88 * math.Pow(float64(i*i*7%287)/287, 1.5))
		weight := 4 + 50*(1-math.Exp(-age/12)) + 3*math.Sin(x)
		height := 60 + 95*(1-math.Exp(-age/8)) + 6*math.Sin(1.7*x)
		fmt.Fprintf(&b, "%.3f;%.3f;%g;0\n", height, weight, age)
	}
	for range 257 {
		b.WriteString("170;60;30;1\n")
	}
	folder = t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "Howell1.csv"), []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return folder
}

// realCensus skips the test where the census is not there.
func realCensus(t *testing.T) (folder string) {
	t.Helper()
	if os.Getenv(dataset.DataVariable) == "" {
		t.Skip("needs the data set kung: set $" + dataset.DataVariable)
	}
	folder, _, err := dataset.NewLocator("").Find(dataKung)
	var missing *dataset.MissingError
	switch {
	case errors.As(err, &missing):
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
	return folder
}

// setup is what a trial runs on.
type setup struct {
	folder  string // of the census
	file    string // a user's
	workers int
	dtype   string
	stream  uint64
	secure  bool
	ctx     context.Context // nil for none
}

func tryTrial(s setup, e *experiment.Experiment, given map[string]any) (*experiment.Result, error) {
	p, err := e.Resolve(given)
	if err != nil {
		return nil, err
	}
	return runParams(s, e, p)
}

func runParams(s setup, e *experiment.Experiment, p experiment.Params) (*experiment.Result, error) {
	if s.dtype == "" {
		s.dtype = "float64"
	}
	if s.ctx == nil {
		s.ctx = context.Background()
	}
	return e.Run(s.ctx, &experiment.Trial{
		Params: p, Backend: "cpu", DType: s.dtype, Workers: max(1, s.workers), Secure: s.secure,
		Dataset: func(name string) string {
			if _, own := dataset.FilePath(name); own {
				return s.file
			}
			return s.folder
		},
		Progress: func(int, int, string) {},
		Stream: func(purpose string) *rand.Rand {
			h := fnv.New64a()
			_, _ = h.Write([]byte(purpose))
			return rand.New(rand.NewPCG(h.Sum64(), s.stream))
		},
	})
}

func runTrial(t *testing.T, s setup, e *experiment.Experiment, given map[string]any) *experiment.Result {
	t.Helper()
	r, err := tryTrial(s, e, given)
	if err != nil {
		t.Fatalf("%s %v: %v", e.Name, given, err)
	}
	for name, v := range r.Metrics {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.Errorf("%s %v: %s is %v", e.Name, given, name, v)
		}
	}
	return r
}

// with returns a copy of the parameters with others laid over it.
func with(base map[string]any, over ...any) map[string]any {
	out := map[string]any{}
	for k, v := range base {
		out[k] = v
	}
	for i := 0; i < len(over); i += 2 {
		out[over[i].(string)] = over[i+1]
	}
	return out
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s = %.13g, want %.13g within %g", what, got, want, tolerance)
	}
}

// Every experiment resolves its defaults, and what a trial reports is
// documented; what is documented is reported with the defaults or for a user's
// file.
func TestPaperIsConsistent(t *testing.T) {
	census := setup{folder: writeCensus(t), file: writeOwn(t)}
	writeLoans(t, census.folder)
	pretendMNIST(t, census.folder)
	paper := Paper()
	experiment.NewRegistry(paper.Experiments...)
	for _, e := range paper.Experiments {
		r := runTrial(t, census, e, nil)
		if e.Name == "cloaking/regression" {
			own := runTrial(t, census, e, ownColumns())
			maps.Copy(r.Metrics, own.Metrics)
			maps.Copy(r.Series, map[string]experiment.Series{"own predictions": own.Series["predictions"], "own folds": own.Series["folds"]})
		}
		reported := slices.Sorted(maps.Keys(r.Metrics))
		for _, m := range e.Metrics {
			if !slices.ContainsFunc(reported, m.Covers) {
				t.Errorf("%s: the documented metric %s is not reported", e.Name, m.Name)
			}
		}
		for _, name := range reported {
			if !slices.ContainsFunc(e.Metrics, func(m experiment.Metric) bool { return m.Covers(name) }) {
				t.Errorf("%s: the metric %s is not documented", e.Name, name)
			}
		}
		for name, s := range r.Series {
			for column, v := range s {
				if len(v) != len(s["x"]) {
					t.Errorf("%s: series %s, column %s has %d values for %d", e.Name, name, column, len(v), len(s["x"]))
				}
			}
		}
	}
}

func TestFiguresDraw(t *testing.T) {
	folder := writeCensus(t)
	writeLoans(t, folder)
	pretendMNIST(t, folder)
	figuresDraw(t, setup{folder: folder})
	figuresDraw(t, setup{folder: folder, secure: true})
}

func figuresDraw(t *testing.T, census setup) {
	t.Helper()
	var trials []experiment.Finished
	for _, e := range Paper().Experiments {
		for _, method := range []string{methodStandard, methodSparse, methodNonstationary} {
			given := map[string]any{"method": method}
			p, err := e.Resolve(given)
			if err != nil {
				continue // designs have no nonstationary method
			}
			r := runTrial(t, census, e, given)
			trials = append(trials, experiment.Finished{Experiment: e.Name, Params: p, Metrics: r.Metrics, Series: r.Series})
		}
	}
	panels := map[string]int{"cloaking/figure1": 5, "cloaking/figure2": 3, "cloaking/figure3": 3, "cloaking/figure4": 1, "cloaking/figure5": 1, "cloaking/noise": 1, "cloaking/design": 2}
	if census.secure {
		panels["cloaking/figure3"] = 2 // without the frequencies
	}
	for name, panels := range panels {
		for _, f := range Paper().Figures {
			if f.Name != name {
				continue
			}
			var matching []experiment.Finished
			for _, trial := range trials {
				if f.Match(trial.Experiment, trial.Params) {
					matching = append(matching, trial)
				}
			}
			if got := f.Draw(matching); len(got) != panels {
				t.Errorf("%s: %d panels, want %d", name, len(got), panels)
			}
			for _, panel := range f.Draw(matching) {
				for _, line := range panel.Lines {
					if len(line.Y) == 0 || len(line.X) != len(line.Y) {
						t.Errorf("%s: the line %s has %d values over %d", name, line.Name, len(line.Y), len(line.X))
					}
				}
				for _, d := range panel.Discs {
					if name != "cloaking/figure2" {
						continue
					}
					if len(d.X) != 228 || len(d.Y) != 228 || len(d.Radius) != 228 || len(d.Opacity) != 228 || slices.Max(d.Opacity) > 1 || slices.Min(d.Opacity) < 0 {
						t.Errorf("%s: %d discs of %d and %d sizes and opacities from %v to %v", name, len(d.X), len(d.Radius), len(d.Opacity), slices.Min(d.Opacity), slices.Max(d.Opacity))
					}
				}
			}
			if got := f.Draw(nil); got != nil {
				t.Errorf("%s: draws without trials", name)
			}
		}
	}
}
