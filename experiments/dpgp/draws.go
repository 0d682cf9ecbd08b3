package dpgp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"privkern/experiments/dpgp/sparse"
	"privkern/experiments/mechanism"
	"privkern/graphs/op"
	"privkern/graphs/sparsegp"
)

// A search draws a candidate, its noise, and the noise of its score, until a coin ends it. The numbers that
// a draw takes do not depend on data, but for one thing: a draw without a model takes none for its score. So
// the draws of a search are planned, as if each had a model, and computed in common runs with those of other
// repeats. Where one turns out to have none, the draws after it are planned anew, from the numbers that it
// left. Results are those of one draw after another.

// replay is a source that can be read again from any of its numbers.
type replay struct {
	from    rand.Source
	numbers []uint64
	at      int
}

// Uint64 implements [rand.Source].
func (r *replay) Uint64() uint64 {
	if r.at == len(r.numbers) {
		r.numbers = append(r.numbers, r.from.Uint64())
	}
	r.at++
	return r.numbers[r.at-1]
}

// forget makes the next number the first one, and returns how many were before it.
func (r *replay) forget() (n int) {
	n, r.at = r.at, 0
	r.numbers = slices.Delete(r.numbers, 0, n)
	return n
}

// drawn is a draw that has been computed.
type drawn struct {
	score mechanism.Score // NaN without a model
	model bool
	// outside reports that the mean log-likelihood is beyond its interval.
	outside bool
	after   int // place in the stream of random numbers
}

// planned is a draw that is to be computed.
type planned struct {
	candidate int
	sums      sparsegp.Sums // with noise
	scored    int           // place in the stream of the numbers of its score
}

// attempt is the search of one repeat.
type attempt struct {
	*sample
	settled choice    // of the first draws, whose numbers are forgotten
	stream  replay    // the numbers after those
	done    []drawn   // the draws after those, in their order
	next    []planned // those after them
	limit   int       // of the draws that are planned, where many have had no model; 0 for none
	choice  choice
}

// errPlanned ends a plan that is long enough.
var errPlanned = errors.New("enough draws are planned")

// walk goes through the draws that are not settled, up to a number of all. evaluate plans one that is not done.
func (a *attempt) walk(steps int, evaluate func(candidate int, rng *rand.Rand) error) (choice, error) {
	s, out, place := a.search, a.settled, 0
	budget := s.budget
	budget.Steps, a.stream.at = steps, 0
	selected, err := mechanism.SelectAfter(out.Selected, budget, len(s.candidates), s.settings.Rule,
		func(i int, rng *rand.Rand) (struct{}, mechanism.Score, error) {
			if place == len(a.done) {
				return struct{}{}, mechanism.Score{Value: math.NaN()}, evaluate(i, rng)
			}
			one := a.done[place]
			place++
			a.stream.at = one.after
			out.count(one)
			return struct{}{}, one.score, nil
		}, rand.New(&a.stream))
	out.Selected = selected
	return out, err
}

// plan goes through the draws, and plans at most some of those that are not done. Without any the choice is final.
func (a *attempt) plan(ctx context.Context, most int) (err error) {
	if settled := len(a.done) - 1; settled > 0 { // none of them was the last draw
		if a.settled, err = a.walk(a.settled.Draws+settled, nil); err != nil {
			return err
		}
		a.done = slices.Delete(a.done, 0, settled)
		a.done[0].after -= a.stream.forget()
	}
	s := a.search
	a.next = nil
	a.choice, err = a.walk(s.budget.Steps, func(i int, rng *rand.Rand) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if len(a.next) == most || a.limit > 0 && len(a.next) == a.limit {
			return errPlanned
		}
		c := s.candidates[i]
		sums := c.noise.NoisyCopy(a.parts[c.length].sums, rng)
		a.next = append(a.next, planned{i, sums, a.stream.at})
		_, err := c.score.Mean([]float64{c.score.Centre}, rng) // takes the numbers that any mean takes
		return err
	})
	if errors.Is(err, errPlanned) {
		return nil
	}
	return err
}

// final reports whether the last plan has the choice.
func (a *attempt) final() bool { return len(a.done) > 0 && a.next == nil }

// count adds a draw to the counts of a choice.
func (c *choice) count(d drawn) {
	switch {
	case !d.model:
		c.indefinite++
	case d.outside:
		c.outside++
	}
}

