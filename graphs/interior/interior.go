// Package interior computes the smallest noise covariance of the cloaking mechanism (Smith,
// Álvarez and Lawrence), a D-optimal design, by a primal–dual interior-point method, for many
// problems at once.
//
// For a k×n matrix B with columns b_i, weights λ ≥ 0 minimise log|M|, M = Σ λ_i b_i b_iᵀ, subject to
// g_i = b_iᵀM⁻¹b_i ≤ 1. The conditions of an optimum are
//
//	g_i(λ) + s_i = 1,  λ_i s_i = 0,  λ, s ≥ 0,
//
// and ∂g_i/∂λ_j = −(b_iᵀM⁻¹b_j)². Steps, their lengths and the stopping test are in the graph, in
// float64 on every engine. Problems of one size class form one batch. A problem has the same bits
// alone and in any batch.
package interior

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/batch"
	"privkern/graphs/engine"
	"privkern/graphs/internal/finite"
)

// Weights is the result of a problem.
type Weights struct {
	// Lambda holds the weights λ, of length n; nil where the method failed. They may miss the
	// target: the caller computes their certificate.
	Lambda []float64
	// Steps is the number of steps taken.
	Steps int
}

// Solve makes steps for each problem until its certified gap, k·log(Σλ·max g / k), reaches the
// target, at most the given number. A matrix B (k×n) of a rank below k has no weights.
func Solve(ctx context.Context, e *engine.Engine, problems []*mat.Dense, gap float64, most int) ([]Weights, error) {
	for i, b := range problems {
		if err := finite.Matrix("the matrix B", b); err != nil {
			return nil, batch.OfProblem(err, i, len(problems))
		}
	}
	results := make([]Weights, len(problems))
	groups := batch.Divide(problems, elements)
	err := e.ParallelFor(ctx, len(groups), 1, func(i, _ int) error {
		return solve(ctx, e, &groups[i], problems, gap, most, results)
	})
	return results, err
}

// elements returns the number of linear systems (n×n) in one batch, 64 MiB in float64.
func elements(_, n int) int { return (1 << 23) / (n * n) }

// solve computes the weights of the problems of a group. λ and s (m×n×1) stay on the backend between
// runs of several steps; a run copies only the number of steps of each member.
func solve(ctx context.Context, e *engine.Engine, g *batch.Group, problems []*mat.Dense, gap float64, most int,
	results []Weights) error {
	values, err := inputs(g, problems, gap)
	if err != nil {
		return err
	}
	in, err := batch.Keep(e, values)
	if err != nil {
		return err
	}
	defer func() { in.Close() }()
	m, failed := len(g.Members), make([]error, len(g.Members))
	for done := 0; done < most; {
		steps := min(stepsPerRun, most-done)
		out, err := e.RunAs(ctx, tensor.Float64, stepProgram(m, g.Rows, g.Cols, steps), in, engine.Stay("lambda", "slack"))
		if err = batch.Failures(err, failed); err != nil {
			return err
		}
		engine.Values{"lambda": in["lambda"], "slack": in["slack"]}.Close()
		in["lambda"], in["slack"] = out["lambda"], out["slack"]
		taken, err := engine.Floats(out["taken"])
		if err != nil {
			return err
		}
		largest := 0
		for i, v := range taken {
			results[g.Members[i]].Steps += int(v)
			largest = max(largest, int(v))
		}
		if done += steps; largest < steps {
			break // all have ended
		}
	}
	host, err := engine.Host(ctx, engine.Values{"lambda": in["lambda"]})
	if err = batch.Failures(err, failed); err != nil {
		return err
	}
	lambda, err := engine.Floats(host["lambda"])
	if err != nil {
		return err
	}
	for i, number := range g.Members {
		_, n := problems[number].Dims()
		own := lambda[i*g.Cols : i*g.Cols+n]
		if failed[i] == nil && !floats.HasNaN(own) {
			results[number].Lambda = append([]float64(nil), own...)
		}
	}
	return nil
}

// inputs returns the inputs of the step program, with λ = k/n and slacks of one.
func inputs(g *batch.Group, problems []*mat.Dense, gap float64) (engine.Values, error) {
	m := len(g.Members)
	matrices := make([]*mat.Dense, m)
	counts, bounds := make([]int, m), make([]float64, m)
	unit, fraction, inverse := make([]float64, m), make([]float64, m), make([]float64, m)
	lambda, ones := make([]float64, m*g.Cols), make([]float64, m*g.Cols)
	for i, number := range g.Members {
		matrices[i] = problems[number]
		k, n := matrices[i].Dims()
		counts[i], bounds[i] = k, float64(k)*math.Exp(gap/float64(k))
		unit[i], fraction[i], inverse[i] = 1, boundaryFraction, 1/float64(g.Cols)
		for j := range g.Cols {
			lambda[i*g.Cols+j], ones[i*g.Cols+j] = float64(k)/float64(n), 1
		}
	}
	b, err1 := batch.Matrices(tensor.Float64, g.Rows, g.Cols, matrices)
	count, err2 := batch.Scalars(tensor.Float64, counts)
	column := func(v []float64) gorgonia.Value { return engine.TensorOf(v, m, g.Cols, 1) }
	scalars := func(v []float64) gorgonia.Value { return engine.TensorOf(v, m) }
	return engine.Values{"b": b, "count": count, "bound": scalars(bounds), "ones": column(ones), "unit": scalars(unit),
		"fraction": scalars(fraction), "inverse": scalars(inverse), "lambda": column(lambda), "slack": column(ones),
	}, errors.Join(err1, err2)
}
