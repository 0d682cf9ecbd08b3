package dpgp

import (
	"context"
	"hash/fnv"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"privkern/runner/experiment"
)

// setup is what a trial runs on.
type setup struct {
	workers int
	dtype   string
	stream  uint64
	secure  bool
}

func (s setup) trial(p experiment.Params) *experiment.Trial {
	if s.dtype == "" {
		s.dtype = "float64"
	}
	return &experiment.Trial{
		Params: p, Backend: "cpu", DType: s.dtype, Workers: max(1, s.workers), Secure: s.secure,
		Progress: func(int, int, string) {},
		Stream: func(purpose string) *rand.Rand {
			h := fnv.New64a()
			_, _ = h.Write([]byte(purpose))
			return rand.New(rand.NewPCG(h.Sum64(), s.stream))
		},
	}
}

func tryTrial(s setup, e *experiment.Experiment, given map[string]any) (*experiment.Result, error) {
	p, err := e.Resolve(given)
	if err != nil {
		return nil, err
	}
	return e.Run(context.Background(), s.trial(p))
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

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s = %.13g, want %.13g within %g", what, got, want, tolerance)
	}
}

func newProblemFor(t *testing.T, e *experiment.Experiment, given map[string]any) *problem {
	t.Helper()
	params, err := e.Resolve(given)
	if err != nil {
		t.Fatal(err)
	}
	p, err := newProblem(setup{}.trial(params))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.e.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// Every experiment resolves its defaults, reports what it documents and nothing
// else, and its series have columns of one length.
func TestPaperIsConsistent(t *testing.T) {
	paper := Paper()
	experiment.NewRegistry(paper.Experiments...)
	for _, e := range paper.Experiments {
		r := runTrial(t, setup{}, e, nil)
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
				if len(v) != len(s["x"]) || len(v) == 0 {
					t.Errorf("%s: series %s, column %s has %d values for %d", e.Name, name, column, len(v), len(s["x"]))
				}
			}
		}
	}
}

func TestFiguresDraw(t *testing.T) {
	var trials []experiment.Finished
	run := func(s setup, e *experiment.Experiment, given map[string]any) {
		p, err := e.Resolve(given)
		if err != nil {
			t.Fatal(err)
		}
		r := runTrial(t, s, e, given)
		trials = append(trials, experiment.Finished{Experiment: e.Name, Params: p, Metrics: r.Metrics, Series: r.Series})
	}
	for _, epsilon := range []any{1, 10, "inf", 1} {
		run(setup{}, inference(), map[string]any{"epsilon": epsilon})
	}
	run(setup{secure: true}, inference(), map[string]any{"epsilon": 3})
	for _, stream := range []uint64{0, 1} {
		for _, epsilon := range []float64{1, 10} {
			for _, sigma := range []float64{0.1, 0.3} {
				run(setup{stream: stream}, calibration(), map[string]any{"epsilon": epsilon, "sigma": sigma, "repeats": 3})
			}
		}
	}
	run(setup{}, calibration(), map[string]any{"epsilon": 30, "repeats": 3, "bound": "exact"}) // another variant
	run(setup{secure: true}, calibration(), map[string]any{"epsilon": 20, "repeats": 3})
	want := map[string]int{"dpgp/figure1": 4, "dpgp/figure2": 8}
	for _, f := range Paper().Figures {
		var matching []experiment.Finished
		for _, trial := range trials {
			if f.Match(trial.Experiment, trial.Params) {
				matching = append(matching, trial)
			}
		}
		panels := f.Draw(matching)
		if len(panels) != want[f.Name] {
			t.Errorf("%s has %d panels, want %d", f.Name, len(panels), want[f.Name])
		}
		if f.Draw(nil) != nil {
			t.Errorf("%s draws without trials", f.Name)
		}
		if f.Name != "dpgp/figure2" {
			continue
		}
		for _, p := range panels {
			if got := p.Lines[0].X; !slices.Equal(got, []float64{1, 10}) {
				t.Errorf("%s, %s is over %v: trials of another variant, or without repeats, are in it", f.Name, p.Title, got)
			}
		}
		// The first panel pools both seeds.
		mean := (trials[5].Metrics["coverage_50_full"] + trials[9].Metrics["coverage_50_full"]) / 2
		near(t, "the pooled coverage", panels[0].Lines[0].Y[0], mean, 1e-12)
	}
}

