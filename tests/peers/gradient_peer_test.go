package peers

import (
	"context"
	"math"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"

	"privkern/graphs/engine"
	"privkern/graphs/op"
	"privkern/runner/execute/machine"
)

// wave is the formula data of the peers: sin(rate·i²) for the i-th element.
func wave(rows, cols int, rate float64) *mat.Dense {
	m := mat.NewDense(rows, cols, nil)
	for i := range m.RawMatrix().Data {
		m.RawMatrix().Data[i] = math.Sin(rate * float64(i+1) * float64(i+1))
	}
	return m
}

// kernelDerivative is the program of the derivative of Σ G∘K by X, "x", for the kernel
// exp(−gamma|x−y|²), n×m for points of d dimensions.
func kernelDerivative(n, m, d int, gamma float64) engine.Program {
	return engine.Program{Name: "kernel derivative", Key: "kernel derivative", Build: func(b *engine.Builder) {
		x, y, g := b.Input("x", n, d), b.Input("y", m, d), b.Input("g", n, m)
		k := op.Kernel(op.Profile{Metric: op.SquaredEuclidean, Form: op.Exponential, Scale: 1, Rate: gamma})
		derivatives, err := k.SymDiff(gorgonia.Nodes{x, y}, b.Apply(k, x, y), g)
		if err != nil {
			b.Fail(err)
			return
		}
		b.Output("x", derivatives[0])
	}}
}

// The derivative of a kernel matrix is that of a straightforward implementation.
func TestKernelDerivativeAgainstNumPy(t *testing.T) {
	want := peer(t, "gradient.py", "check")
	const n, m, d = 90, 70, 20
	e, err := engine.Open("cpu", "float64", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	out, err := e.Run(context.Background(), kernelDerivative(n, m, d, 0.05), engine.Values{
		"x": e.Matrix(wave(n, d, 1e-3)), "y": e.Matrix(wave(m, d, 7e-4)), "g": e.Matrix(wave(n, m, 3e-4))})
	if err != nil {
		t.Fatal(err)
	}
	got, err := engine.Dense(out["x"])
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]float64{"first": got.At(0, 0), "last": got.At(n-1, d-1), "norm": mat.Norm(got, 2)} {
		if math.Abs(v-want[name]) > 1e-11*want["norm"] {
			t.Errorf("%s is %.15g, NumPy has %.15g", name, v, want[name])
		}
	}
}

// BenchmarkKernelDerivativeAgainstNumPy reports how many times the processor time of a
// straightforward NumPy version is that of ours, for 1,000 × 1,000 points in 64 dimensions,
// each on one thread and the best of some runs.
func BenchmarkKernelDerivativeAgainstNumPy(b *testing.B) {
	const n, d, runs = 1000, 64, 10
	for _, precision := range []string{"float64", "float32"} {
		b.Run(precision, func(b *testing.B) {
			e, err := engine.Open("cpu", precision, 1)
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = e.Close() }()
			s, err := e.Session(kernelDerivative(n, n, d, 1./d))
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			in := engine.Values{"x": e.Matrix(wave(n, d, 1e-3)), "y": e.Matrix(wave(n, d, 7e-4)),
				"g": e.Matrix(wave(n, n, 3e-4))}
			ours, numpy := math.Inf(1), math.Inf(1)
			for b.Loop() {
				for range runs + 1 {
					start := machine.CPUSeconds()
					if _, err := s.Run(context.Background(), in); err != nil {
						b.Fatal(err)
					}
					ours = min(ours, machine.CPUSeconds()-start)
				}
				times := peer(b, "gradient.py", "time", precision, strconv.Itoa(n), strconv.Itoa(d), strconv.Itoa(runs))
				numpy = min(numpy, times["derivative_s"])
			}
			b.ReportMetric(1e3*ours, "ours-ms")
			b.ReportMetric(1e3*numpy, "numpy-ms")
			b.ReportMetric(ours/numpy, "ours/numpy")
		})
	}
}
