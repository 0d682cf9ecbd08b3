package search_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"privkern/runner/experiment"
	"privkern/runner/plan/search"
)

// hillSettings are a number, a whole number, a word that decides whether a fourth setting does anything, and epochs.
type hillSettings struct {
	X      float64 `name:"x" default:"0.5" doc:"where"`
	Depth  int     `name:"depth" default:"3" min:"0" doc:"how deep"`
	Kernel shape   `name:"kernel" default:"eq" doc:"of which shape"`
	Nu     float64 `name:"nu" default:"2.5" doc:"how smooth" when:"kernel is matern"`
	Epochs int     `name:"epochs" default:"1" doc:"how long"`
}

type shape int

func (shape) Choices() []string { return []string{"eq", "matern"} }

func hill() *experiment.Experiment {
	return experiment.Of(experiment.Declaration[*hillSettings, struct{}]{Name: "demo/hill", Version: 1,
		Check: func(s *hillSettings) error {
			if s.X > 0.9 {
				return errors.New("x is too large")
			}
			return nil
		}})().Experiment
}

// in are the settings of parameters.
func in(p experiment.Params) *hillSettings { return experiment.SettingsIn[hillSettings](p) }

// spec is a search over four settings of hill.
func spec(t *testing.T, method search.Method, budget int) *search.Spec {
	t.Helper()
	s := &search.Spec{Method: method, Budget: budget, Metric: "y", Minimise: true, Experiment: hill(), Seeds: []int64{0},
		Eta: search.DefaultEta}
	for _, d := range []struct {
		name      string
		scale     search.Scale
		low, high float64
	}{{"x", search.Linear, 0, 1}, {"depth", search.Log, 1, 50}, {"nu", search.Log, 0.5, 5}} {
		p, err := s.Experiment.Param(d.name)
		if err != nil {
			t.Fatal(err)
		}
		interval, err := search.Interval(p, d.scale, d.low, d.high)
		if err != nil {
			t.Fatal(err)
		}
		s.Space = append(s.Space, interval)
	}
	p, err := s.Experiment.Param("kernel")
	if err != nil {
		t.Fatal(err)
	}
	s.Space = append(s.Space, &search.Dimension{Param: p, Values: []any{"eq", "matern"}})
	if method == search.Halving {
		s.Fidelity, s.Levels = "epochs", []any{1, 3, 9}
	}
	return s
}

// loss is the result of settings; the smallest are with x near 0.3.
func loss(p experiment.Params) float64 {
	x := in(p).X - 0.3
	return x*x + 1/float64(in(p).Epochs)
}

// draw proposes points at random.
func draw(_ context.Context, q search.Question) ([][]float64, error) {
	var out [][]float64
	for len(out) < q.Count {
		point := make([]float64, len(q.Points[0]))
		for i := range point {
			point[i] = q.Rand.Float64()
		}
		if q.Allowed(point) {
			out = append(out, point)
		}
	}
	return out, nil
}

// run searches to the end, and returns the settings and the sizes of the rounds.
func run(t *testing.T, s *search.Spec, result func(experiment.Params) float64) (seen []search.Observation,
	sizes []int) {
	t.Helper()
	for {
		round, err := s.Next(context.Background(), seen, draw)
		if err != nil {
			t.Fatal(err)
		}
		if len(round) == 0 {
			return seen, sizes
		}
		sizes = append(sizes, len(round))
		for _, p := range round {
			seen = append(seen, search.Observation{Params: p, Value: result(p)})
		}
	}
}

func text(p experiment.Params) string { return fmt.Sprint(*in(p)) }

