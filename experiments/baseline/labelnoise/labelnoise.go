// Package labelnoise regresses by a Gaussian process on outputs with noise, of rows whose inputs are public.
package labelnoise

import (
	"context"
	_ "embed"
	"errors"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/experiments/baseline/ground"
	"privkern/experiments/method"
	"privkern/experiments/model"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

//go:embed labelnoise.go
var source string

func init() { experiment.Document[Settings](source) }

// Settings are those of baseline/label-noise.
type Settings struct {
	ground.OutputData
	method.OutputRange
	// random frequencies, of each of which the model has a cosine and a sine: more of them follow the kernel of the
	// Gaussian process more closely, and take longer
	Frequencies int `name:"frequencies" default:"64" min:"1" max:"1000"`
}

const format = "baseline/label-noise/1"

// PredictFormat makes run predict read its files.
var PredictFormat = ground.Format[Body](format, method.Regression)

// Definition is baseline/label-noise.
var Definition = ground.Regression(ground.Baseline[Settings, Body]{
	Name: "baseline/label-noise", Version: 4,
	Summary: "a Gaussian process on outputs with noise, with protection of outputs; inputs are public",
	Source: "noise on each output (Dwork, McSherry, Nissim and Smith 2006); random features of the kernel (Rahimi and " +
		"Recht 2007)",
	Data:    func(s *Settings) *ground.Data { return &s.Data },
	Unit:    experiment.UnitOutput,
	Prepare: prepare,
	Held:    30,
	Format:  format,
	About: "A Gaussian process on outputs with noise, which protects outputs and not inputs: run predict THIS_FILE --at " +
		"x.csv gives means and intervals. With u, the inputs brought to [-1, 1], and the features f(u) = (cos(w_k.u), " +
		"sin(w_k.u))/sqrt(K) for K frequencies w_k, the mean is c.f(u) in units of the scale, clipped to [-1, 1].",
	Advice: method.Advice{Noise: "use a larger epsilon or more rows",
		Settings: "use inputs that tell more about the output",
		Narrow:   "the outputs vary more in some places than in others", Wide: "use a narrower public range of the output"},
}, func(s *Settings) *method.OutputRange { return &s.OutputRange })

// algorithm adds noise to each output, in [−1, 1], and learns of the noisy outputs and of the inputs, which are public.
//
// An output moves one of the N numbers, by at most 2 under substitution, and m outputs of a person move the vector by
// at most 2√m: with Gaussian noise calibrated to this, the vector of noisy outputs has the guarantee, and so has all
// that follows from it and from inputs, hyper-parameters that are estimated included (post-processing).
//
// The noise is known, so that it is a part of the model: the noisy output is f(u) and noise of variance σ² + ν, with a
// Gaussian process f of variance s and the kernel exp(−|u−u'|²/(2ℓ²)), by random features. With Φ (N×2K), the features
// of the inputs, the coefficients are normal a posteriori, with the mean c and the covariance S,
//
//	S = (I/s + ΦᵀΦ/(σ²+ν))⁻¹,  c = S Φᵀ(y+e)/(σ²+ν)
//
// (Rasmussen and Williams 2006, Eq. 2.8). s follows from public numbers, and ν is the mean of the candidates by their
// likelihoods and a prior that is flat in the logarithm of σ²+ν, the variance that noisy outputs show: noise may hide
// all of ν, so that the candidate of the largest likelihood is as often as not the least of all, and regions are too
// narrow. ℓ has the largest likelihood on average over ν, and the shortest of the lengthscales is favoured: with noise
// that hides which one is best, it was the best one.
type algorithm struct {
	*ground.Problem
	noise *ground.Noise
	w     *mat.Dense // K×d, the frequencies of the shortest lengthscale
}

// lengthscale is the shortest ℓ for one input, as a share of its public range: it grows with √d, as distances do.
const lengthscale = 0.25

// longer are the multiples of the shortest lengthscale that are candidates as well, and favour is the difference of the
// logarithms of likelihoods by which these must be better.
var longer = []float64{2, 4}

const favour = 2

// variance is s, that of the uniform distribution on [−1, 1].
const variance = 1. / 3

// observations returns the candidates for ν, 2⁻¹⁴ to 1/2.
func observations() []float64 {
	var out []float64
	for k := -28; k <= -2; k++ {
		out = append(out, math.Exp2(float64(k)/2))
	}
	return out
}

// seed draws the frequencies, which are public.
const seed = 1

func prepare(p *ground.Problem, s *Settings) (ground.Algorithm[Body], error) {
	noise, err := p.Gaussian(ground.Query{What: "outputs", Coordinates: p.Slots, Norm: 1, Diameter: 2, Largest: 1,
		Rows: p.Slots, Apart: true}, 1)
	rng := rand.New(rand.NewPCG(seed, seed))
	w := mat.NewDense(s.Frequencies, p.Dims, nil)
	w.Apply(func(int, int, float64) float64 {
		return rng.NormFloat64() / (lengthscale * 2 * math.Sqrt(float64(p.Dims)))
	}, w)
	return &algorithm{p, noise, w}, err
}

// Fit implements [ground.Algorithm].
func (a *algorithm) Fit(ctx context.Context, rows *method.Part, sums *ground.Sums) (Body, error) {
	noisy, err := sums.Each(a.noise, func(row int) float64 { return rows.Y[row] })
	if err != nil {
		return Body{}, err
	}
	best, likelihood, err := body(ctx, a.Engine, a.w, rows.X, noisy, sums.Scale(a.noise))
	likelihood += favour
	for _, times := range longer {
		var w mat.Dense
		w.Scale(1/times, a.w)
		other, l, errOf := body(ctx, a.Engine, &w, rows.X, noisy, sums.Scale(a.noise))
		if err = errors.Join(err, errOf); l > likelihood {
			best, likelihood = other, l
		}
	}
	return best, err
}

// body is the model of noisy outputs at the inputs x (N×d), with noise of the standard deviation sigma and the
// frequencies w (K×d), and the logarithm of its likelihood on average over the candidates for ν, up to a constant.
func body(ctx context.Context, e *engine.Engine, w, x *mat.Dense, noisy []float64, sigma float64) (
	out Body, average float64, err error) {
	gram, moments, err := products(ctx, e, w, x, noisy)
	if err != nil {
		return out, 0, err
	}
	k := moments.Len()
	var eigen mat.EigenSym
	if !eigen.Factorize(gram, true) {
		return out, 0, errors.New("a defect: the features' products have no eigenvalues")
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	var along mat.VecDense
	along.MulVec(vectors.T(), moments)
	values, all := eigen.Values(nil), floats.Dot(noisy, noisy)
	// Of the outputs' covariance s ΦΦᵀ + tI, t = σ² + ν, the eigenvalues are t + s λ, and t for the rest of N.
	likelihood := func(nu float64) float64 {
		t := sigma*sigma + nu
		sum := all/t + float64(len(noisy))*math.Log(t)
		for i, b := range along.RawVector().Data {
			q := 1 + variance*max(0, values[i])/t
			sum += math.Log(q) - variance*b*b/(q*t*t)
		}
		return -sum / 2
	}
	candidates := observations()
	weights := make([]float64, len(candidates))
	for i, nu := range candidates {
		weights[i] = likelihood(nu) + math.Log(nu/(sigma*sigma+nu))
	}
	average = floats.LogSumExp(weights)
	for i, nu := range candidates {
		out.Observation += nu * math.Exp(weights[i]-average)
	}
	t := sigma*sigma + out.Observation
	// vectors·diag(spread)·vectorsᵀ is S.
	c, spread := mat.NewVecDense(k, nil), mat.NewDiagDense(k, nil)
	for i, b := range along.RawVector().Data {
		v := variance / (1 + variance*max(0, values[i])/t)
		spread.SetDiag(i, v)
		c.SetVec(i, v*b/t)
	}
	var mean mat.VecDense
	var scaled, covariance mat.Dense
	mean.MulVec(&vectors, c)
	scaled.Mul(&vectors, spread)
	covariance.Mul(&scaled, vectors.T())
	out.Coefficients = mean.RawVector().Data
	out.Frequencies, out.Covariance = lists(w), lists(&covariance)
	return out, average, nil
}

// chunk is the number of rows whose features are held at a time: of a million rows and 64 frequencies all of them would
// take a gigabyte.
const chunk = 4096

// products returns ΦᵀΦ (2K×2K) and Φᵀy (2K) of the features Φ of the rows of x.
func products(ctx context.Context, e *engine.Engine, w, x *mat.Dense, y []float64) (
	*mat.SymDense, *mat.VecDense, error) {
	n, d := x.Dims()
	k, _ := w.Dims()
	return ground.Products(ctx, e, n, 2*k, func(lo, hi int) (*mat.Dense, []float64) {
		return features(x.Slice(lo, hi, 0, d).(*mat.Dense), w), y[lo:hi]
	})
}

// features returns those at the rows of x (N×2K): the cosines and then the sines, over √K.
func features(x, w *mat.Dense) *mat.Dense {
	n, _ := x.Dims()
	k, _ := w.Dims()
	var at mat.Dense
	at.Mul(x, w.T())
	out := mat.NewDense(n, 2*k, nil)
	size := 1 / math.Sqrt(float64(k))
	for i := range n {
		row := out.RawRowView(i)
		for j, v := range at.RawRowView(i) {
			sin, cos := math.Sincos(v)
			row[j], row[k+j] = size*cos, size*sin
		}
	}
	return out
}

// lists returns the rows of a matrix.
func lists(a *mat.Dense) [][]float64 {
	n, _ := a.Dims()
	out := make([][]float64, n)
	for i := range out {
		out[i] = mat.Row(nil, i, a)
	}
	return out
}

// Losses implements [ground.Algorithm].
func (a *algorithm) Losses() []experiment.Loss { return ground.Losses(a.noise) }

// Mechanism implements [ground.Algorithm].
func (a *algorithm) Mechanism() string {
	return "analytic Gaussian mechanism (Balle and Wang 2018) on every output, and a Gaussian process on the noisy outputs"
}

// Public implements [ground.Algorithm].
func (a *algorithm) Public() string { return "" }

// Size implements [ground.Algorithm].
func (a *algorithm) Size() (numbers, lists int) {
	k, d := a.w.Dims()
	return k*d + 2*k + 4*k*k, 3*k + 1
}

// Body is the posterior of the coefficients of K random frequencies.
type Body struct {
	Frequencies  [][]float64 `json:"frequencies"`  // K×d
	Coefficients []float64   `json:"coefficients"` // 2K: the mean, of the cosines and then of the sines
	Covariance   [][]float64 `json:"covariance"`   // 2K×2K
	Observation  float64     `json:"observation"`  // variance of an output about the function
}

// Check implements [ground.Body].
func (b Body) Check(c *model.Checker, inputs, _ int) {
	k := 2 * len(b.Frequencies)
	c.Require(k > 0, "parameters.frequencies", "there are none")
	c.Rows("parameters.frequencies", b.Frequencies, inputs, "inputs")
	c.Length("parameters.coefficients", b.Coefficients, k, "features")
	c.Covariance("parameters.covariance", b.Covariance, k, "features")
	c.Semidefinite("parameters.covariance", b.Covariance)
	c.Positive("parameters.observation", b.Observation)
}

// each computes one number for each row of x from the features of some rows at a time (rows×2K), which f puts into out.
func (b Body) each(ctx context.Context, e *engine.Engine, x *mat.Dense, f func(phi *mat.Dense, out []float64)) (
	[]float64, error) {
	n, d := x.Dims()
	out, w := make([]float64, n), matrix(b.Frequencies)
	return out, e.ParallelFor(ctx, n, chunk, func(lo, hi int) error {
		f(features(x.Slice(lo, hi, 0, d).(*mat.Dense), w), out[lo:hi])
		return nil
	})
}

// matrix has the rows of lists.
func matrix(rows [][]float64) *mat.Dense {
	out := mat.NewDense(len(rows), len(rows[0]), nil)
	for i, row := range rows {
		out.SetRow(i, row)
	}
	return out
}

// Evaluate implements [ground.Body].
func (b Body) Evaluate(ctx context.Context, e *engine.Engine, x *mat.Dense) ([][]float64, error) {
	means, err := b.each(ctx, e, x, func(phi *mat.Dense, out []float64) {
		mat.NewVecDense(len(out), out).MulVec(phi, mat.NewVecDense(len(b.Coefficients), b.Coefficients))
	})
	for i, v := range means {
		means[i] = max(-1, min(1, v))
	}
	return [][]float64{means}, err
}

// Variance implements [ground.Spread].
func (b Body) Variance(ctx context.Context, e *engine.Engine, x *mat.Dense) (function []float64, observation float64,
	err error) {
	covariance := matrix(b.Covariance)
	function, err = b.each(ctx, e, x, func(phi *mat.Dense, out []float64) {
		var half mat.Dense
		half.Mul(phi, covariance)
		for i := range out {
			out[i] = max(0, floats.Dot(half.RawRowView(i), phi.RawRowView(i)))
		}
	})
	return function, b.Observation, err
}
