// Package audit looks for violations of what a release claims to protect. It
// releases two neighbouring data sets many times and looks at what comes out:
//
//   - the noise: as it is drawn, it has the stated law ([TestNoise]);
//   - the black box: an event bounds δ and ε from below by how often the outputs
//     fall into it (Jagielski, Ullman and Oprea, "Auditing differentially private
//     machine learning", NeurIPS 2020; Ding, Wang, Wang, Zhang and Kifer,
//     "Detecting violations of differential privacy", CCS 2018). The event is
//     chosen on one half of the draws and tested on the other, by the bounds of
//     Clopper and Pearson (1934);
//   - the Gaussian bound: where the noise is Gaussian, how far apart the outputs
//     are bounds δ at every ε without rare events ([MuAtLeast]; Dong, Roth and Su,
//     "Gaussian differential privacy", 2022);
//   - the support: the published numbers lie on the stated grid ([TestSupport]);
//   - the rest: with equal noisy numbers, the releases of neighbours are equal;
//   - the whole: sizes, messages and metadata reveal nothing ([TestWhole]).
//
// The exact δ(ε) of Gaussian noise as it is stated is computed besides, see
// [CheckGaussian].
//
// Where this project has a release, the subject is that release: the function that
// plans it for a user plans it for made-up data, and what it publishes is drawn again
// and again, with the search for the worst neighbours going through the same code
// ([Worst], [WorstOf]). Elsewhere it is the mechanism as trials call it.
//
// An audit can show that a claim is false. It can never show that it is true:
// other neighbours, other events or more draws may say more.
package audit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"privkern/experiments/mechanism"
)

// Options are the settings of an audit.
type Options struct {
	// Draws is how many releases are drawn of each data set of each pair; half of
	// them choose the event. 0 leaves it to the subject.
	Draws      int
	Confidence float64 // that the bounds of ε, δ and μ hold, each, strictly between 0 and 1
	Seed       uint64
	// Drawn, if not nil, is given how many releases were drawn since the last call.
	// It is called from several goroutines.
	Drawn func(n int)
}

// DefaultDraws finds ×.85 of the analytic noise at (1, .01) with a probability
// above .999, see TestPower.
const DefaultDraws = 400_000

// maxDraws bounds the memory of an audit: a few statistics of each draw are kept,
// 8 bytes each, and those of the best pair.
const maxDraws = 100_000_000

// MinDraws is the least number of draws with which an event can be chosen.
const MinDraws = 100

// Draws that discriminants are learnt from at most, of each data set, and draws
// whose outputs are kept for the tests of noise and support.
const (
	learnt = 40_000
	kept   = NoiseDraws
)

// Validate says what is wrong with the options.
func (o Options) Validate() error {
	if o.Draws < MinDraws && o.Draws != 0 {
		return fmt.Errorf("%d draws are too few to choose an event; take at least %d", o.Draws, MinDraws)
	}
	if o.Draws > maxDraws {
		return fmt.Errorf("%d draws are too many to keep; take at most %d", o.Draws, maxDraws)
	}
	if !(o.Confidence > 0 && o.Confidence < 1) {
		return fmt.Errorf("a confidence of %v is no probability strictly between 0 and 1", o.Confidence)
	}
	return nil
}

// Total is how many releases the audit of a subject draws.
func (o Options) Total(s Subject) int { return 2 * o.of(s).Draws * len(s.Pairs) }

// of returns the options with the draws of a subject.
func (o Options) of(s Subject) Options {
	if o.Draws == 0 {
		o.Draws = s.Draws
	}
	if o.Draws == 0 {
		o.Draws = DefaultDraws
	}
	return o
}

// Test names one of the ways to look at a release.
type Test string

// The tests, in the order in which they are reported.
const (
	Exact    Test = "exact"
	Noise    Test = "noise"
	BlackBox Test = "event"
	Mu       Test = "gaussian"
	Support  Test = "support"
	Rest     Test = "rest"
	Files    Test = "whole"
)

