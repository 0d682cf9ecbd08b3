package sdp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// half is the tolerance of the paper's examples.
var half = []float64{0.5}

func TestSolveWeak(t *testing.T) {
	tests := []struct {
		name   string
		p      problem
		want   float64
		within float64
		origin string
	}{
		{"example 2", problem{9, 10, 0, []float64{.4, .6}, half}, 5.32992032064701812, 1e-10, "independent implementation"},
		{"one input is example 1", problem{9, 10, 0, []float64{.5}, half}, 3.54561408598846448, 1e-10, "closed form (8)"},
		{"second constraint inactive", problem{9, 10, 0, []float64{.5, .52}, []float64{.5, .2}},
			3.54561408598846448, 1e-9, "the input .5 alone"},
		{"unequal tolerances", problem{5, 10, 0, []float64{.3, .7}, []float64{.5, .3}}, 2.82930882, 2e-7, clarabel},
		{"noisy data", problem{6, 10, .1, []float64{.2, .5, .8}, half}, 5.38154090, 2e-7, clarabel},
		{"four inputs off the grid", problem{7, 20, .01, []float64{.1, .35, .6, .9}, []float64{.2, .5, .7, .4}},
			7.41694447, 2e-7, clarabel},
		{"close pairs", problem{8, 15, .02, []float64{.15, .2, .55, .56, .93}, []float64{.6, .1, .3, .5, .05}},
			5.66977708, 2e-7, clarabel},
		{"five inputs", problem{9, 10, 0, linspace(.2, .8, 5), half}, 8.63893735, 2e-7, clarabel},
		{"weak correlation", problem{12, 50, 0, linspace(.2, .8, 5), half}, 9.25053424, 2e-7, clarabel},
		{"more inputs than points", problem{9, 10, 0, linspace(.3, .7, 10), half}, 7.27564020, 2e-7, clarabel},
		{"more inputs than points, noisy", problem{9, 10, .01, linspace(.2, .8, 10), half}, 8.62126015, 2e-7, clarabel},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, a, q := tt.p.matrices()
			s, err := SolveWeak(context.Background(), m, a, q, nil)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(s.Trace-tt.want) > tt.within {
				t.Errorf("trace = %.12f, want %.12f ± %g (%s)", s.Trace, tt.want, tt.within, tt.origin)
			}
			checkSolution(t, s, m, a, q)
		})
	}
}

// clarabel is the origin of reference values: the program (10) as it stands, in
// n(n+1)/2 unknowns, solved with CVXPY and Clarabel at tolerances 1e-10.
const clarabel = "CVXPY with Clarabel"

// TestSolveWeakIllConditioned has kernel matrices that are singular in float64,
// as a dense grid's are: the certificate must close there as well.
func TestSolveWeakIllConditioned(t *testing.T) {
	for _, p := range []problem{
		{61, 10, 0, linspace(.2, .8, 10), half},
		{61, 10, 0, linspace(0, 1, 10), half},
		{61, 100, 0, linspace(.3, .7, 10), half},
		{40, 10, 1e-6, linspace(.45, .55, 12), half},
	} {
		t.Run(fmt.Sprint(p), func(t *testing.T) {
			m, a, q := p.matrices()
			s, err := SolveWeak(context.Background(), m, a, q, nil)
			if err != nil {
				t.Fatalf("%+v: %v", p, err)
			}
			checkSolution(t, s, m, a, q)
		})
	}
}

// checkSolution checks the conditions of a certified solution, from the definition of the problem.
func checkSolution(t *testing.T, s *Solution, m *mat.SymDense, a *mat.Dense, q []float64) {
	t.Helper()
	if s.Gap() > 1e-7 {
		t.Errorf("gap = %g, want at most 1e-7 (lower %.12f, upper %.12f)", s.Gap(), s.Lower, s.Upper)
	}
	if s.Lower > s.Upper+1e-10 {
		t.Errorf("lower bound %.15g above upper bound %.15g", s.Lower, s.Upper)
	}
	scale := mat.Trace(m)
	values, err := eigenvalues(s.Sigma)
	if err != nil {
		t.Fatal(err)
	}
	if values[0] < -1e-13*scale {
		t.Errorf("Σ has the eigenvalue %g", values[0])
	}
	if got := mat.Trace(s.Sigma); math.Abs(got-s.Trace) > 1e-12*scale {
		t.Errorf("Tr Σ = %g, reported %g", got, s.Trace)
	}
	for i, qi := range q {
		var c mat.SymDense
		c.AddSym(s.Sigma, m)
		c.SymRankOne(&c, -1/qi, a.ColView(i))
		if values, _ := eigenvalues(&c); values[0] < -s.Violation-1e-13*scale {
			t.Errorf("constraint %d has the eigenvalue %g, reported violation %g", i+1, values[0], s.Violation)
		}
	}
}

