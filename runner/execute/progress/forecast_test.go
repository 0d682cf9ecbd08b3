package progress_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"privkern/runner/execute/progress"
	"privkern/runner/experiment"
	"privkern/runner/plan"
)

// A simulation runs trials of given costs on a number of workers, in the order of
// the plan, by a clock of its own.
type simulation struct {
	t     testing.TB
	jobs  int
	costs []float64 // s, by position in the plan
	fails map[int]bool
	work  plan.Workload
	epoch time.Time
}

// setting is one trial of a simulation.
type setting struct {
	experiment string
	params     experiment.Params
	cost       float64
}

func simulate(t testing.TB, jobs int, settings []setting) *simulation {
	s := &simulation{t: t, jobs: jobs, epoch: time.Unix(1_700_000_000, 0), fails: map[int]bool{}}
	s.work = plan.Workload{Plan: &plan.Plan{}, Jobs: jobs}
	for i, set := range settings {
		s.work.Plan.Trials = append(s.work.Plan.Trials,
			plan.Trial{
				Key:      fmt.Sprint(i),
				Identity: experiment.Identity{Experiment: set.experiment, Params: set.params, Seed: int64(i)},
			})
		s.costs = append(s.costs, set.cost)
		s.work.Pending = append(s.work.Pending, i)
	}
	return s
}

// event is a start or an end of a trial.
type event struct {
	at    float64
	index int
	end   bool
}

// run returns the events in their order, and when the run is over.
func (s *simulation) run() (events []event, over float64) {
	free := make([]float64, s.jobs)
	add := func(index, lane int) {
		start := free[lane]
		free[lane] += s.costs[index]
		events = append(events, event{start, index, false}, event{free[lane], index, true})
	}
	for _, index := range s.work.Pending {
		first := 0
		for lane := range free {
			if free[lane] < free[first] {
				first = lane
			}
		}
		add(index, first)
	}
	for _, f := range free {
		over = max(over, f)
	}
	for _, index := range s.work.Alone {
		events = append(events, event{over, index, false}, event{over + s.costs[index], index, true})
		over += s.costs[index]
	}
	sortEvents(events)
	return events, over
}

func sortEvents(events []event) {
	for i := range events { // insertion: they are almost sorted
		for j := i; j > 0 && before(events[j], events[j-1]); j-- {
			events[j], events[j-1] = events[j-1], events[j]
		}
	}
}

// before has ends before starts, as a worker starts a trial where one has ended.
func before(a, b event) bool {
	if a.at != b.at {
		return a.at < b.at
	}
	return a.end && !b.end
}

func (s *simulation) clock(at float64) time.Time {
	return s.epoch.Add(time.Duration(at * float64(time.Second)))
}

// leftAt plays what happens until a time and returns the forecast then.
func (s *simulation) leftAt(now float64) (progress.TimeLeft, bool) {
	events, _ := s.run()
	f := progress.NewForecast(s.work, s.epoch)
	for _, e := range events {
		if e.at > now {
			break
		}
		t := s.work.Plan.Trials[e.index]
		if e.end {
			f.Ended(t, s.costs[e.index], s.clock(e.at))
		} else {
			f.Started(t, s.clock(e.at))
		}
	}
	return f.Left(s.clock(now))
}

// sizes are trials of a method whose cost is a power of n, with noise; seeds of
// each.
func sizes(r *rand.Rand, method string, factor, noise float64, seeds int, ns ...int) []setting {
	var out []setting
	for _, n := range ns {
		for range seeds {
			cost := factor * math.Pow(float64(n)/100, 2.5) * math.Exp(noise*r.NormFloat64())
			out = append(out, setting{"demo/fit", experiment.Params{"n": n, "method": method, "epsilon": 1.0}, cost})
		}
	}
	return out
}