// Tests returns all tests.
func Tests() []Test { return []Test{Exact, Noise, BlackBox, Mu, Support, Rest, Files} }

// Finding is something that a test says against a subject.
type Finding struct {
	Test Test   `json:"test"`
	Text string `json:"text"`
}

// Assessment is the outcome of an audit.
type Assessment struct {
	Mechanism  string  `json:"mechanism"`
	Unit       string  `json:"unit"`
	Epsilon    float64 `json:"claimed_epsilon"`
	Delta      float64 `json:"claimed_delta"`
	Draws      int     `json:"draws"`
	Confidence float64 `json:"confidence"`
	Seed       uint64  `json:"seed"`
	// EpsilonAtLeast bounds ε at the claimed δ from below, at the confidence. 0
	// says nothing.
	EpsilonAtLeast float64 `json:"epsilon_at_least"`
	// DeltaAtLeast bounds δ at the claimed ε from below, by the same event.
	DeltaAtLeast float64 `json:"delta_at_least"`
	Event        Event   `json:"event"`
	// ExactDelta is the smallest δ at the claimed ε of the stated noise, of Gaussian
	// mechanisms only.
	ExactDelta *float64 `json:"exact_delta,omitempty"`
	// Gaussian is the bound from the drawn noise, of Gaussian mechanisms only.
	Gaussian *GaussianBound `json:"gaussian,omitempty"`
	// Noise holds a report for each pair, where noise is stated.
	Noise []NoiseReport `json:"noise,omitempty"`
	// Made lists the tests that were made; the others do not apply.
	Made     []Test    `json:"tests"`
	Findings []Finding `json:"findings,omitempty"`
	// Violation says that there are findings.
	Violation bool `json:"violation"`
}

func (r *Assessment) made(t Test) {
	if !slices.Contains(r.Made, t) {
		r.Made = append(r.Made, t)
	}
}

func (r *Assessment) found(t Test, format string, args ...any) {
	r.Findings = append(r.Findings, Finding{t, fmt.Sprintf(format, args...)})
	r.Violation = true
}

// Found says whether a test has found something.
func (r *Assessment) Found(t Test) bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Test == t })
}

// Event is the set of outputs that was tested, with what came of it in the
// second half of the draws.
type Event struct {
	Pair string `json:"pair"`
	// Statistic names what the outputs were reduced to.
	Statistic string `json:"statistic"`
	// Outputs describes the set.
	Outputs string `json:"outputs"`
	// Likely is the data set, 1 or 2, under which the event is the likelier one.
	Likely int `json:"likely"`
	// Hits and OtherHits count the draws in the event under the likely data set
	// and under the other, of Tested each.
	Hits      int `json:"hits"`
	OtherHits int `json:"other_hits"`
	Tested    int `json:"tested"`
}

