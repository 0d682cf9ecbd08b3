package cloaking

import (
	"context"
	"errors"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/cloaking/design"
	"privkern/graphs/cloak"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// benchmarks measure the design solvers.
func benchmarks() []experiment.Benchmark {
	return []experiment.Benchmark{{
		Name: "cloaking/design",
		Doc:  "The certified design of 100 predictions from 287 distinct ages, and the gradient descent to a gap of 0.1 beside it.",
		Run:  benchDesign,
	}, {
		Name: "cloaking/classification",
		Doc:  "A private classifier of 200 points in the plane at 100 test points: 25 draws of one Newton step together and one by one, and of two steps, where each draw has a design of its own.",
		Run:  benchClassification,
	}}
}

func benchClassification(ctx context.Context, m experiment.Meter) (err error) {
	p, err := stripes().Resolve(nil)
	if err != nil {
		return err
	}
	stream := func(string) *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }
	c, err := newClassifier(&experiment.Trial{
		Params: p, Backend: "cpu", DType: "float64", Workers: 1, Stream: stream, Progress: func(int, int, string) {},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.e.Close()) }()
	train, labels, err := simulateStripes(p, stream(""))
	if err != nil {
		return err
	}
	test, _ := stripesTest(p.Float("stripe_width"))
	fit := func(draws, steps int) func() error {
		return func() error {
			one := *c
			one.draws, one.steps = draws, steps
			_, err := one.predict(ctx, train, labels, test, "")
			return err
		}
	}
	together, err := m.Time("25 draws of one step", fit(25, 1))
	if err != nil {
		return err
	}
	single, err := m.Time("one draw of one step", fit(1, 1))
	if err != nil {
		return err
	}
	if _, err := m.Time("25 draws of two steps", fit(25, 2)); err != nil {
		return err
	}
	m.Value("25 draws one by one to together", 25*single/together, "times", experiment.Target{AtLeast: 5})
	return nil
}

func benchDesign(ctx context.Context, m experiment.Meter) (err error) {
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
	gp := &model{method: methodStandard, lengthscale: 5, kernelVariance: 1, noiseVariance: 1}
	c, err := gp.matrix(e, train, test)
	if err != nil {
		return err
	}
	var d *design.Design
	certified := func(gap float64) func() error {
		return func() error {
			r, err := design.Whiten(c, design.FullRank, design.Tolerance64)
			if err != nil {
				return err
			}
			d, err = design.Solve(ctx, r, gap)
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
		r, err := design.Whiten(c, design.FullRank, design.Tolerance64)
		if err != nil {
			return err
		}
		result, err := cloak.Descend(ctx, e, r.DistinctColumns(), cloak.Options{Iterations: 20000, Tolerance: 0.1})
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
