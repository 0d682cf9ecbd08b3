package descent

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"

	"privkern/graphs/engine"
	"privkern/graphs/internal/graphtest"
	"privkern/graphs/op"
)

// design is a 3×10 matrix by formula, c_ij = cos(1.1·(i+1)·(j+1) + i²). Five of
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
		r, err := Descend(context.Background(), e, design(), Options{Iterations: 20000, Tolerance: 1e-9})
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

// The gap bounds what is missing to the optimum, from the first iterate on.
func TestGapIsACertificate(t *testing.T) {
	e := graphtest.Engine(t, "float64", 1)
	c := design()
	for _, iterations := range []int{1, 3, 10, 100} {
		r, err := Descend(context.Background(), e, c, Options{Iterations: iterations})
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
	r, err := Descend(context.Background(), e, c, Options{Iterations: 5000, Tolerance: 1e-12,
		Start: []float64{.5, .6, .7, .8, 1.5}})
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
	r, err := Descend(context.Background(), e, c, Options{Iterations: 1, Start: []float64{1, 1, 0.01}})
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

func TestGradientOfTheProgram(t *testing.T) {
	lambda := mat.NewDense(10, 1, []float64{.1, .5, .9, .3, .2, .7, .4, .8, .6, .15})
	in := graphtest.Inputs{"c": design(), "lambda": lambda}
	graphtest.TapeMachine(t, Program(3, 10), in)
	out := graphtest.Run(t, Program(3, 10), in)
	gradient, err := engine.Floats(out["gradient"])
	if err != nil {
		t.Fatal(err)
	}
	for j := range gradient {
		const h = 1e-6
		f := func(v float64) float64 {
			lambda.Set(j, 0, v)
			s, err := engine.Scalar(graphtest.Run(t, Program(3, 10), in)["objective"])
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		at := lambda.At(j, 0)
		want := (f(at+h) - f(at-h)) / (2 * h)
		lambda.Set(j, 0, at)
		if math.Abs(gradient[j]-want) > 1e-7 {
			t.Errorf("∂f/∂λ[%d] = %.10g, differences give %.10g", j, gradient[j], want)
		}
	}
}

// Fixed points agree between precisions, iterates need not.
func TestSinglePrecision(t *testing.T) {
	r, err := Descend(context.Background(), graphtest.Engine(t, "float32", 1), design(), Options{Iterations: 3000})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(r.Objective-designOptimum) > 1e-3 {
		t.Errorf("objective %g, want %g", r.Objective, designOptimum)
	}
}

// A batch is the descents one by one, bit for bit, for any number of workers.
func TestDescendAll(t *testing.T) {
	problems := []Problem{{C: design()}, {C: graphtest.Normal(graphtest.Rand(2), 4, 9)},
		{C: design(), Start: []float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}}, {C: graphtest.Normal(graphtest.Rand(3), 4, 9)}}
	for _, workers := range []int{1, 3} {
		e := graphtest.Engine(t, "float64", workers)
		var reports, last atomic.Int64
		got, err := DescendAll(context.Background(), e, problems, Options{Iterations: 50, Progress: func(done, total int) {
			reports.Add(1)
			last.Store(int64(done))
			if total != 200 {
				t.Errorf("a total of %d", total)
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		if reports.Load() != 200 || last.Load() != 200 {
			t.Errorf("%d reports, the last one of %d", reports.Load(), last.Load())
		}
		for i, p := range problems {
			want, err := Descend(context.Background(), e, p.C, Options{Iterations: 50, Start: p.Start})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got[i].Lambda, want.Lambda) || got[i].Gap != want.Gap {
				t.Errorf("%d workers, problem %d: the batch gives another result", workers, i)
			}
		}
	}
}

func TestInvalidInput(t *testing.T) {
	e := graphtest.Engine(t, "float64", 1)
	nan := design()
	nan.Set(1, 2, math.NaN())
	for _, c := range []struct {
		c    *mat.Dense
		o    Options
		want string
	}{
		{nil, Options{Iterations: 1}, "the matrix C is empty"},
		{nan, Options{Iterations: 1}, "matrix C has NaN in row 1, column 2"},
		{mat.NewDense(3, 2, nil), Options{Iterations: 1}, "with fewer columns than rows"},
		{design(), Options{}, "0 iterations"},
		{design(), Options{Iterations: 1, LearningRate: -1}, "learning rate is -1"},
		{design(), Options{Iterations: 1, Tolerance: math.NaN()}, "tolerance is NaN"},
		{design(), Options{Iterations: 1, Start: []float64{1}}, "1 elements for 10 columns"},
		{design(), Options{Iterations: 1, Start: []float64{1, 1, -1, 1, 1, 1, 1, 1, 1, 1}}, "element 2 of the start is -1"},
	} {
		t.Run(c.want, func(t *testing.T) {
			if _, err := Descend(context.Background(), e, c.c, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	if _, err := DescendAll(context.Background(), e, nil, Options{Iterations: 1, Start: []float64{1}}); err == nil {
		t.Error("a batch took one start for all")
	}
}

// Rank-deficient C is an error that says so, in a batch with the problem.
func TestRankDeficientDesign(t *testing.T) {
	e := graphtest.Engine(t, "float64", 1)
	c := design()
	// A row of zeros leaves a pivot of zero; that of a row twice is a rounding error of either sign.
	_, n := c.Dims()
	c.SetRow(2, make([]float64, n))
	_, err := DescendAll(context.Background(), e, []Problem{{C: design()}, {C: c}}, Options{Iterations: 3})
	var notPD *op.NotPositiveDefiniteError
	if !errors.As(err, &notPD) || !notPD.Singular() || !strings.Contains(err.Error(), "problem 2 of 2") {
		t.Errorf("got %v", err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	_, err := Descend(ctx, graphtest.Engine(t, "float64", 1), design(),
		Options{Iterations: 1000, Progress: func(done, _ int) {
			if done == 5 {
				cancel()
			}
		}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func BenchmarkStep(b *testing.B) {
	e := graphtest.Engine(b, "float64", 1)
	b.Log(e.BLAS())
	s, err := e.Session(Program(100, 287))
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	if err := s.Pin("c", e.Matrix(graphtest.Normal(graphtest.Rand(4), 100, 287))); err != nil {
		b.Fatal(err)
	}
	lambda := make([]float64, 287)
	for j := range lambda {
		lambda[j] = 100. / 287
	}
	in := map[string]gorgonia.Value{"lambda": e.Column(lambda)}
	for b.Loop() {
		if _, err := s.Run(context.Background(), in); err != nil {
			b.Fatal(err)
		}
	}
}
