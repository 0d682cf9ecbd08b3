package privacygp

import (
	"context"
	"errors"
	"fmt"

	"privkern/experiments/privacygp/process"
	"privkern/experiments/privacygp/sdp"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// benchmarks measure the weak program.
func benchmarks() []experiment.Benchmark {
	return []experiment.Benchmark{{
		Name: "privacygp/weak",
		Doc:  "The weak program with 61 data and 10 sensitive inputs, to its certificate.",
		Run:  benchWeak,
	}}
}

func benchWeak(ctx context.Context, m experiment.Meter) (err error) {
	e, err := engine.Open("cpu", "float64", 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	const theta, xi, inputs, sensitive = 10, 0.5, 61, 10
	p, err := process.New(e, theta, 0, grid(inputs))
	if err != nil {
		return err
	}
	cross, err := p.Between(p.X, linspace(0.3, 0.6, sensitive))
	if err != nil {
		return err
	}
	q := make([]float64, sensitive)
	for i := range q {
		q[i] = 1 - xi
	}
	var s *sdp.Solution
	cpu, err := m.Time("certified solution", func() error {
		s, err = sdp.SolveWeak(ctx, p.Covariance(), cross, q, nil)
		return err
	})
	if err != nil {
		return err
	}
	if !(s.Gap() < 1e-7) {
		return fmt.Errorf("the gap is %.3g", s.Gap())
	}
	m.Value("certified solution: CPU", cpu, "s", experiment.Target{AtMost: 0.5})
	m.Value("certified solution: gap", s.Gap(), "", experiment.Target{AtMost: 1e-7})
	m.Value("certified solution: steps", float64(s.Iterations), "", experiment.Target{})
	return nil
}
