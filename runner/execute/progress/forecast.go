package progress

import (
	"math"
	"slices"
	"time"

	"privkern/runner/plan"
)

// Forecast predicts how long a run still takes, from what its trials have cost. It
// has no clock: every method takes the time at which something happened.
type Forecast struct {
	jobs    int
	costs   map[string]*costs // by experiment
	order   []stretch         // of the trials to be run, as the plan has them
	running map[string]*activeTrial

	start, last time.Time
	spent       float64 // s of ended trials
	// The time in which trials waited for a worker, and what ran meanwhile.
	crowded, busy float64
	ahead         int // trials that have not begun, but those that run alone
}

// stretch is trials of one class that follow each other.
type stretch struct {
	class *class
	count int
}

// activeTrial is a trial that runs.
type activeTrial struct {
	class *class
	start time.Time
	inner inner
}

// inner is how far a trial is in its present phase.
type inner struct {
	what        string
	total       int
	first, done int // at the first and at the last report
	since, at   time.Time
}

// TimeLeft is how long a run still takes.
type TimeLeft struct {
	Time time.Duration
	// Least says that Time is a lower bound: nothing is known of the cost of some of
	// the trials.
	Least bool
	// Unknown is how many trials that have not begun Time leaves out: nothing like them
	// has ended.
	Unknown int
}

// NewForecast returns the forecast of a run that starts at a time.
func NewForecast(w plan.Workload, start time.Time) *Forecast {
	f := &Forecast{jobs: w.Jobs, costs: map[string]*costs{}, running: map[string]*activeTrial{}, start: start, last: start}
	trials := map[string][]*plan.Trial{}
	each := func(index int) *plan.Trial { return &w.Plan.Trials[index] }
	for _, indices := range [][]int{w.Pending, w.Alone} {
		for _, i := range indices {
			trials[each(i).Experiment] = append(trials[each(i).Experiment], each(i))
		}
	}
	for _, p := range w.Past {
		trials[each(p.Index).Experiment] = append(trials[each(p.Index).Experiment], each(p.Index))
	}
	for name, of := range trials {
		f.costs[name] = newCosts(of)
	}
	for _, p := range w.Past {
		f.class(each(p.Index)).observe(p.Seconds)
	}
	add := func(index int, alone bool) {
		k := f.class(each(index))
		if n := len(f.order); n == 0 || f.order[n-1].class != k {
			f.order = append(f.order, stretch{class: k})
		}
		f.order[len(f.order)-1].count++
		k.planned++
		k.waiting++
		k.alone = alone
	}
	for _, i := range w.Pending {
		add(i, false)
	}
	for _, i := range w.Alone {
		add(i, true)
	}
	f.ahead = len(w.Pending)
	return f
}

func (f *Forecast) class(t *plan.Trial) *class {
	c := f.costs[t.Experiment]
	if c == nil { // not of this workload
		c = newCosts([]*plan.Trial{t})
		f.costs[t.Experiment] = c
	}
	return c.class(t)
}

// tick takes note of how many trials ran since the last event.
func (f *Forecast) tick(at time.Time) {
	if f.ahead > 0 && len(f.running) > 0 {
		passed := at.Sub(f.last).Seconds()
		f.crowded += passed
		f.busy += passed * float64(len(f.running))
	}
	f.last = at
}

func (f *Forecast) wait(k *class, n int) {
	k.waiting += n
	if !k.alone {
		f.ahead += n
	}
}

// Started says that a trial begins.
func (f *Forecast) Started(t plan.Trial, at time.Time) {
	f.tick(at)
	k := f.class(&t)
	f.wait(k, -1)
	f.running[t.Key] = &activeTrial{class: k, start: at}
}

// Inner says how far a trial is: done of total.
func (f *Forecast) Inner(t plan.Trial, done, total int, what string, at time.Time) {
	r := f.running[t.Key]
	if r == nil {
		return
	}
	if r.inner.what != what || r.inner.total != total || done < r.inner.done || r.inner.since.IsZero() {
		r.inner = inner{what: what, total: total, first: done, since: at}
	}
	r.inner.done, r.inner.at = done, at
}

// Ended says that a trial has a record, and took some seconds.
func (f *Forecast) Ended(t plan.Trial, seconds float64, at time.Time) {
	f.Dropped(t, at)
	f.class(&t).observe(seconds)
	f.spent += seconds
}

// Dropped says that a trial will not be run, or has a record of another runner.
func (f *Forecast) Dropped(t plan.Trial, at time.Time) {
	f.tick(at)
	if f.running[t.Key] == nil {
		f.wait(f.class(&t), -1)
	}
	delete(f.running, t.Key)
}

