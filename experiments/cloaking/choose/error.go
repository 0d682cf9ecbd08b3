package choose

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/cloaking/design"
	"privkern/experiments/learn"
)

// evaluation holds the errors of one distinct model of the grid.
type evaluation struct {
	// In units of d².
	squares     float64 // squared errors without noise, over all folds
	noise       float64 // their increase by the noise, in expectation or in the mean over draws
	sensitivity float64 // of their sum
	holdout     float64 // expected squared errors on the rows held out

	// Inputs of warnings and metrics.
	designs []cloak.Quality
}

// sse is the sum of squared errors, noise included, over d².
func (e *evaluation) sse() float64 { return e.squares + e.noise }

// rowSet is a set of predictions that are released together.
type rowSet struct{ train, test []int }

// rowSets are the folds, and last the rows held out, where there are any.
func (s *selector) rowSets() []rowSet {
	var sets []rowSet
	for _, f := range s.folds {
		sets = append(sets, rowSet{learn.Select(s.rows, f.Train), learn.Select(s.rows, f.Test)})
	}
	if len(s.heldOut) > 0 {
		sets = append(sets, rowSet{s.rows, s.heldOut})
	}
	return sets
}

// modelsTogether bounds how many models have their cloaking matrices in memory.
const modelsTogether = 32

