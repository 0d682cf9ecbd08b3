package sparsegp

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/graphs/internal/graphtest"
	"privkern/graphs/op"
)

// drawsOf returns draws with noise of two forms, at three sets of inputs; draw 5 has no posterior, and draw 7 a
// variance without a correct digit.
func drawsOf(t *testing.T, p problem, all []*Projection) []Draw {
	t.Helper()
	var draws []Draw
	for i := range 23 {
		s := Sums{A: slices.Clone(p.sums.A), B: mat.DenseCopyOf(p.sums.B)}
		s.A[i%4] += float64(i)
		s.B.Set(1, 1, s.B.At(1, 1)+float64(i))
		noise := p.noise
		if i%2 == 1 {
			noise.Form = Printed
		}
		draws = append(draws, Draw{Sums: s, Precision: p.precision + float64(i), Noise: noise, At: all[i%len(all)]})
	}
	draws[5].Sums.B.Set(0, 0, -1e6)
	draws[7].At = new(Projection)
	*draws[7].At = *all[0]
	draws[7].At.left = slices.Repeat([]float64{-1e9}, draws[7].At.points)
	return draws
}

// alike returns the equality of results alone and in a batch: of bits, or on a device nearly.
func alike(e *engine.Engine) func(a, b float64) bool {
	tolerance := 0.0
	if e.Backend() != "cpu" {
		tolerance = 1e-9
	}
	return func(a, b float64) bool { return math.Abs(a-b) <= tolerance }
}

// Draws have the bits of a posterior and its predictions, one by one, and fail alone. A run waits once.
func TestPredictAll(t *testing.T) {
	e := graphtest.Engine(t, "float64", 2)
	p := newProblem(5, 40, 6, 1)
	sets := []*mat.Dense{p.x, new(mat.Dense), new(mat.Dense)}
	sets[1].Scale(0.9, p.x)
	sets[2].Scale(0.8, p.x)
	all, err := ProjectAll(ctx, e, p.inducing, sets)
	if err != nil {
		t.Fatal(err)
	}
	draws := drawsOf(t, p, all)
	e.StartCounting()
	got, err := PredictAll(ctx, e, draws)
	if err != nil {
		t.Fatal(err)
	}
	// 16, 4, 2 and 1.
	if waits := e.Profile().Total.Synchronisations; waits != 4 {
		t.Errorf("%d waits for the draws, want 4", waits)
	}
	for i, d := range draws {
		var notPD *op.NotPositiveDefiniteError
		var negative *VarianceError
		switch {
		case i == 5 && !errors.As(got[i].Err, &notPD), i == 7 && !errors.As(got[i].Err, &negative):
			t.Errorf("draw %d: %v", i, got[i].Err)
		case i == 5 || i == 7:
			continue
		case got[i].Err != nil:
			t.Fatalf("draw %d: %v", i, got[i].Err)
		}
		post, err := Infer(ctx, e, p.inducing, d.Sums, d.Precision, d.Noise)
		if err != nil {
			t.Fatal(err)
		}
		mean, variance, err := d.At.Predict(ctx, e, post.Mean, post.Cov)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(got[i].Mean, mean, alike(e)) || !slices.EqualFunc(got[i].Variance, variance, alike(e)) {
			t.Errorf("draw %d: %v and %v, alone %v and %v", i, got[i].Mean, got[i].Variance, mean, variance)
		}
	}
}

// Sets of rows have the sums that each has alone, in one run, in both element types.
func TestSumAll(t *testing.T) {
	p, q := newProblem(5, 300, 6, 2), newProblem(8, 300, 6, 2)
	for _, dtype := range []string{"float64", "float32"} {
		for _, double := range []bool{false, true} {
			e := graphtest.Engine(t, dtype, 2)
			e.StartCounting()
			got, err := SumAll(ctx, e, p.inducing, []*mat.Dense{p.x, q.x}, [][]float64{p.y, q.y}, double)
			if err != nil {
				t.Fatal(err)
			}
			if waits := e.Profile().Total.Synchronisations; waits != 1 {
				t.Errorf("%d waits, want 1", waits)
			}
			for i, one := range []problem{p, q} {
				sum := Sum
				if double {
					sum = SumDouble
				}
				want, err := sum(ctx, e, p.inducing, one.x, one.y, nil)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got[i].A, want.A) || !mat.Equal(got[i].B, want.B) {
					t.Errorf("%s, set %d: other sums than alone", dtype, i)
				}
			}
		}
	}
}

func TestDrawsRefuse(t *testing.T) {
	e, p, other := graphtest.Engine(t, "float64", 1), newProblem(7, 20, 4, 1), newProblem(7, 21, 4, 1)
	at, err := Project(ctx, e, p.inducing, p.x)
	if err != nil {
		t.Fatal(err)
	}
	more, err := Project(ctx, e, p.inducing, other.x)
	if err != nil {
		t.Fatal(err)
	}
	draws := func(change func(d []Draw)) error {
		d := make([]Draw, 2)
		for i := range d {
			d[i] = Draw{Sums: p.sums, Precision: 1, Noise: p.noise, At: at}
		}
		change(d)
		_, err := PredictAll(ctx, e, d)
		return err
	}
	_, sets := ProjectAll(ctx, e, p.inducing, []*mat.Dense{p.x, other.x})
	for want, err := range map[string]error{
		"":                                 draws(func([]Draw) {}),
		"draw 2 has 4 inducing inputs":     draws(func(d []Draw) { d[1].At = more }),
		"draw 2: sparse GP: the precision": draws(func(d []Draw) { d[1].Precision = math.NaN() }),
		"B is 1×1":                         draws(func(d []Draw) { d[0].Sums.B = mat.NewDense(1, 1, nil) }),
		"set 2 of inputs has 21 rows":      sets,
	} {
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("got %v, want it to say %q", err, want)
		}
	}
}