// TestWeakNeedsNoMoreNoiseThanStrong is Theorem 2(1) over a grid of Ξ with the
// same diagonal; the bound is tight at the Ξ that the weak solution gives.
func TestWeakNeedsNoMoreNoiseThanStrong(t *testing.T) {
	m, a, q := problem{9, 10, 0, []float64{.4, .6}, half}.matrices()
	weak, err := SolveWeak(context.Background(), m, a, q, nil)
	if err != nil {
		t.Fatal(err)
	}
	k12 := math.Exp(-10 * .2 * .2)
	for c := k12 - .5 + .001; c <= .5; c += .01 {
		if strong := strongTrace(t, m, a, []float64{.5, k12 - c, k12 - c, .5}); strong < weak.Lower {
			t.Errorf("c = %g: Tr Σ_strong = %g < %g", c, strong, weak.Lower)
		}
	}
	best := k12 - weak.Schur.At(0, 1)
	if want := .391499411161944569; math.Abs(best-want) > 1e-9 { // independent implementation
		t.Errorf("best c = %.15f, want %.15f", best, want)
	}
	if strong := strongTrace(t, m, a, []float64{.5, k12 - best, k12 - best, .5}); math.Abs(strong-weak.Trace) > 1e-9 {
		t.Errorf("Tr Σ_strong = %.12f at the best c, want Tr Σ_weak = %.12f", strong, weak.Trace)
	}
}

func strongTrace(t *testing.T, m *mat.SymDense, a *mat.Dense, q []float64) float64 {
	t.Helper()
	n, g := a.Dims()
	var x, axat mat.Dense
	if err := x.Solve(mat.NewDense(g, g, q), a.T()); err != nil {
		t.Fatal(err)
	}
	axat.Mul(a, &x)
	b := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			b.SetSym(i, j, axat.At(i, j)-m.At(i, j))
		}
	}
	values, err := eigenvalues(b)
	if err != nil {
		t.Fatal(err)
	}
	var trace float64
	for _, v := range values {
		trace += math.Max(0, v)
	}
	return trace
}

// TestWeakWithoutAdmissibleXi is a counterexample to Theorem 2(2): this weak
// problem has a solution, and no positive semi-definite Ξ with its diagonal
// leaves K_SS − Ξ positive definite.
func TestWeakWithoutAdmissibleXi(t *testing.T) {
	m, a, q := problem{9, 10, 0, []float64{.5, .52}, []float64{.5, .2}}.matrices()
	s, err := SolveWeak(context.Background(), m, a, q, nil)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(s.Trace-3.5456) > 5e-5 {
		t.Errorf("trace = %g, want 3.5456", s.Trace)
	}
	k12 := math.Exp(-10 * .02 * .02)
	low := k12 - math.Sqrt(q[0]*q[1]) // K_SS − Ξ ≻ 0 needs c above
	high := math.Sqrt(.5 * .2)        // Ξ ⪰ 0 needs c at most
	if low <= high {
		t.Errorf("c may lie in (%g, %g]: not a counterexample", low, high)
	}
}

func TestSolveWeakRefuses(t *testing.T) {
	m, a, q := problem{9, 10, 0, []float64{.4, .6}, half}.matrices()
	nan := mat.NewSymDense(9, nil)
	nan.SetSym(3, 4, math.NaN())
	tests := []struct {
		name string
		m    *mat.SymDense
		a    *mat.Dense
		q    []float64
		want string
	}{
		{"tolerance at the prior variance", m, a, []float64{.5, 0}, "sensitive input 2"},
		{"tolerance above the prior variance", m, a, []float64{-.1, .5}, "must be positive"},
		{"too few tolerances", m, a, q[:1], "1 tolerances"},
		{"NaN", nan, a, q, "not finite"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := SolveWeak(context.Background(), tt.m, tt.a, tt.q, nil)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want one with %q", err, tt.want)
			}
		})
	}
}

func TestSolveWeakStopsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	m, a, q := problem{9, 10, 0, []float64{.4, .6}, half}.matrices()
	if _, err := SolveWeak(ctx, m, a, q, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want context.Canceled", err)
	}
}

// TestWeakWithoutACertificateFromTheIterate: where no multiplier can be
// computed, the dual value is that of C = 0, and no error.
func TestWeakWithoutACertificateFromTheIterate(t *testing.T) {
	m, a, q := problem{9, 10, 0, []float64{.4, .6}, half}.matrices()
	b, err := newWeakBarrier(m, a, q)
	if err != nil {
		t.Fatal(err)
	}
	b.begin(0.05)
	for _, lambda := range [][]float64{{0, 0}, {-1, -1}, {math.NaN(), 1}, {math.Inf(1), 1}} {
		t.Run(fmt.Sprint(lambda), func(t *testing.T) {
			s, err := b.certify(context.Background(), lambda)
			if err != nil || s.Lower != 0 || s.Gap() != s.Upper {
				t.Errorf("multipliers %v: %+v, error %v, want the lower bound 0", lambda, s, err)
			}
		})
	}

	far := problem{9, 10, 0, []float64{50, 60}, half} // A = 0: no noise needed
	m, a, q = far.matrices()
	s, err := SolveWeak(context.Background(), m, a, q, nil)
	if err != nil || s.Lower != 0 || s.Upper > 1e-12 {
		t.Errorf("far away: %+v, error %v", s, err)
	}
}

// TestUpperBoundIsOfAFeasiblePoint: the violation is paid for in every direction, so
// that the upper bound is the trace of a Σ that satisfies all constraints.
func TestUpperBoundIsOfAFeasiblePoint(t *testing.T) {
	m, a, q := problem{9, 10, 0, []float64{.4, .6}, half}.matrices()
	b, err := newWeakBarrier(m, a, q)
	if err != nil {
		t.Fatal(err)
	}
	b.begin(0.05)
	b.q = []float64{q[0] / 50, q[1]} // tighter than those of the point
	s, err := b.certify(context.Background(), []float64{0, 0})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 9 {
		s.Sigma.SetSym(i, i, s.Sigma.At(i, i)+s.Violation)
	}
	if trace := mat.Trace(s.Sigma); s.Violation < .1 || math.Abs(s.Upper-trace) > 1e-12 {
		t.Errorf("upper bound %g with the violation %g, want %g", s.Upper, s.Violation, trace)
	}
	for i, qi := range b.q {
		var c mat.SymDense
		c.AddSym(s.Sigma, m)
		c.SymRankOne(&c, -1/qi, a.ColView(i))
		if values, _ := eigenvalues(&c); values[0] < -1e-12 {
			t.Errorf("constraint %d has the eigenvalue %g", i+1, values[0])
		}
	}
}

// TestLowerBoundHoldsForAnyMultipliers: off the central path C is too large, and is clipped
// to a point of the dual problem. Where that is worse than C = 0, the bound is 0.
func TestLowerBoundHoldsForAnyMultipliers(t *testing.T) {
	for _, c := range []struct {
		p        problem
		optimum  float64 // at most; by an independent implementation
		positive bool    // some of the bounds
	}{
		{problem{9, 10, 0, []float64{.4, .6}, half}, 5.32992032064701812, true},
		{problem{9, 10, .5, []float64{.4, .6}, half}, 5.32992032064701812, false}, // noisy data need no more
	} {
		t.Run(fmt.Sprint(c.p), func(t *testing.T) {
			m, a, q := c.p.matrices()
			b, err := newWeakBarrier(m, a, q)
			if err != nil {
				t.Fatal(err)
			}
			b.begin(0.05)
			positive := false
			for _, lambda := range [][]float64{{.1, .1}, {1, 1}, {10, 20}, {1e3, 1e3}, {1e6, 1e3}, {1e9, 1e9}} {
				lower, err := b.dualValue(lambda)
				if err != nil || !(lower >= 0 && lower <= c.optimum) {
					t.Errorf("multipliers %v: lower bound %g of the optimum %g, %v", lambda, lower, c.optimum, err)
				}
				positive = positive || lower > 0
			}
			if c.positive && !positive {
				t.Error("no bound is better than 0")
			}
		})
	}
}