// One seed gives one result, whatever the number of workers is.
func TestWorkersDoNotChangeResults(t *testing.T) {
	for _, e := range []*experiment.Experiment{inference(), calibration()} {
		given := map[string]any{"repeats": 9, "n": 300}
		one, three := runTrial(t, setup{workers: 1}, e, given), runTrial(t, setup{workers: 3}, e, given)
		if !maps.Equal(one.Metrics, three.Metrics) {
			t.Errorf("%s: %v with one worker, %v with three", e.Name, one.Metrics, three.Metrics)
		}
		if other := runTrial(t, setup{stream: 1}, e, given); other.Metrics["rmse"] == one.Metrics["rmse"] {
			t.Errorf("%s: another seed gives the same", e.Name)
		}
	}
}

// Single precision computes the sums only; without noise, nothing.
func TestSinglePrecision(t *testing.T) {
	for _, epsilon := range []any{1, 30, "inf"} {
		for _, e := range []*experiment.Experiment{inference(), calibration()} {
			given := map[string]any{"epsilon": epsilon, "repeats": 5}
			double, single := runTrial(t, setup{}, e, given), runTrial(t, setup{dtype: "float32"}, e, given)
			near(t, e.Name+" rmse in float32", single.Metrics["rmse"], double.Metrics["rmse"], 1e-4)
			if warned := slices.ContainsFunc(single.Warnings, func(w string) bool { return strings.Contains(w, "computed in float64") }); warned != (epsilon == "inf") {
				t.Errorf("%s, epsilon %v: warnings %q", e.Name, epsilon, single.Warnings)
			}
		}
	}
}

// A record that protects has nothing of the data but what the mechanism gives.
func TestSecureRecords(t *testing.T) {
	for _, c := range []struct {
		e            *experiment.Experiment
		secure, open []string
	}{
		{inference(), []string{"inducing", "posterior"}, []string{"data", "inducing", "posterior"}},
		{calibration(), nil, []string{"repeats"}},
	} {
		clipping := map[string]any{"repeats": 2, "r_y": 0.2}
		r := runTrial(t, setup{secure: true}, c.e, clipping)
		if got := slices.Sorted(maps.Keys(r.Series)); !slices.Equal(got, c.secure) {
			t.Errorf("%s: a secure record has the series %v", c.e.Name, got)
		}
		if _, told := r.Metrics["clipped_fraction"]; told || strings.Contains(strings.Join(r.Privacy.Notes, ""), "clipped_fraction") {
			t.Errorf("%s: a secure record tells how many outputs were clipped", c.e.Name)
		}
		if len(r.Warnings) > 0 {
			t.Errorf("%s: a secure record tells of clipped outputs: %q", c.e.Name, r.Warnings)
		}
		if r.Privacy == nil || !strings.Contains(r.Privacy.Notes[0], "metrics are computed") {
			t.Errorf("%s: privacy %+v", c.e.Name, r.Privacy)
		}
		r = runTrial(t, setup{}, c.e, clipping)
		if got := slices.Sorted(maps.Keys(r.Series)); !slices.Equal(got, c.open) {
			t.Errorf("%s: a seeded record has the series %v", c.e.Name, got)
		}
		if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "beyond r_y = 0.2") {
			t.Errorf("%s: warnings %q", c.e.Name, r.Warnings)
		}
		// Without noise nothing is protected, and nothing needs hiding.
		r = runTrial(t, setup{secure: true}, c.e, map[string]any{"repeats": 2, "epsilon": "inf"})
		if r.Privacy != nil {
			t.Errorf("%s: without noise it claims %+v", c.e.Name, r.Privacy)
		}
	}
}

func TestPrivacyTellsUnitAndGaps(t *testing.T) {
	r := runTrial(t, setup{}, inference(), map[string]any{"epsilon": 3, "delta": 1e-5, "strict": false, "r_y": 9})
	strict := runTrial(t, setup{}, inference(), map[string]any{"epsilon": 3, "delta": 1e-5, "strict": true,
		"r_y": 9}).Privacy
	if got := strict.Statement(); strict.Guarantee != "" || !strings.HasPrefix(got, "no guarantee: with strict=true") {
		t.Errorf("with strict=true: %q, %q", strict.Guarantee, got)
	}
	if r.Privacy.Guarantee != "(3, 1e-05)-DP" || !strings.Contains(r.Privacy.Unit, "input and output") {
		t.Errorf("%s, %s", r.Privacy.Guarantee, r.Privacy.Unit)
	}
	notes := strings.Join(r.Privacy.Notes, "\n")
	for _, want := range []string{"how many rows", "r_y", "inducing inputs are taken as public", "clipped",
		"budget of its own"} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notes do not tell of %q:\n%s", want, notes)
		}
	}
}

