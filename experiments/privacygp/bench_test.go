package privacygp

import (
	"testing"

	"privkern/experiments/privacygp/process"
	"privkern/experiments/privacygp/sdp"
	"privkern/graphs/engine"
)

// BenchmarkWeak solves the weak program with 61 data and 10 sensitive inputs, to its
// certificate.
func BenchmarkWeak(b *testing.B) {
	e, err := engine.Open("cpu", "float64", 1)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	const theta, xi, inputs, sensitive = 10, 0.5, 61, 10
	p, err := process.New(e, theta, 0, grid(inputs))
	if err != nil {
		b.Fatal(err)
	}
	cross, err := p.Between(p.X, linspace(0.3, 0.6, sensitive))
	if err != nil {
		b.Fatal(err)
	}
	q := make([]float64, sensitive)
	for i := range q {
		q[i] = 1 - xi
	}
	for b.Loop() {
		s, err := sdp.SolveWeak(b.Context(), p.Covariance(), cross, q, nil)
		if err != nil {
			b.Fatal(err)
		}
		if !(s.Gap() < 1e-7) {
			b.Fatalf("the gap is %.3g", s.Gap())
		}
		b.ReportMetric(float64(s.Iterations), "steps")
	}
}