// Run audits a subject. Equal seeds give equal results, on any number of cores.
func Run(ctx context.Context, s Subject, o Options) (*Assessment, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if len(s.Pairs) == 0 {
		return nil, fmt.Errorf("audit of %s: there are no neighbouring data sets", s.Name)
	}
	o = o.of(s)
	r := &Assessment{
		Mechanism: s.Name, Unit: s.Unit, Epsilon: s.Claim.Epsilon, Delta: s.Claim.Delta,
		Draws: o.Draws, Confidence: o.Confidence, Seed: o.Seed,
	}
	if s.Sigma != 0 {
		exact, err := mechanism.GaussianDelta(s.Claim.Epsilon, s.Sigma)
		if err != nil {
			return nil, fmt.Errorf("audit of %s: %w", s.Name, err)
		}
		r.ExactDelta = &exact
		r.made(Exact)
		if exceeds(exact, s.Claim.Delta) {
			r.found(Exact, "the stated noise has delta = %.6g at epsilon = %g", exact, s.Claim.Epsilon)
		}
	}
	// One event of one pair is tested, and one Gaussian bound, so that there is
	// nothing to correct for.
	var best choice
	var apart separation
	for i, pair := range s.Pairs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		d, err := sample(ctx, s, i, o)
		if err != nil {
			return nil, err
		}
		if err := r.testNoise(s, d); err != nil {
			return nil, fmt.Errorf("audit of %s, %s: %w", s.Name, pair.Name, err)
		}
		r.testSupport(pair, d)
		if pair.Follows != nil {
			r.made(Rest)
			text, err := pair.Follows(ctx)
			if err != nil {
				return nil, fmt.Errorf("audit of %s, %s: %w", s.Name, pair.Name, err)
			}
			if text != "" {
				r.found(Rest, "%s", text)
			}
		}
		if pair.Whole != nil {
			r.made(Files)
			found, err := TestWhole(pair, func(second bool, k int) *rand.ChaCha8 {
				return streamOf(s.Name, "whole", i, second, k, o.Seed)
			})
			if err != nil {
				return nil, fmt.Errorf("audit of %s, %s: %w", s.Name, pair.Name, err)
			}
			for _, text := range found {
				r.found(Files, "%s", text)
			}
		}
		if c := d.choose(s.Claim, o); i == 0 || c.better(best) {
			c.pair = pair.Name
			best = c
		}
		if a := d.separate(pair.Name); s.Law == Gaussian && (i == 0 || a.size > apart.size) {
			apart = a
		}
	}
	r.made(BlackBox)
	r.Event = best.test()
	e := r.Event
	r.EpsilonAtLeast = EpsilonAtLeast(e.Hits, e.OtherHits, e.Tested, s.Claim.Delta, o.Confidence)
	r.DeltaAtLeast = DeltaAtLeast(e.Hits, e.OtherHits, e.Tested, s.Claim.Epsilon, o.Confidence)
	if r.EpsilonAtLeast > s.Claim.Epsilon {
		r.found(BlackBox, "epsilon >= %.3f at delta = %g, delta >= %.3g at epsilon = %g",
			r.EpsilonAtLeast, r.Delta, r.DeltaAtLeast, r.Epsilon)
	}
	if s.Law == Gaussian {
		r.made(Mu)
		b, err := gaussianBound(apart, s.Claim, o.Confidence)
		if err != nil {
			return nil, fmt.Errorf("audit of %s: %w", s.Name, err)
		}
		r.Gaussian = &b
		if b.Delta > s.Claim.Delta {
			r.found(Mu, "the drawn noise has mu >= %.4g: delta >= %.3g at epsilon = %g", b.MuAtLeast, b.Delta, r.Epsilon)
		}
	}
	r.order()
	return r, nil
}

// order puts tests and findings into the order of [Tests].
func (r *Assessment) order() {
	place := func(t Test) int { return slices.Index(Tests(), t) }
	slices.SortStableFunc(r.Made, func(a, b Test) int { return place(a) - place(b) })
	slices.SortStableFunc(r.Findings, func(a, b Finding) int { return place(a.Test) - place(b.Test) })
}

func (r *Assessment) testNoise(s Subject, d *draws) error {
	if d.noise[0] == nil || s.Law == "" {
		return nil
	}
	var samples []NoiseSample
	for _, values := range d.noise {
		samples = append(samples, NoiseSample{Values: values, D: d.noiseD, Grid: d.noiseGrid, Law: s.Law})
	}
	if len(samples[0].Values)/d.noiseD < minNoise {
		return nil
	}
	report, err := TestNoise(samples...)
	if err != nil {
		return err
	}
	r.made(Noise)
	r.Noise = append(r.Noise, report)
	for _, t := range report.Rejected {
		r.found(Noise, "%s: %.4g (p = %.1g)", t.Name, t.Statistic, t.P)
	}
	return nil
}

func (r *Assessment) testSupport(pair Pair, d *draws) {
	for _, text := range d.moved {
		r.made(Support)
		r.found(Support, "%s: %s", pair.Name, text)
	}
	if d.grid[0] == nil && d.grid[1] == nil {
		return
	}
	r.made(Support)
	first := SupportSample{Values: d.published[0], D: d.size, Grid: d.grid[0], Scale: d.scale[0]}
	second := SupportSample{Values: d.published[1], D: d.size, Grid: d.grid[1], Scale: d.scale[1]}
	for _, text := range TestSupport(first, second) {
		r.found(Support, "%s: %s", pair.Name, text)
	}
}

