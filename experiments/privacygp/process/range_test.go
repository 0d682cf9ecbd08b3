package process

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/trialtest"
	"privkern/graphs/engine"
)

// TestNumericalRange compares with a Cholesky factorisation where there is one,
// and with a matrix whose range is known where there is none.
func TestNumericalRange(t *testing.T) {
	e := engine.Of(trialtest.New(t, trialtest.Options{}).Engine)
	rng := rand.New(rand.NewPCG(1, 3))
	const n = 7
	normal := func(rows, cols int) *mat.Dense {
		a := mat.NewDense(rows, cols, nil)
		a.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, a)
		return a
	}
	gram := func(a *mat.Dense) *mat.Dense {
		var g mat.Dense
		g.Mul(a, a.T())
		return &g
	}
	factor := normal(n, 4)
	for _, tt := range []struct {
		name  string
		a     *mat.Dense
		noise *mat.Dense
		rank  int
	}{
		{"full rank", gram(normal(n, n)), nil, n},
		{"full rank, noise of rank 2", gram(normal(n, n)), gram(normal(n, 2)), n},
		{"rank 4", gram(factor), nil, 4},
		{"rank 4, no noise in a matrix", gram(factor), mat.NewDense(n, n, nil), 4},
		{"rank 4, noise of full rank", gram(factor), gram(normal(n, n)), 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := rangeOf(e, tt.a, epsilon64)
			if err != nil {
				t.Fatal(err)
			}
			if len(s.values) != tt.rank {
				t.Fatalf("rank %d, want %d", len(s.values), tt.rank)
			}
			var sigma mat.Matrix
			if tt.noise != nil {
				sigma = tt.noise
			}
			b := normal(n, 3)
			x, err := s.solve(sigma, b, epsilon64)
			if err != nil {
				t.Fatal(err)
			}
			explained, err := s.explained(sigma, b, epsilon64)
			if err != nil {
				t.Fatal(err)
			}
			// In the range, (UᵀTU)(Uᵀx) = Uᵀb for T = A + Σ, and x lies in it.
			total := mat.DenseCopyOf(tt.a)
			if tt.noise != nil {
				total.Add(total, tt.noise)
			}
			var tx, left, right, inside, ux mat.Dense
			tx.Mul(total, x)
			left.Mul(s.u.T(), &tx)
			right.Mul(s.u.T(), b)
			ux.Mul(s.u.T(), x)
			inside.Mul(s.u, &ux)
			if !mat.EqualApprox(&left, &right, 1e-10) || !mat.EqualApprox(&inside, x, 1e-10) {
				t.Errorf("x = %v", mat.Formatted(x))
			}
			for j, got := range explained {
				if want := mat.Dot(b.ColView(j), x.ColView(j)); math.Abs(got-want) > 1e-10*(1+want) {
					t.Errorf("column %d: %g explained, want %g", j, got, want)
				}
			}
		})
	}
}

// TestNoFactorOfRounding: where the numerical rank is below n, a Cholesky
// factorisation that happens to succeed is not taken.
func TestNoFactorOfRounding(t *testing.T) {
	e := engine.Of(trialtest.New(t, trialtest.Options{}).Engine)
	for least, want := range map[float64]float64{1e-15: 1, 1e-12: 2} {
		t.Run(fmt.Sprintf("least eigenvalue %g", least), func(t *testing.T) {
			cov := mat.NewDense(2, 2, []float64{1, 0, 0, least})
			p := &Observations{engine: e, cov: cov, epsilon: epsilon64, Rank: rank([]float64{least, 1}, epsilon64)}
			got, err := p.Explained(nil, mat.NewDense(2, 1, []float64{1, math.Sqrt(least)}))
			if err != nil || math.Abs(got[0]-want) > 1e-9 {
				t.Errorf("%g explained, want %g (%v)", got, want, err)
			}
		})
	}
}

// TestInadmissibleInTheRange: a singular K_SS − Ξ is admissible only where the data are not
// informative about the omitted directions.
func TestInadmissibleInTheRange(t *testing.T) {
	e := engine.Of(trialtest.New(t, trialtest.Options{}).Engine)
	p, err := New(e, 10, 0, []float64{.1, .2, .3, .4, .5, .6, .7, .8, .9})
	if err != nil {
		t.Fatal(err)
	}
	s := []float64{.4, .6}
	cross, err := p.Between(p.X, s)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		q    []float64
		want string
	}{
		{"positive definite", []float64{.5, .1, .1, .5}, ""},
		{"singular", []float64{.5, .5, .5, .5}, "correlated with what it leaves out"},
		{"indefinite", []float64{.5, .6, .6, .5}, "has the eigenvalue -0.1"},
		{"zero", []float64{0, 0, 0, 0}, "must be positive definite"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := p.StrongNoise(cross, mat.NewDense(2, 2, tt.q))
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
	t.Run("an input twice, K_SS halved", func(t *testing.T) {
		once, err := p.Between(p.X, s[:1])
		if err != nil {
			t.Fatal(err)
		}
		var twice mat.Dense
		twice.Augment(once, once)
		got, err := p.StrongNoise(&twice, mat.NewDense(2, 2, []float64{.5, .5, .5, .5}))
		if err != nil {
			t.Fatal(err)
		}
		want, err := p.StrongNoise(once, mat.NewDense(1, 1, []float64{.5}))
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(got.Trace-want.Trace) > 1e-12 || got.Sensitive != 1 || want.Sensitive != 1 {
			t.Errorf("trace %g, rank %d; with the input once %g, %d", got.Trace, got.Sensitive, want.Trace, want.Sensitive)
		}
	})
}

// Sensitive inputs that are training inputs to rounding have outputs that are released as they
// are; rounding is relative, of either sign.
func TestExactInputs(t *testing.T) {
	p := &Process{X: []float64{-1e6, .25, 3}}
	got := p.Exact([]float64{-1e6 + 1e-4, .25, .25 + 1e-8, 3 * (1 + 1e-10), 2, -1e6 + 1})
	if want := []float64{-1e6 + 1e-4, .25, 3 * (1 + 1e-10)}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
