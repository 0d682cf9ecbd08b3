package exact

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/stat"

	"privkern/experiments/baseline/ground"
	"privkern/graphs/engine"
	"privkern/graphs/gp"
	"privkern/graphs/kernel"
	"privkern/graphs/linalg"
)

const (
	// mostRows is the number of training rows up to which all are learned from; of more a sample of that size is.
	mostRows = 100_000
	// mostExact is the number of rows up to which the Gaussian process has all of them; of more it has a sample of that
	// size.
	mostExact = 2000
	// mostEstimated is the number of rows, drawn, by which its hyper-parameters are estimated.
	mostEstimated = 250
	// mostSteps bounds the steps of the estimation.
	mostSteps = 40
	// spread is the standard deviation of the logarithm of a lengthscale, about that of √d, in its estimation: it keeps
	// lengthscales that the rows do not determine from growing without bound.
	spread = 2
)

// temperatures are the candidates for τ of a classification, whose probabilities are the softmax of τ times the
// regressions on the classes' outputs. A regression has none.
var temperatures = []float64{1, 2, 4, 8, 16}

// process is a Gaussian process with the exponentiated quadratic kernel, a lengthscale for each input and a constant
// mean, and its hyper-parameters: those of the largest likelihood, with a weak prior. Classes are regressions on
// outputs of ±1 with the same hyper-parameters ("least-squares classification", Rasmussen and Williams 2006, Section
// 6.5), which are those of the class whose share is the nearest to one half.
type process struct {
	engine *engine.Engine
	standard
	h gp.Hyperparameters
}

// drawn returns the rows, or a sample of them, from a fixed stream, where they are more.
func drawn(r *rows, most int) *rows {
	n := r.len()
	if n <= most {
		return r
	}
	return r.of(rand.New(rand.NewPCG(2, uint64(n))).Perm(n)[:most])
}

// output is the column by which hyper-parameters are estimated.
func output(r *rows) []float64 {
	all := r.outputs()
	_, columns := all.Dims()
	var best []float64
	for c := range columns {
		column := mat.Col(nil, c, all)
		if best == nil || stat.PopVariance(column, nil) > stat.PopVariance(best, nil) {
			best = column
		}
	}
	return best
}

// newProcess estimates hyper-parameters on standard inputs, by L-BFGS. Outputs without variance have the start's.
func newProcess(ctx context.Context, e *engine.Engine, r *rows) (*process, error) {
	p := &process{engine: e, standard: standardOf(r.x)}
	some := drawn(r, mostEstimated)
	x, y := p.of(some.x), output(some)
	floats.AddConst(-stat.Mean(y, nil), y)
	_, d := x.Dims()
	size := max(1e-4, stat.PopVariance(y, nil))
	centre := math.Log(float64(d)) / 2
	at := make([]float64, d+2) // logarithms of lengthscales, variance and noise
	floats.AddConst(centre, at[:d])
	at[d], at[d+1] = math.Log(size/2), math.Log(size/2)
	var failed error
	both := func(u, gradient []float64) (value float64) {
		p.h = hyperparameters(u)
		if beyond(p.h) {
			return math.Inf(1)
		}
		v, g, err := gp.Evaluate(ctx, e, x, y, kernel.EQ(1, 1), p.h)
		var indefinite *linalg.NotPositiveDefiniteError
		switch {
		case errors.As(err, &indefinite):
			return math.Inf(1)
		case err != nil:
			failed = err
			return math.Inf(1)
		}
		value = -v
		for j, l := range u[:d+2] {
			z := (l - centre) / spread
			if j >= d {
				z = (l - math.Log(size)) / (2 * spread)
			}
			value += z * z / 2
			if slope := z / spread; gradient != nil {
				if j >= d {
					slope /= 2
				}
				gradient[j] = slope - g[j]
			}
		}
		return value
	}
	result, err := optimize.Minimize(optimize.Problem{
		Func:   func(u []float64) float64 { return both(u, nil) },
		Grad:   func(to, u []float64) { both(u, to) },
		Status: func() (optimize.Status, error) { return optimize.NotTerminated, failed },
	}, at, &optimize.Settings{GradientThreshold: 1e-3 * float64(some.len()), MajorIterations: mostSteps},
		&optimize.LBFGS{})
	if failed != nil {
		return nil, failed
	}
	if result == nil {
		return nil, err
	}
	p.h = hyperparameters(result.X)
	return p, nil
}

