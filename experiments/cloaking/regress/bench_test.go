package regress

import (
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/cloaking/design"
	"privkern/experiments/method"
	"privkern/graphs/descent"
	"privkern/graphs/engine"
)

// BenchmarkDesign solves the design of 100 predictions from 287 distinct ages: with a
// certificate, and by gradient descent to a gap of 0.1.
func BenchmarkDesign(b *testing.B) {
	e, err := engine.Open("cpu", "float64", 1)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	const rows, points = 287, 100
	train, test := mat.NewDense(rows, 1, nil), mat.NewDense(points, 1, nil)
	for i := range rows {
		train.Set(i, 0, 88*float64(i*i)/(rows*rows))
	}
	for i := range points {
		test.Set(i, 0, 84*float64(i)/(points-1))
	}
	gp := &cloak.Model{Hyperparameters: cloak.Hyperparameters{
		Kernel: cloak.Kernel{Lengthscale: method.LengthscalesOf(5), KernelVariance: 1}, NoiseVariance: 1,
	}}
	c, err := gp.Matrix(e, train, test)
	if err != nil {
		b.Fatal(err)
	}
	certified := func(gap float64) func(b *testing.B) {
		return func(b *testing.B) {
			for b.Loop() {
				r, err := design.Whiten(b.Context(), e, []*mat.Dense{c}, design.FullRank, design.Tolerance64)
				if err != nil {
					b.Fatal(err)
				}
				d, err := design.Solve(b.Context(), r[0], gap, design.MaxIterations)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(d.Iterations), "steps")
			}
		}
	}
	b.Run("certified/gap=1e-6", certified(1e-6))
	b.Run("certified/gap=0.1", certified(0.1))
	b.Run("descent/gap=0.1", func(b *testing.B) {
		for b.Loop() {
			r, err := design.Whiten(b.Context(), e, []*mat.Dense{c}, design.FullRank, design.Tolerance64)
			if err != nil {
				b.Fatal(err)
			}
			d, err := descent.Descend(b.Context(), e, descent.Problem{C: r[0].Columns(r[0].Distinct())},
				descent.Options{Iterations: 20000, Tolerance: 0.1})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(d.Iterations), "steps")
		}
	})
}
