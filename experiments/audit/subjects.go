package audit

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/cloaking/design"
	"privkern/experiments/dpgp"
	"privkern/experiments/mechanism"
)

// Entry is a mechanism of this project that can be audited.
type Entry struct {
	Name, Doc string
	New       func(ctx context.Context) (Subject, error)
}

// All returns the mechanisms, in the order of the list that users see. The
// budgets are ones at which an audit sees much: the smaller δ is, the more draws
// are needed to come near the claim.
func All() []Entry {
	claim := mechanism.Guarantee{Epsilon: 1, Delta: 0.01}
	entries := []Entry{
		{Name: "hall", Doc: "Gaussian noise, calibrated as in Hall, Rinaldo and Wasserman (2013)",
			New: func(context.Context) (Subject, error) { return calibrated(mechanism.HallFactor, claim) }},
		{Name: "classical", Doc: "Gaussian noise, the classical calibration (Dwork and Roth 2014)",
			New: func(context.Context) (Subject, error) { return calibrated(mechanism.ClassicalGaussian, claim) }},
		{Name: "analytic", Doc: "Gaussian noise, the analytic calibration (Balle and Wang 2018)",
			New: func(context.Context) (Subject, error) {
				return calibrated(mechanism.AnalyticGaussian, mechanism.Guarantee{Epsilon: 3, Delta: 0.01})
			}},
		{Name: "entry-noise", Doc: "noise of least magnitude for a matrix entry (Kumar et al. 2019)",
			New: func(context.Context) (Subject, error) {
				return entryNoise(claim, mechanism.EntryNoise{Epsilon: claim.Epsilon, Delta: claim.Delta, D: 1}), nil
			}},
		{Name: "exponential", Doc: "the exponential mechanism (McSherry and Talwar 2007)",
			New: func(context.Context) (Subject, error) {
				return exponential(mechanism.Guarantee{Epsilon: 1}, mechanism.Exponential{Epsilon: 1, Sensitivity: 1}), nil
			}},
		{Name: "coinpress", Doc: "the CoinPress mean with all its steps (Biswas et al. 2020)",
			New: func(context.Context) (Subject, error) { return coinPress(claim, claim) }},
		{Name: "selection", Doc: "private selection with random stopping (Liu and Talwar 2019)",
			New: func(context.Context) (Subject, error) {
				return selection(mechanism.Guarantee{Epsilon: 1, Delta: 1e-4}, mechanism.Select[struct{}], 1)
			}},
		{Name: "cloaking", Doc: "cloaked predictions of a Gaussian process (Smith et al. 2018)",
			New: func(ctx context.Context) (Subject, error) { return cloaking(ctx, claim, 1) }},
		{Name: "sparse-gp", Doc: "the sums that a sparse Gaussian process is made of (Honkela 2021)",
			New: func(context.Context) (Subject, error) { return sparseGP(claim, claim.Epsilon, 1) }},
	}
	for i, e := range entries {
		entries[i].New = func(ctx context.Context) (Subject, error) {
			s, err := e.New(ctx)
			if err != nil {
				return s, fmt.Errorf("audit of %s: %w", e.Name, err)
			}
			s.Name, s.Doc = e.Name, e.Doc
			return s, nil
		}
	}
	return entries
}

// calibrated is noise on one number that changes by the sensitivity, which is
// the worst case: of a vector, only its part along the change tells anything.
func calibrated(calibrate func(epsilon, delta float64) (float64, error), claim mechanism.Guarantee) (Subject, error) {
	sigma, err := calibrate(claim.Epsilon, claim.Delta)
	if err != nil {
		return Subject{}, err
	}
	return gaussian(claim, sigma), nil
}

func gaussian(claim mechanism.Guarantee, sigma float64) Subject {
	return Subject{
		Unit: "a number changed by at most 1", Claim: claim, Law: Gaussian, Sigma: sigma,
		Pairs: []Pair{{Name: "0 and 1", Draw: func(second bool, entropy *rand.ChaCha8) (Output, error) {
			query := indicator(second)
			v := []float64{query}
			mechanism.AddGaussian(v, sigma, rand.New(entropy))
			return Output{Published: v, Noise: []float64{(v[0] - query) / sigma}}, nil
		}}},
	}
}