// TestClipNorm: of the singular values those above 1 become 1, and the others stay.
func TestClipNorm(t *testing.T) {
	u := mat.NewDense(3, 3, []float64{2. / 3, -2. / 3, 1. / 3, 1. / 3, 2. / 3, 2. / 3, 2. / 3, 1. / 3, -2. / 3})
	v := mat.NewDense(3, 3, []float64{.6, -.8, 0, .8, .6, 0, 0, 0, 1})
	with := func(values ...float64) *mat.Dense {
		var c mat.Dense
		c.Product(u, mat.NewDiagDense(3, values), v.T())
		return &c
	}
	for _, c := range []struct{ given, want []float64 }{
		{[]float64{3, 1.2, .5}, []float64{1, 1, .5}},
		{[]float64{1.1, .9, 0}, []float64{1, .9, 0}},
		{[]float64{.9, .5, .1}, []float64{.9, .5, .1}},
	} {
		t.Run(fmt.Sprint(c.given), func(t *testing.T) {
			got := with(c.given...)
			if err := clipNorm(got); err != nil {
				t.Fatal(err)
			}
			if !mat.EqualApprox(got, with(c.want...), 1e-13) {
				t.Errorf("got\n%v\nwant\n%v", mat.Formatted(got), mat.Formatted(with(c.want...)))
			}
		})
	}
}

// TestMultipliers: on the central path they are μ/slack. Those of active constraints are fitted,
// however many digits their slack has lost.
func TestMultipliers(t *testing.T) {
	m, a, q := problem{9, 10, 0, []float64{.5, .52}, []float64{.5, .2}}.matrices()
	b, err := newWeakBarrier(m, a, q)
	if err != nil {
		t.Fatal(err)
	}
	const mu = 1e-3
	if _, err := centre(context.Background(), b, mu, 1e-10); err != nil {
		t.Fatal(err)
	}
	active := 0
	want := make([]float64, len(q))
	for i, slack := range b.point.slack {
		if want[i] = mu / slack; want[i] > slack {
			active++
			b.point.slack[i] *= 1.1
		}
	}
	for i, lambda := range b.multipliers() {
		if math.Abs(lambda-want[i]) > 1e-6*want[i] {
			t.Errorf("multiplier %d is %g, want %g", i, lambda, want[i])
		}
	}
	if active != 1 {
		t.Errorf("%d constraints are active, want one of two", active)
	}
}

// Without a barrier the eigenvalues are those of the positive part and its projector.
func TestSmoothWithoutABarrier(t *testing.T) {
	for b, want := range map[float64][2]float64{-2: {0, 0}, 0: {0, 0}, 3: {3, 1}} {
		if sigma, u := smooth(b, 0); sigma != want[0] || u != want[1] {
			t.Errorf("of %g: %g and %g, want %v", b, sigma, u, want)
		}
	}
}

// TestTighten: of two iterates the better lower bound holds.
func TestTighten(t *testing.T) {
	s := &Solution{Lower: 2, Upper: 3}
	for _, c := range []struct {
		other *Solution
		want  float64
	}{{nil, 2}, {&Solution{Lower: 1}, 2}, {&Solution{Lower: 2.5}, 2.5}} {
		if s.tighten(c.other); s.Lower != c.want {
			t.Errorf("with %+v the lower bound is %g, want %g", c.other, s.Lower, c.want)
		}
	}
}

func TestGapIsNotNegative(t *testing.T) {
	if gap := (&Solution{Upper: 1 - 1e-16, Lower: 1}).Gap(); gap != 0 {
		t.Errorf("gap = %g", gap)
	}
}

// TestUnknownsAreAsManyAsTheRankNeeds: 60 sensitive inputs, nearly the same,
// are a small program, with a certificate for all of them.
func TestUnknownsAreAsManyAsTheRankNeeds(t *testing.T) {
	for _, p := range []problem{
		{100, 10, 0, linspace(.4, .6, 60), half},
		{30, 10, .01, linspace(.4, .6, 60), half}, // γ > n
	} {
		t.Run(fmt.Sprint(p), func(t *testing.T) {
			m, a, q := p.matrices()
			b, err := newWeakBarrier(m, a, q)
			if err != nil {
				t.Fatal(err)
			}
			if b.rank > 15 {
				t.Errorf("rank %d", b.rank)
			}
			s, err := SolveWeak(context.Background(), m, a, q, nil)
			if err != nil {
				t.Fatal(err)
			}
			checkSolution(t, s, m, a, q)
			if s.Schur.SymmetricDim() != 60 {
				t.Errorf("Q has %d rows", s.Schur.SymmetricDim())
			}
		})
	}
}