// Half-way through a sweep the forecast is within 35 % of what is left, or says that
// it is a lower bound, and is not above.
func TestForecastHalfWay(t *testing.T) {
	for _, c := range []struct {
		name     string
		settings func(r *rand.Rand) []setting
		mixed    bool // the order of the plan is random: all costs are soon known
	}{
		{"equal costs", func(r *rand.Rand) []setting { return sizes(r, "a", 2, 0.1, 80, 100) }, true},
		{"costs over four orders of magnitude", func(r *rand.Rand) []setting {
			return append(sizes(r, "a", 1, 0.1, 12, 50, 100, 200, 400, 800),
				sizes(r, "b", 6, 0.1, 12, 50, 100, 200, 400, 800)...)
		}, true},
		{"no two trials of equal settings", func(r *rand.Rand) (out []setting) {
			for n := 50; n < 500; n += 5 {
				out = append(out, sizes(r, "a", 1, 0.1, 1, n)...)
				out = append(out, sizes(r, "b", 3, 0.1, 1, n)...)
			}
			return out
		}, true},
		{"dear trials last", func(r *rand.Rand) []setting {
			return append(sizes(r, "a", 1, 0.1, 100, 50, 60), sizes(r, "a", 1, 0.1, 10, 3000)...)
		}, false},
		{"growing sizes", func(r *rand.Rand) []setting { return sizes(r, "a", 1, 0.1, 10, 50, 100, 200, 400, 800) }, false},
		{"another method later", func(r *rand.Rand) []setting {
			return append(sizes(r, "a", 1, 0.1, 30, 100, 200), sizes(r, "b", 30, 0.1, 30, 100, 200)...)
		}, false},
	} {
		for jobs := 1; jobs <= 8; jobs++ {
			t.Run(fmt.Sprintf("%s on %d workers", c.name, jobs), func(t *testing.T) {
				for seed := range uint64(10) {
					r := rand.New(rand.NewPCG(seed, 7))
					settings := c.settings(r)
					if c.mixed {
						r.Shuffle(len(settings), func(i, j int) { settings[i], settings[j] = settings[j], settings[i] })
					}
					s := simulate(t, jobs, settings)
					_, over := s.run()
					left, ok := s.leftAt(over / 2)
					truth, got := over/2, left.Time.Seconds()
					switch {
					case c.mixed && (!ok || left.Least):
						t.Errorf("seed %d: %v, %v: nothing definite is said, %.0f s are left", seed, left, ok, truth)
					case ok && got > 1.35*truth:
						t.Errorf("seed %d: %.0f s are left, and %v are said", seed, truth, left)
					case ok && !left.Least && got < 0.65*truth:
						t.Errorf("seed %d: %.0f s are left, and %v are said", seed, truth, left)
					}
				}
			})
		}
	}
}

