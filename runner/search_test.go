package runner_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"privkern/runner"
	"privkern/runner/execute/schedule"
	"privkern/runner/execute/trial"
	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/plan/search"
	"privkern/runner/record"
	"privkern/runner/store"
)

type bowlSettings struct {
	X float64 `name:"x" default:"1" doc:"where"`
	Z float64 `name:"z" default:"1" doc:"where, too"`
}

type bowlMetrics struct {
	Y     float64  `name:"y" doc:"depth"`
	Never *float64 `name:"never" doc:"is not reported"`
}

// bowl is smallest at x = 2, z = -1, and fails for x above 4.
var bowl = experiment.Of(experiment.Declaration[*bowlSettings, bowlMetrics]{
	Name: "demo/bowl", Version: 1,
	Run: func(_ context.Context, t *experiment.Trial, s *bowlSettings) (*experiment.Outcome[bowlMetrics], error) {
		if s.X > 4 {
			return nil, errors.New("x is above 4")
		}
		a, b := s.X-2, s.Z+1
		return &experiment.Outcome[bowlMetrics]{Metrics: bowlMetrics{Y: a*a + b*b + float64(t.Seed)/1000}}, nil
	},
})()

func bowls() *runner.Catalogue {
	return runner.NewCatalogue([]experiment.Paper{{Name: "demo",
		Ledger:      []byte("paper: demo\ntitle: \"A\"\ncitation: \"A\"\n"),
		Experiments: []*experiment.Experiment{bowl.Experiment}}})
}

type bowlRunner struct{}

func (bowlRunner) Run(ctx context.Context, job trial.Job, _ time.Duration,
	progress trial.ProgressFunc) (*record.Record, error) {
	return trial.Execute(ctx, bowl.Experiment, job, nil, progress)
}

func (bowlRunner) Close() {}

// searching is a search in an output folder.
type searching struct {
	*runner.Catalogue
	dir   string
	draft *plan.Draft
	plan  *plan.Plan
	data  *plan.Datasets
}

const bowlFile = `experiment: demo/bowl
search: {method: bayesian, budget: 13, metric: y, direction: minimise, space: {x: linear(-5, 5), z: linear(-5, 5)}}
seeds: 0..1
`

// begin reads a search from a file and takes the plan of the folder.
func begin(t *testing.T, dir, text string) *searching {
	t.Helper()
	s := &searching{Catalogue: bowls(), dir: dir, data: plan.NewDatasets(noData{})}
	var err error
	if s.draft, err = plan.ReadSweeps(s.Book, []string{write(t, text)[0]}, nil, nil, ""); err != nil {
		t.Fatal(err)
	}
	s.draft.Sources = nil // the path of the file
	if s.plan, err = s.draft.Plan(t.Context(), s.data, "cpu", ""); err != nil {
		t.Fatal(err)
	}
	return s
}

// run runs the plan, or its trials in a part.
func (s *searching) run(shard plan.Shard) error {
	_, err := s.Run(context.Background(), runner.SweepRun{Dir: s.dir, Plan: s.plan, Executor: &schedule.Local{Shard: shard,
		Experiments: s.Experiments, Data: s.data,
		Options: schedule.Options{NewRunner: func() schedule.Runner { return bowlRunner{} }}}})
	return err
}

// grow appends a round.
func (s *searching) grow(t *testing.T) bool {
	t.Helper()
	p, more, err := s.Grow(context.Background(), s.dir, s.draft, s.data, nearBest)
	if err != nil {
		t.Fatal(err)
	}
	s.plan = p
	return more
}

// rounds runs at most n rounds.
func (s *searching) rounds(t *testing.T, n int) {
	t.Helper()
	for range n {
		if err := s.run(plan.Shard{}); err != nil {
			t.Fatal(err)
		}
		if !s.grow(t) {
			return
		}
	}
}

// nearBest proposes points near the best one.
func nearBest(_ context.Context, q search.Question) ([][]float64, error) {
	best := 0
	for i, v := range q.Losses {
		if v < q.Losses[best] {
			best = i
		}
	}
	var out [][]float64
	for len(out) < q.Count {
		point := slices.Clone(q.Points[best])
		for i := range point {
			point[i] += 0.2 * (q.Rand.Float64() - 0.5)
		}
		if q.Allowed(point) {
			out = append(out, point)
		}
	}
	return out, nil
}

