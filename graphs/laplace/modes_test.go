package laplace

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/graphs/internal/graphtest"
	"privkern/graphs/op"
)

// sums returns sums of labels ±1 at n inputs with the given counts.
func sums(seed uint64, counts []float64) []float64 {
	rng, out := graphtest.Rand(seed), make([]float64, len(counts))
	for i, c := range counts {
		for range int(c) {
			out[i] += math.Copysign(1, rng.NormFloat64())
		}
	}
	return out
}

// several returns problems of several size classes, full and of low rank, some with several
// labels at an input, with variances for which whole steps overshoot; those for float32 are at
// most some tens.
func several(t testing.TB, e *engine.Engine) []Problem {
	t.Helper()
	var all []Problem
	for i, c := range []struct {
		n, rank, labels int
		variance        float64
	}{{10, 0, 1, 1}, {13, 0, 3, 1e4}, {16, 0, 1, 1e8}, {12, 4, 2, 1}, {70, 0, 1, 2}, {12, 3, 1, 1e4}, {9, 9, 2, 1},
		{66, 0, 2, 1e3}, {11, 0, 1, 3}} {
		if e.DType() == "float32" {
			c.variance = min(c.variance, 10)
		}
		rng := graphtest.Rand(uint64(i))
		counts := make([]float64, c.n)
		for j := range counts {
			counts[j] = float64(1 + (j*c.labels)%c.labels + j%c.labels)
		}
		var m *Model
		var err error
		if c.rank > 0 {
			v := graphtest.Normal(rng, c.n, c.rank)
			v.Scale(math.Sqrt(c.variance), v)
			m, err = LowRank(e, v, counts)
		} else {
			k := covariance(t, e, line(c.n), line(c.n), 2)
			k.Scale(c.variance, k)
			m, err = Full(e, k, counts)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(m.Close)
		all = append(all, Problem{Model: m, Sums: sums(uint64(i+20), counts)})
	}
	return all
}

// modes returns the modes of a batch.
func modes(t testing.TB, e *engine.Engine, problems []Problem, most int) []Mode {
	t.Helper()
	found, err := together(ctx, e, problems, most)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// The modes of batches are those of steps that the host halves, after any number of them.
func TestModesAgainstSteps(t *testing.T) {
	graphtest.EachBLAS(t, func(t *testing.T) {
		e := graphtest.Engine(t, "float64", 2)
		problems := several(t, e)
		for _, most := range []int{1, 3, 100} {
			apart, err := apart(ctx, e, problems, most)
			if err != nil {
				t.Fatal(err)
			}
			for i, got := range modes(t, e, problems, most) {
				want := apart[i]
				if got.Err != nil || got.Steps != want.Steps || (got.Change > 1e-10) != (want.Change > 1e-10) {
					t.Errorf("problem %d: %d steps, the last of %g, want %d of %g; %v", i, got.Steps, got.Change, want.Steps,
						want.Change, got.Err)
					continue
				}
				for name, v := range map[string][2][]float64{"f": {got.Latent, want.Latent}, "dual": {got.Dual, want.Dual}} {
					scale := mat.Norm(mat.NewVecDense(len(v[1]), v[1]), math.Inf(1))
					if !mat.EqualApprox(mat.NewVecDense(len(v[0]), v[0]), mat.NewVecDense(len(v[1]), v[1]), 1e-6*(1+scale)) {
						t.Errorf("problem %d, at most %d steps: %s is %v, want %v", i, most, name, v[0], v[1])
					}
				}
			}
		}
	})
}

// At the mode of a full covariance the gradient of the log posterior, (s + n)/2 − nπ − K⁻¹f, is
// zero, and whole steps alone would not have led there with the largest variances.
func TestModesAreStationary(t *testing.T) {
	for dtype, tolerance := range map[string]float64{"float64": 1e-6, "float32": 1e-2} {
		t.Run(dtype, func(t *testing.T) {
			e := graphtest.Engine(t, dtype, 1)
			problems := several(t, e)
			apart, err := apart(ctx, e, problems, 100)
			if err != nil {
				t.Fatal(err)
			}
			for i, m := range append(modes(t, e, problems, 100), apart...) {
				p := problems[i%len(problems)]
				if m.Err != nil || m.Change > Tolerance(e) {
					t.Errorf("problem %d: not converged after %d steps, the last of %g; %v", i, m.Steps, m.Change, m.Err)
					continue
				}
				if p.Model.rank > 0 {
					continue // its coefficients are others
				}
				for j, f := range m.Latent {
					n := p.Model.counts[j]
					gradient := (p.Sums[j]+n)/2 - n/(1+math.Exp(-f)) - m.Dual[j]
					if !(math.Abs(gradient) <= tolerance) {
						t.Errorf("problem %d: gradient %g at input %d", i, gradient, j)
					}
				}
			}
		})
	}
}

// A problem has the same bits alone, in any batch and with any number of workers, and does not
// change after its end.
func TestModesAlone(t *testing.T) {
	for _, dtype := range []string{"float64", "float32"} {
		for _, workers := range []int{1, 3} {
			t.Run(fmt.Sprint(dtype, " ", workers), func(t *testing.T) {
				e := graphtest.Engine(t, dtype, workers)
				problems := several(t, e)
				all := modes(t, e, problems, 100)
				for i, p := range problems {
					for _, most := range []int{100, all[i].Steps, min(100, all[i].Steps+1)} {
						if alone := modes(t, e, []Problem{p}, most); !reflect.DeepEqual(alone[0], all[i]) {
							t.Errorf("problem %d, %d steps at most: alone %v, in a batch %v", i, most, alone[0], all[i])
						}
					}
				}
			})
		}
	}
}

// A small whole step ends Newton's method; a step that is small after halving does not. Here
// every step is halved to 1e-9 of its length, because no posterior is high enough.
func TestHalvedStepsAreNoConvergence(t *testing.T) {
	e := graphtest.Engine(t, "float64", 1)
	for _, g := range divide(several(t, e)) {
		s, err := g.search(e, 3)
		if err != nil {
			t.Fatal(err)
		}
		wanted, _ := s.wanted()
		for i := range s.posterior {
			s.posterior[i] = 1e30
		}
		if refused, err := s.run(ctx, wanted, false); err != nil || !refused || s.steps[0] != 0 {
			t.Errorf("refused %v after %v steps; %v", refused, s.steps, err)
		}
		if refused, err := s.run(ctx, wanted, true); err != nil || refused || s.steps[0] != 1 || !s.goesOn(0) ||
			s.change[0] < 1e-3 {
			t.Errorf("refused %v after %v steps, the last of size %g; %v", refused, s.steps, s.change, err)
		}
		modes := make([]Mode, len(s.steps)+20)
		if err := s.finish(ctx, modes); err != nil {
			t.Fatal(err)
		}
		for _, number := range g.of {
			for j, f := range modes[number].Latent {
				if math.Abs(f) > 1e-2 {
					t.Errorf("problem %d: f is %g at input %d", number, f, j)
				}
			}
		}
		s.constant.Close()
		s.at.Close()
	}
}

// The same for a single problem, whose posterior is NaN and never high enough.
func TestHalvedStepsAloneAreNoConvergence(t *testing.T) {
	e := graphtest.Engine(t, "float64", 1)
	p := several(t, e)[0]
	if _, err := p.Model.resident(); err != nil { // the inputs of steps
		t.Fatal(err)
	}
	p.Model.counts = slices.Repeat([]float64{math.NaN()}, p.Model.n)
	if m, err := p.find(ctx, 1e-10, 3); err != nil || m.Steps != 3 || m.Change < 1e-3 {
		t.Errorf("%d steps, the last of size %g; %v", m.Steps, m.Change, err)
	}
}

// A problem whose step fails has an error of its own, and the others have modes.
func TestModesWithAFailure(t *testing.T) {
	e := graphtest.Engine(t, "float64", 1)
	problems := several(t, e)[:3]
	negative := mat.NewDense(10, 10, nil)
	for i := range 10 {
		negative.Set(i, i, -1e3)
	}
	bad := Problem{full(t, e, negative), problems[0].Sums}
	three := []Problem{problems[0], bad, problems[1]}
	found := modes(t, e, three, 100)
	alone, err := apart(ctx, e, three, 100)
	if err != nil || alone[1].Err == nil || alone[0].Err != nil {
		t.Errorf("%v, %v", alone, err)
	}
	var notPD *op.NotPositiveDefiniteError
	if !errors.As(found[1].Err, &notPD) || !strings.Contains(found[1].Err.Error(), "step 1 of the Laplace approximation") {
		t.Errorf("got %v", found[1].Err)
	}
	for i, want := range modes(t, e, problems[:2], 100) {
		if !reflect.DeepEqual(found[2*i], want) {
			t.Errorf("problem %d: %v, without the failure %v", i, found[2*i], want)
		}
	}
}

func TestWrongSums(t *testing.T) {
	e := graphtest.Engine(t, "float64", 1)
	m := full(t, e, covariance(t, e, line(2), line(2), 2))
	for want, sums := range map[string][]float64{
		"problem 2 of 2: the Laplace approximation: 3 sums of labels for 2 training inputs": {1, 1, 1},
		"problem 2 of 2: the Laplace approximation: 1 sums of labels for 2 training inputs": {1},
		"sums of labels has NaN": {1, math.NaN()},
	} {
		_, err := Modes(ctx, e, []Problem{{m, []float64{1, -1}}, {m, sums}}, 9)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// BenchmarkModes measures the folds of a cross-validation, independently and as a batch.
func BenchmarkModes(b *testing.B) {
	for _, n := range []int{10, 64, 160, 480} {
		e := graphtest.Engine(b, "float64", 1)
		problems := make([]Problem, 5)
		for i := range problems {
			k := covariance(b, e, line(n), line(n), 5)
			problems[i] = Problem{full(b, e, k), sums(uint64(i), slices.Repeat([]float64{1}, n))}
		}
		b.Run(fmt.Sprintf("5 of %d apart", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := apart(ctx, e, problems, 100); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("5 of %d together", n), func(b *testing.B) {
			for b.Loop() {
				modes(b, e, problems, 100)
			}
		})
	}
}
