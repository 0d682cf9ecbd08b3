package trial_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"
	"time"

	"privkern/runner/execute/trial"
	"privkern/runner/experiment"
	"privkern/runner/record"
)

// demo runs f as an experiment that documents the metrics y and y_*.
func demo(f func(context.Context, *experiment.Trial) (*experiment.Result, error)) *experiment.Experiment {
	run := func(ctx context.Context, t *experiment.Trial, _ experiment.Params) (*experiment.Result, error) {
		return f(ctx, t)
	}
	return &experiment.Experiment{Untyped: experiment.Untyped{Name: "demo/a", Version: 1, Run: run},
		Metrics: []experiment.Metric{{Name: "y"}, {Name: "y_*"}}}
}

func metrics(m map[string]float64) func(context.Context, *experiment.Trial) (*experiment.Result, error) {
	return func(context.Context, *experiment.Trial) (*experiment.Result, error) {
		return &experiment.Result{Metrics: m}, nil
	}
}

// many returns twenty metrics of one value, of which y is documented first.
func many(value float64) map[string]float64 {
	out := map[string]float64{"y": value}
	for i := range 19 {
		out[fmt.Sprintf("y_%d", i)] = value
	}
	return out
}

func execute(t *testing.T, job trial.Job,
	f func(context.Context, *experiment.Trial) (*experiment.Result, error)) *record.Record {
	t.Helper()
	job.Experiment = "demo/a"
	r, err := trial.Execute(context.Background(), demo(f), job, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestOutcomes(t *testing.T) {
	series := func(s experiment.Series) func(context.Context, *experiment.Trial) (*experiment.Result, error) {
		return func(context.Context, *experiment.Trial) (*experiment.Result, error) {
			return &experiment.Result{Metrics: map[string]float64{"y": 1}, Series: map[string]experiment.Series{"s": s}}, nil
		}
	}
	for _, c := range []struct {
		name   string
		run    func(context.Context, *experiment.Trial) (*experiment.Result, error)
		status record.Status
		err    string
	}{
		{"a result", metrics(map[string]float64{"y": 1, "y_other": 2}), record.OK, ""},
		{"NaN is a failure", metrics(map[string]float64{"y": math.NaN()}), record.Failed, "the metric y is NaN"},
		{"an infinity is a failure", metrics(map[string]float64{"y": math.Inf(1)}), record.Failed, "the metric y is +Inf"},
		{"several are a failure of the first", metrics(many(math.NaN())), record.Failed, "the metric y is NaN"},
		{"an undocumented metric", metrics(map[string]float64{"z": 1}), record.Failed, `the metric "z" is not documented`},
		{"no metrics", metrics(nil), record.Failed, "a defect in demo/a: a result without metrics"},
		{"a gap in a series is no failure", series(experiment.Series{"x": {1, 2}, "y": {math.NaN(), 1}}), record.OK, ""},
		{"an infinity in a series", series(experiment.Series{"y": {math.Inf(-1)}}), record.Failed,
			"column y, is -Inf at position 0"},
		{"columns of different lengths", series(experiment.Series{"x": {1}, "y": {1, 2}}),
			record.Failed, "different lengths"},
		{"an error", func(context.Context, *experiment.Trial) (*experiment.Result, error) {
			return nil, errors.New("singular")
		}, record.Failed, "singular"},
		{"nothing", func(context.Context, *experiment.Trial) (*experiment.Result, error) { return nil, nil },
			record.Failed, "no result"},
		{"a panic", func(context.Context, *experiment.Trial) (*experiment.Result, error) {
			var list []int
			return nil, errors.New(string(rune(list[3])))
		}, record.Failed, "a defect in demo/a: panic: runtime error: index out of range"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := execute(t, trial.Job{}, c.run)
			if r.Status != c.status {
				t.Fatalf("status %s", r.Status)
			}
			if (r.Error == nil) != (c.err == "") || r.Error != nil && !strings.Contains(*r.Error, c.err) {
				t.Errorf("error %v, want %q", r.Error, c.err)
			}
			if r.Status == record.Failed && len(r.Metrics) > 0 {
				t.Error("a failed trial has metrics")
			}
		})
	}
}

// An experiment gets the settings of the job, and the record has them.
func TestTrialAndRecordAreTheJobs(t *testing.T) {
	params := experiment.Params{"x": 0.5}
	job := trial.Job{
		Key: "k",
		Identity: experiment.Identity{
			Params: params, Seed: 7, Backend: "cuda",
			DType: "float32", Datasets: map[string]string{"kung": "0123"},
		},
		Folders: map[string]string{"kung": "/data/kung"}, Secure: true,
	}
	shared := (&experiment.Privacy{Unit: "one person", Notes: []string{"ages are public"}}).State(1, 0) // of all trials
	r := execute(t, job, func(_ context.Context, tr *experiment.Trial) (*experiment.Result, error) {
		tr.Progress(1, 2, "folds") // nobody listens
		if !maps.Equal(tr.Params, params) || tr.Seed != 7 || tr.Backend != "cuda" || tr.DType != "float32" || !tr.Secure {
			t.Errorf("the trial is %+v", tr)
		}
		if tr.Workers != 1 {
			t.Errorf("%d workers; a trial has at least one", tr.Workers)
		}
		if folder := tr.Dataset("kung"); folder != "/data/kung" {
			t.Errorf("the data are in %q", folder)
		}
		return &experiment.Result{Privacy: shared, Warnings: []string{"ill-conditioned"},
			Metrics: map[string]float64{"y": 1}, Series: map[string]experiment.Series{"s": {"x": {1, 2}}}}, nil
	})
	want := record.Record{
		Schema: record.Schema, Key: "k", Experiment: "demo/a", Params: map[string]any{"x": 0.5}, Seed: 7,
		Backend: "cuda", DType: "float32", Status: record.OK, ResultVersion: 1,
		Metrics: map[string]float64{"y": 1}, Series: map[string]map[string]record.SeriesColumn{"s": {"x": {1, 2}}},
		Privacy: &experiment.Privacy{Unit: "one person", RNG: "secure", Notes: []string{r.Privacy.Notes[0],
			"ages are public"}, Simulated: &experiment.Simulated{Epsilon: 1, Unit: "one person", Neighbours: "substitute"}},
		Warnings: []string{"ill-conditioned"}, Timing: r.Timing,
		Provenance: record.Provenance{Datasets: map[string]string{"kung": "0123"}},
	}
	if !reflect.DeepEqual(*r, want) {
		t.Errorf("got  %+v\nwant %+v", *r, want)
	}
	if shared.RNG != "" || shared.Guarantee == "" || len(shared.Notes) != 1 {
		t.Error("the experiment's own account of its privacy was changed")
	}
}

// A record without warnings has an empty list, not null, and one without a mechanism the reason for it.
func TestNothingStated(t *testing.T) {
	r := execute(t, trial.Job{
		Key: "k", Identity: experiment.Identity{Experiment: "demo/a"},
	}, func(context.Context, *experiment.Trial) (*experiment.Result, error) {
		return &experiment.Result{Metrics: map[string]float64{"y": 1}}, nil
	})
	if raw, err := record.Encode(r); err != nil || !strings.Contains(string(raw), `"warnings":[]`) ||
		!strings.Contains(string(raw), `"privacy":{"guarantee":"",`) || !strings.Contains(string(raw), `"no guarantee: `) {
		t.Errorf("%s, %v", raw, err)
	}
}

// A guarantee in words, without its numbers, is a defect of the experiment.
func TestGuaranteeInWords(t *testing.T) {
	r := execute(t, trial.Job{}, func(context.Context, *experiment.Trial) (*experiment.Result, error) {
		return &experiment.Result{Privacy: &experiment.Privacy{Guarantee: "(1, 0)-DP"}}, nil
	})
	if r.Status != record.Failed || !strings.Contains(*r.Error, "without its epsilon and delta") || r.Privacy.Stated() {
		t.Errorf("%s: %v, %+v", r.Status, r.Error, r.Privacy)
	}
}

// The cost of a trial is recorded, also where it fails.
func TestCosts(t *testing.T) {
	const busy = 20 * time.Millisecond
	for name, err := range map[string]error{"ok": nil, "failed": errors.New("singular")} {
		t.Run(name, func(t *testing.T) {
			r := execute(t, trial.Job{}, func(context.Context, *experiment.Trial) (*experiment.Result, error) {
				for start := time.Now(); time.Since(start) < busy; { // computes
				}
				return &experiment.Result{}, err
			})
			if c := r.Timing; c.WallS < busy.Seconds() || c.CPUS <= 0 || c.PeakRSSBytes <= 0 {
				t.Errorf("%s: %+v", name, c)
			}
		})
	}
}

// The record of a timed trial warns of load of other programs, unless its times are
// private.
func TestWarningsOfTimedTrials(t *testing.T) {
	busy := exec.Command("sh", "-c", "while :; do :; done")
	if err := busy.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = busy.Process.Kill(); _ = busy.Wait() }()
	_, err := os.Stat("/proc/stat")
	counted := err == nil
	for name, c := range map[string]struct {
		timed, private bool
		job            trial.Job
		want           string
	}{
		"not timed":                 {false, false, trial.Job{}, ""},
		"beside another program":    {true, false, trial.Job{}, "timed while other programs used about "},
		"beside other trials":       {true, false, trial.Job{Beside: true}, record.TimedBesideTrials},
		"secure":                    {true, false, trial.Job{Secure: true}, "timed while other programs used about "},
		"secure, with private time": {true, true, trial.Job{Secure: true}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			e := demo(metrics(map[string]float64{"y": 1}))
			e.Metrics[0].Timing, e.PrivateTiming = c.timed, c.private
			r, err := trial.Execute(context.Background(), e, c.job, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			want := c.want
			if strings.HasPrefix(want, "timed while") && !counted {
				want = record.TimedUnobserved
			}
			got := strings.Join(r.Warnings, "; ")
			if !strings.HasPrefix(got, want) || (got == "") != (want == "") {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

func TestInterruptionIsNoResult(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	_, err := trial.Execute(ctx, demo(func(context.Context, *experiment.Trial) (*experiment.Result, error) {
		cancel()
		return &experiment.Result{Metrics: map[string]float64{"y": 1}}, nil
	}), trial.Job{}, nil, nil)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// Streams depend on seed and purpose, and on nothing else.
func TestStreams(t *testing.T) {
	draw := func(seed int64, purpose string, before int) float64 {
		var v float64
		execute(t, trial.Job{
			Identity: experiment.Identity{Seed: seed},
		}, func(_ context.Context, tr *experiment.Trial) (*experiment.Result, error) {
			for range before {
				tr.Stream("other").Float64()
			}
			v = tr.Stream(purpose).Float64()
			return &experiment.Result{}, nil
		})
		return v
	}
	// The first number of stream (0, demo/a, noise): a change would silently
	// change every seeded result.
	first := draw(0, "noise", 0)
	if again := draw(0, "noise", 5); again != first {
		t.Errorf("%v, then %v after other draws", first, again)
	}
	for _, other := range []float64{draw(1, "noise", 0), draw(0, "k-means", 0)} {
		if other == first {
			t.Error("two streams are the same")
		}
	}
	if want := 0.7203511945197181; first != want {
		t.Errorf("the stream begins with %v, not %v", first, want)
	}
}

func TestSecureStreamsDoNotRepeat(t *testing.T) {
	draw := func() (v float64) {
		r := execute(t, trial.Job{Secure: true}, func(_ context.Context, tr *experiment.Trial) (*experiment.Result, error) {
			v = tr.Stream("noise").Float64()
			return &experiment.Result{Privacy: &experiment.Privacy{}}, nil
		})
		if r.Privacy.RNG != "secure" {
			t.Errorf("rng %q", r.Privacy.RNG)
		}
		return v
	}
	if draw() == draw() {
		t.Error("two draws from the entropy source are equal")
	}
}

// A trial that is declared to draw nothing fails where it draws.
func TestSeedlessTrialsDrawNothing(t *testing.T) {
	e := demo(func(_ context.Context, tr *experiment.Trial) (*experiment.Result, error) {
		return &experiment.Result{Metrics: map[string]float64{"y": tr.Stream("noise").Float64()}}, nil
	})
	e.Params = []experiment.Param{{Name: "noise", Kind: experiment.Flag, Default: true}}
	e.Seedless = func(p experiment.Params) bool { return reflect.DeepEqual(p, experiment.Params{"noise": false}) }
	for noise, want := range map[bool]record.Status{true: record.OK, false: record.Failed} {
		job := trial.Job{Identity: experiment.Identity{Experiment: e.Name, Params: experiment.Params{"noise": noise}}}
		r, err := trial.Execute(context.Background(), e, job, nil, nil)
		if err != nil || r.Status != want {
			t.Errorf("with noise %v: %s, %v", noise, r.Status, err)
		}
		if want == record.Failed && !strings.Contains(*r.Error, `declared to draw nothing asked for the stream "noise"`) {
			t.Errorf("the reason is %q", *r.Error)
		}
	}
}
