package progress

import (
	"hash/maphash"
	"math"
	"time"

	"privkern/runner/experiment"
	"privkern/runner/plan"
)

// Forecast predicts the time that a run still takes. Trials that differ in the seed
// alone are of one setting. Each costs the mean of the setting's ended trials, or that
// of its experiment where none has ended. A Forecast has no clock: every method takes
// the time of the event.
type Forecast struct {
	jobs        int
	seed        maphash.Seed
	experiments map[string]*mean
	settings    map[uint64]*setting
	running     map[string]*activeTrial // by key

	start time.Time
	ended mean // trials of this run
	most  int  // largest number of trials that ran at a time
}

// mean is a mean of durations in seconds.
type mean struct {
	n   int
	sum float64
}

func (m *mean) add(seconds float64) { m.n, m.sum = m.n+1, m.sum+max(0, seconds) }

// setting is the trials that differ in the seed alone.
type setting struct {
	mean
	experiment *mean
	waiting    int  // trials to be run that have not begun
	alone      bool // they run one at a time
}

// cost predicts the seconds of a trial; known is false where no trial of its experiment
// has ended.
func (s *setting) cost() (seconds float64, known bool) {
	m := &s.mean
	if m.n == 0 {
		m = s.experiment
	}
	return m.sum / float64(max(1, m.n)), m.n > 0
}

// activeTrial is a trial that runs.
type activeTrial struct {
	setting *setting
	start   time.Time
	phase   phase
}

// phase is the progress of a trial in its present phase.
type phase struct {
	name        string
	total       int
	first, done int // at the first and at the last report
	since, at   time.Time
}

// TimeLeft is a forecast.
type TimeLeft struct {
	Time time.Duration
	// Least is true where Time is a lower bound, because the cost of some trials is
	// unknown.
	Least bool
	// Unknown counts the trials of unknown cost that have not begun. Time leaves them out.
	Unknown int
}

// NewForecast returns the forecast of a run that starts at a time.
func NewForecast(w plan.Workload, start time.Time) *Forecast {
	f := &Forecast{jobs: w.Jobs, seed: maphash.MakeSeed(), experiments: map[string]*mean{},
		settings: map[uint64]*setting{}, running: map[string]*activeTrial{}, start: start}
	for _, p := range w.Past {
		f.setting(&w.Plan.Trials[p.Index]).observe(p.Seconds)
	}
	for _, i := range w.Pending {
		f.setting(&w.Plan.Trials[i]).waiting++
	}
	for _, i := range w.Alone {
		s := f.setting(&w.Plan.Trials[i])
		s.waiting++
		s.alone = true
	}
	return f
}

// setting returns the setting of a trial.
func (f *Forecast) setting(t *plan.Trial) *setting {
	key := maphash.String(f.seed, t.Experiment)
	for name, v := range t.Params { // in any order
		key += maphash.String(f.seed, name+"="+experiment.FormatValue(v))
	}
	s := f.settings[key]
	if s == nil {
		if f.experiments[t.Experiment] == nil {
			f.experiments[t.Experiment] = &mean{}
		}
		s = &setting{experiment: f.experiments[t.Experiment]}
		f.settings[key] = s
	}
	return s
}

func (s *setting) observe(seconds float64) {
	s.add(seconds)
	s.experiment.add(seconds)
}

// Started notes that a trial begins.
func (f *Forecast) Started(t plan.Trial, at time.Time) {
	s := f.setting(&t)
	s.waiting--
	f.running[t.Key] = &activeTrial{setting: s, start: at}
	f.most = max(f.most, len(f.running))
}

// Inner notes that a trial has done a part of its present phase.
func (f *Forecast) Inner(t plan.Trial, done, total int, name string, at time.Time) {
	r := f.running[t.Key]
	if r == nil {
		return
	}
	if p := r.phase; p.name != name || p.total != total || done < p.done || p.since.IsZero() {
		r.phase = phase{name: name, total: total, first: done, since: at}
	}
	r.phase.done, r.phase.at = done, at
}

// Ended notes that a trial has a record, with its duration.
func (f *Forecast) Ended(t plan.Trial, seconds float64) {
	f.Dropped(t)
	f.setting(&t).observe(seconds)
	f.ended.add(seconds)
}

// Dropped notes that a trial will not be run, or has a record of another runner.
func (f *Forecast) Dropped(t plan.Trial) {
	if f.running[t.Key] == nil {
		f.setting(&t).waiting--
	}
	delete(f.running, t.Key)
}

// Again notes that a trial has no result, and will be run again.
func (f *Forecast) Again(t plan.Trial) {
	if r := f.running[t.Key]; r != nil {
		delete(f.running, t.Key)
		r.setting.waiting++
	}
}

// Left predicts the time that the run still takes; ok is false where nothing is known
// yet.
func (f *Forecast) Left(at time.Time) (left TimeLeft, ok bool) {
	longest, together, alone := 0.0, 0.0, 0.0 // s
	guesses := map[*setting]float64{}         // of settings without an ended trial
	for _, r := range f.running {
		rest, known := r.rest(at)
		longest, together = max(longest, rest), together+rest
		left.Least = left.Least || !known
		if known && r.setting.n == 0 {
			guesses[r.setting] = max(guesses[r.setting], at.Sub(r.start).Seconds()+rest)
		}
	}
	for _, s := range f.settings {
		if s.waiting <= 0 {
			continue
		}
		cost, known := s.cost()
		if guess, ok := guesses[s]; ok {
			cost, known = guess, true
		}
		switch {
		case !known:
			left.Least = true
			left.Unknown += s.waiting
		case s.alone:
			alone += cost * float64(s.waiting)
		default:
			longest, together = max(longest, cost), together+cost*float64(s.waiting)
		}
	}
	seconds := max(longest, together/f.workers()) + alone
	if f.jobs == 0 { // elsewhere: as fast as so far
		seconds = (together + alone) * at.Sub(f.start).Seconds() / f.ended.sum
	}
	if math.IsInf(seconds, 0) || math.IsNaN(seconds) || left.Least && seconds < 1 {
		return TimeLeft{}, false
	}
	const most = 100 * 365 * 24 * 3600 // a Duration holds 292 years
	left.Time = time.Duration(min(seconds, most) * float64(time.Second))
	return left, true
}

// workers returns the number of trials that run at a time. Memory may hold fewer than
// the jobs that are asked for.
func (f *Forecast) workers() float64 {
	if f.ended.n > 0 && f.most > 0 {
		return float64(f.most)
	}
	return float64(max(1, f.jobs))
}

// overdue is the share of its elapsed time that a trial is given that takes longer
// than expected.
const overdue = 0.1

// rest predicts the seconds that a trial still takes, by its phase or by its setting. Where
// they are unknown, it is a lower bound.
func (r *activeTrial) rest(at time.Time) (seconds float64, known bool) {
	elapsed := at.Sub(r.start).Seconds()
	rest, moved := r.phase.rest(at)
	cost, known := r.setting.cost()
	switch {
	case moved && (r.setting.n == 0 || elapsed >= cost):
		return rest, true
	case known:
		return max(cost-elapsed, overdue*elapsed), true
	}
	return 0, false
}

// rest predicts the seconds that the phase still takes at its speed so far.
func (p phase) rest(at time.Time) (seconds float64, ok bool) {
	moved := p.done - p.first
	if moved <= 0 || p.total <= 0 {
		return 0, false
	}
	each := p.at.Sub(p.since).Seconds() / float64(moved)
	return max(0, each*float64(p.total-p.done)-at.Sub(p.at).Seconds()), true
}
