package descent_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/descent"
	"privkern/graphs/engine"
	"privkern/graphs/internal/graphtest"
	"privkern/graphs/op"
)

// design returns a 3×10 matrix by formula, c_ij = cos(1.1·(i+1)·(j+1) + i²). Five of
// its columns carry weight at the optimum.
func design() *mat.Dense {
	c := mat.NewDense(3, 10, nil)
	c.Apply(func(i, j int, _ float64) float64 {
		return math.Cos(1.1*float64((j+1)*(i+1)) + float64(i*i))
	}, c)
	return c
}

// designOptimum is min f of design, by multiplicative updates λ ← λ∘g in numpy to
// a gap below 1e-13.
const designOptimum = 2.1132122348911317

func TestDescentReachesTheOptimum(t *testing.T) {
	graphtest.EachBLAS(t, func(t *testing.T) {
		e := graphtest.Engine(t, "float64", 1)
		r, err := descent.Descend(context.Background(), e, descent.Problem{C: design()},
			descent.Options{Iterations: 20000, Tolerance: 1e-9})
		if err != nil {
			t.Fatal(err)
		}
		if r.Gap > 1e-9 || r.Iterations == 20000 {
			t.Errorf("gap %g after %d iterations", r.Gap, r.Iterations)
		}
		if math.Abs(r.Objective-designOptimum) > 1e-8 {
			t.Errorf("objective %.12g, want %.12g", r.Objective, designOptimum)
		}
		sum := 0.0
		for j, v := range r.Lambda {
			if v < 0 {
				t.Errorf("λ[%d] = %g", j, v)
			}
			sum += v
		}
		if math.Abs(sum-3) > 1e-4 || math.Abs(r.MaxSquaredNorm-1) > 1e-4 {
			t.Errorf("Σλ = %g, want the rank 3; max cᵀM⁻¹c = %g, want 1", sum, r.MaxSquaredNorm)
		}
	})
}

// The gap bounds the distance to the optimum, from the first iterate on.
func TestGapIsACertificate(t *testing.T) {
	e := graphtest.Engine(t, "float64", 1)
	c := design()
	for _, iterations := range []int{1, 3, 10, 100} {
		r, err := descent.Descend(context.Background(), e, descent.Problem{C: c},
			descent.Options{Iterations: iterations})
		if err != nil {
			t.Fatal(err)
		}
		if r.Iterations != iterations {
			t.Errorf("%d iterations, want %d", r.Iterations, iterations)
		}
		// Scaled to feasibility, log|M| exceeds the optimum, 3 − f*, by at
		// most the gap.
		m := mat.NewDense(3, 3, nil)
		var scaled mat.Dense
		scaled.Apply(func(_, j int, v float64) float64 { return v * r.Lambda[j] * r.MaxSquaredNorm }, c)
		m.Mul(&scaled, c.T())
		logdet, _ := mat.LogDet(m)
		excess := logdet - (3 - designOptimum)
		if excess < -1e-12 || excess > r.Gap+1e-12 {
			t.Errorf("after %d iterations log|M| exceeds the optimum by %g, the gap is %g", iterations, excess, r.Gap)
		}
	}
}

// For square C the optimum is λ = 1, M = CCᵀ: Gaussian noise on the labels.
func TestSquareDesign(t *testing.T) {
	e := graphtest.Engine(t, "float64", 1)
	c := graphtest.Normal(graphtest.Rand(1), 5, 5)
	r, err := descent.Descend(context.Background(), e, descent.Problem{C: c, Start: []float64{.5, .6, .7, .8, 1.5}},
		descent.Options{Iterations: 5000, Tolerance: 1e-12})
	if err != nil {
		t.Fatal(err)
	}
	for j, v := range r.Lambda {
		if math.Abs(v-1) > 1e-6 {
			t.Errorf("λ[%d] = %g, want 1", j, v)
		}
	}
}

// The first step is λ − 0.05·(1 − cᵀM⁻¹c), cut at zero.
func TestOneStepByHand(t *testing.T) {
	e := graphtest.Engine(t, "float64", 1)
	c := mat.NewDense(1, 3, []float64{2, 1, 0})
	r, err := descent.Descend(context.Background(), e, descent.Problem{C: c, Start: []float64{1, 1, 0.01}},
		descent.Options{Iterations: 1})
	if err != nil {
		t.Fatal(err)
	}
	// M = 5, so the gradient is 1 − (4, 1, 0)/5.
	for j, want := range []float64{1 - .05*.2, 1 - .05*.8, 0} {
		if math.Abs(r.Lambda[j]-want) > 1e-15 {
			t.Errorf("λ[%d] = %g, want %g", j, r.Lambda[j], want)
		}
	}
}

