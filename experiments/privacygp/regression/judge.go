package regression

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"privkern/experiments/dataset/table"
	"privkern/experiments/learn"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// The predictors that [byWay] compares.
const (
	released    = "released"
	unsecured   = "unsecured"
	independent = "independent"
	middle      = "middle"
)

// score accumulates the errors of predictions of some rows.
type score struct {
	outputs  []float64                 // of the rows
	squares  map[string]float64        // by way, of the errors
	absolute map[string]float64        // by way
	coverage float64                   // of the released predictions
	others   [len(otherPriors)]float64 // squares of the errors of users with other priors
}

// otherPriors are the lengthscales of users with other priors, over those of the assumed prior.
var otherPriors = [...]float64{0.5, 2}

// other returns the least root mean square error of users with other priors.
func (s *score) other() *float64 {
	if len(s.outputs) == 0 {
		return nil
	}
	return new(math.Sqrt(slices.Min(s.others[:]) / float64(len(s.outputs))))
}

// rmse returns the root mean square error of every predictor; none without rows.
func (s *score) rmse() byWay {
	out := byWay{}
	for way, sum := range s.squares {
		out[way] = math.Sqrt(sum / float64(len(s.outputs)))
	}
	return out
}

// mae returns the mean absolute error of every predictor; none without rows.
func (s *score) mae() byWay {
	out := byWay{}
	for way, sum := range s.absolute {
		out[way] = sum / float64(len(s.outputs))
	}
	return out
}

// explained returns what every predictor explains ([method.Explained]).
func (s *score) explained() byWay {
	out := byWay{}
	for way, sum := range s.squares {
		if share := method.Explained(sum, s.outputs); share != nil {
			out[way] = *share
		}
	}
	return out
}

func (s *score) covered() *float64 {
	if len(s.outputs) == 0 {
		return nil
	}
	return new(s.coverage / float64(len(s.outputs)))
}

// judge predicts every row from the other folds, obfuscated. hidden and public are the
// scores of sensitive rows and of the others.
func (p *problem) judge(
	ctx context.Context, t *experiment.Trial, r *rows, s *Settings,
) (public, hidden *score, err error) {
	public, hidden = &score{squares: byWay{}, absolute: byWay{}}, &score{squares: byWay{}, absolute: byWay{}}
	phase := s.phase("folds", len(r.y), len(r.names))
	split, err := learn.RandomFolds(len(r.y), s.Folds, t.Stream("folds"))
	if err != nil {
		return nil, nil, err
	}
	for i, fold := range split {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		t.Progress(i, s.Folds, phase)
		if err := p.judgeFold(ctx, r, fold, public, hidden); err != nil {
			return nil, nil, err
		}
	}
	return public, hidden, nil
}

func (p *problem) judgeFold(ctx context.Context, r *rows, fold learn.Fold, public, hidden *score) error {
	v, err := p.look(p.scaled(learn.SelectRows(r.x, fold.Train)))
	if err != nil {
		return err
	}
	known := learn.Select(r.y, fold.Train)
	at := p.scaled(learn.SelectRows(r.x, fold.Test))
	predictions, sigma := map[string]*prediction{}, map[string]*mat.Dense{}
	for _, way := range []struct {
		name   string
		method noiseMethod
	}{{released, p.method}, {unsecured, none}, {independent, equal}} {
		noise, err := p.obfuscate(ctx, v, way.method)
		if err != nil {
			return err
		}
		sigma[way.name] = noise.sigma
		if predictions[way.name], err = p.predict(v, noise.sigma, known, at); err != nil {
			return err
		}
	}
	if err := p.attack(r, fold, sigma[released], known, hidden); err != nil {
		return err
	}
	p.tally(r, fold, known, predictions, public, hidden)
	return nil
}

