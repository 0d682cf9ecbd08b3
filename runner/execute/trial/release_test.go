package trial_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"strings"
	"testing"

	"privkern/runner/execute/trial"
	"privkern/runner/experiment"
	"privkern/runner/record"
)

// releasing is an experiment whose Run must not be called.
func releasing(f func(*experiment.Trial) (*experiment.Release, error)) *experiment.Experiment {
	e := demo(func(context.Context, *experiment.Trial) (*experiment.Result, error) { panic("Run was called") })
	e.Release = func(_ context.Context, t *experiment.Trial, _ experiment.Params) (*experiment.Release, error) {
		return f(t)
	}
	return e
}

func good() *experiment.Release {
	return &experiment.Release{
		Columns: []string{"x", "prediction"}, Rows: [][]float64{{1, 10}, {2, 20}},
		Metrics: map[string]float64{"y": 1}, Privacy: (&experiment.Privacy{}).State(1, 0), Warnings: []string{"w"},
		Noise: []experiment.Noise{{Law: "gaussian", Coordinates: 2, Scale: 1, Grid: 0x1p-10}},
	}
}

var booked = trial.ReleaseOptions{Book: func(experiment.Spending) error { return nil }, Tuning: experiment.TuningPublic}

// A digest of private data is a function of them.
func TestReleaseRecord(t *testing.T) {
	job := trial.Job{
		Identity: experiment.Identity{Experiment: "demo/a", Datasets: map[string]string{"csv:my.csv": "d1935f"}},
		Secure:   true, Folders: map[string]string{"csv:my.csv": "/home/me/my.csv"},
	}
	r, rel, err := trial.Release(context.Background(), releasing(func(*experiment.Trial) (*experiment.Release,
		error) {
		return good(), nil
	}), job, booked, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Status != record.OK || !maps.Equal(r.Metrics, good().Metrics) || r.Series["released"]["prediction"][1] != 20 ||
		r.Privacy.RNG != "secure" || r.Privacy.Guarantee != "(1, 0)-DP" || r.Privacy.Simulated != nil ||
		r.Warnings[0] != "w" || len(rel.Rows) != 2 {
		t.Errorf("%+v", r)
	}
	raw, err := json.Marshal(r)
	if err != nil || strings.Contains(string(raw), "d1935f") || strings.Contains(string(raw), "/home/me") {
		t.Errorf("%s, %v", raw, err)
	}
}

// A note names an unaudited computation: audits compute on the CPU in float64.
func TestReleaseSaysWhatIsNotAudited(t *testing.T) {
	for _, c := range []struct{ backend, dtype, want string }{
		{"cpu", "float64", ""},
		{"cuda", "float64", "computation: on cuda in float64; "},
		{"cpu", "float32", "computation: on cpu in float32; "},
	} {
		t.Run(c.backend+" "+c.dtype, func(t *testing.T) {
			job := trial.Job{Identity: experiment.Identity{Experiment: "demo/a", Backend: c.backend, DType: c.dtype},
				Secure: true}
			_, rel, err := trial.Release(context.Background(), releasing(func(*experiment.Trial) (*experiment.Release, error) {
				return good(), nil
			}), job, booked, nil)
			if err != nil {
				t.Fatal(err)
			}
			notes := strings.Join(rel.Privacy.Notes, "\n")
			if said := strings.Contains(notes, "computation: "); said != (c.want != "") || !strings.Contains(notes, c.want) {
				t.Errorf("notes %q, want %q", notes, c.want)
			}
		})
	}
}

type dataSettings struct {
	Dataset string  `name:"dataset" default:"census" doc:"a data set or csv:PATH"`
	Width   float64 `name:"width" default:"100" when:"dataset is not csv:*" doc:"does nothing with a file"`
}

// A release is described by the settings that it depends on, without the paths of
// files. Its mechanism has all settings, and so has the list of its data sets.
func TestReleaseLeavesOutWhatDoesNothing(t *testing.T) {
	var seen, asked experiment.Params
	e := experiment.Of(experiment.Declaration[*dataSettings, struct{}]{Name: "demo/a", Version: 1})().Experiment
	e.Metrics = demo(nil).Metrics
	e.Release = func(_ context.Context, _ *experiment.Trial, p experiment.Params) (*experiment.Release, error) {
		seen = p
		return good(), nil
	}
	e.Datasets = func(p experiment.Params) []string {
		asked = p
		return []string{experiment.SettingsIn[dataSettings](p).Dataset}
	}
	for dataset, want := range map[string]string{
		"census":     `{"dataset":"census","width":100}`,
		"csv:my.csv": `{"dataset":"csv"}`,
	} {
		t.Run(dataset, func(t *testing.T) {
			job := trial.Job{
				Identity: experiment.Identity{
					Experiment: "demo/a", Params: experiment.Params{"dataset": dataset, "width": 100.0},
				},
				Secure: true,
			}
			r, _, err := trial.Release(context.Background(), e, job, booked, nil)
			if err != nil {
				t.Fatal(err)
			}
			if raw, err := json.Marshal(r.Params); err != nil || string(raw) != want {
				t.Errorf("described as %s, %v", raw, err)
			}
			if len(seen) != 2 || len(asked) != 2 || len(job.Params) != 2 {
				t.Errorf("released with %v, data sets of %v, asked for with %v", seen, asked, job.Params)
			}
		})
	}
}

// A model is written by itself: it is not in the record.
func TestModelRelease(t *testing.T) {
	model := func() *experiment.Release {
		r := good()
		r.Columns, r.Rows, r.Model = nil, nil, map[string]string{"secret": "no"}
		return r
	}
	job := trial.Job{Identity: experiment.Identity{Experiment: "demo/a"}, Secure: true}
	r, rel, err := trial.Release(context.Background(), releasing(func(*experiment.Trial) (*experiment.Release,
		error) {
		return model(), nil
	}), job, booked, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Status != record.OK || !maps.Equal(r.Metrics, good().Metrics) || len(r.Series) != 0 ||
		r.Privacy.RNG != "secure" || rel.Model == nil {
		t.Errorf("%+v", r)
	}
	both := func(*experiment.Trial) (*experiment.Release, error) { r := good(); r.Model = 1; return r, nil }
	if _, _, err := trial.Release(context.Background(), releasing(both), job, booked,
		nil); err == nil || !strings.Contains(err.Error(), "both a model and a table") {
		t.Error(err)
	}
}

func TestReleaseFailures(t *testing.T) {
	change := func(f func(*experiment.Release)) func(*experiment.Trial) (*experiment.Release, error) {
		return func(*experiment.Trial) (*experiment.Release, error) { r := good(); f(r); return r, nil }
	}
	for _, c := range []struct {
		name   string
		seeded bool
		f      func(*experiment.Trial) (*experiment.Release, error)
		want   string
	}{
		{"a seed", true, change(func(*experiment.Release) {}), "noise from a seed protects nobody"},
		{"an error", false, func(*experiment.Trial) (*experiment.Release, error) { return nil, errors.New("singular") },
			"singular"},
		{"a panic", false, func(*experiment.Trial) (*experiment.Release, error) { panic("oh") },
			"a defect in demo/a: panic: oh"},
		{"nothing", false, func(*experiment.Trial) (*experiment.Release, error) { return nil, nil }, "no result"},
		{"no privacy", false, change(func(r *experiment.Release) { r.Privacy = nil }), "does not say what it protects"},
		{"no guarantee", false, change(func(r *experiment.Release) { r.Privacy.Withdraw("x") }), "without a guarantee"},
		{"no rows", false, change(func(r *experiment.Release) { r.Rows = nil }), "nothing to write"},
		{"NaN", false, change(func(r *experiment.Release) { r.Rows[1][1] = math.NaN() }),
			"not finite at row 2, column prediction"},
		{"a short row", false, change(func(r *experiment.Release) { r.Rows[0] = nil }),
			"row 1 of the release has 0 values for 2 columns"},
		{"a name twice", false, change(func(r *experiment.Release) { r.Columns[0] = "prediction" }),
			`two columns of the release are named "prediction"`},
		{"an undocumented metric", false, change(func(r *experiment.Release) { r.Metrics = map[string]float64{"z": 1} }),
			`"z" is not documented`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, rel, err := trial.Release(context.Background(), releasing(c.f), trial.Job{
				Identity: experiment.Identity{Experiment: "demo/a"}, Secure: !c.seeded,
			}, booked, nil)
			if err == nil || !strings.Contains(err.Error(), c.want) || r != nil || rel != nil {
				t.Errorf("%+v, %v; want %q", r, err, c.want)
			}
		})
	}
	if _, _, err := trial.Release(context.Background(), demo(nil), trial.Job{Secure: true}, booked,
		nil); err == nil || !strings.Contains(err.Error(), "demo/a has no release") {
		t.Error(err)
	}
}
