package design

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// factorsOf are random factors of a p×n matrix of rank k, with singular values over some decades: its columns are u
// different ones in the order of their first appearance.
func factorsOf(rng *rand.Rand, p, k, u, n int) *Factors {
	f := &Factors{Left: mat.NewDense(p, k, nil), Right: mat.NewDense(k, u, nil), Of: make([]int, n)}
	f.Left.Apply(func(_, j int, _ float64) float64 { return rng.NormFloat64() * math.Pow(.2, float64(j)) }, f.Left)
	f.Right.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, f.Right)
	for j := range f.Of {
		if f.Of[j] = j; j >= u {
			f.Of[j] = rng.IntN(u)
		}
	}
	return f
}

// formed is the matrix of factors.
func formed(f *Factors) *mat.Dense {
	p, _ := f.Left.Dims()
	var distinct mat.Dense
	distinct.Mul(f.Left, f.Right)
	c := mat.NewDense(p, len(f.Of), nil)
	c.Apply(func(i, j int, _ float64) float64 { return distinct.At(i, f.Of[j]) }, c)
	return c
}

// The range of factors, the products with it, the noise designed for it and its trace are those of the matrix, with
// any numbers of rows, columns and equal ones, and a given rank.
func TestWhitenFactors(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	e := cpuEngine(t)
	for _, x := range []struct{ p, k, u, n, rank int }{
		{30, 6, 40, 40, FullRank}, {4, 6, 40, 55, FullRank}, {30, 6, 5, 60, FullRank}, {30, 6, 40, 50, 3},
		{1, 1, 1, 3, FullRank}, {12, 3, 2500, 2600, FullRank}, // blocks of columns
	} {
		f := factorsOf(rng, x.p, x.k, x.u, x.n)
		c := formed(f)
		want := whiten(t, c, x.rank)
		got, err := WhitenFactors(context.Background(), e, f, x.rank, Tolerance64)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Scale) != len(want.Scale) || len(got.Distinct()) != len(want.Distinct()) {
			t.Fatalf("%v: rank %d, %d distinct columns", x, len(got.Scale), len(got.Distinct()))
		}
		if math.Abs(got.Dropped-want.Dropped) > 1e-12*want.Scale[0] {
			t.Errorf("%v: dropped %g, want %g", x, got.Dropped, want.Dropped)
		}
		for i, s := range want.Scale {
			if math.Abs(got.Scale[i]-s) > 1e-13*want.Scale[0] {
				t.Errorf("%v: singular value %d is %g, want %g", x, i, got.Scale[i], s)
			}
		}
		all, same := got.Predictions(got.B), want.Predictions(want.B)
		if !mat.EqualApprox(all, same, 1e-12*want.Scale[0]) {
			t.Errorf("%v: USB differs", x)
		}
		y := make([]float64, x.n)
		for j := range y {
			y[j] = rng.NormFloat64()
		}
		var product mat.VecDense
		product.MulVec(c, mat.NewVecDense(x.n, y))
		if d := mat.NewVecDense(x.p, f.Times(y)); !mat.EqualApprox(d, &product, 1e-11*want.Scale[0]) {
			t.Errorf("%v: Cy differs", x)
		}
		a, err := Solve(context.Background(), want, 0, MaxIterations)
		if err != nil {
			t.Fatal(err)
		}
		b, err := Solve(context.Background(), got, 0, MaxIterations)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(b.Trace/a.Trace-1) > 1e-6 || math.Abs(a.LogDet-b.LogDet) > 1e-6 || !(b.Gap <= 2*DefaultGap) {
			t.Errorf("%v: trace %.12g, log|M| %.9f, gap %g; want %.12g, %.9f", x, b.Trace, b.LogDet, b.Gap, a.Trace, a.LogDet)
		}
	}
}

// Columns are generated only for large designs: their optimum is that of the whole program, in little memory, with
// many columns that are equal, nearly equal or zero among them.
func TestGeneratedIsTheOptimum(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	f := factorsOf(rng, 20, 12, 2400, 2400)
	for j := 1200; j < 2400; j++ { // clusters around a few columns
		for i := range 12 {
			v := f.Right.At(i, j%7) * (1 + 1e-9*rng.NormFloat64()*float64(j%2))
			if j%100 == 0 {
				v = 0
			}
			f.Right.Set(i, j, v)
		}
	}
	r, err := WhitenFactors(context.Background(), cpuEngine(t), f, FullRank, Tolerance64)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Solve(context.Background(), r, 0, MaxIterations)
	if err != nil {
		t.Fatal(err)
	}
	lambda := make([]float64, 2400)
	steps, _, err := newInterior(r.B, r.distinct).solve(context.Background(), DefaultGap, MaxIterations, lambda)
	if err != nil {
		t.Fatal(err)
	}
	want, err := certified(r, lambda, DefaultGap, steps)
	if err != nil || math.Abs(got.Trace/want.Trace-1) > 1e-6 || !(got.Gap <= 2*DefaultGap) {
		t.Errorf("trace %.12g, gap %g; want %.12g (%v)", got.Trace, got.Gap, want.Trace, err)
	}
	if _, err := Solve(context.Background(), r, 0, 1); !errors.As(err, new(*GapError)) {
		t.Errorf("one step: %v", err)
	}
}

func TestWhitenFactorsRefuses(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	for name, change := range map[string]func(*Factors){
		"the cloaking matrix is empty":                       func(f *Factors) { f.Of = nil },
		"a factor of 4×9: the cloaking matrix is not finite": func(f *Factors) { f.Right.Set(1, 2, math.Inf(1)) },
		"the cloaking matrix is zero":                        func(f *Factors) { f.Left.Zero() },
	} {
		f := factorsOf(rng, 4, 2, 7, 9)
		change(f)
		_, err := WhitenFactors(context.Background(), cpuEngine(t), f, FullRank, Tolerance64)
		if err == nil || !strings.HasPrefix(err.Error(), name) {
			t.Errorf("%v; want %s", err, name)
		}
	}
	f := factorsOf(rng, 4, 2, 7, 9)
	_, err := WhitenFactors(context.Background(), cpuEngine(t), f, 3, Tolerance64)
	if err == nil || !strings.HasPrefix(err.Error(), "rank 3: the cloaking matrix (4×9) has numerical rank 2") {
		t.Error(err)
	}
}