// 1,000 cheap trials before 10 that take an hour each: while none of these has run,
// no time is promised; while the first one runs, its inner progress is what is
// known, and once it has ended, the forecast is right.
func TestForecastOfDearTrials(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	settings := sizes(r, "a", 1, 0.1, 500, 50, 60)
	cheap := 0.0
	for _, s := range settings {
		cheap += s.cost
	}
	for range 10 {
		settings = append(settings, setting{"demo/fit", experiment.Params{"n": 5000, "method": "a", "epsilon": 1.0}, 3600})
	}
	s := simulate(t, 1, settings)
	for _, share := range []float64{0.01, 0.5, 0.99} {
		t.Run(fmt.Sprintf("after %v of the cheap ones", share), func(t *testing.T) {
			if left, ok := s.leftAt(share * cheap); ok && !left.Least {
				t.Errorf("%v are promised, and 10 h are left", left.Time)
			}
		})
	}
	t.Run("while the first dear one runs", func(t *testing.T) {
		if left, ok := s.leftAt(cheap + 600); ok {
			t.Errorf("%v is said, and nothing is known", left)
		}
	})
	t.Run("with its inner progress", func(t *testing.T) {
		f := progress.NewForecast(s.work, s.epoch)
		events, _ := s.run()
		for _, e := range events[:2001] {
			if trial := s.work.Plan.Trials[e.index]; e.end {
				f.Ended(trial, s.costs[e.index], s.clock(e.at))
			} else {
				f.Started(trial, s.clock(e.at))
			}
		}
		for i := range 11 {
			f.Inner(s.work.Plan.Trials[1000], i, 60, "folds", s.clock(cheap+60*float64(i)))
		}
		want := 36000. - 600
		if left, ok := f.Left(s.clock(cheap + 600)); !ok || left.Least || math.Abs(left.Time.Seconds()-want) > 0.02*want {
			t.Errorf("%v, %v: %.0f s are left", left, ok, want)
		}
	})
	t.Run("after the first dear one", func(t *testing.T) {
		want := 9 * 3600.
		if left, ok := s.leftAt(cheap + 3600); !ok || left.Least || math.Abs(left.Time.Seconds()-want) > 0.01*want {
			t.Errorf("%v, %v: 9 h are left", left, ok)
		}
	})
	t.Run("with a dear one in the folder", func(t *testing.T) {
		s := *s
		s.work.Pending = s.work.Pending[:len(s.work.Pending)-1]
		s.work.Past = []plan.Past{{Index: len(settings) - 1, Seconds: 3600}}
		left, ok := s.leftAt(cheap / 2)
		if want := 9*3600. + cheap/2; !ok || left.Least || math.Abs(left.Time.Seconds()-want) > 0.05*want {
			t.Errorf("%v, %v: %.0f s are left", left, ok, want)
		}
	})
}

// What the folder holds is known from the start.
func TestForecastOfAResumedSweep(t *testing.T) {
	for jobs := 1; jobs <= 8; jobs++ {
		t.Run(fmt.Sprintf("%d workers", jobs), func(t *testing.T) {
			r := rand.New(rand.NewPCG(3, uint64(jobs)))
			settings := append(sizes(r, "a", 1, 0.1, 20, 50, 100, 200, 400), sizes(r, "b", 9, 0.1, 20, 50, 100, 200, 400)...)
			s := simulate(t, jobs, settings)
			var pending []int
			for i := range settings { // the first half of the seeds has run
				if i%20 < 10 {
					s.work.Past = append(s.work.Past, plan.Past{Index: i, Seconds: s.costs[i]})
				} else {
					pending = append(pending, i)
				}
			}
			s.work.Pending = pending
			_, over := s.run()
			left, ok := s.leftAt(-1) // before anything begins
			if !ok || left.Least || math.Abs(left.Time.Seconds()-over) > 0.2*over {
				t.Errorf("%v, %v: %.0f s are left", left, ok, over)
			}
		})
	}
}

// Trials that fail at once make their class cheaper; those of others count no less.
func TestForecastWithFailures(t *testing.T) {
	for jobs := 1; jobs <= 8; jobs++ {
		t.Run(fmt.Sprintf("%d workers", jobs), func(t *testing.T) {
			r := rand.New(rand.NewPCG(4, uint64(jobs)))
			good := sizes(r, "a", 1, 0.1, 100, 100, 200)
			settings := append(slices.Clone(good), sizes(r, "singular", 40, 0.1, 100, 200)...)
			for i := range settings {
				if singular := i >= len(good); singular || i%3 == 0 {
					settings[i].cost = 0.01
				}
			}
			r.Shuffle(len(settings), func(i, j int) { settings[i], settings[j] = settings[j], settings[i] })
			s := simulate(t, jobs, settings)
			_, over := s.run()
			left, ok := s.leftAt(over / 2)
			if !ok || left.Least || math.Abs(left.Time.Seconds()-over/2) > 0.25*over/2 {
				t.Errorf("%v, %v: %.0f s are left", left, ok, over/2)
			}
		})
	}
}