// scalar is a pair whose releases one number tells all about.
func scalar(name string, draw func(second bool, rng *rand.Rand) (float64, error)) Pair {
	return Pair{Name: name, Draw: func(second bool, entropy *rand.ChaCha8) (Output, error) {
		v, err := draw(second, rand.New(entropy))
		return Output{Published: []float64{v}}, err
	}}
}

func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// entryNoise moves the entry by d = 1. The atom at zero noise tells the data sets
// apart with certainty, and the Laplace law beside it with e^ε.
func entryNoise(claim mechanism.Guarantee, m mechanism.EntryNoise) Subject {
	return Subject{
		Unit: "a matrix entry changed by at most 1", Claim: claim,
		Pairs: []Pair{scalar("0 and 1", func(second bool, rng *rand.Rand) (float64, error) {
			v := []float64{indicator(second)}
			m.Add(v, rng)
			return v[0], nil
		})},
	}
}

// exponential lets one of many candidates gain the sensitivity 1 and the others
// lose it; with infinitely many, its probability would change by e^ε.
func exponential(claim mechanism.Guarantee, m mechanism.Exponential) Subject {
	const candidates = 50
	equal, one := make([]float64, candidates), make([]float64, candidates)
	for i := range one {
		one[i] = -1
	}
	one[0] = 1
	return Subject{
		Unit: "every utility changed by at most 1", Claim: claim,
		Pairs: []Pair{scalar("50 equal utilities, and one raised by 1 with the others lowered by 1",
			func(second bool, rng *rand.Rand) (float64, error) {
				u := equal
				if second {
					u = one
				}
				i, err := m.Choose(u, rng)
				return float64(i), err
			})},
	}
}

// coinPress moves one of 20 values from one end of the prior interval to the
// other, with the rest in its middle. However a step clips, the value goes from
// one end to the other: each step's sensitivity is used up. The number is the
// logarithm of the likelihood ratio of all steps; the claim, their exact
// conversion. spent is the budget in fact, which the noise is made for.
func coinPress(claim, spent mechanism.Guarantee) (Subject, error) {
	const n, radius = 20, 10.0
	mu, err := mechanism.GDPFor(spent.Epsilon, spent.Delta)
	if err != nil {
		return Subject{}, err
	}
	steps, err := mechanism.SplitZCDP(mu.ZCDP(), 12, 0.75)
	if err != nil {
		return Subject{}, err
	}
	m := mechanism.CoinPress{Centre: 0, Radius: radius, Steps: steps}
	if err := m.Validate(); err != nil {
		return Subject{}, err
	}
	first, second := make([]float64, n), make([]float64, n)
	first[0], second[0] = -radius, radius
	return Subject{
		Unit: "one of 20 values replaced by any other", Claim: claim, Sigma: 1 / float64(m.Rho().GDP()),
		Pairs: []Pair{scalar("one value at the lower end, and at the upper end", func(useSecond bool, rng *rand.Rand) (float64, error) {
			values := first
			if useSecond {
				values = second
			}
			trace, err := m.Trace(values, rng)
			if err != nil {
				return 0, err
			}
			sum := 0.0
			for _, s := range trace {
				middle := ((n-1)*min(max(0, s.Low), s.High) + (s.Low+s.High)/2) / n
				sum += (s.Mean - middle) * (s.High - s.Low) / n / (s.Sigma * s.Sigma)
			}
			return sum, nil
		})},
	}, nil
}

// selector is what is audited as private selection.
type selector func(b mechanism.SelectionBudget, candidates int, rule mechanism.SelectionRule, evaluate mechanism.Evaluator[struct{}], rng *rand.Rand) (mechanism.Selected[struct{}], error)