// predict finds the cloaking matrices and the noise of all models of the grid, some at a time,
// and hands each model's to use. The designs of all models and row sets that are in memory
// are one batch.
func (s *selector) predict(ctx context.Context, sets []rowSet, use func(model int, p *noisyPredictions) error) error {
	for first := 0; first < len(s.grid.distinct); first += modelsTogether {
		models := s.grid.distinct[first:min(first+modelsTogether, len(s.grid.distinct))]
		predictions, err := s.release(ctx, models, first, sets)
		if err != nil {
			return s.ofModel(err, first, len(sets))
		}
		err = s.e.ParallelFor(ctx, len(models), 1, func(i, _ int) error {
			if err := use(first+i, &predictions[i]); err != nil {
				return fmt.Errorf("%s: %w", s.grid.first(first+i), err)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ofModel adds the model to an error in one of its sets.
func (s *selector) ofModel(err error, first, sets int) error {
	var of *cloak.SetError
	if !errors.As(err, &of) {
		return err
	}
	return fmt.Errorf("%s: %w", s.grid.first(first+of.Set/sets), cloak.InBatch(of.Err, of.Set%sets, sets))
}

// evaluate cross-validates a model by its predictions for the row sets.
//
// The paper samples the noise "many times" for its part of the squared errors, as
// noise_in_errors does with a number; its expectation is known, the trace of the
// covariance, and independent of the heights. As published, errors are cut off at ±4d, as Eq. (9) needs: here the
// errors without noise, whose squares are all that depends on the heights.
func (s *selector) evaluate(sets []rowSet, predictions *noisyPredictions) (evaluation, error) {
	out := evaluation{designs: predictions.designs}
	published := s.settings.Bound == Published
	norms := make([]float64, len(s.folds))
	for i, f := range s.folds {
		c := predictions.matrices[i]
		predicted := s.data.Predict(c, sets[i].train)
		for j, row := range sets[i].test {
			miss := (predicted[j] - s.data.Output[row]) / s.d
			if published {
				miss = max(-errorBound, min(miss, errorBound))
			}
			out.squares += miss * miss
			out.noise += predictions.cross(i, j, miss)
		}
		out.noise += predictions.variance[i]
		for j := range f.Train {
			norm := mat.Norm(c.ColView(j), 2)
			norms[i] = max(norms[i], norm*norm)
		}
	}
	if published {
		out.sensitivity = publishedSensitivity(norms)
	} else {
		out.sensitivity = exactSensitivity(s.residuals(predictions.matrices))
	}
	if last := len(s.folds); last < len(sets) {
		for j, v := range s.data.Predict(predictions.matrices[last], sets[last].train) {
			miss := (v - s.data.Output[sets[last].test[j]]) / s.d
			out.holdout += miss*miss + predictions.cross(last, j, miss)
		}
		out.holdout += predictions.variance[last]
	}
	if total := out.sse() + out.holdout; math.IsInf(total, 1) || math.IsNaN(total) {
		return evaluation{}, fmt.Errorf("its squared errors are too large for double precision; use a larger epsilon")
	}
	return out, nil
}

// residuals returns the matrix A of the errors Az without noise over all folds, in the order of the
// rows that the configuration is selected on.
//
// With public normalisation z are these rows' heights less the prior mean, which is the middle of
// their interval. As published the prior mean is the mean of all heights, private ones: z are all
// heights less the middle, and A includes their effect on the prior mean.
func (s *selector) residuals(matrices []*mat.Dense) *mat.Dense {
	n := len(s.rows)
	a := mat.NewDense(n, n, nil)
	for k, f := range s.folds {
		for i, row := range f.Test {
			dst, src := a.RawRowView(row), matrices[k].RawRowView(i)
			for j, column := range f.Train {
				dst[column] = src[j]
			}
			dst[row] = -1
		}
	}
	if s.heights.Normalisation == cloak.AsPublished {
		return fromMean(a, len(s.data.Output))
	}
	return a
}

// noisyPredictions are sets of predictions with their noise.
type noisyPredictions struct {
	matrices []*mat.Dense // the released value is the prior mean + matrix·(y − prior mean)
	// variance is the trace of the noise's covariance over d², or with draws the mean of
	// their squared lengths; mean is then the mean noise of each prediction over d.
	variance []float64
	mean     [][]float64
	designs  []cloak.Quality
}

// cross returns the cross terms of draws of the noise in the square of an error: zero in
// expectation.
func (p *noisyPredictions) cross(set, prediction int, miss float64) float64 {
	if p.mean == nil || p.mean[set] == nil {
		return 0
	}
	return 2 * miss * p.mean[set][prediction]
}

// draw replaces the expectation for a set by draws of noise of the deviation sd·F.
func (p *noisyPredictions) draw(set, draws int, d *design.Design, sd float64, stream *rand.Rand) {
	factor := d.Factor()
	points, rank := factor.Dims()
	z := mat.NewDense(rank, draws, nil)
	for j := range draws {
		for i := range rank {
			z.Set(i, j, sd*stream.NormFloat64())
		}
	}
	var noise mat.Dense
	noise.Mul(factor, z)
	p.mean[set], p.variance[set] = make([]float64, points), 0
	for i := range points {
		for _, e := range noise.RawRowView(i) {
			p.mean[set][i] += e / float64(draws)
			p.variance[set] += e * e / float64(draws)
		}
	}
}

// release finds the noise of the predictions of some models, the first of which has that
// number, for each of the sets.
func (s *selector) release(ctx context.Context, models []distinctModel, first int, sets []rowSet) (
	[]noisyPredictions, error) {
	matrices := make([]*mat.Dense, len(models)*len(sets))
	err := s.e.ParallelFor(ctx, len(matrices), 1, func(i, _ int) (err error) {
		m, set := models[i/len(sets)], sets[i%len(sets)]
		gp := &cloak.Model{Hyperparameters: configuration{m.lengthscale, m.ratio, 1}.hyperparameters()}
		matrices[i], err = gp.Matrix(s.e, learn.SelectRows(s.data.Inputs, set.train),
			learn.SelectRows(s.data.Inputs, set.test))
		return cloak.InBatch(err, i, len(matrices))
	})
	if err != nil {
		return nil, err
	}
	out := make([]noisyPredictions, len(models))
	for i := range out {
		out[i] = noisyPredictions{matrices: matrices[i*len(sets) : (i+1)*len(sets)],
			variance: make([]float64, len(sets)), mean: make([][]float64, len(sets))}
	}
	if s.scale == 0 {
		return out, nil
	}
	ranges, designs, err := cloak.SolveDesigns(ctx, &cloak.Work{
		Engine: s.e, Solver: &s.settings.Solver, MaxSteps: s.steps, OnHost: s.releases || s.t.Secure,
		Stream: func(purpose string) *rand.Rand {
			return s.t.Stream(fmt.Sprintf("%s, models from %d", purpose, first))
		}}, matrices)
	if err != nil {
		return nil, err
	}
	for i, d := range designs {
		// U·Uᵀ·C: the directions that are released.
		model := &out[i/len(sets)]
		model.matrices[i%len(sets)] = ranges[i].Predictions(ranges[i].B)
		sd := s.scale * d.NoiseScale
		model.variance[i%len(sets)] = sd * sd * d.Trace
		if n := &s.settings.NoiseInErrors; !n.Is(Expected) {
			number := first + i/len(sets)
			model.draw(i%len(sets), n.Number, d, sd, s.t.Stream(fmt.Sprintf("noise of model %d, set %d", number, i%len(sets))))
		}
		// The rest of a design would be kept for every model of the grid.
		model.designs = append(model.designs, cloak.QualityOf(ranges[i], d))
	}
	return out, nil
}

// warnings returns the warnings about results that are computed but suspect.
func (s *selector) warnings(models []evaluation) []string {
	var all []cloak.Quality
	for i := range models {
		all = append(all, models[i].designs...)
	}
	return slices.Concat(s.e.Warnings(), s.data.ClippingWarnings(),
		cloak.PrecisionWarnings(s.e, all, &s.settings.Solver), cloak.DesignWarnings(all))
}