// Timed trials run one at a time after the others, whatever the number of workers.
func TestForecastOfTimedTrials(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	s := simulate(t, 8, sizes(r, "a", 4, 0, 160, 100))
	s.work.Pending, s.work.Alone = s.work.Pending[:80], nil
	for i := range 20 {
		index := 80 + i
		s.work.Plan.Trials[index].Experiment = "demo/timed"
		s.work.Alone = append(s.work.Alone, index)
	}
	s.work.Past = []plan.Past{{Index: 159, Seconds: 4}, {Index: 158, Seconds: 4}}
	s.work.Plan.Trials[158].Experiment = "demo/timed"
	left, ok := s.leftAt(8) // 8 s of 10 rounds of 4 s, and then 20 times 4 s
	if want := 32 + 80.; !ok || left.Least || math.Abs(left.Time.Seconds()-want) > 0.5 {
		t.Errorf("%v, %v: %.0f s are left", left, ok, want)
	}
}

// Where memory holds fewer trials than there are jobs, those that run count.
func TestForecastOfFewerWorkers(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	s := simulate(t, 2, sizes(r, "a", 1, 0, 200, 100))
	s.work.Jobs = 8 // but two run
	left, ok := s.leftAt(50)
	if !ok || left.Least || math.Abs(left.Time.Seconds()-50) > 2 {
		t.Errorf("%v, %v: 50 s are left", left, ok)
	}
}

// On a cluster, where nobody counts what runs, trials end as fast as so far.
func TestForecastElsewhere(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	s := simulate(t, 16, append(sizes(r, "a", 1, 0.1, 320, 100), sizes(r, "a", 1, 0.1, 320, 150)...))
	r.Shuffle(len(s.costs), func(i, j int) {
		s.costs[i], s.costs[j] = s.costs[j], s.costs[i]
		a, b := &s.work.Plan.Trials[i], &s.work.Plan.Trials[j]
		a.Params, b.Params = b.Params, a.Params
	})
	_, over := s.run()
	s.work.Jobs = 0
	f := progress.NewForecast(s.work, s.epoch)
	if left, ok := f.Left(s.clock(100)); ok {
		t.Errorf("%v before anything has ended", left)
	}
	events, _ := s.run2(16)
	for _, e := range events {
		if e.at <= over/2 && e.end {
			f.Ended(s.work.Plan.Trials[e.index], s.costs[e.index], s.clock(e.at))
		}
	}
	left, ok := f.Left(s.clock(over / 2))
	if !ok || left.Least || math.Abs(left.Time.Seconds()-over/2) > 0.15*over/2 {
		t.Errorf("%v, %v: %.0f s are left", left, ok, over/2)
	}
}

// run2 is run with another number of workers.
func (s *simulation) run2(jobs int) ([]event, float64) {
	other := *s
	other.jobs = jobs
	return other.run()
}

// A trial that begins anew waits, and one that is dropped does not.
func TestForecastOfTrialsWithoutResult(t *testing.T) {
	s := simulate(t, 1, sizes(rand.New(rand.NewPCG(8, 8)), "a", 10, 0, 4, 100))
	f := progress.NewForecast(s.work, s.epoch)
	trials := s.work.Plan.Trials
	for _, step := range []struct {
		name string
		do   func()
		at   float64
		want float64
	}{
		{"one has ended", func() { f.Started(trials[0], s.clock(0)); f.Ended(trials[0], 10, s.clock(10)) }, 10, 30},
		{"one runs", func() { f.Started(trials[1], s.clock(10)) }, 14, 26},
		{"it is killed", func() { f.Again(trials[1], s.clock(14)) }, 14, 30},
		{"it runs again", func() { f.Started(trials[1], s.clock(15)) }, 16, 29},
		{"it is given up", func() { f.Again(trials[1], s.clock(16)); f.Dropped(trials[1], s.clock(16)) }, 16, 20},
		{"another runner has one", func() { f.Dropped(trials[2], s.clock(16)) }, 16, 10},
		{"one takes longer than others", func() { f.Started(trials[3], s.clock(16)) }, 36, 2},
	} {
		t.Run(step.name, func(t *testing.T) {
			step.do()
			if left, ok := f.Left(s.clock(step.at)); !ok || left.Least || math.Abs(left.Time.Seconds()-step.want) > 1e-6 {
				t.Errorf("%v, %v: %v s are left", left, ok, step.want)
			}
		})
	}
}

