package method

import (
	"context"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/release"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// Learner is a method that is prepared for rows: its public parts are computed, such as the
// kernel and the scale of the noise.
type Learner interface {
	// Fit fits rows once for each of the sources of noise, without noise where one is nil.
	Fit(ctx context.Context, rows *Part, noise ...*rand.Rand) (Fit, error)
	// Guarantee states the protection by a release of one fit; nil without noise.
	Guarantee() *experiment.Privacy
}

// Publisher is a learner with a release.
type Publisher interface {
	// Publication plans the release of a fit to all rows.
	Publication(ctx context.Context) (*Publication, error)
}

// Suspicious is a learner with warnings of its own.
type Suspicious interface {
	// Suspicions are those of fits to so many rows, for judging.
	Suspicions(rows int) []string
}

// Publication is the release of a fit of which all that is public is computed.
type Publication struct {
	// Losses are the mechanisms that it composes, for one protected unit; nil where only its (ε, δ) is known.
	Losses []experiment.Loss
	// Publishes are the parts of rows that leave as they are, see [experiment.Spending].
	Publishes []string
	Size      experiment.Size
	Notes     []string // on the guarantee, for readers of the release
	// Publish fits rows with exact noise from source, and returns a model or rows, with privacy in
	// a model, public metrics and warnings that follow from them.
	Publish func(ctx context.Context, rows *Part, privacy *experiment.Privacy, source *release.Source) (
		*experiment.Release, error)
}

// Fit is a learner that was fitted, with each of the sources of noise.
type Fit interface {
	// Predict predicts at the rows of x (P×d) by each of the fits.
	Predict(ctx context.Context, x *mat.Dense) ([]Prediction, error)
}

// Prediction is that of one fit at P rows.
type Prediction struct {
	// Of a regression, in units of half the public range of the output: mean and variance of
	// the function (P), and the variance that an observation has besides. Variance is nil where a method has none.
	Mean, Variance []float64
	Noise          float64
	// Scores of a classification, for each class (P): the class of a row has the largest.
	Scores [][]float64
	// Probabilities of the classes at the rows (P); nil for none.
	Probabilities [][]float64
}

// Class returns the class with the largest score at each row, the first of equal ones.
func (p *Prediction) Class() []int {
	out := make([]int, len(p.Scores[0]))
	for i := range out {
		for c := range p.Scores {
			if p.Scores[c][i] > p.Scores[out[i]][i] {
				out[i] = c
			}
		}
	}
	return out
}

// Stream returns the random stream of one purpose in one repeat.
func Stream(t *experiment.Trial, purpose string, repeat int) *rand.Rand {
	return t.Stream(fmt.Sprintf("%s, repeat %d", purpose, repeat))
}

// Repeat runs the repeats of a trial, each with streams of its own, so that their order
// does not matter, and returns the result of each.
func Repeat[T any](
	ctx context.Context, t *experiment.Trial, repeats int, once func(ctx context.Context, repeat int) (T, error),
) ([]T, error) {
	out := make([]T, repeats)
	counter := experiment.NewCounter(t.Progress, repeats, "repeats")
	err := engine.Of(t.Engine).ParallelFor(ctx, repeats, 1, func(i, _ int) (err error) {
		if out[i], err = once(ctx, i); err != nil {
			if repeats > 1 {
				return fmt.Errorf("repeat %d of %d: %w", i+1, repeats, err)
			}
			return err
		}
		counter.Step()
		return nil
	})
	return out, err
}
