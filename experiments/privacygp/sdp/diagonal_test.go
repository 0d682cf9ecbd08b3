package sdp

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

func TestSolveDiagonal(t *testing.T) {
	const independent = "independent implementation"
	tests := []struct {
		name   string
		p      problem
		want   float64
		within float64
		origin string
	}{
		{"example 1", problem{9, 10, 0, []float64{.5}, half}, 20.07291979115428, 1e-10, independent},
		{"off the grid, noisy data", problem{9, 10, .1, []float64{.52}, half}, 19.34814673789, 2e-7, clarabel},
		{"low tolerance at the edge", problem{7, 20, .01, []float64{.03}, []float64{.2}}, .01948231421, 2e-7, clarabel},
		{"twenty points", problem{20, 10, 0, []float64{.5}, half}, 91.06654756744, 2e-7, clarabel},
		{"weak correlation", problem{12, 40, 0, []float64{.31}, []float64{.7}}, 23.75882116518, 2e-7, clarabel},
		{"dense, noisy data", problem{120, 10, .01, []float64{.5}, half}, 3057.2416, 5e-5, independent},
		{"denser", problem{200, 10, .01, []float64{.5}, half}, 8442.01, 5e-3, independent},
		{"dense, without noise of its own", problem{61, 10, 0, []float64{.5}, half}, 801.4332086550, 1e-5, clarabel},
		{"nothing is known", problem{9, 10, 0, []float64{50}, half}, 0, 0, "a = 0 in floating point"},
		{"more noise of its own", problem{40, 200, .1, []float64{.31}, []float64{.9}}, 214.3151421685, 1e-6, clarabel},
		{"one input", problem{1, 10, 0, []float64{.5}, []float64{.95}}, 19, 1e-9, "1/(1 − ξ) − 1"},
		{"far away: no noise needed", problem{9, 10, 0, []float64{1.5}, half}, 0, 1e-9,
			"the prior variance is left as it is"},
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

// TestDiagonalClosesItsGap: for every density, kernel, noise and tolerance, also for kernel
// matrices that are singular in floating point.
func TestDiagonalClosesItsGap(t *testing.T) {
	for _, points := range []int{1, 2, 19, 60, 100} {
		t.Run(fmt.Sprintf("%d points", points), func(t *testing.T) {
			for _, theta := range []float64{.1, 10, 200, 5000} {
				for _, v := range []float64{0, 1e-10, 1e-2, 30} {
					for _, s := range []float64{.5, .31, -.3} {
						for _, xi := range []float64{0, 1e-3, .5, .9999} {
							m, a, q := problem{points, theta, v, []float64{s}, []float64{xi}}.matrices()
							got, err := SolveDiagonal(context.Background(), m, mat.Col(nil, 0, a), q[0], nil)
							if err != nil {
								t.Fatal(err)
							}
							gap := got.RelativeGap()
							if !(gap <= 1e-9) || got.Upper < got.Trace || got.Iterations > 80 {
								t.Errorf("θ = %g, v = %g, s = %g, ξ = %g: %.12g in [%.12g, %.12g], gap %.1e, %d steps",
									theta, v, s, xi, got.Trace, got.Lower, got.Upper, gap, got.Iterations)
							}
							checkDiagonal(t, got, m, mat.Col(nil, 0, a), q[0])
						}
					}
				}
			}
		})
	}
}

// checkDiagonal measures the constraint with eigenvalues, of which the solver
// uses none.
func checkDiagonal(t *testing.T, s *Solution, m *mat.SymDense, a []float64, q float64) {
	t.Helper()
	var c mat.SymDense
	c.AddSym(s.Sigma, m)
	c.SymRankOne(&c, -1/q, mat.NewVecDense(len(a), a))
	values, err := eigenvalues(&c)
	if err != nil {
		t.Fatal(err)
	}
	size := s.Trace + mat.Trace(m) + mat.Dot(mat.NewVecDense(len(a), a), mat.NewVecDense(len(a), a))/q
	if values[0] < -s.Violation {
		t.Errorf("the constraint has the eigenvalue %g, reported violation %g", values[0], s.Violation)
	}
	if s.Violation > 1e-13*size+1e-9*s.Trace/float64(len(a)) {
		t.Errorf("violation %g of a constraint of size %g", s.Violation, size)
	}
	for i := range a {
		if d := s.Sigma.At(i, i); !(d >= 0) {
			t.Errorf("variance %d is %g", i+1, d)
		}
	}
}

func diagonalTrace(t *testing.T, p problem) float64 {
	t.Helper()
	m, a, q := p.matrices()
	s, err := SolveDiagonal(context.Background(), m, mat.Col(nil, 0, a), q[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	if !(s.RelativeGap() <= 1e-9) {
		t.Fatalf("%v: gap %g", p, s.Gap())
	}
	return s.Trace
}

// TestDiagonalChangesAsItsProblem: relations that hold between the optima of
// related problems, of which no value is known.
func TestDiagonalChangesAsItsProblem(t *testing.T) {
	base := problem{63, 10, .01, []float64{.37}, half}
	with := func(change func(*problem)) float64 {
		p := base
		change(&p)
		return diagonalTrace(t, p)
	}
	trace := diagonalTrace(t, base)
	rounding := 1e-8 * trace

	t.Run("a datum more needs no less noise", func(t *testing.T) {
		last := 0.0
		for _, points := range []int{7, 15, 31, 63, 127} { // each grid is part of the next
			now := with(func(p *problem) { p.points = points })
			if now < last-rounding {
				t.Errorf("trace %.10g with %d points, %.10g with half of them", now, points, last)
			}
			last = now
		}
	})
	t.Run("noise of the data's own is noise", func(t *testing.T) {
		// diag(d) + V with V = v·I serves for V = 0, where it is one choice of many.
		last, lastV := 0.0, 0.0
		for i, v := range []float64{0, 1e-3, .1, 2, 30} {
			now := with(func(p *problem) { p.v = v })
			if least := last - float64(base.points)*(v-lastV); i > 0 && (now > last+rounding || now < least-rounding) {
				t.Errorf("v = %g: trace %.10g, want one in [%.10g, %.10g]", v, now, least, last)
			}
			last, lastV = now, v
		}
	})
	t.Run("a higher tolerance needs no less noise", func(t *testing.T) {
		last := 0.0
		for _, xi := range []float64{0, .01, .3, .8, .99} {
			now := with(func(p *problem) { p.xi = []float64{xi} })
			if now < last-rounding {
				t.Errorf("ξ = %g: trace %.10g, below %.10g", xi, now, last)
			}
			last = now
		}
	})
	t.Run("the mirror image", func(t *testing.T) {
		if now := with(func(p *problem) { p.s = []float64{1 - .37} }); math.Abs(now-trace) > rounding {
			t.Errorf("trace %.12g, mirrored %.12g", trace, now)
		}
	})
	t.Run("a permutation of the data", func(t *testing.T) {
		m, a, q := base.matrices()
		order := rand.New(rand.NewPCG(1, 1)).Perm(base.points)
		pm, pa := mat.NewSymDense(base.points, nil), make([]float64, base.points)
		for i, from := range order {
			pa[i] = a.At(from, 0)
			for j, to := range order {
				pm.SetSym(i, j, m.At(from, to))
			}
		}
		one, err := SolveDiagonal(context.Background(), m, mat.Col(nil, 0, a), q[0], nil)
		if err != nil {
			t.Fatal(err)
		}
		other, err := SolveDiagonal(context.Background(), pm, pa, q[0], nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, from := range order {
			if got, want := other.Sigma.At(i, i), one.Sigma.At(from, from); math.Abs(got-want) > 1e-7*trace {
				t.Errorf("variance %d is %.12g, and %.12g where the data are permuted", from, want, got)
			}
		}
	})
	t.Run("other units", func(t *testing.T) {
		m, a, q := base.matrices()
		for _, unit := range []float64{0x1p-40, 0x1p30} { // powers of two: to the last digit
			var scaled mat.SymDense
			scaled.ScaleSym(unit, m)
			column := mat.Col(nil, 0, a)
			floats.Scale(unit, column)
			s, err := SolveDiagonal(context.Background(), &scaled, column, unit*q[0], nil)
			if err != nil {
				t.Fatal(err)
			}
			if s.Trace != unit*trace || !(s.Gap() <= 1e-9*s.Trace) {
				t.Errorf("in units of 1/%g: trace %.15g, want %.15g; gap %g", unit, s.Trace, unit*trace, s.Gap())
			}
		}
	})
	t.Run("data that say nothing of the input", func(t *testing.T) {
		m, a, q := base.matrices()
		n := base.points
		more := mat.NewSymDense(n+1, nil)
		for i := range n {
			for j := i; j < n; j++ {
				more.SetSym(i, j, m.At(i, j))
			}
		}
		more.SetSym(n, n, 1)
		s, err := SolveDiagonal(context.Background(), more, append(mat.Col(nil, 0, a), 0), q[0], nil)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(s.Trace-trace) > rounding || s.Sigma.At(n, n) > rounding {
			t.Errorf("trace %.12g, %.12g with the datum, of variance %g", trace, s.Trace, s.Sigma.At(n, n))
		}
	})
}

// TestDiagonalStart: the path begins at a point that satisfies every condition but
// complementarity, strictly inside.
func TestDiagonalStart(t *testing.T) {
	for _, given := range []problem{
		{9, 10, 0, []float64{.5}, half}, {5, 100, .1, []float64{.31}, []float64{.9}},
		{40, 1, 1e-6, []float64{.2}, []float64{.01}},
	} {
		t.Run(fmt.Sprint(given), func(t *testing.T) {
			m, a, q := given.matrices()
			p := &diagonalProblem{n: given.points, m: m, a: mat.NewVecDense(given.points, mat.Col(nil, 0, a)), q: q[0],
				unit: unitOf(m)}
			x, err := p.start()
			if err != nil {
				t.Fatal(err)
			}
			if scale := mat.Sum(mat.NewVecDense(p.n, x.d)); x.residual > 1e-12*scale {
				t.Errorf("residual %g at variances of %g", x.residual, scale)
			}
			for i, d := range x.d {
				if !(d > 0) || !(math.Abs(x.z.AtVec(i)) < 1) {
					t.Errorf("variance %g, z %g of input %d", d, x.z.AtVec(i), i+1)
				}
			}
		})
	}
}

// TestDiagonalFace: a wrong guess of the positive variances gives none.
func TestDiagonalFace(t *testing.T) {
	m, a, q := problem{9, 10, 0, []float64{.5}, half}.matrices()
	p := &diagonalProblem{n: 9, m: m, a: a.ColView(0).(*mat.VecDense), q: q[0], unit: 1}
	guess := func(from, to int) *diagonalPoint {
		d, z := make([]float64, 9), mat.NewVecDense(9, nil)
		for i := from; i < to; i++ {
			d[i] = 5
			z.SetVec(i, .999)
		}
		return &diagonalPoint{d: d, z: z}
	}
	for _, tt := range []struct {
		name     string
		from, to int
		ok       bool
	}{{"all of them", 0, 9, false}, {"those of the optimum", 1, 8, true}} {
		t.Run(tt.name, func(t *testing.T) {
			d, _, ok := p.face(guess(tt.from, tt.to))
			if ok != tt.ok || ok && math.Abs(floats.Sum(d)-20.07291979115428) > 1e-10 {
				t.Errorf("%v, d = %.6g", ok, d)
			}
		})
	}
}

func TestExactDot(t *testing.T) {
	for _, tt := range []struct {
		name string
		x, y []float64
		want float64
	}{
		{"nothing", nil, nil, 0},
		{"integers", []float64{1, 2, 3}, []float64{4, -5, 6}, 12},
		{"a sum that cancels", []float64{1e16, 1, -1e16}, []float64{1, 1, 1}, 1},
		{"products that cancel", []float64{1 + 0x1p-30, -1}, []float64{1 + 0x1p-30, 1 + 0x1p-29}, 0x1p-60},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, size := exactDot(tt.x, tt.y)
			all := 0.0
			for i := range tt.x {
				all += math.Abs(tt.x[i] * tt.y[i])
			}
			if got != tt.want || size != all {
				t.Errorf("%g, size %g; want %g, %g", got, size, tt.want, all)
			}
		})
	}
}

// TestDiagonalBoundsOfRounding: the lower bound is below the exact value of its point, computed
// in 200 bits, and the upper one has an allowance where the constraint holds with room.
func TestDiagonalBoundsOfRounding(t *testing.T) {
	m, a, q := problem{30, 1, 0, []float64{.5}, half}.matrices() // dense: sums that cancel
	p := &diagonalProblem{n: 30, m: m, a: a.ColView(0).(*mat.VecDense), q: q[0], unit: 1}
	exact := func(v float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(v) }
	add := func(sum *big.Float, factors ...float64) {
		product := exact(1)
		for _, v := range factors {
			product.Mul(product, exact(v))
		}
		sum.Add(sum, product)
	}
	rng := rand.New(rand.NewPCG(3, 1))
	for range 20 {
		z, az, mz := make([]float64, p.n), exact(0), exact(0)
		for i := range z {
			z[i] = 1.9*rng.Float64() - .9
		}
		for i, v := range z {
			add(az, p.a.AtVec(i), v)
			for j, w := range z {
				add(mz, p.m.At(i, j), v, w)
			}
		}
		value := az.Mul(az, az)
		value.Quo(value, exact(p.q)).Sub(value, mz)
		want, _ := value.Float64()
		if lower := p.dualValue(z); want > 0 && (exact(lower).Cmp(value) > 0 || lower < want-1e-11) {
			t.Errorf("lower bound %.17g of a value of %.17g", lower, want)
		}
	}
	if v, ok := p.shortfall(slices.Repeat([]float64{100}, p.n)); !ok || !(v > 0 && v < 1e-10) {
		t.Errorf("with room the allowance is %g, %v", v, ok)
	}
}

// TestDiagonalBoundsAreOutward: bounds of a poor point enclose the optimum too.
func TestDiagonalBoundsAreOutward(t *testing.T) {
	const optimum = 20.07291979115428
	m, a, q := problem{9, 10, 0, []float64{.5}, half}.matrices()
	p := &diagonalProblem{n: 9, m: m, a: a.ColView(0).(*mat.VecDense), q: q[0], unit: 1}
	rng := rand.New(rand.NewPCG(2, 1))
	for range 300 {
		d, z := make([]float64, 9), make([]float64, 9)
		for i := range d {
			d[i], z[i] = 5*rng.Float64(), 3*rng.Float64()-1
		}
		s := p.certify(d, z)
		if s.Lower > optimum || s.Upper < optimum {
			t.Errorf("d = %.3g, z = %.3g: bounds [%g, %g]", d, z, s.Lower, s.Upper)
		}
		checkDiagonal(t, &Solution{Sigma: s.Sigma, Violation: s.Violation, Trace: 1e12}, m, mat.Col(nil, 0, a), q[0])
	}
}

func TestDiagonalVariancesOfExample1(t *testing.T) {
	m, a, q := problem{9, 10, 0, []float64{.5}, half}.matrices()
	s, err := SolveDiagonal(context.Background(), m, mat.Col(nil, 0, a), q[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	// By an independent implementation.
	want := []float64{0, .949247, 2.538879, 4.137934, 4.820800, 4.137934, 2.538879, .949247, 0}
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
	for _, tt := range []struct {
		name string
		a    []float64
		q    float64
		want string
	}{
		{"no tolerance", mat.Col(nil, 0, a), 0, "must be positive"},
		{"too few rows", []float64{1, 2}, .5, "rows"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := SolveDiagonal(context.Background(), m, tt.a, tt.q, nil)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want one with %q", err, tt.want)
			}
		})
	}
}
