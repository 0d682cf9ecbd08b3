package sdp

import (
	"context"
	"errors"
	"math"
	"testing"
)

// TestSolveGeneral: the general program and the reduced one enclose the same optimum.
func TestSolveGeneral(t *testing.T) {
	for _, tt := range []struct {
		name string
		p    problem
	}{
		{"example 2", problem{9, 10, 0, []float64{.4, .6}, half}},
		{"second constraint inactive", problem{9, 10, 0, []float64{.5, .52}, []float64{.5, .2}}},
		{"noisy data", problem{6, 10, .1, []float64{.2, .5, .8}, half}},
		{"more inputs than points", problem{5, 10, .01, linspace(.3, .7, 7), half}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, a, q := tt.p.matrices()
			got, err := SolveGeneral(context.Background(), m, a, q, nil)
			if err != nil {
				t.Fatal(err)
			}
			want, err := SolveWeak(context.Background(), m, a, q, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got.RelativeGap() > 1e-6 || got.Violation > 1e-12 {
				t.Errorf("relative gap %g, violation %g", got.RelativeGap(), got.Violation)
			}
			if got.Lower > want.Upper || got.Upper < want.Lower || math.Abs(got.Trace-want.Trace) > got.Gap()+want.Gap() {
				t.Errorf("trace %.12g in [%.12g, %.12g], reduced %.12g in [%.12g, %.12g]",
					got.Trace, got.Lower, got.Upper, want.Trace, want.Lower, want.Upper)
			}
		})
	}
}

func TestSolveGeneralRefuses(t *testing.T) {
	m, a, _ := problem{4, 10, .1, []float64{.5}, half}.matrices()
	if _, err := SolveGeneral(context.Background(), m, a, []float64{0}, nil); err == nil {
		t.Error("a tolerance of the prior variance is accepted")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := SolveGeneral(ctx, m, a, half, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v", err)
	}
}

// TestGeneralDerivatives compares gradient and Hessian with differences.
func TestGeneralDerivatives(t *testing.T) {
	m, a, q := problem{4, 10, .1, []float64{.3, .6}, half}.matrices()
	b := newGeneralBarrier(m, a, q)
	f := b.begin(.7)
	gradient, hessian := b.derivatives()
	const h = 1e-4
	at := func(p, r int, s, u float64) float64 {
		step := make([]float64, len(gradient))
		step[p] += s
		step[r] += u
		v, ok := b.try(step, 1)
		if !ok {
			t.Fatal("outside of the domain")
		}
		return v
	}
	for p := range gradient {
		if d := (at(p, p, h, 0) - at(p, p, -h, 0)) / (2 * h); math.Abs(d-gradient[p]) > 1e-6 {
			t.Errorf("gradient %d is %g, by differences %g", p, gradient[p], d)
		}
		for r := range gradient {
			d := (at(p, r, h, h) - at(p, r, h, -h) - at(p, r, -h, h) + at(p, r, -h, -h)) / (4 * h * h)
			if math.Abs(d-hessian.At(p, r)) > 1e-5*math.Max(1, math.Abs(f)) {
				t.Errorf("Hessian (%d, %d) is %g, by differences %g", p, r, hessian.At(p, r), d)
			}
		}
	}
}
