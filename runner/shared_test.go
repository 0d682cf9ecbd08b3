package runner_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"privkern/runner"
	"privkern/runner/execute/schedule"
	"privkern/runner/execute/trial"
	"privkern/runner/experiment"
	"privkern/runner/plan"
	settings "privkern/runner/plan/sweep"
	"privkern/runner/record"
)

// draws counts how often the work of sharer was done.
var draws atomic.Int64

type sharerSettings struct {
	X int `name:"x" default:"0" doc:"two of them have work in common"`
}

// sharer has work that every two trials have in common: numbers from a random stream.
var sharer = experiment.Of(experiment.Declaration[*sharerSettings, doubleMetrics]{
	Name: "demo/sharer", Version: 1,
	Run: func(ctx context.Context, t *experiment.Trial, s *sharerSettings) (*experiment.Outcome[doubleMetrics], error) {
		v, err := t.Memo(ctx, "numbers", func(in *experiment.Inputs) { in.Whole(int(t.Seed), s.X/2) },
			func() (*experiment.Shared, error) {
				draws.Add(1)
				time.Sleep(20 * time.Millisecond)
				stream, numbers := t.Stream("numbers"), make([]float64, 50)
				for i := range numbers {
					numbers[i] = stream.NormFloat64() + float64(s.X/2)
				}
				return &experiment.Shared{Numbers: map[string][]float64{"drawn": numbers}}, nil
			})
		if err != nil {
			return nil, err
		}
		drawn := v.Numbers["drawn"]
		return &experiment.Outcome[doubleMetrics]{Metrics: doubleMetrics{Y: drawn[s.X]},
			Series: map[string]experiment.Series{"s": {"x": drawn}}}, nil
	},
})()

// sharingRunner runs sharer's trials.
type sharingRunner struct{}

func (sharingRunner) Run(ctx context.Context, job trial.Job, _ time.Duration,
	progress trial.ProgressFunc) (*record.Record, error) {
	return trial.Execute(ctx, sharer.Experiment, job, nil, progress)
}

func (sharingRunner) Close() {}

// sharedSweep is a plan of 12 trials of six works, and a function that runs a part of it.
func sharedSweep(t *testing.T) (c *runner.Catalogue, p *plan.Plan,
	run func(dir string, limit int64, part plan.Shard) schedule.Summary) {
	t.Helper()
	c = runner.NewCatalogue([]experiment.Paper{{Experiments: []*experiment.Experiment{sharer.Experiment}}})
	var wanted []settings.Assignment
	for seed := range int64(2) {
		for x := range 6 {
			params, err := sharer.Resolve(map[string]any{"x": x})
			if err != nil {
				t.Fatal(err)
			}
			wanted = append(wanted, settings.Assignment{Experiment: sharer.Experiment, Params: params, Seed: seed})
		}
	}
	data := plan.NewDatasets(noData{})
	var err error
	if p, err = plan.New(wanted, data, plan.Options{Backend: "cpu", DType: "float64"}); err != nil {
		t.Fatal(err)
	}
	return c, p, func(dir string, limit int64, part plan.Shard) schedule.Summary {
		t.Helper()
		sum, err := c.Run(t.Context(), runner.SweepRun{Dir: dir, Plan: p, Executor: &schedule.Local{Shard: part,
			Experiments: c.Experiments, Data: data, Options: schedule.Options{Jobs: 4, SharedLimit: limit,
				NewRunner: func() schedule.Runner { return sharingRunner{} }}}})
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
}

// A sweep does common work once, with the results of one that does it for each trial,
// and leaves nothing of it behind.
func TestSweepSharesWork(t *testing.T) {
	c, p, run := sharedSweep(t)
	shared, alone := t.TempDir(), t.TempDir()
	draws.Store(0)
	if sum := run(alone, 0, plan.Shard{}); sum.OK != 12 || draws.Load() != 12 {
		t.Fatalf("%+v, drawn %d times", sum, draws.Load())
	}
	draws.Store(0)
	if sum := run(shared, 1<<20, plan.Shard{Index: 0, Count: 3}); sum.OK != 4 {
		t.Fatalf("%+v", sum)
	}
	first := int(draws.Load())
	found, err := c.Check(shared, false, "")
	if err != nil || len(found.Problems) > 0 || found.Shared != first || found.SharedBytes < int64(first*50*8) {
		t.Errorf("%+v, %v, drawn %d times", found, err, first)
	}
	for i := 1; i < 3; i++ { // other parts find the work of the first
		run(shared, 1<<20, plan.Shard{Index: i, Count: 3})
	}
	if n := draws.Load(); n != 6 {
		t.Errorf("six works were done %d times", n)
	}
	if _, err := os.Lstat(filepath.Join(shared, "shared")); !os.IsNotExist(err) {
		t.Errorf("shared work is left: %v", err)
	}
	for _, x := range p.Trials {
		a, b := recordOf(t, shared, x.Key), recordOf(t, alone, x.Key)
		if !maps.Equal(a.Metrics, b.Metrics) || !reflect.DeepEqual(a.Series, b.Series) ||
			!reflect.DeepEqual(a.Warnings, b.Warnings) || a.Key != b.Key {
			t.Errorf("with shared work\n%+v\nwithout\n%+v", a, b)
		}
	}
}

// A check reports invalid results of shared work, and puts them aside for a repair.
func TestCheckOfSharedWork(t *testing.T) {
	c, _, run := sharedSweep(t)
	dir := t.TempDir()
	run(dir, 1<<20, plan.Shard{Index: 0, Count: 2})
	files, err := filepath.Glob(filepath.Join(dir, "shared", "*.memo"))
	if err != nil || len(files) < 2 {
		t.Fatalf("%v, %v", files, err)
	}
	raw, err := os.ReadFile(files[1])
	if err != nil {
		t.Fatal(err)
	}
	raw[len(raw)-50] ^= 1
	if err := os.WriteFile(files[1], raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "shared", "notes"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := c.Check(dir, false, "")
	if err != nil || len(found.Problems) != 2 || found.Problems[0].Repair != "" || found.Shared != len(files)+1 {
		t.Fatalf("%+v, %v", found, err)
	}
	found, err = c.Check(dir, true, "")
	if err != nil || len(found.Problems) != 2 || !strings.Contains(found.Problems[0].Repair, "put aside as aside/") ||
		!strings.Contains(found.Problems[0].Reason, "digest") {
		t.Fatalf("%+v, %v", found, err)
	}
	if found, err = c.Check(dir, false, ""); err != nil || len(found.Problems) != 0 || found.Shared != len(files)-1 {
		t.Fatalf("repaired: %+v, %v", found, err)
	}
	if sum := run(dir, 1<<20, plan.Shard{}); sum.OK != 12 {
		t.Errorf("%+v", sum)
	}
}

// recordOf reads the record of a trial.
func recordOf(t *testing.T, dir, key string) *record.Record {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "trials", key+".json"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := record.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
