package regress

import (
	"context"
	"errors"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/cloaking/design"
	"privkern/graphs/descent"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// Benchmark measures the design solvers.
func Benchmark() experiment.Benchmark {
	return experiment.Benchmark{
		Name: "cloaking/design",
		Doc: "The certified design of 100 predictions from 287 distinct ages, and the gradient descent to a gap of 0.1 " +
			"beside it.",
		Run: benchmark,
	}
}

func benchmark(ctx context.Context, m experiment.Meter) (err error) {
	e, err := engine.Open("cpu", "float64", 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	const rows, points = 287, 100
	train, test := mat.NewDense(rows, 1, nil), mat.NewDense(points, 1, nil)
	for i := range rows {
		train.Set(i, 0, 88*float64(i*i)/(rows*rows))
	}
	for i := range points {
		test.Set(i, 0, 84*float64(i)/(points-1))
	}
	gp := &cloak.Model{Hyperparameters: cloak.Hyperparameters{
		Kernel: cloak.Kernel{Lengthscale: experiment.Several{5}, KernelVariance: 1}, NoiseVariance: 1,
	}}
	c, err := gp.Matrix(e, train, test)
	if err != nil {
		return err
	}
	var d *design.Design
	certified := func(gap float64) func() error {
		return func() error {
			r, err := design.Whiten(ctx, e, []*mat.Dense{c}, design.FullRank, design.Tolerance64)
			if err != nil {
				return err
			}
			d, err = design.Solve(ctx, r[0], gap)
			return err
		}
	}
	cpu, err := m.Time("certified, gap 1e-6", certified(1e-6))
	if err != nil {
		return err
	}
	m.Value("certified, gap 1e-6: steps", float64(d.Iterations), "", experiment.Target{})
	m.Value("certified, gap 1e-6: CPU", cpu*1e3, "ms", experiment.Target{AtMost: 50})

	coarse, err := m.Time("certified, gap 0.1", certified(0.1))
	if err != nil {
		return err
	}
	var steps int
	slow, err := m.Time("gradient descent, gap 0.1", func() error {
		r, err := design.Whiten(ctx, e, []*mat.Dense{c}, design.FullRank, design.Tolerance64)
		if err != nil {
			return err
		}
		result, err := descent.Descend(ctx, e, descent.Problem{C: r[0].Columns(r[0].Distinct())},
			descent.Options{Iterations: 20000, Tolerance: 0.1})
		steps = result.Iterations
		return err
	})
	if err != nil {
		return err
	}
	m.Value("gradient descent, gap 0.1: steps", float64(steps), "", experiment.Target{})
	m.Value("gradient descent to certified, gap 0.1", slow/coarse, "times", experiment.Target{AtLeast: 20})
	return nil
}