// draws is what is kept of the releases of one pair. Where there are two of
// something, they are of the two data sets.
type draws struct {
	statistics []statistic
	// values[k][side] holds statistic k of the draws.
	values    [][2][]float64
	size      int // coordinates published
	published [2][]float64
	noise     [2][]float64
	noiseD    int
	noiseGrid float64
	grid      [2][]float64
	scale     [2][]float64
	moved     []string // grids and sizes that differ between releases
}

// choose chooses the event on the first half, among all statistics.
func (d *draws) choose(claim mechanism.Guarantee, o Options) choice {
	half := o.Draws / 2
	var best choice
	for k, s := range d.statistics {
		first, second := d.values[k][0], d.values[k][1]
		c := bestEvent(first[:half], second[:half], claim, o.Confidence)
		if k == 0 || c.better(best) {
			best = c
			best.index, best.by, best.first, best.second = k, s.name, first[half:], second[half:]
		}
	}
	return best
}

// separation is the linear statistic whose means are the farthest apart on the
// first half of the draws, with its values on the second.
type separation struct {
	pair          string
	size          float64
	first, second []float64
}

func (d *draws) separate(pair string) separation {
	best := separation{size: -1}
	for k, s := range d.statistics {
		if !s.linear {
			continue
		}
		first, second := d.values[k][0], d.values[k][1]
		half := len(first) / 2
		m0, v0 := moments(first[:half])
		m1, v1 := moments(second[:half])
		size := 0.0
		if m0 != m1 {
			size = math.Abs(m1-m0) / math.Sqrt((v0+v1)/2)
		}
		if size > best.size {
			best = separation{pair: pair, size: size, first: first[half:], second: second[half:]}
		}
	}
	return best
}

// chunk is how many releases come from one stream.
const chunk = 1000