// tally adds the errors of the predictions of a fold, from the outputs known.
func (p *problem) tally(r *rows, fold learn.Fold, known []float64, predictions map[string]*prediction,
	public, hidden *score) {
	centre := stat.Mean(known, nil)
	for i, row := range fold.Test {
		s := public
		if r.hidden[row] {
			s = hidden
		}
		s.outputs = append(s.outputs, r.y[row])
		for way, f := range predictions {
			miss := r.y[row] - f.mean[i]
			s.squares[way] += miss*miss + f.wander[i]
			s.absolute[way] += absolute(miss, f.wander[i])
		}
		s.squares[middle] += (r.y[row] - centre) * (r.y[row] - centre)
		s.absolute[middle] += math.Abs(r.y[row] - centre)
		s.coverage += predictions[released].covers(i, r.y[row], p.Noise)
	}
}

// absolute returns the mean of |e| for e ~ N(miss, variance), a folded normal variate.
func absolute(miss, variance float64) float64 {
	if variance == 0 {
		return math.Abs(miss)
	}
	z := miss / math.Sqrt(variance)
	return math.Sqrt(2*variance/math.Pi)*math.Exp(-z*z/2) + miss*math.Erf(z/math.Sqrt2)
}

// attack adds the errors, at the sensitive rows of a fold, of users with other priors, who know the
// outputs known with the noise covariance sigma.
func (p *problem) attack(r *rows, fold learn.Fold, sigma *mat.Dense, known []float64, hidden *score) error {
	targets := slices.DeleteFunc(slices.Clone(fold.Test), func(row int) bool { return !r.hidden[row] })
	if len(targets) == 0 {
		return nil
	}
	for i, factor := range otherPriors {
		user := *p.prior
		user.Lengthscales = slices.Clone(p.Lengthscales)
		floats.Scale(factor, user.Lengthscales)
		x := user.scaled(learn.SelectRows(r.x, fold.Train))
		o, err := user.observe(x)
		if err != nil {
			return err
		}
		f, err := (&problem{prior: &user}).predict(&view{Observations: o, x: x}, sigma, known,
			user.scaled(learn.SelectRows(r.x, targets)))
		if err != nil {
			return err
		}
		for j, row := range targets {
			miss := r.y[row] - f.mean[j]
			hidden.others[i] += miss*miss + f.wander[j]
		}
	}
	return nil
}

// prediction is the prediction of the process at some places, in the unit of the output, averaged
// over the noise: mean is the one from Y, and the noise moves it by N(0, wander).
type prediction struct{ mean, variance, wander []float64 }

// predict predicts at the scaled inputs at from outputs y with a noise covariance Σ
// (nil: none), Eqs. (3) and (4). With w = (C + Σ)⁻¹k the mean is wᵀ(W − m), of variance wᵀΣw
// over the noise.
func (p *problem) predict(v *view, noise *mat.Dense, y []float64, at *mat.Dense) (*prediction, error) {
	var sigma mat.Matrix // nil for none
	if noise != nil {
		sigma = noise
	}
	cross, err := p.between(v.x, at) // n×P
	if err != nil {
		return nil, err
	}
	w, explained, err := v.SolveExplained(sigma, cross)
	if err != nil {
		return nil, err
	}
	out := &prediction{variance: remainder(explained)}
	_, places := cross.Dims()
	var moved mat.Dense
	if sigma != nil {
		moved.Mul(sigma, w)
	}
	for j := range places {
		out.variance[j] *= p.Variance
		mean, wander := p.Mean, 0.0
		for i, value := range y {
			mean += w.At(i, j) * (value - p.Mean)
		}
		if sigma != nil {
			wander = math.Max(0, p.Variance*mat.Dot(w.ColView(j), moved.ColView(j)))
		}
		out.mean, out.wander = append(out.mean, mean), append(out.wander, wander)
	}
	return out, nil
}

// covers returns the probability, over the noise, that the central region of 95 % of an observation
// holds y. noise is the variance of the observation noise.
func (f *prediction) covers(i int, y, noise float64) float64 {
	half := table.Central95 * math.Sqrt(f.variance[i]+noise)
	miss, sd := y-f.mean[i], math.Sqrt(f.wander[i])
	if sd == 0 {
		if math.Abs(miss) <= half {
			return 1
		}
		return 0
	}
	return distuv.UnitNormal.CDF((miss+half)/sd) - distuv.UnitNormal.CDF((miss-half)/sd)
}
