package exact

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"privkern/experiments/baseline/ground"
	"privkern/graphs/engine"
)

// penalties are the candidates for λ of ridge and logistic regression on standard inputs, for a loss that is a mean
// over the rows.
var penalties = []float64{10, 1, 0.1, 0.01, 1e-3, 1e-4, 1e-6}

// ridge minimises the mean squared error and λ|w|², with a constant without penalty.
type ridge struct{}

func (ridge) losses(ctx context.Context, train, valid *rows) ([]float64, error) {
	var out []float64
	for k := range penalties {
		m, err := ridge{}.fit(ctx, train, k)
		if err != nil {
			return nil, err
		}
		means, err := m.Evaluate(ctx, nil, valid.x)
		if err != nil {
			return nil, err
		}
		out = append(out, valid.loss(means))
	}
	return out, nil
}

func (ridge) fit(_ context.Context, train *rows, candidate int) (ground.Evaluator, error) {
	s := standardOf(train.x)
	x, n := s.of(train.x), float64(train.len())
	_, d := x.Dims()
	gram := mat.NewSymDense(d, nil)
	gram.SymOuterK(1/n, x.T())
	for j := range d {
		gram.SetSym(j, j, gram.At(j, j)+penalties[candidate])
	}
	var moments, w mat.VecDense
	moments.MulVec(x.T(), mat.NewVecDense(len(train.y), train.y)) // the inputs have mean 0
	moments.ScaleVec(1/n, &moments)
	var c mat.Cholesky
	if !c.Factorize(gram) {
		return nil, errors.New("ridge regression: the products of the inputs have no factor")
	}
	// A condition number has no part in predictions that are compared on other rows.
	if err := c.SolveVecTo(&w, &moments); err != nil && !errors.As(err, new(mat.Condition)) {
		return nil, fmt.Errorf("ridge regression: %w", err)
	}
	return &plane{s, w.RawVector().Data, floats.Sum(train.y) / n}, nil
}

type plane struct {
	standard
	weights  []float64
	constant float64
}

// Evaluate implements [ground.Evaluator].
func (p *plane) Evaluate(_ context.Context, _ *engine.Engine, x *mat.Dense) ([][]float64, error) {
	var out mat.VecDense
	out.MulVec(p.of(x), mat.NewVecDense(len(p.weights), p.weights))
	means := out.RawVector().Data
	floats.AddConst(p.constant, means)
	return [][]float64{clipped(means)}, nil
}

// logistic minimises the mean of −log of the probability of the own class and λ|W|²/2, with constants without penalty.
type logistic struct{}

// losses starts each candidate from the one before it, whose penalty is larger.
func (logistic) losses(ctx context.Context, train, valid *rows) ([]float64, error) {
	var out []float64
	var last *planes
	for k := range penalties {
		m, err := fitPlanes(ctx, train, penalties[k], last)
		if err != nil {
			return nil, err
		}
		probabilities, err := m.Evaluate(ctx, nil, valid.x)
		if err != nil {
			return nil, err
		}
		out, last = append(out, valid.loss(probabilities)), m
	}
	return out, nil
}

func (logistic) fit(ctx context.Context, train *rows, candidate int) (ground.Evaluator, error) {
	return fitPlanes(ctx, train, penalties[candidate], nil)
}

// planes are weights (C×(d+1)) of standard inputs, the last of which are the constants.
type planes struct {
	standard
	weights *mat.Dense
}

// scores returns those at the standard inputs x, C×P.
func (p *planes) scores(x *mat.Dense) *mat.Dense {
	classes, columns := p.weights.Dims()
	var out mat.Dense
	out.Mul(p.weights.Slice(0, classes, 0, columns-1), x.T())
	for c := range classes {
		floats.AddConst(p.weights.At(c, columns-1), out.RawRowView(c))
	}
	return &out
}

// Evaluate implements [ground.Evaluator].
func (p *planes) Evaluate(_ context.Context, _ *engine.Engine, x *mat.Dense) ([][]float64, error) {
	return softmax(p.scores(p.of(x))), nil
}

// softmax makes probabilities of scores (C×P), in place.
func softmax(scores *mat.Dense) [][]float64 {
	classes, _ := scores.Dims()
	out := make([][]float64, classes)
	for c := range out {
		out[c] = scores.RawRowView(c)
	}
	ground.Softmax(out)
	return out
}

// fitPlanes minimises by L-BFGS from start, nil for zeros, until the gradient is small or a hundred steps are made: on
// other rows, more make no difference.
func fitPlanes(ctx context.Context, train *rows, penalty float64, start *planes) (*planes, error) {
	p := &planes{standard: standardOf(train.x)}
	x, n := p.of(train.x), float64(train.len())
	_, d := x.Dims()
	at := make([]float64, train.classes*(d+1))
	if start != nil {
		copy(at, start.weights.RawMatrix().Data)
	}
	both := func(w, gradient []float64) (value float64) {
		p.weights = mat.NewDense(train.classes, d+1, w)
		scores := p.scores(x)
		probabilities := softmax(scores)
		value = train.loss(probabilities) / n
		for i, l := range train.labels {
			probabilities[l][i]--
		}
		g := mat.NewDense(train.classes, d+1, nil)
		g.Slice(0, train.classes, 0, d).(*mat.Dense).Mul(scores, x)
		g.Scale(1/n, g)
		for c := range train.classes {
			row := g.RawRowView(c)
			weights := p.weights.RawRowView(c)[:d]
			row[d] = floats.Sum(probabilities[c]) / n
			floats.AddScaled(row[:d], penalty, weights)
			value += penalty / 2 * floats.Dot(weights, weights)
		}
		if gradient != nil {
			copy(gradient, g.RawMatrix().Data)
		}
		return value
	}
	result, err := optimize.Minimize(optimize.Problem{
		Func:   func(w []float64) float64 { return both(w, nil) },
		Grad:   func(to, w []float64) { both(w, to) },
		Status: func() (optimize.Status, error) { return optimize.NotTerminated, ctx.Err() },
	}, at, &optimize.Settings{GradientThreshold: 1e-5, MajorIterations: 100}, &optimize.LBFGS{})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if result == nil || math.IsNaN(result.F) {
		return nil, fmt.Errorf("logistic regression: %w", err)
	}
	p.weights = mat.NewDense(train.classes, d+1, result.X)
	return p, nil
}