// selection has three pairs of data sets, each of which makes an evaluation's
// outputs as different as its budget allows:
//
//   - One outcome's probability grows by e^ε where that of all better ones
//     falls by as much. As a geometric number of draws is made, both of their
//     tails come in, and 3ε is nearly used up: what random stopping costs.
//   - An outcome is so rare that whether it is ever found tells much, if the
//     number of draws were fixed. This one tells whether there is a coin.
//   - Scores with Gaussian noise; noise multiplies its standard deviation.
func selection(claim mechanism.Guarantee, choose selector, noise float64) (Subject, error) {
	b, err := mechanism.NewSelectionBudget(claim.Epsilon, claim.Delta, 0.05)
	if err != nil {
		return Subject{}, err
	}
	sigma, err := mechanism.AnalyticGaussian(b.Candidate.Epsilon, b.Candidate.Delta)
	if err != nil {
		return Subject{}, err
	}
	up := math.Exp(b.Candidate.Epsilon)
	best, good := 0.5, 0.1
	rare := 4.5 / float64(b.Steps)
	score := func(v float64) mechanism.Score {
		return mechanism.Score{Value: v, Count: 1, Centre: 0, Radius: 1e9}
	}
	// outcomes scores 2, 1 and 0 with the probabilities of the data set.
	outcomes := func(best, good float64) mechanism.Evaluator[struct{}] {
		return func(_ int, rng *rand.Rand) (struct{}, mechanism.Score, error) {
			switch u := rng.Float64(); {
			case u < best:
				return struct{}{}, score(2), nil
			case u < best+good:
				return struct{}{}, score(1), nil
			}
			return struct{}{}, score(0), nil
		}
	}
	pair := func(name string, first, second mechanism.Evaluator[struct{}]) Pair {
		return scalar(name, func(useSecond bool, rng *rand.Rand) (float64, error) {
			evaluate := first
			if useSecond {
				evaluate = second
			}
			s, err := choose(b, 1, mechanism.SelectionCorrected, evaluate, rng)
			if err != nil {
				return 0, err
			}
			return s.Value, nil
		})
	}
	gaussian := func(mean float64) mechanism.Evaluator[struct{}] {
		return func(_ int, rng *rand.Rand) (struct{}, mechanism.Score, error) {
			return struct{}{}, score(mean + noise*sigma*rng.NormFloat64()), nil
		}
	}
	return Subject{
		Unit: "one record, which each evaluation protects", Claim: claim,
		Pairs: []Pair{
			pair("an outcome likelier by e^epsilon and all better ones less likely", outcomes(best, good), outcomes(best/up, good*up)),
			pair("a rare outcome likelier by e^epsilon", outcomes(rare, 0), outcomes(rare*up, 0)),
			pair("scores 0 and 1 with Gaussian noise", gaussian(0), gaussian(1)),
		},
	}, nil
}

// sparseGP releases the sums A and B for 5 inducing inputs and substitutes the row
// that moves them most, of many pairs of rows. The number is the part of the
// release along the change, in units of the noise: off the diagonal, B has one draw
// of variance σ_b²/2 for two places. The noise is calibrated to epsilon, and for
// outputs of size r.
func sparseGP(claim mechanism.Guarantee, epsilon, r float64) (Subject, error) {
	s, err := dpgp.NewNoisySums(epsilon, claim.Delta, []float64{-2, -1, 0, 1, 2}, 1, r)
	if err != nil {
		return Subject{}, err
	}
	sigmaA, sigmaB := s.Deviations()
	type row struct{ x, y float64 }
	type change struct {
		a []float64
		b *mat.Dense
	}
	between := func(from, to row) (c change, square float64) {
		a, b := s.Exact(from.x, from.y)
		c.a, c.b = s.Exact(to.x, to.y)
		c.b.Sub(c.b, b)
		for i := range a {
			c.a[i] -= a[i]
			square += c.a[i] * c.a[i] / (sigmaA * sigmaA)
		}
		norm := mat.Norm(c.b, 2)
		return c, square + norm*norm/(sigmaB*sigmaB)
	}
	var first, second row
	var along change
	largest := 0.0
	for x := -4.0; x <= 4; x += 0.25 {
		for v := -4.0; v <= x; v += 0.25 {
			for _, sign := range []float64{-1, 1} {
				from, to := row{x, 1}, row{v, sign}
				if c, square := between(from, to); square > largest {
					largest, first, second, along = square, from, to, c
				}
			}
		}
	}
	return Subject{
		Unit: "one row, input and output, substituted by any other", Claim: claim, Law: Gaussian, Sigma: 1 / math.Sqrt(largest),
		Pairs: []Pair{scalar(fmt.Sprintf("(%g, %g) in place of (%g, %g)", second.x, second.y, first.x, first.y), func(useSecond bool, rng *rand.Rand) (float64, error) {
			at := first
			if useSecond {
				at = second
			}
			a, b := s.Draw(at.x, at.y, rng)
			sum := 0.0
			for i, v := range along.a {
				sum += v * a[i] / (sigmaA * sigmaA)
				for j := range along.a {
					sum += along.b.At(i, j) * b.At(i, j) / (sigmaB * sigmaB)
				}
			}
			return sum, nil
		})},
	}, nil
}