// Each method spends its budget on settings that differ and that the experiment takes, and repeats itself.
func TestRounds(t *testing.T) {
	for _, c := range []struct {
		method search.Method
		budget int
		batch  int
		want   []int
	}{
		{search.Random, 7, 0, []int{7}},
		{search.Random, 7, 3, []int{3, 3, 1}},
		{search.Bayesian, 3, 0, []int{3}},
		{search.Bayesian, 15, 0, []int{8, 4, 3}},
		{search.Bayesian, 11, 2, []int{8, 2, 1}},
		{search.Halving, 13, 0, []int{9, 3, 1}},
		{search.Halving, 30, 0, []int{21, 7, 2}},
	} {
		t.Run(fmt.Sprint(c.method, c.budget, c.batch), func(t *testing.T) {
			s := spec(t, c.method, c.budget)
			s.Batch = c.batch
			seen, sizes := run(t, s, loss)
			if !slices.Equal(sizes, c.want) {
				t.Errorf("rounds of %v settings, want %v", sizes, c.want)
			}
			texts := map[string]bool{}
			for _, o := range seen {
				texts[text(o.Params)] = true
				if p := in(o.Params); p.Kernel == 0 && p.Nu != 2.5 {
					t.Errorf("nu is %g where it does nothing", p.Nu)
				}
			}
			if len(texts) != len(seen) {
				t.Errorf("%d settings, %d of them different", len(seen), len(texts))
			}
			again, _ := run(t, spec(t, c.method, c.budget), loss)
			for i, o := range again[:min(len(again), c.want[0])] {
				if text(o.Params) != text(seen[i].Params) {
					t.Errorf("setting %d is %s and then %s", i, text(seen[i].Params), text(o.Params))
				}
			}
			other := spec(t, c.method, c.budget)
			other.Seed = 1
			if others, _ := run(t, other, loss); text(others[0].Params) == text(seen[0].Params) {
				t.Error("another seed begins with the same setting")
			}
		})
	}
}

// A raised budget goes on with the settings that a larger one would have had.
func TestBudgetRaised(t *testing.T) {
	for _, method := range []search.Method{search.Random, search.Bayesian} {
		small, _ := run(t, spec(t, method, 4), loss)
		large, _ := run(t, spec(t, method, 9), loss)
		s := spec(t, method, 9)
		if s.String() != spec(t, method, 4).String() {
			t.Errorf("%s: another budget is another search", method)
		}
		round, err := s.Next(context.Background(), small, draw)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range round {
			if method == search.Random && text(p) != text(large[4+i].Params) {
				t.Errorf("%s: setting %d is %s, want %s", method, 4+i, text(p), text(large[4+i].Params))
			}
		}
		if want := map[search.Method]int{search.Random: 5, search.Bayesian: 4}[method]; len(round) != want {
			t.Errorf("%s: %d settings more, want %d", method, len(round), want)
		}
	}
}

// A halving keeps the best at each level, none that failed.
func TestHalving(t *testing.T) {
	s := spec(t, search.Halving, 13)
	seen, _ := run(t, s, loss)
	best := slices.Clone(seen[:9])
	slices.SortStableFunc(best, func(a, b search.Observation) int { return int(math.Copysign(1, a.Value-b.Value)) })
	for i, o := range seen[9:12] {
		if want := in(best[i].Params).X; in(o.Params).X != want || in(o.Params).Epochs != 3 {
			t.Errorf("second level: %s, want x = %g with 3 epochs", text(o.Params), want)
		}
	}
	if top := seen[s.Rank(seen)[0]]; in(top.Params).Epochs != 9 {
		t.Errorf("the best is %s, below the last level", text(top.Params))
	}
	failing := func(p experiment.Params) float64 {
		if in(p).X > 0.1 {
			return math.NaN()
		}
		return loss(p)
	}
	survivors, _ := run(t, s, failing)
	for _, o := range survivors[9:] {
		if in(o.Params).X > 0.1 {
			t.Errorf("%s failed, and stayed", text(o.Params))
		}
	}
	at := experiment.Params{"x": 1.0, "depth": 1, "nu": 2.0, "kernel": "eq", "epochs": 1}
	if ends := s.AtEnds(at); len(ends) != 2 || ends[0].Param.Name != "x" || ends[1].Param.Name != "depth" {
		t.Errorf("%v is at the ends of %v, not of x and depth", at, ends)
	}
	s.Budget = 12
	if err := s.Check(); err == nil || !strings.Contains(err.Error(), "13 in all") {
		t.Errorf("a budget of 12: %v", err)
	}
}

