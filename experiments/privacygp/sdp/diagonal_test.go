package sdp

import (
	"context"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestSolveDiagonal(t *testing.T) {
	tests := []struct {
		name   string
		p      problem
		want   float64
		within float64
		origin string
	}{
		{"example 1", problem{9, 10, 0, []float64{.5}, half}, 20.07291979115428, 1e-10, "independent implementation"},
		{"off the grid, noisy data", problem{9, 10, .1, []float64{.52}, half}, 19.34814673789, 2e-7, clarabel},
		{"low tolerance at the edge", problem{7, 20, .01, []float64{.03}, []float64{.2}}, .01948231421, 2e-7, clarabel},
		{"twenty points", problem{20, 10, 0, []float64{.5}, half}, 91.06654756744, 2e-7, clarabel},
		{"weak correlation", problem{12, 40, 0, []float64{.31}, []float64{.7}}, 23.75882116518, 2e-7, clarabel},
		{"far away: no noise needed", problem{9, 10, 0, []float64{1.5}, half}, 0, 1e-9, "the prior variance is left as it is"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, a, q := tt.p.matrices()
			s, err := SolveDiagonal(context.Background(), m, mat.Col(nil, 0, a), q[0], nil)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(s.Trace-tt.want) > tt.within {
				t.Errorf("trace = %.12f, want %.12f ± %g (%s)", s.Trace, tt.want, tt.within, tt.origin)
			}
			checkSolution(t, s, m, a, q)
			for i := range tt.p.points {
				for j := range i {
					if s.Sigma.At(i, j) != 0 {
						t.Fatalf("Σ[%d,%d] = %g in a diagonal matrix", i, j, s.Sigma.At(i, j))
					}
				}
			}
		})
	}
}

func TestDiagonalVariancesOfExample1(t *testing.T) {
	m, a, q := problem{9, 10, 0, []float64{.5}, half}.matrices()
	s, err := SolveDiagonal(context.Background(), m, mat.Col(nil, 0, a), q[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{0, .949247, 2.538879, 4.137934, 4.820800, 4.137934, 2.538879, .949247, 0} // independent implementation
	for i, w := range want {
		if got := s.Sigma.At(i, i); math.Abs(got-w) > 1e-6 {
			t.Errorf("variance %d = %.7f, want %.6f", i+1, got, w)
		}
	}
}

func TestDiagonalNeedsNoLessNoiseThanTheOptimum(t *testing.T) {
	for _, s := range []float64{.05, .3, .5, .77, .95} {
		m, a, q := problem{8, 12, .05, []float64{s}, []float64{.6}}.matrices()
		diagonal, err := SolveDiagonal(context.Background(), m, mat.Col(nil, 0, a), q[0], nil)
		if err != nil {
			t.Fatal(err)
		}
		optimal, err := SolveWeak(context.Background(), m, a, q, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diagonal.Upper < optimal.Lower {
			t.Errorf("s = %g: diagonal %g below the optimum %g", s, diagonal.Upper, optimal.Lower)
		}
	}
}

func TestSolveDiagonalRefuses(t *testing.T) {
	m, a, _ := problem{9, 10, 0, []float64{.5}, half}.matrices()
	if _, err := SolveDiagonal(context.Background(), m, mat.Col(nil, 0, a), 0, nil); err == nil || !strings.Contains(err.Error(), "must be positive") {
		t.Errorf("error = %v", err)
	}
	if _, err := SolveDiagonal(context.Background(), m, []float64{1, 2}, .5, nil); err == nil || !strings.Contains(err.Error(), "rows") {
		t.Errorf("error = %v", err)
	}
}