// take scores the planned draws by their predictions, up to the first one without a model.
func (a *attempt) take(predictions []sparsegp.Prediction) error {
	for i, p := range predictions {
		c := a.search.candidates[a.next[i].candidate]
		one := drawn{after: a.next[i].scored,
			score: mechanism.Score{Value: math.NaN(), Count: len(a.truth), Centre: c.score.Centre, Radius: c.score.Radius}}
		// The noisy sums alone decide whether the noise is beyond λ; a variance is that of a validation row,
		// which is private.
		var notPD *op.NotPositiveDefiniteError
		var negative *sparsegp.VarianceError
		if errors.As(p.Err, &notPD) || errors.As(p.Err, &negative) {
			a.done = append(a.done, one)
			a.limit = 2 * (i + 1) // so that not many draws are made in vain
			return nil
		}
		mean, err := math.NaN(), p.Err
		if err == nil {
			a.stream.at = one.after
			mean, err = c.score.Mean(a.likelihoods(c, p.Mean, p.Variance), rand.New(&a.stream))
		}
		if err != nil {
			return fmt.Errorf("candidate %d: %w", a.next[i].candidate, err)
		}
		one.score.Value, one.model, one.after = float64(one.score.Count)*mean, true, a.stream.at
		one.outside = math.Abs(mean-c.score.Centre) > c.score.Radius
		a.done = append(a.done, one)
	}
	a.limit *= 2
	return nil
}

// Bounds on the predictions of the draws that are computed at a time: for one worker, and for a device.
const (
	plannedBytes       = 8 << 20
	devicePlannedBytes = 64 << 20
)

// draws returns the number of draws that are computed at a time.
func (s *search) draws() int {
	limit := plannedBytes
	if s.Engine.Backend() != "cpu" {
		limit = devicePlannedBytes
	}
	return max(1, limit/(32*(s.settings.N/2+1)))
}

// together returns the number of repeats that are computed at a time: one on the CPU, where others are on other cores,
// and on a device as many as are expected to have that number of draws.
func (s *search) together() int {
	if s.Engine.Backend() == "cpu" || s.settings.Noiseless() {
		return 1
	}
	return max(1, min(s.settings.Repeats, int(float64(s.draws())*s.budget.Gamma)))
}

// searchAll computes the choices of the repeats from first to the one before end.
func (s *search) searchAll(ctx context.Context, first, end int) ([]choice, error) {
	all := make([]*attempt, end-first)
	samples := make([]*sample, len(all))
	for i := range all {
		samples[i] = s.simulate(first + i)
		all[i] = &attempt{sample: samples[i]}
	}
	out := make([]choice, len(all))
	if err := s.fill(ctx, samples); err != nil {
		return nil, sparse.InRepeat(err, first, s.settings.Repeats)
	}
	if s.settings.Noiseless() {
		for i, d := range samples {
			var err error
			if out[i], err = d.best(ctx); err != nil {
				return nil, sparse.InRepeat(err, first+i, s.settings.Repeats)
			}
		}
		return out, nil
	}
	for i, a := range all {
		a.stream.from = s.Stream("mechanism", first+i)
	}
	if err := s.attempts(ctx, all, first, s.draws()); err != nil {
		return nil, err
	}
	for i, a := range all {
		out[i] = a.choice
	}
	return out, nil
}

// attempts makes all draws, about most of them at a time. first is the repeat of the first attempt.
func (s *search) attempts(ctx context.Context, all []*attempt, first, most int) error {
	for more := true; more; {
		var err error
		if more, err = s.advance(ctx, all, first, most); err != nil {
			return err
		}
	}
	return nil
}

// advance computes the next draws of all attempts. more is false where there are none.
func (s *search) advance(ctx context.Context, all []*attempt, first, most int) (more bool, err error) {
	var draws []sparsegp.Draw
	open := 0
	for _, a := range all {
		if !a.final() {
			open++
		}
	}
	for i, a := range all {
		if a.final() {
			continue
		}
		if err := a.plan(ctx, max(1, most/open)); err != nil {
			return false, sparse.InRepeat(err, first+i, s.settings.Repeats)
		}
		for _, one := range a.next {
			c := s.candidates[one.candidate]
			draws = append(draws, c.model.Draw(one.sums, c.noise, s.Update, a.parts[c.length].at))
		}
	}
	if draws == nil {
		return false, nil
	}
	predictions, err := sparsegp.PredictAll(ctx, s.Engine, draws)
	if err != nil {
		return false, err
	}
	for i, a := range all {
		if err := a.take(predictions[:len(a.next)]); err != nil {
			return false, sparse.InRepeat(err, first+i, s.settings.Repeats)
		}
		predictions = predictions[len(a.next):]
	}
	return true, nil
}
