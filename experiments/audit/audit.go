// Package audit looks for violations of the guarantee that a release claims. It
// releases two neighbouring data sets many times and tests the outputs:
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
// The exact δ(ε) of Gaussian noise as it is stated is computed as well.
//
// Where this project has a release, the subject is that release: the function that
// plans it for a user plans it for made-up data, and its outputs are drawn again
// and again, with the search for the worst neighbours going through the same code
// ([Worst], [WorstOf]). Elsewhere it is the mechanism as trials call it.
//
// An audit can show that a claim is false. It can never show that it is true:
// other neighbours, other events or more draws may show more.
package audit

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

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

// learntDraws bounds the draws of each data set from which discriminants are learnt, keptDraws
// the draws whose outputs are kept for the tests of noise and support.
const (
	learntDraws = 40_000
	keptDraws   = NoiseDraws
)

// Validate returns an error for options that no audit can use.
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

// Total returns the number of releases that the audit of a subject draws.
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

// Finding is evidence of a test against a subject.
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
	// EpsilonAtLeast bounds ε at the claimed δ from below, at the confidence; 0 is no
	// bound.
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
	// Violation reports whether there are findings.
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

// Found reports whether a test has found something.
func (r *Assessment) Found(t Test) bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Test == t })
}

// Event is the set of outputs that was tested, with its frequencies in the second half
// of the draws.
type Event struct {
	Pair string `json:"pair"`
	// Statistic names the number that the outputs were reduced to.
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
	if err := r.testStated(s); err != nil {
		return nil, fmt.Errorf("audit of %s: %w", s.Name, err)
	}
	// One event of one pair is tested, and one Gaussian bound, so that there is
	// nothing to correct for.
	var best choice
	var apart separation
	for i, pair := range s.Pairs {
		d, err := sample(ctx, s, i, o)
		if err == nil {
			err = r.testPair(ctx, s, i, d)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("audit of %s, %s: %w", s.Name, pair.Name, err)
		}
		if c := d.choose(s.Claim, o); i == 0 || c.better(best) {
			c.pair = pair.Name
			best = c
		}
		if a := d.separate(pair.Name); s.Law == Gaussian && (i == 0 || a.size > apart.size) {
			apart = a
		}
	}
	r.testEvent(s.Claim, best)
	if s.Law == Gaussian {
		if err := r.testSeparation(s.Claim, apart); err != nil {
			return nil, fmt.Errorf("audit of %s: %w", s.Name, err)
		}
	}
	r.order()
	return r, nil
}

// testStated compares the claim with the exact δ of the stated noise.
func (r *Assessment) testStated(s Subject) error {
	if s.Sigma == 0 {
		return nil
	}
	exact, err := mechanism.GaussianDelta(s.Claim.Epsilon, s.Sigma)
	if err != nil {
		return err
	}
	r.ExactDelta = &exact
	r.made(Exact)
	if exceeds(exact, s.Claim.Delta) {
		r.found(Exact, "the stated noise has delta = %.6g at epsilon = %g", exact, s.Claim.Epsilon)
	}
	return nil
}

// testPair makes the tests that look at one pair: noise, support, the rest and the whole.
func (r *Assessment) testPair(ctx context.Context, s Subject, i int, d *draws) error {
	pair := s.Pairs[i]
	if err := r.testNoise(s, d); err != nil {
		return err
	}
	r.testSupport(pair, d)
	if pair.Follows != nil {
		r.made(Rest)
		text, err := pair.Follows(ctx)
		if err != nil {
			return err
		}
		if text != "" {
			r.found(Rest, "%s", text)
		}
	}
	if pair.Whole == nil {
		return nil
	}
	r.made(Files)
	found, err := TestWhole(pair, func(second bool, k int) *rand.ChaCha8 {
		return streamOf(s.Name, "whole", i, second, k, r.Seed)
	})
	for _, text := range found {
		r.found(Files, "%s", text)
	}
	return err
}

// testEvent bounds ε and δ by the event, on the draws that had no part in its choice.
func (r *Assessment) testEvent(claim mechanism.Guarantee, best choice) {
	r.made(BlackBox)
	r.Event = best.test()
	e := r.Event
	r.EpsilonAtLeast = EpsilonAtLeast(e.Hits, e.OtherHits, e.Tested, claim.Delta, r.Confidence)
	r.DeltaAtLeast = DeltaAtLeast(e.Hits, e.OtherHits, e.Tested, claim.Epsilon, r.Confidence)
	if r.EpsilonAtLeast > claim.Epsilon {
		r.found(BlackBox, "epsilon >= %.3f at delta = %g, delta >= %.3g at epsilon = %g",
			r.EpsilonAtLeast, r.Delta, r.DeltaAtLeast, r.Epsilon)
	}
}

// testSeparation bounds δ by how far apart Gaussian outputs are.
func (r *Assessment) testSeparation(claim mechanism.Guarantee, apart separation) error {
	r.made(Mu)
	b, err := gaussianBound(apart, claim, r.Confidence)
	if err != nil {
		return err
	}
	r.Gaussian = &b
	if b.Delta > claim.Delta {
		r.found(Mu, "the drawn noise has mu >= %.4g: delta >= %.3g at epsilon = %g", b.MuAtLeast, b.Delta, r.Epsilon)
	}
	return nil
}

// order puts tests and findings into the order of [Tests].
func (r *Assessment) order() {
	rank := func(t Test) int { return slices.Index(Tests(), t) }
	slices.SortStableFunc(r.Made, func(a, b Test) int { return rank(a) - rank(b) })
	slices.SortStableFunc(r.Findings, func(a, b Finding) int { return rank(a.Test) - rank(b.Test) })
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