// Each phase of a trial has a speed of its own.
func TestForecastOfInnerPhases(t *testing.T) {
	s := simulate(t, 1, []setting{{"demo/fit", experiment.Params{"n": 1}, 100}})
	f := progress.NewForecast(s.work, s.epoch)
	trial := s.work.Plan.Trials[0]
	f.Started(trial, s.clock(0))
	for _, step := range []struct {
		at          float64
		done, total int
		what        string
		want        float64
		ok          bool
	}{
		{1, 0, 10, "folds", 0, false},
		{3, 1, 10, "folds", 18, true},
		{11, 5, 10, "folds", 10, true},
		{21, 10, 10, "folds", 0, true},
		{30, 1, 50, "test points", 0, false},
		{32, 5, 50, "test points", 22.5, true},
		{40, 1, 0, "test points", 0, false},
	} {
		t.Run(fmt.Sprintf("%d of %d %s", step.done, step.total, step.what), func(t *testing.T) {
			f.Inner(trial, step.done, step.total, step.what, s.clock(step.at))
			left, ok := f.Left(s.clock(step.at))
			if ok != step.ok || math.Abs(left.Time.Seconds()-step.want) > 1e-6 {
				t.Errorf("%v, %v: want %v, %v", left, ok, step.want, step.ok)
			}
		})
	}
	t.Run("time passes between two reports", func(t *testing.T) {
		f.Inner(trial, 0, 10, "draws", s.clock(50))
		f.Inner(trial, 2, 10, "draws", s.clock(54))
		if left, ok := f.Left(s.clock(57)); !ok || math.Abs(left.Time.Seconds()-13) > 1e-6 {
			t.Errorf("%v, %v: 13 s are left", left, ok)
		}
	})
}

// A value that has not run costs what the others say of it, or nothing is known.
func TestForecastOfUnseenValues(t *testing.T) {
	type seen = map[any]float64 // s by value
	words := func(costs ...float64) seen {
		out := seen{}
		for i, c := range costs {
			out[fmt.Sprint("method ", i)] = c
		}
		return out
	}
	for _, c := range []struct {
		name  string
		past  seen
		value any
		want  float64 // s; 0 where nothing is known
	}{
		{"a power law", seen{1.0: 10, 2.0: 20, 4.0: 40}, 8.0, 80},
		{"a power law, far away", seen{1.0: 10, 2.0: 20, 4.0: 40}, 100.0, 0},
		{"a power law, beyond its logarithm", seen{1.0: 10, 2.0: 20, 4.0: 40}, 0.0, 0},
		{"two numbers", seen{1.0: 10, 2.0: 20}, 1.5, 0},
		{"no law, among them", seen{1.0: 10, 2.0: 30, 3.0: 10, 4.0: 30}, 2.5, 20},
		{"no law, far away", seen{1.0: 10, 2.0: 30, 3.0: 10, 4.0: 30}, 40.0, 0},
		{"across zero", seen{-1.0: 10, 0.0: 30, 1.0: 10, 2.0: 30}, 0.5, 20},
		{"infinity", seen{1.0: 10, 2.0: 10, 3.0: 10}, math.Inf(1), 0},
		{"a word like four others", words(10, 11, 10, 11), "another", 10.5},
		{"a word beside three", words(10, 11, 10), "another", 0},
		{"a word where words differ", words(10, 11, 10, 30), "another", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := plan.Workload{Plan: &plan.Plan{}, Jobs: 1}
			for v, cost := range c.past {
				w.Past = append(w.Past, plan.Past{Index: len(w.Plan.Trials), Seconds: cost})
				w.Plan.Trials = append(w.Plan.Trials, plan.Trial{
					Identity: experiment.Identity{Experiment: "demo/a", Params: experiment.Params{"v": v}},
				})
			}
			w.Pending = []int{len(w.Plan.Trials)}
			w.Plan.Trials = append(w.Plan.Trials, plan.Trial{
				Identity: experiment.Identity{Experiment: "demo/a", Params: experiment.Params{"v": c.value}},
			})
			left, ok := progress.NewForecast(w, time.Unix(0, 0)).Left(time.Unix(0, 0))
			if ok != (c.want > 0) || math.Abs(left.Time.Seconds()-c.want) > 0.03*c.want {
				t.Errorf("got %v, %v; want %v s", left, ok, c.want)
			}
		})
	}
}