// hyperparameters are those of logarithms, of d lengthscales, the variance and the noise.
func hyperparameters(u []float64) gp.Hyperparameters {
	h := gp.Hyperparameters{}
	for _, v := range u {
		h.Lengthscales = append(h.Lengthscales, math.Exp(v))
	}
	d := len(u) - 2
	h.Variance, h.Noise, h.Lengthscales = h.Lengthscales[d], h.Lengthscales[d+1], h.Lengthscales[:d]
	return h
}

// beyond reports whether a hyper-parameter is 0 or infinite, as a long step of a line search makes it: there is no
// likelihood, and a shorter step is taken.
func beyond(h gp.Hyperparameters) bool {
	all := append([]float64{h.Variance, h.Noise}, h.Lengthscales...)
	return slices.Min(all) == 0 || math.IsInf(slices.Max(all), 1)
}

func (p *process) losses(ctx context.Context, train, valid *rows) ([]float64, error) {
	m, err := p.posterior(train)
	if err != nil {
		return nil, err
	}
	if train.classes == 0 {
		means, err := m.Evaluate(ctx, p.engine, valid.x)
		return []float64{valid.loss(means)}, err
	}
	var out []float64
	for _, t := range temperatures {
		m.temperature = t
		probabilities, err := m.Evaluate(ctx, p.engine, valid.x)
		if err != nil {
			return nil, err
		}
		out = append(out, valid.loss(probabilities))
	}
	return out, nil
}

func (p *process) fit(_ context.Context, train *rows, candidate int) (ground.Evaluator, error) {
	m, err := p.posterior(train)
	if err == nil && train.classes > 0 {
		m.temperature = temperatures[candidate]
	}
	return m, err
}

// posterior solves for the weights of the training rows (N×C), (K + νI)⁻¹ (Y − mean).
func (p *process) posterior(train *rows) (*posterior, error) {
	train = drawn(train, mostExact)
	m := &posterior{process: p, x: p.scaled(train.x)}
	y := mat.DenseCopyOf(train.outputs())
	n, columns := y.Dims()
	for c := range columns {
		mean := mat.Sum(y.ColView(c)) / float64(n)
		m.means = append(m.means, mean)
		for i := range n {
			y.Set(i, c, y.At(i, c)-mean)
		}
	}
	k := p.covariance(m.x, m.x)
	for i := range n {
		k.Set(i, i, k.At(i, i)+p.h.Noise+1e-8*p.h.Variance)
	}
	var err error
	m.weights, _, err = linalg.SolveSPD(p.engine, k, y)
	return m, err
}

// scaled returns standard inputs over their lengthscales.
func (p *process) scaled(x *mat.Dense) *mat.Dense {
	out := p.of(x)
	out.Apply(func(_, j int, v float64) float64 { return v / p.h.Lengthscales[j] }, out)
	return out
}

// covariance returns the kernel between scaled inputs.
func (p *process) covariance(a, b *mat.Dense) *mat.Dense {
	var out mat.Dense
	out.Mul(a, b.T())
	squares := func(x *mat.Dense) []float64 {
		n, _ := x.Dims()
		s := make([]float64, n)
		for i := range s {
			s[i] = floats.Dot(x.RawRowView(i), x.RawRowView(i))
		}
		return s
	}
	left, right := squares(a), squares(b)
	out.Apply(func(i, j int, v float64) float64 {
		return p.h.Variance * math.Exp(-max(0, left[i]+right[j]-2*v)/2)
	}, &out)
	return &out
}

type posterior struct {
	*process
	x           *mat.Dense // N×d, scaled
	weights     *mat.Dense // N×C
	means       []float64  // C
	temperature float64    // τ of a classification; 0 of a regression
}

// evaluated is the number of rows whose covariances with the training rows are held at a time.
const evaluated = 4096

// Evaluate implements [ground.Evaluator].
func (m *posterior) Evaluate(ctx context.Context, e *engine.Engine, x *mat.Dense) ([][]float64, error) {
	n, d := x.Dims()
	out := mat.NewDense(len(m.means), n, nil)
	err := e.ParallelFor(ctx, n, evaluated, func(lo, hi int) error {
		some := out.Slice(0, len(m.means), lo, hi).(*mat.Dense)
		some.Mul(m.weights.T(), m.covariance(m.x, m.scaled(x.Slice(lo, hi, 0, d).(*mat.Dense))))
		return nil
	})
	if err != nil {
		return nil, err
	}
	for c, mean := range m.means {
		floats.AddConst(mean, out.RawRowView(c))
	}
	if m.temperature == 0 {
		return [][]float64{clipped(out.RawRowView(0))}, nil
	}
	out.Scale(m.temperature, out)
	return softmax(out), nil
}