func TestBadInput(t *testing.T) {
	for _, c := range []struct {
		e     *experiment.Experiment
		given map[string]any
		want  string
	}{
		{sensitivities(), map[string]any{"low": 1, "high": 1}, "low must be below high"},
		{sensitivities(), map[string]any{"inducing": "1,2,1"}, "1 is given twice"},
		{sensitivities(), map[string]any{"inducing": 501}, "at most 500"},
		{sensitivities(), map[string]any{"spacing": 0.8}, "only 0.75 apart"},
		{sensitivities(), map[string]any{"ratio": 0}, "ratio"},
		{inference(), map[string]any{"spacing": 0.8}, "use spacing=auto"},
		{inference(), map[string]any{"bound": "eq9"}, "eq4"},
		{inference(), map[string]any{"covariance": "printed"}, "as-published"},
		{inference(), map[string]any{"rho": 1}, "rho"},
		{inference(), map[string]any{"delta": 0}, "delta"},
		{inference(), map[string]any{"strict": true}, "of 1024 outputs are beyond r_y = 1"},
		{inference(), map[string]any{"n": 100000, "inducing": 300}, "use fewer of either"},
		{inference(), map[string]any{"inducing": 60}, "jitter=1e-8"},
		{inference(), map[string]any{"rho": 0.999, "repeats": 500}, "of 500: the noise is larger than lambda"},
		{calibration(), map[string]any{"lengthscale": 0.1}, "lengthscales from 0.15 up"},
		{calibration(), map[string]any{"covariance": "naive"}, "naive"},
		{gaussianMechanism(), map[string]any{"epsilon": "inf"}, "epsilon"},
	} {
		if _, err := tryTrial(setup{}, c.e, c.given); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v: %v; it should say %q", c.e.Name, c.given, err, c.want)
		}
	}
	// Spread wide enough, or with another bound, the same is fine.
	runTrial(t, setup{}, inference(), map[string]any{"spacing": 0.75})
	runTrial(t, setup{}, inference(), map[string]any{"spacing": 0.8, "bound": "eq4"})
	runTrial(t, setup{}, inference(), map[string]any{"inducing": 60, "jitter": 1e-8})
	runTrial(t, setup{}, inference(), map[string]any{"rho": 0.999, "repeats": 500, "regularisation": "corrected"})
}

// Whether a fit without noise succeeds, or an output is beyond its bound, is
// private: a record that protects neither has it nor fails of it.
func TestSecureRecordsDoNotFailOfPrivateData(t *testing.T) {
	// 25 inducing inputs: the update without noise, and so without λ, is indefinite.
	given := map[string]any{"inducing": 25, "repeats": 3, "alpha": 0.001}
	r := runTrial(t, setup{secure: true}, classification(), given)
	if _, told := r.Metrics["accuracy_without_noise"]; told {
		t.Error("a secure record has the accuracy without noise")
	}
	for _, w := range r.Warnings {
		if strings.Contains(w, "without_noise") || strings.Contains(w, "pivot") {
			t.Errorf("a secure record warns: %s", w)
		}
	}
	open := runTrial(t, setup{}, classification(), given)
	if _, told := open.Metrics["accuracy_without_noise"]; told || !strings.Contains(strings.Join(open.Warnings, "\n"), "accuracy_without_noise is left out") {
		t.Errorf("metrics %v, warnings %q", open.Metrics, open.Warnings)
	}
	if _, err := tryTrial(setup{secure: true}, inference(), map[string]any{"strict": true, "r_y": 0.1}); err == nil || strings.Contains(err.Error(), "1024") || !strings.Contains(err.Error(), "is private") {
		t.Errorf("strict with secure noise: %v", err)
	}
}

// Inducing inputs many lengthscales apart: the bound is that of a single one, found
// at once.
func TestExactBoundOfFarInducingInputs(t *testing.T) {
	r := runTrial(t, setup{}, sensitivities(), map[string]any{"lengthscale": 1e-9, "inducing": 300})
	if got := r.Metrics["r_k_sq_exact"]; math.Abs(got-1) > 1e-9 {
		t.Errorf("R_k² is %.12g, want 1", got)
	}
	// 0.2 apart, but for rounding of the grid.
	if _, err := tryTrial(setup{}, inference(), map[string]any{"inducing": 31, "spacing": 0.2, "n": 20, "jitter": 1e-8}); err != nil {
		t.Error(err)
	}
	for _, given := range []map[string]any{{"r_y": 1e200}, {"ratio": 1e-200}, {"kernel_variance": 1e200}} {
		if _, err := inference().Resolve(given); err == nil || !strings.Contains(err.Error(), "bring the outputs to a scale near one") {
			t.Errorf("%v: %v", given, err)
		}
	}
}