// What has run says more of a trial than its inner progress, until it is overdue.
func TestForecastOfARunningTrial(t *testing.T) {
	s := simulate(t, 1, []setting{
		{"demo/fit", experiment.Params{"n": 1}, 100}, {"demo/fit", experiment.Params{"n": 1}, 100},
	})
	s.work.Past, s.work.Pending = []plan.Past{{Index: 0, Seconds: 100}}, []int{1}
	f, trial := progress.NewForecast(s.work, s.epoch), s.work.Plan.Trials[1]
	f.Started(trial, s.clock(0))
	for _, step := range []struct {
		at   float64
		done int
		want float64
	}{{1, 0, 99}, {41, 10, 59}, {121, 20, 480}} {
		t.Run(fmt.Sprintf("after %v s", step.at), func(t *testing.T) {
			f.Inner(trial, step.done, 100, "steps", s.clock(step.at))
			if left, ok := f.Left(s.clock(step.at)); !ok || left.Least || math.Abs(left.Time.Seconds()-step.want) > 1e-6 {
				t.Errorf("%v, %v: want %v s", left, ok, step.want)
			}
		})
	}
}

// One trial of which nothing is known makes the forecast a bound, whatever comes
// after it, and those that have not begun are counted; workers that are busy for long
// take none of many short trials.
func TestForecastIsABound(t *testing.T) {
	settings := []setting{{"demo/slow", experiment.Params{"n": 1}, 1000}}
	for range 2 {
		settings = append(settings, setting{"demo/other", experiment.Params{"n": 1}, 1})
	}
	for range 100 {
		settings = append(settings, setting{"demo/fit", experiment.Params{"n": 1}, 1})
	}
	s := simulate(t, 2, settings)
	s.work.Past, s.work.Pending = []plan.Past{{Index: 3, Seconds: 1}}, s.work.Pending[:3]
	for i := 4; i < 103; i++ {
		s.work.Pending = append(s.work.Pending, i)
	}
	f := progress.NewForecast(s.work, s.epoch)
	slow := s.work.Plan.Trials[0]
	f.Started(slow, s.clock(0))
	f.Inner(slow, 0, 100, "steps", s.clock(0))
	f.Inner(slow, 1, 100, "steps", s.clock(1))
	left, ok := f.Left(s.clock(1))
	if !ok || !left.Least || left.Unknown != 2 || math.Abs(left.Time.Seconds()-99) > 1e-6 {
		t.Errorf("%v, %v: at least the 99 s of each worker are left", left, ok)
	}
	f.Inner(slow, 2, 1000, "long steps", s.clock(1))
	f.Inner(slow, 3, 1000, "long steps", s.clock(1.5))
	left, ok = f.Left(s.clock(1.5))
	if !ok || !left.Least || left.Unknown != 2 || math.Abs(left.Time.Seconds()-498.5) > 1e-6 {
		t.Errorf("%v, %v: at least the 498.5 s of the slow one are left", left, ok)
	}
}