// sample draws both data sets of a pair. The streams belong to places in the
// sample, not to goroutines. The first draws, at most half of those that choose the
// event, are what discriminants are learnt from.
func sample(ctx context.Context, s Subject, pair int, o Options) (*draws, error) {
	learn := min(learnt, max(o.Draws/4, 1))
	d := new(draws)
	var early [2][]Output
	for side := range early {
		early[side] = make([]Output, learn)
		err := each(ctx, s, pair, side == 1, 0, learn, o, func(i int, out Output) error {
			if slices.ContainsFunc(out.Published, math.IsNaN) {
				return errors.New("an output is NaN, which belongs to no event")
			}
			early[side][i] = out
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	shapes := newShapes(early[0], early[1])
	probe := early[0][0]
	d.size, d.noiseD = shapes.size, len(probe.Noise)
	d.statistics = statistics(early[0], early[1])
	if shapes.vary() {
		lengths := statistic{name: "number of coordinates", of: func(o Output) float64 { return float64(o.length) }}
		d.statistics = append(d.statistics, lengths)
	}
	if len(d.statistics) == 0 {
		return nil, fmt.Errorf("audit of %s, %s: nothing is published", s.Name, s.Pairs[pair].Name)
	}
	d.values = make([][2][]float64, len(d.statistics))
	for side := range early {
		if err := d.fill(ctx, s, pair, side, early[side], shapes, o); err != nil {
			return nil, err
		}
	}
	if shapes.vary() {
		d.moved = append(d.moved, fmt.Sprintf("releases have between %d and %d coordinates",
			shapes.least.Load(), shapes.most.Load()))
		d.noise, d.grid, d.scale = [2][]float64{}, [2][]float64{}, [2][]float64{}
	}
	return d, nil
}

// fill records the early draws of a data set and makes the others.
func (d *draws) fill(ctx context.Context, s Subject, pair, side int, early []Output, shapes *shapes, o Options) error {
	keep := min(kept, o.Draws)
	for k := range d.values {
		d.values[k][side] = make([]float64, o.Draws)
	}
	d.grid[side], d.scale[side] = early[0].Grid, early[0].Scale
	if d.noiseD > 0 {
		d.noise[side] = make([]float64, keep*d.noiseD)
	}
	if d.grid[side] != nil {
		d.published[side] = make([]float64, keep*d.size)
	}
	for _, out := range early {
		d.noiseGrid = max(d.noiseGrid, out.NoiseGrid)
	}
	var moved atomic.Int64
	record := func(i int, out Output) error {
		for k, t := range d.statistics {
			v := t.of(out)
			if math.IsNaN(v) {
				return errors.New("an output is NaN, which belongs to no event")
			}
			d.values[k][side][i] = v
		}
		if !slices.Equal(out.Grid, d.grid[side]) {
			moved.Add(1)
		}
		if i < keep {
			copy(d.noise[side][min(i*d.noiseD, len(d.noise[side])):min((i+1)*d.noiseD, len(d.noise[side]))], out.Noise)
			if d.published[side] != nil {
				copy(d.published[side][i*d.size:], out.Published)
			}
		}
		return nil
	}
	for i, out := range early {
		if err := record(i, out); err != nil {
			return fmt.Errorf("audit of %s, %s: %w", s.Name, s.Pairs[pair].Name, err)
		}
	}
	err := each(ctx, s, pair, side == 1, len(early), o.Draws, o, func(i int, out Output) error {
		shapes.fit(&out)
		return record(i, out)
	})
	if n := moved.Load(); n > 0 {
		d.moved = append(d.moved, fmt.Sprintf("%d of %d releases of data set %d have another grid", n, o.Draws, side+1))
	}
	return err
}

// shapes are how many coordinates releases have, which should be one number.
type shapes struct {
	size        int
	least, most atomic.Int64
}

// newShapes fits early releases to the longest of them.
func newShapes(early ...[]Output) *shapes {
	s := new(shapes)
	s.least.Store(math.MaxInt64)
	for _, draws := range early {
		for _, o := range draws {
			s.size = max(s.size, len(o.Published))
		}
	}
	for _, draws := range early {
		for i := range draws {
			s.fit(&draws[i])
		}
	}
	return s
}

func (s *shapes) vary() bool { return s.least.Load() < s.most.Load() }

// fit notes the length of a release and makes it the common one, with zeros or by
// leaving coordinates out.
func (s *shapes) fit(o *Output) {
	o.length = len(o.Published)
	n := int64(o.length)
	for least := s.least.Load(); n < least && !s.least.CompareAndSwap(least, n); least = s.least.Load() {
	}
	for most := s.most.Load(); n > most && !s.most.CompareAndSwap(most, n); most = s.most.Load() {
	}
	if o.length != s.size {
		fitted := make([]float64, s.size)
		copy(fitted, o.Published)
		o.Published = fitted
	}
}

// each draws the releases from..to-1 of one data set and hands them over, from
// several goroutines.
func each(ctx context.Context, s Subject, pair int, second bool, from, to int, o Options,
	record func(i int, out Output) error) error {
	chunks := (to - from + chunk - 1) / chunk
	workers := min(runtime.GOMAXPROCS(0), chunks)
	failures := make([]error, workers)
	var next atomic.Int64
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			for {
				k := int(next.Add(1)) - 1
				if k >= chunks {
					return
				}
				if failures[w] = ctx.Err(); failures[w] != nil {
					return
				}
				low, high := from+k*chunk, min(from+(k+1)*chunk, to)
				entropy := streamOf(s.Name, "draws", pair, second, low, o.Seed)
				for i := low; i < high; i++ {
					out, err := s.Pairs[pair].Draw(second, entropy)
					if err == nil {
						err = record(i, out)
					}
					if err != nil {
						failures[w] = fmt.Errorf("audit of %s, %s: %w", s.Name, s.Pairs[pair].Name, err)
						next.Store(int64(chunks)) // the others need not go on
						return
					}
				}
				if o.Drawn != nil {
					o.Drawn(high - low)
				}
			}
		})
	}
	group.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	return errors.Join(failures...)
}