// TestProgress: from 0 up to everything, never down.
func TestProgress(t *testing.T) {
	m, a, q := problem{9, 10, 0, []float64{.4, .6}, half}.matrices()
	for name, solve := range map[string]func(Progress) error{
		"weak": func(p Progress) error {
			_, err := SolveWeak(context.Background(), m, a, q, p)
			return err
		},
		"diagonal": func(p Progress) error {
			_, err := SolveDiagonal(context.Background(), m, mat.Col(nil, 0, a), q[0], p)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			var done []int
			var total int
			if err := solve(func(d, of int) { done, total = append(done, d), of }); err != nil {
				t.Fatal(err)
			}
			if len(done) < 5 || done[0] != 0 || done[len(done)-1] != total || !slices.IsSorted(done) {
				t.Errorf("progress %v of %d", done, total)
			}
		})
	}
}

// TestSolversStopInTheMiddle cancels while the central path is followed.
func TestSolversStopInTheMiddle(t *testing.T) {
	m, a, q := problem{9, 10, 0, []float64{.4, .6}, half}.matrices()
	cancelled := func() (context.Context, Progress) {
		ctx, cancel := context.WithCancel(context.Background())
		t.Cleanup(cancel)
		return ctx, func(done, _ int) {
			if done == 3 {
				cancel()
			}
		}
	}
	ctx, stop := cancelled()
	if _, err := SolveWeak(ctx, m, a, q, stop); !errors.Is(err, context.Canceled) {
		t.Errorf("weak: error = %v, want context.Canceled", err)
	}
	ctx, stop = cancelled()
	if _, err := SolveDiagonal(ctx, m, mat.Col(nil, 0, a), q[0], stop); !errors.Is(err, context.Canceled) {
		t.Errorf("diagonal: error = %v, want context.Canceled", err)
	}
	b, err := newWeakBarrier(m, a, q)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.certify(ctx, []float64{1, 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("certificate: error = %v, want context.Canceled", err)
	}
}

// TestWeakDerivatives compares the barrier's gradient and Hessian with central
// differences.
func TestWeakDerivatives(t *testing.T) {
	for _, p := range []problem{
		{5, 10, .1, []float64{.3, .45, .7}, []float64{.5, .3}},
		{3, 10, 0, []float64{.2, .4, .5, .9}, half}, // γ > n
	} {
		t.Run(fmt.Sprint(p), func(t *testing.T) {
			m, a, q := p.matrices()
			b, err := newWeakBarrier(m, a, q)
			if err != nil {
				t.Fatal(err)
			}
			b.begin(0.05)
			g, h := b.derivatives()
			gradient := append([]float64(nil), g...)
			hessian := mat.DenseCopyOf(h)
			at := func(step []float64) float64 {
				f, ok := b.try(step, 1)
				if !ok {
					t.Fatal("left the domain")
				}
				return f
			}
			const e = 1e-4
			for i := range gradient {
				for j := i; j < len(gradient); j++ {
					step := make([]float64, len(gradient))
					f := func(x, y float64) float64 {
						step[i], step[j] = 0, 0
						step[i] += x
						step[j] += y
						return at(step)
					}
					if i == j {
						if got := (f(e, 0) - f(-e, 0)) / (2 * e); math.Abs(got-gradient[i]) > 1e-6*(1+math.Abs(got)) {
							t.Errorf("%d inputs: gradient[%d] = %g, differences give %g", len(q), i, gradient[i], got)
						}
					}
					got := (f(e, e) - f(e, -e) - f(-e, e) + f(-e, -e)) / (4 * e * e)
					if math.Abs(got-hessian.At(i, j)) > 1e-5*(1+math.Abs(got)) {
						t.Errorf("%d inputs: hessian[%d,%d] = %g, differences give %g", len(q), i, j, hessian.At(i, j), got)
					}
				}
			}
		})
	}
}