// symbolic computes Σλ − log|C diag(λ) Cᵀ| and its derivative with respect to λ by gorgonia.
func symbolic(p, n int) engine.Program {
	return engine.Program{Name: "objective", Key: fmt.Sprintf("objective %d %d", p, n), Build: func(b *engine.Builder) {
		c, lambda := b.Input("c", p, n), b.Input("lambda", n, 1)
		objective := b.Sub(b.Sum(lambda), b.LogDet(b.WeightedGram(c, lambda)))
		b.Output("objective", objective)
		b.Output("gradient", b.Gradient(objective, lambda)[0])
	}}
}

// byHand descends by the symbolic gradient, with the update on the host.
func byHand(t *testing.T, c *mat.Dense, start []float64, steps int, rate float64) []float64 {
	t.Helper()
	p, n := c.Dims()
	lambda := slices.Clone(start)
	for range steps {
		out := graphtest.Run(t, symbolic(p, n), graphtest.Inputs{"c": c, "lambda": mat.NewDense(n, 1, lambda)})
		gradient, err := engine.Floats(out["gradient"])
		if err != nil {
			t.Fatal(err)
		}
		for j, g := range gradient {
			lambda[j] = max(0, lambda[j]-rate*g)
		}
	}
	return lambda
}

// The steps agree with gorgonia's symbolic derivative of the objective.
func TestStepsOfTheSymbolicGradient(t *testing.T) {
	e := graphtest.Engine(t, "float64", 1)
	start := []float64{.1, .5, .9, .3, .2, .7, .4, .8, .6, .15}
	for _, steps := range []int{1, 7, 10, 23} {
		r, err := descent.Descend(context.Background(), e, descent.Problem{design(), start},
			descent.Options{Iterations: steps, LearningRate: .1})
		if err != nil {
			t.Fatal(err)
		}
		for j, want := range byHand(t, design(), start, steps, .1) {
			if math.Abs(r.Lambda[j]-want) > 1e-12 {
				t.Errorf("%d steps: λ[%d] = %.15g, want %.15g", steps, j, r.Lambda[j], want)
			}
		}
	}
	in := graphtest.Inputs{"c": design(), "lambda": mat.NewDense(10, 1, start)}
	graphtest.TapeMachine(t, symbolic(3, 10), in)
}

// Fixed points agree between precisions, iterates need not.
func TestSinglePrecision(t *testing.T) {
	r, err := descent.Descend(context.Background(), graphtest.Engine(t, "float32", 1), descent.Problem{C: design()},
		descent.Options{Iterations: 3000})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(r.Objective-designOptimum) > 1e-3 {
		t.Errorf("objective %g, want %g", r.Objective, designOptimum)
	}
}

// mixed returns problems of several size classes, with starts from which some end early.
func mixed() []descent.Problem {
	ones := []float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}
	return []descent.Problem{{C: design()}, {C: graphtest.Normal(graphtest.Rand(2), 4, 9)}, {C: design(), Start: ones},
		{C: graphtest.Normal(graphtest.Rand(5), 9, 40)},
		{C: graphtest.Normal(graphtest.Rand(6), 5, 5), Start: []float64{.5, .6, .7, .8, 1.5}},
		{C: graphtest.Normal(graphtest.Rand(3), 4, 9)}}
}

// A batch has the bits of single descents, for any number of workers and any other members.
func TestDescendAll(t *testing.T) {
	problems := mixed()
	for _, workers := range []int{1, 3} {
		e := graphtest.Engine(t, "float64", workers)
		for _, o := range []descent.Options{{Iterations: 50}, {Iterations: 70, Tolerance: 0.1}} {
			var steps, last atomic.Int64
			all := int64(len(problems) * o.Iterations)
			o.Progress = func(done, total int) {
				steps.Store(int64(done))
				last.Store(int64(total))
			}
			got, err := descent.DescendAll(context.Background(), e, problems, o)
			if err != nil {
				t.Fatal(err)
			}
			o.Progress = nil
			taken, early := 0, 0
			for i, p := range problems {
				want, err := descent.Descend(context.Background(), e, p, o)
				if err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(got[i], want) {
					t.Errorf("%d workers, problem %d: the batch ends at %v, alone it ends at %v", workers, i, got[i], want)
				}
				if taken += want.Iterations; want.Iterations < o.Iterations {
					early++
				}
			}
			if last.Load() != all || steps.Load() != int64(taken) {
				t.Errorf("%d steps of %d are reported, and %d were taken", steps.Load(), last.Load(), taken)
			}
			if o.Tolerance > 0 && (early == 0 || early == len(problems)) {
				t.Errorf("%d of %d problems end early", early, len(problems))
			}
		}
	}
}