func planText(t *testing.T, dir string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "plan.json"))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// A search that stops anywhere goes on as if it had not: its plan has the same bytes at the end.
func TestSearchResumed(t *testing.T) {
	whole := begin(t, t.TempDir(), bowlFile)
	whole.rounds(t, 99)
	want := planText(t, whole.dir)
	if got := whole.plan.Search.Rounds; !slices.Equal(got, []int{10, 8, 8}) {
		t.Errorf("rounds of %v trials", got)
	}
	for stop := range 3 {
		dir := t.TempDir()
		begin(t, dir, bowlFile).rounds(t, stop)
		part := begin(t, dir, bowlFile)
		if err := part.run(plan.Shard{Count: 3}); err != nil { // some trials of the round
			t.Fatal(err)
		}
		if part.grow(t) {
			t.Errorf("after %d rounds and a part: another round, although trials are left", stop)
		}
		begin(t, dir, bowlFile).rounds(t, 99)
		if got := planText(t, dir); got != want {
			t.Errorf("stopped after %d rounds: another plan at the end:\n%s\nwant\n%s", stop, got, want)
		}
	}
	again := begin(t, whole.dir, bowlFile)
	again.rounds(t, 1)
	r, err := again.Searched(again.dir, again.draft)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != 13 || r.Unfinished != 0 {
		t.Errorf("%d settings, %d trials unfinished", len(r.Rows), r.Unfinished)
	}
	for _, row := range r.Best() {
		if row.Failed > 0 {
			t.Errorf("a setting that failed is among the best: %v", row.Params)
		}
	}
}

// A raised budget goes on; another search, and a sweep, are refused, and so is a search in the folder of a sweep.
func TestSearchOfFolder(t *testing.T) {
	dir := t.TempDir()
	begin(t, dir, bowlFile).rounds(t, 99)
	raised := begin(t, dir, strings.Replace(bowlFile, "budget: 13", "budget: 15, batch: 1", 1))
	raised.rounds(t, 99)
	if got := raised.plan.Search.Rounds; !slices.Equal(got, []int{10, 8, 8, 2, 2}) {
		t.Errorf("rounds of %v trials", got)
	}
	short := t.TempDir()
	single := strings.NewReplacer("bayesian, budget: 13", "random, budget: 1", "0..1", "0").Replace(bowlFile)
	begin(t, short, single).rounds(t, 1)
	other := t.TempDir()
	const product = "experiment: demo/bowl\nsweep: {x: [1, 2]}\n"
	if err := begin(t, other, product).run(plan.Shard{}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ dir, text string }{
		{dir, strings.Replace(bowlFile, "minimise", "maximise", 1)}, {dir, strings.Replace(bowlFile, "0..1", "0..2", 1)},
		{dir, product}, {other, bowlFile}, {short, strings.Replace(single, "seeds: 0", "seeds: 0..1", 1)},
	} {
		var mismatch *store.PlanMismatchError
		if err := begin(t, c.dir, c.text).run(plan.Shard{}); !errors.As(err, &mismatch) {
			t.Errorf("%s: %v", c.text, err)
		}
	}
}

// Other metrics to show, which are no part of the trials, take the place of those before in a plan that has grown.
func TestMetricsOfSearch(t *testing.T) {
	dir := t.TempDir()
	begin(t, dir, bowlFile+"metrics: [y]\n").rounds(t, 2)
	begin(t, dir, bowlFile+"metrics: [never]\n").rounds(t, 1)
	p, err := bowls().FrozenPlan(dir, plan.NewDatasets(noData{}))
	if err != nil || !slices.Equal(p.Metrics, []string{"never"}) || len(p.Search.Rounds) != 3 {
		t.Errorf("metrics %v after %v: %v", p.Metrics, p.Search, err)
	}
}

// Two runners of a folder append each round once.
func TestSearchOfTwo(t *testing.T) {
	whole := begin(t, t.TempDir(), bowlFile)
	whole.rounds(t, 99)
	dir := t.TempDir()
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() { begin(t, dir, bowlFile).rounds(t, 99) })
	}
	both.Wait()
	if got, want := planText(t, dir), planText(t, whole.dir); got != want {
		t.Errorf("two runners: the plan is\n%s\nwant\n%s", got, want)
	}
}

// A metric that no trial reports ends the search.
func TestSearchWithoutMetric(t *testing.T) {
	s := begin(t, t.TempDir(), strings.Replace(bowlFile, "metric: y", "metric: never", 1))
	if err := s.run(plan.Shard{}); err != nil {
		t.Fatal(err)
	}
	_, _, err := s.Grow(context.Background(), s.dir, s.draft, s.data, nearBest)
	const want = `no trial reports the metric "never" of the search; these trials have y`
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Error(err)
	}
}
