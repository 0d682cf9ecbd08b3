package ridge

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// normal are noisy normal equations: the matrix A + E and the vector b + e, where E is symmetric with the variance s²
// on its diagonal and s²/2 off it, and e has the variance s².
type normal struct {
	matrix *mat.SymDense // p×p
	vector []float64     // p
	noise  float64       // s
	// squares is the sum of the squares of the outputs, with the variance 4s².
	squares float64
	// rows is their noisy number, of the matrix: the places of a release, of which some are empty, are no rows.
	rows float64
}

// solve returns the weights, after noise: post-processing.
func (n *normal) solve(s Shrinkage) (Body, error) {
	var eigen mat.EigenSym
	if !eigen.Factorize(n.matrix, true) {
		return Body{}, errors.New("the eigenvalues of the sums of products did not converge: this is a defect")
	}
	var q mat.Dense
	eigen.VectorsTo(&q)
	h, b := eigen.Values(nil), mat.NewVecDense(len(n.vector), nil)
	b.MulVec(q.T(), mat.NewVecDense(len(n.vector), n.vector))
	var e estimate
	if s == AdaSSP {
		e = n.adaptive(h, b.RawVector().Data)
	} else {
		e = n.posterior(h, b.RawVector().Data)
	}
	var weights mat.VecDense
	weights.MulVec(&q, mat.NewVecDense(len(e.mean), e.mean))
	scaled := mat.DenseCopyOf(&q)
	for i := range h {
		for j, v := range e.variance {
			scaled.Set(i, j, scaled.At(i, j)*math.Sqrt(v))
		}
	}
	covariance := mat.NewSymDense(len(h), nil)
	covariance.SymOuterK(1, scaled)
	out := Body{Weights: weights.RawVector().Data, Noise: e.noise}
	for i := range h {
		out.Covariance = append(out.Covariance, mat.Row(nil, i, covariance))
	}
	return out, nil
}

// estimate is that of the weights along the eigenvectors of the noisy matrix.
type estimate struct {
	mean, variance []float64 // p
	noise          float64   // the variance of an output about the function
}

// adaptive adds λ to the matrix, the least that makes it positive with high probability (Wang 2018, Algorithm 2). There
// λ depends on a private lower bound of the smallest eigenvalue. Here that costs nothing: the noisy matrix has it, as
// its eigenvalues are no further than ‖E‖ from those of A (Weyl), and ‖E‖ ≤ s(√(2p) + √(2 log(1/ρ))) with probability
// 1 − ρ: E√2/s is a matrix of the Gaussian orthogonal ensemble, whose norm has the mean 2√p at most, and concentrates
// as a function with the Lipschitz constant s of independent standard normal numbers.
func (n *normal) adaptive(h, b []float64) estimate {
	const rho = 0.05
	bound := n.noise * (math.Sqrt(2*float64(len(h))) + math.Sqrt(-2*math.Log(rho)))
	least := max(0, floats.Min(h)-bound)
	lambda := max(0, bound-least)
	out := estimate{mean: make([]float64, len(h)), variance: make([]float64, len(h))}
	shrunk := func(v float64) float64 { return max(v+lambda, lambda/2, n.rows*1e-9) }
	for i, v := range h {
		out.mean[i] = b[i] / shrunk(v)
	}
	out.noise = n.residual(h, b, out.mean)
	for i, v := range h {
		// of the noise of the outputs, of e and of E times the weights, and the bias of λ for weights of the prior's size
		noise := out.noise*max(v, 0) + n.noise*n.noise*(1+floats.Dot(out.mean, out.mean)/2)
		out.variance[i] = (noise + lambda*lambda*priorVariance) / (shrunk(v) * shrunk(v))
	}
	return out
}

const (
	priorVariance = 0.25 // of the weights
	defaultNoise  = 0.1  // of an output about the function
	leastNoise    = 1e-4
)

// posterior is the mean of the weights θ under the prior N(0, τ²I), given b + e = (A+E)θ + r, where the residual r has
// the variance v = σ²A + s² + s²|θ|²/2: of the noise of the outputs, of e and of Eθ, but for a term of rank one (noisy
// sums as in Bernstein and Sheldon, "Differentially private Bayesian linear regression", NeurIPS 2019). Along an
// eigenvector of A+E of the eigenvalue h it is hb/(h² + v/τ²), with the variance v/(h² + v/τ²); where h ≤ 0, nothing is
// known. |θ|² and σ² follow from it and are found by iteration; τ² is that of the largest marginal likelihood of the
// noisy numbers under a prior about [priorVariance], of a few.
func (n *normal) posterior(h, b []float64) estimate {
	var best estimate
	largest := math.Inf(-1)
	for tau := priorVariance / 64; tau <= priorVariance*64; tau *= 2 {
		e := estimate{mean: make([]float64, len(h)), variance: make([]float64, len(h)), noise: defaultNoise}
		likelihood := 0.
		for range 30 {
			likelihood = n.step(&e, h, b, tau)
		}
		if likelihood -= math.Pow(math.Log(tau/priorVariance), 2) / 4; likelihood > largest {
			best, largest = e, likelihood
		}
	}
	return best
}

// step is one of the iteration, and returns the logarithm of the marginal likelihood.
func (n *normal) step(e *estimate, h, b []float64, tau float64) float64 {
	size, likelihood := floats.Dot(e.mean, e.mean), 0.
	for i := range h {
		positive := max(h[i], 0)
		v := e.noise*positive + n.noise*n.noise*(1+size/2)
		if v == 0 {
			e.mean[i], e.variance[i] = 0, tau
			continue
		}
		whole := positive*positive*tau + v
		e.mean[i], e.variance[i] = positive*tau*b[i]/whole, tau*v/whole
		likelihood -= (math.Log(whole) + b[i]*b[i]/whole) / 2
	}
	e.noise = n.residual(h, b, e.mean)
	return likelihood
}

// residual is the variance of an output about the function. The noisy sum of its squares has the standard deviation
// s(2 + |θ|²), by the noise of Σy², of 2bᵀθ and of θᵀAθ: with so much added, and drawn to [defaultNoise] as far as that
// is large, so that small numbers of rows do not look certain.
func (n *normal) residual(h, b, mean []float64) float64 {
	sum := n.squares
	for i, m := range mean {
		sum += m * (m*max(h[i], 0) - 2*b[i])
	}
	off := n.noise * (2 + floats.Dot(mean, mean)) / n.rows
	trust := defaultNoise * defaultNoise / (defaultNoise*defaultNoise + off*off)
	return max(leastNoise, min(1, trust*(max(0, sum/n.rows)+off)+(1-trust)*defaultNoise))
}