// A problem that has ended keeps every bit, and its further steps are not counted.
func TestFrozenAfterItsEnd(t *testing.T) {
	e := graphtest.Engine(t, "float64", 1)
	for i, p := range mixed() {
		long, err := descent.Descend(context.Background(), e, p, descent.Options{Iterations: 2000, Tolerance: 0.1})
		if err != nil {
			t.Fatal(err)
		}
		if long.Iterations == 2000 || long.Gap > 0.1 {
			t.Fatalf("problem %d has a gap of %g after %d steps", i, long.Gap, long.Iterations)
		}
		for _, more := range []int{0, 1} {
			exact, err := descent.Descend(context.Background(), e, p,
				descent.Options{Iterations: long.Iterations + more, Tolerance: 0.1})
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(exact, long) {
				t.Errorf("problem %d: %d steps at most end at %v, 2000 at %v", i, long.Iterations+more, exact, long)
			}
		}
		before, err := descent.Descend(context.Background(), e, p,
			descent.Options{Iterations: max(1, long.Iterations-1)})
		if err != nil {
			t.Fatal(err)
		}
		if long.Iterations > 1 && before.Gap <= 0.1 {
			t.Errorf("problem %d: the gap is %g a step before the end", i, before.Gap)
		}
	}
}

func TestInvalidInput(t *testing.T) {
	e := graphtest.Engine(t, "float64", 1)
	nan := design()
	nan.Set(1, 2, math.NaN())
	for _, c := range []struct {
		p    descent.Problem
		o    descent.Options
		want string
	}{
		{descent.Problem{}, descent.Options{Iterations: 1}, "the matrix C is empty"},
		{descent.Problem{C: nan}, descent.Options{Iterations: 1}, "matrix C has NaN in row 1, column 2"},
		{descent.Problem{C: mat.NewDense(3, 2, nil)}, descent.Options{Iterations: 1}, "with fewer columns than rows"},
		{descent.Problem{C: design()}, descent.Options{}, "0 iterations"},
		{descent.Problem{C: design()}, descent.Options{Iterations: 1, LearningRate: -1}, "learning rate is -1"},
		{descent.Problem{C: design()}, descent.Options{Iterations: 1, Tolerance: math.NaN()}, "tolerance is NaN"},
		{descent.Problem{design(), []float64{1}}, descent.Options{Iterations: 1}, "1 elements for 10 columns"},
		{descent.Problem{design(), []float64{1, 1, -1, 1, 1, 1, 1, 1, 1, 1}},
			descent.Options{Iterations: 1}, "element 2 of the start is -1"},
	} {
		t.Run(c.want, func(t *testing.T) {
			_, err := descent.Descend(context.Background(), e, c.p, c.o)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	_, err := descent.DescendAll(context.Background(), e, []descent.Problem{{C: design()}, {C: nan}},
		descent.Options{Iterations: 1})
	if err == nil || !strings.Contains(err.Error(), "problem 2 of 2: the matrix C has NaN") {
		t.Errorf("got %v", err)
	}
}

// A rank-deficient C, a descent to values that are not finite, and one to a matrix that is not
// definite have an error of their own; the others of the batch are solved.
func TestProblemsThatFail(t *testing.T) {
	e := graphtest.Engine(t, "float64", 2)
	deficient, huge := design(), design()
	// A row of zeros leaves a pivot of zero; that of a row twice is a rounding error of either sign.
	_, n := deficient.Dims()
	deficient.SetRow(2, make([]float64, n))
	huge.Scale(1e200, huge)
	problems := []descent.Problem{{C: design()}, {C: deficient}, {C: huge}, {C: design(), Start: make([]float64, 10)}}
	got, err := descent.DescendAll(context.Background(), e, problems, descent.Options{Iterations: 30})
	if err != nil {
		t.Fatal(err)
	}
	want, err := descent.Descend(context.Background(), e, problems[0], descent.Options{Iterations: 30})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got[0], want) {
		t.Errorf("beside problems that fail: %v, alone %v", got[0], want)
	}
	for i, d := range got[1:] {
		if d.Err == nil || d.Lambda != nil {
			t.Errorf("problem %d: error %v, λ %v", i+1, d.Err, d.Lambda)
		}
	}
	var notPD *op.NotPositiveDefiniteError
	if !errors.As(got[1].Err, &notPD) || !notPD.Singular() || !strings.Contains(got[1].Err.Error(), "iteration 0: ") {
		t.Errorf("got %v", got[1].Err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	_, err := descent.Descend(ctx, graphtest.Engine(t, "float64", 1), descent.Problem{C: design()},
		descent.Options{Iterations: 1000, Progress: func(done, _ int) {
			if done == 20 {
				cancel()
			}
		}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// BenchmarkStep measures a step of a large problem, and of 28 small ones.
func BenchmarkStep(b *testing.B) {
	for _, c := range []struct{ problems, p, n int }{{1, 100, 287}, {28, 21, 266}, {1, 21, 266}} {
		b.Run(fmt.Sprintf("%d of %dx%d", c.problems, c.p, c.n), func(b *testing.B) {
			e := graphtest.Engine(b, "float64", 1)
			problems := make([]descent.Problem, c.problems)
			for i := range problems {
				problems[i].C = graphtest.Normal(graphtest.Rand(uint64(i)), c.p, c.n)
			}
			for b.Loop() {
				if _, err := descent.DescendAll(context.Background(), e, problems,
					descent.Options{Iterations: 100}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*100*c.problems), "µs/step")
		})
	}
}
