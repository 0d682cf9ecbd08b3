package descent

import (
	"context"
	"errors"
	"maps"
	"math"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/batch"
	"privkern/graphs/engine"
)

// batchElements bounds the elements of the matrices C of one batch, 32 MiB in float64. A step
// takes two further matrices of this size.
const batchElements = 1 << 22

// group is a batch of problems of one size class, p×n.
type group struct {
	p, n     int
	problems []Problem
	of       []int // indices of the problems
}

// divide puts problems into batches.
func divide(problems []Problem) []*group {
	matrices := make([]*mat.Dense, len(problems))
	for i := range problems {
		matrices[i] = problems[i].C
	}
	var all []*group
	for _, members := range batch.Divide(matrices, func(p, n int) int { return batchElements / (p * n) }) {
		g := &group{p: members.Rows, n: members.Cols, of: members.Members}
		for _, i := range g.of {
			g.problems = append(g.problems, problems[i])
		}
		all = append(all, g)
	}
	return all
}

// inputs returns the constant inputs of the programs, and the first λ.
func (g *group) inputs(e *engine.Engine, o *Options) (constant, start engine.Values, err error) {
	m, dtype := len(g.problems), e.ElementType()
	matrices, columns := make([]*mat.Dense, m), make([]*mat.Dense, m)
	counts, rates, bounds := make([]int, m), make([]float64, m), make([]float64, m)
	for i, problem := range g.problems {
		matrices[i] = problem.C
		p, n := problem.C.Dims()
		columns[i] = mat.NewDense(n, 1, problem.start())
		counts[i], rates[i] = p, o.LearningRate
		if o.Tolerance > 0 { // otherwise every Σλ·max q is above the bound
			bounds[i] = float64(p) * math.Exp(o.Tolerance/float64(p))
		}
	}
	c, err1 := batch.Matrices(dtype, g.p, g.n, matrices)
	lambda, err2 := batch.Matrices(dtype, g.n, 1, columns)
	count, err3 := batch.Scalars(dtype, counts)
	rate, err4 := batch.Scalars(dtype, rates)
	bound, err5 := batch.Scalars(dtype, bounds)
	zero := tensor.New(tensor.Of(dtype), tensor.WithShape(m, g.n, 1))
	return engine.Values{"c": c, "count": count, "rate": rate, "bound": bound, "zero": zero},
		engine.Values{"lambda": lambda}, errors.Join(err1, err2, err3, err4, err5)
}

// descend makes the steps of all problems together until each has ended, and sets their results.
func (g *group) descend(ctx context.Context, e *engine.Engine, o *Options, report func(int), results []Descent) error {
	constant, start, err := g.inputs(e, o)
	if err != nil {
		return err
	}
	kept, err := batch.Keep(e, constant)
	if err != nil {
		return err
	}
	defer kept.Close()
	lambda, failed := start["lambda"], make([]error, len(g.problems))
	defer func() { closeValue(lambda) }()
	steps := make([]int, len(g.problems))
	for done := 0; done < o.Iterations; {
		most := min(stepsPerRun, o.Iterations-done)
		next, taken, err := g.steps(ctx, e, kept, lambda, most, failed)
		if err != nil {
			return err
		}
		closeValue(lambda)
		lambda = next
		largest, sum := 0, 0
		for i, v := range taken {
			steps[i] += int(v)
			largest, sum = max(largest, int(v)), sum+int(v)
		}
		report(sum)
		if done += most; largest < most {
			break // all have ended
		}
	}
	for i, number := range g.of {
		results[number].Iterations = steps[i]
	}
	return g.finish(ctx, e, kept, lambda, failed, results)
}

// steps makes a number of steps from lambda, and returns the resulting weights, resident, and the
// number of steps before the end of each member. failed receives the first error of each member.
func (g *group) steps(ctx context.Context, e *engine.Engine, kept engine.Values, lambda gorgonia.Value, steps int,
	failed []error) (next gorgonia.Value, taken []float64, err error) {
	m := len(g.problems)
	in := engine.Values{"lambda": lambda}
	maps.Copy(in, kept)
	out, err := e.Run(ctx, stepProgram(m, g.p, g.n, steps), in, engine.Stay("lambda"))
	if err = batch.Failures(err, failed); err != nil {
		return nil, nil, err
	}
	if taken, err = engine.Floats(out["steps"]); err != nil {
		out.Close()
		return nil, nil, err
	}
	return out["lambda"], taken, nil
}

// finish evaluates the last weights, and sets the results.
func (g *group) finish(ctx context.Context, e *engine.Engine, kept engine.Values, lambda gorgonia.Value,
	failed []error, results []Descent) error {
	m := len(g.problems)
	out, err := e.Run(ctx, evaluationProgram(m, g.p, g.n),
		engine.Values{"c": kept["c"], "count": kept["count"], "lambda": lambda})
	if err = batch.Failures(err, failed); err != nil {
		return err
	}
	ended, err := engine.Host(ctx, engine.Values{"lambda": lambda})
	if err = batch.Failures(err, failed); err != nil {
		return err
	}
	r, last := engine.Read(out), engine.Read(ended)
	logdet, sum, worst, weights := r.Floats("logdet"), r.Floats("sum"), r.Floats("worst"), last.Floats("lambda")
	if err := errors.Join(r.Err(), last.Err()); err != nil {
		return err
	}
	for i, number := range g.of {
		p, n := g.problems[i].C.Dims()
		results[number].take(p, n, failed[i], weights[i*g.n:], logdet[i], sum[i], worst[i])
	}
	return nil
}

// closeValue frees a resident value.
func closeValue(v gorgonia.Value) {
	if r, ok := v.(*engine.Resident); ok {
		r.Close()
	}
}
