package plan_test

import (
	"context"
	"errors"
	"testing"

	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/record"
	"privkern/runner/sweep"
)

var demo = &experiment.Experiment{
	Name: "demo/a", Version: 1, Params: []experiment.Param{{Name: "x", Kind: experiment.Integer, Default: 0}},
	Run:      func(context.Context, *experiment.Trial) (*experiment.Result, error) { return nil, nil },
	Datasets: func(experiment.Params) []string { return []string{"set"} },
}

// finder knows the digest of "set", whether it is there or not.
type finder struct{ err error }

func (f finder) Find(string) (string, string, error) { return "folder", "digest", f.err }

type missing struct{}

func (missing) Error() string   { return "not there" }
func (missing) Command() string { return "run data fetch set" }

func newPlan(t *testing.T, f finder) *plan.Plan {
	t.Helper()
	params, err := demo.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.New([]sweep.Setting{{Experiment: demo, Params: params}}, plan.NewDatasets(f), plan.Options{Backend: "cpu", DType: "float64"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A machine without the data makes the same plan as one with them: otherwise a
// repeated command would take finished results for others.
func TestPlanDoesNotDependOnWhetherDataAreThere(t *testing.T) {
	with, without := newPlan(t, finder{}), newPlan(t, finder{missing{}})
	if with.Trials[0].Key != without.Trials[0].Key || with.Digest != without.Digest || without.Datasets["set"] != "digest" {
		t.Errorf("with data:    %+v\nwithout data: %+v", with, without)
	}
}

func TestWithoutData(t *testing.T) {
	for err, want := range map[error]record.Status{missing{}: record.Skipped, errors.New("wrong file"): record.Failed} {
		r := plan.WithoutData(&record.Record{Provenance: record.Provenance{Datasets: map[string]string{"set": "digest"}}}, err)
		if r.Status != want || *r.Error != err.Error() || len(r.Provenance.Datasets) != 0 {
			t.Errorf("%v: %+v", err, r)
		}
	}
}