// Failures count as the worst result, in both directions; without any difference points are spread.
func TestFailures(t *testing.T) {
	for _, minimise := range []bool{true, false} {
		s := spec(t, search.Bayesian, 20)
		s.Minimise = minimise
		seen, _ := run(t, spec(t, search.Bayesian, 8), func(p experiment.Params) float64 { return in(p).X })
		seen[3].Value, seen[5].Value = math.NaN(), math.Inf(1)
		asked := false
		_, err := s.Next(context.Background(), seen, func(ctx context.Context, q search.Question) ([][]float64, error) {
			asked = true
			if worst := slices.Max(q.Losses); q.Losses[3] != worst || q.Losses[5] != worst {
				t.Errorf("minimise %v: failures count as %g and %g, the worst is %g", minimise, q.Losses[3], q.Losses[5], worst)
			}
			return draw(ctx, q)
		})
		if err != nil || !asked {
			t.Errorf("asked %v, %v", asked, err)
		}
	}
	s := spec(t, search.Bayesian, 20)
	seen, _ := run(t, s, func(experiment.Params) float64 { return math.NaN() })
	if len(seen) != 20 {
		t.Errorf("%d settings, although all failed", len(seen))
	}
}

// A space without more settings ends the search.
func TestExhausted(t *testing.T) {
	s := spec(t, search.Random, 50)
	s.Space = s.Space[3:]
	if ends := s.AtEnds(experiment.Params{"kernel": "eq"}); ends != nil {
		t.Errorf("a list has no ends, and not %v", ends)
	}
	if seen, _ := run(t, s, loss); len(seen) != 2 {
		t.Errorf("%d settings of 2", len(seen))
	}
}

// Values survive the way to a coordinate and back, and the coordinates of a value are an interval.
func TestDimensions(t *testing.T) {
	x := &experiment.Param{Name: "x", Kind: experiment.Number}
	depth := &experiment.Param{Name: "d", Kind: experiment.Integer}
	for _, c := range []struct {
		param     *experiment.Param
		scale     search.Scale
		low, high float64
		bad       string
	}{
		{x, search.Linear, -5, 10, ""}, {x, search.Log, 1e-6, 1e6, ""}, {x, search.Linear, 1e6, 1e6 + 1, ""},
		{&experiment.Param{Name: "l", Kind: experiment.NumberOrNumbers}, search.Log, 0.1, 10, ""},
		{&experiment.Param{Name: "c", Kind: experiment.CountOrNumbers}, search.Linear, 2, 9, ""},
		{depth, search.Linear, 0, 3, ""}, {depth, search.Log, 1, 1000, ""},
		{x, search.Log, 1e-300, 1e300, ""}, {x, search.Linear, -1e308, 1e308, "too wide"},
		{x, search.Linear, 1, 1, "is empty"}, {x, search.Linear, 2, 1, "is empty"}, {x, search.Log, 0, 1, "no logarithm"},
		{x, search.Linear, 0, math.Inf(1), "finite"}, {x, search.Linear, math.NaN(), 1, "finite"},
		{depth, search.Linear, 0.5, 3, "whole"},
		{&experiment.Param{Name: "w", Kind: experiment.Text}, search.Linear, 0, 1, "list of its values"},
	} {
		d, err := search.Interval(c.param, c.scale, c.low, c.high)
		if c.bad != "" {
			if err == nil || !strings.Contains(err.Error(), c.bad) {
				t.Errorf("%s from %g to %g: %v", c.scale, c.low, c.high, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		ends, err := search.Ends(d)
		if err != nil || ends != [2]float64{c.low, c.high} {
			t.Errorf("%s: from %v, %v", d, ends, err)
		}
	}
}