// Again says that a trial has no result, and will be run again.
func (f *Forecast) Again(t plan.Trial, at time.Time) {
	f.tick(at)
	if f.running[t.Key] != nil {
		delete(f.running, t.Key)
		f.wait(f.class(&t), 1)
	}
}

// Left returns how long the run still takes; ok is false where nothing is known
// yet.
func (f *Forecast) Left(at time.Time) (left TimeLeft, ok bool) {
	f.tick(at)
	var seconds float64
	seconds, left.Least, left.Unknown = f.left(at)
	if math.IsInf(seconds, 0) || math.IsNaN(seconds) || left.Least && seconds < 1 {
		return TimeLeft{}, false
	}
	const longest = 100 * 365 * 24 * 3600 // a Duration holds 292 years
	left.Time = time.Duration(min(seconds, longest) * float64(time.Second))
	return left, true
}

// left shares the trials out to workers in their order.
func (f *Forecast) left(at time.Time) (seconds float64, least bool, unknown int) {
	var lanes []float64             // when each worker is free
	guesses := map[*class]float64{} // of classes of which nothing has ended
	for _, r := range f.running {
		rest, known := r.rest(at)
		lanes = append(lanes, rest)
		least = least || !known
		if known && r.class.ended == 0 {
			guesses[r.class] = max(guesses[r.class], at.Sub(r.start).Seconds()+rest)
		}
	}
	for len(lanes) < f.workers() {
		lanes = append(lanes, 0)
	}
	together, alone := 0.0, 0.0 // s of the trials that wait
	f.eachWaiting(func(k *class, n int) {
		cost, known := k.cost()
		if guess, ok := guesses[k]; ok {
			cost, known = guess, true
		}
		switch {
		case !known:
			least = true
			unknown += n
		case k.alone:
			alone += cost * float64(n)
		case f.jobs == 0:
			together += cost * float64(n)
		default:
			fill(lanes, cost, n)
		}
	})
	if f.jobs == 0 { // elsewhere: as fast as so far
		return (together + alone) * at.Sub(f.start).Seconds() / f.spent, least, unknown
	}
	return slices.Max(lanes) + alone, least, unknown
}

// eachWaiting visits the trials that have not begun, in the order of the plan: those
// of a class that have begun are its first ones.
func (f *Forecast) eachWaiting(visit func(k *class, n int)) {
	begun := map[*class]int{}
	for _, s := range f.order {
		if _, ok := begun[s.class]; !ok {
			begun[s.class] = s.class.planned - s.class.waiting
		}
		n := max(0, s.count-max(0, begun[s.class]))
		begun[s.class] -= s.count - n
		if n > 0 {
			visit(s.class, n)
		}
	}
}

// settled is the seconds after which what runs at a time is known.
const settled = 2

// workers is how many trials run at a time: memory may hold fewer than there are
// jobs.
func (f *Forecast) workers() int {
	if f.crowded < settled {
		return max(1, f.jobs)
	}
	return min(max(1, int(math.Round(f.busy/f.crowded))), max(1, f.jobs))
}

// fill gives n trials of equal cost to the workers that are free first.
func fill(lanes []float64, cost float64, n int) {
	slices.Sort(lanes)
	if n <= 4*len(lanes) {
		for range n {
			i := 0
			for j := range lanes {
				if lanes[j] < lanes[i] {
					i = j
				}
			}
			lanes[i] += cost
		}
		return
	}
	// Many level out: each of the first workers is free at the same time.
	work := float64(n) * cost
	for i := range lanes {
		work += lanes[i]
		if level := work / float64(i+1); i+1 == len(lanes) || level <= lanes[i+1] {
			for j := range i + 1 {
				lanes[j] = level
			}
			return
		}
	}
}

// overdue is the share of its elapsed time that a trial is given which takes longer
// than those before it.
const overdue = 0.1

// rest is how long a trial that runs still takes; where that is not known, it is
// a lower bound.
func (r *activeTrial) rest(at time.Time) (seconds float64, known bool) {
	elapsed := at.Sub(r.start).Seconds()
	inner, moved := r.inner.rest(at)
	cost, known := r.class.cost()
	switch {
	case moved && (r.class.ended == 0 || elapsed >= cost):
		return inner, true
	case known:
		return max(cost-elapsed, overdue*elapsed), true
	}
	return 0, false
}

// rest is how long the present phase still takes at its speed so far.
func (p inner) rest(at time.Time) (seconds float64, ok bool) {
	moved := p.done - p.first
	if moved <= 0 || p.total <= 0 {
		return 0, false
	}
	each := p.at.Sub(p.since).Seconds() / float64(moved)
	return max(0, each*float64(p.total-p.done)-at.Sub(p.at).Seconds()), true
}