// cloaking releases predictions at 9 points from 6 training outputs and changes
// the output whose column has the largest Mahalanobis norm, by the sensitivity.
// The number is the part of the release along M⁻¹c, the sufficient one. noise
// multiplies the noise that is drawn.
func cloaking(ctx context.Context, claim mechanism.Guarantee, noise float64) (Subject, error) {
	const training, points, sensitivity = 6, 9, 100.0
	factor, err := mechanism.HallFactor(claim.Epsilon, claim.Delta)
	if err != nil {
		return Subject{}, err
	}
	c, err := cloakingMatrix(training, points)
	if err != nil {
		return Subject{}, err
	}
	r, err := design.Whiten(c, design.FullRank, design.Tolerance64)
	if err != nil {
		return Subject{}, err
	}
	d, err := design.Solve(ctx, r, 0)
	if err != nil {
		return Subject{}, err
	}
	// M in the whitened coordinates, with the scale that makes it feasible.
	rank, n := r.B.Dims()
	m := mat.NewSymDense(rank, nil)
	for i, l := range d.Lambda {
		m.SymRankOne(m, l*d.MaxMahalanobis*d.MaxMahalanobis, r.B.ColView(i))
	}
	var chol mat.Cholesky
	if !chol.Factorize(m) {
		return Subject{}, fmt.Errorf("the cloaking covariance of rank %d is not positive definite", rank)
	}
	worst, norm, along := 0, -1.0, mat.NewVecDense(rank, nil)
	for i := range n {
		v := mat.NewVecDense(rank, nil)
		if err := chol.SolveVecTo(v, r.B.ColView(i)); err != nil {
			return Subject{}, err
		}
		if g := math.Sqrt(mat.Dot(v, r.B.ColView(i))); g > norm {
			worst, norm, along = i, g, v
		}
	}
	y := mat.NewVecDense(n, nil)
	for i := range n {
		y.SetVec(i, 50*math.Sin(float64(i)))
	}
	neighbour := mat.VecDenseCopyOf(y)
	neighbour.SetVec(worst, y.AtVec(worst)+sensitivity)
	var first, second mat.VecDense
	first.MulVec(r.B, y)
	second.MulVec(r.B, neighbour)
	return Subject{
		Unit: "a training output changed by at most 100", Claim: claim, Law: Gaussian, Sigma: factor / norm,
		Pairs: []Pair{scalar("the output with the largest Mahalanobis norm changed by 100", func(useSecond bool, rng *rand.Rand) (float64, error) {
			release := d.Coordinates(rng, 1)
			release.Scale(noise*sensitivity*factor, release)
			mean := &first
			if useSecond {
				mean = &second
			}
			sum := 0.0
			for i := range rank {
				sum += along.AtVec(i) * (mean.AtVec(i) + release.At(i, 0))
			}
			return sum, nil
		})},
	}, nil
}

// cloakingMatrix is C = K(K + I/10)⁻¹ between evenly spaced inputs, with an EQ
// kernel of variance and lengthscale 1.
func cloakingMatrix(training, points int) (*mat.Dense, error) {
	at := func(i, n int) float64 { return 5 * float64(i) / float64(n-1) }
	k := func(x, z float64) float64 { return math.Exp(-(x - z) * (x - z) / 2) }
	noisy, cross := mat.NewSymDense(training, nil), mat.NewDense(points, training, nil)
	for i := range training {
		for j := i; j < training; j++ {
			noisy.SetSym(i, j, k(at(i, training), at(j, training)))
		}
		noisy.SetSym(i, i, 1.1)
		for p := range points {
			cross.Set(p, i, k(at(p, points), at(i, training)))
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(noisy) {
		return nil, fmt.Errorf("the kernel matrix of %d inputs is not positive definite", training)
	}
	var transposed mat.Dense
	if err := chol.SolveTo(&transposed, cross.T()); err != nil {
		return nil, err
	}
	return mat.DenseCopyOf(transposed.T()), nil
}
