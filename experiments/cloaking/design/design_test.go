package design

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/experiments/learn"
	"privkern/graphs/engine"
)

// formulaMatrix is a P×N matrix given by a formula (i, j from 1), so that
// another implementation can be run on the same numbers.
func formulaMatrix(p, n int) *mat.Dense {
	c := mat.NewDense(p, n, nil)
	for i := range p {
		for j := range n {
			fi, fj := float64(i+1), float64(j+1)
			c.Set(i, j, math.Sin(.7*fi*fj+fi)+.3*math.Cos(1.1*fj*fj+fi))
		}
	}
	return c
}

// cpuEngine is one for a test.
func cpuEngine(t *testing.T) *engine.Engine {
	t.Helper()
	e, err := engine.Open("cpu", "float64", 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// whiten is the range of one matrix.
func whiten(t *testing.T, c *mat.Dense, rank int) *Range {
	t.Helper()
	all, err := Whiten(context.Background(), cpuEngine(t), []*mat.Dense{c}, rank, Tolerance64)
	if err != nil {
		t.Fatal(err)
	}
	return all[0]
}

func solve(t *testing.T, c *mat.Dense, rank int) (*Range, *Design) {
	t.Helper()
	r := whiten(t, c, rank)
	d, err := Solve(context.Background(), r, 0, MaxIterations)
	if err != nil {
		t.Fatal(err)
	}
	return r, d
}

// Values of the same concave problem from CVXPY 1.x with Clarabel, tolerances
// 1e-12.
func TestSolveAgainstConvexSolver(t *testing.T) {
	for _, c := range []struct {
		p, n          int
		logdet, trace float64
	}{
		{2, 5, 0.6844379885284761, 3.2220963863844547},
		{3, 12, 2.434484412313396, 7.059496705201891},
		{6, 40, 4.649173961714626, 21.88822866189521},
	} {
		t.Run(fmt.Sprintf("%d×%d", c.p, c.n), func(t *testing.T) {
			_, d := solve(t, formulaMatrix(c.p, c.n), 0)
			if math.Abs(d.LogDet-c.logdet) > 1e-6 || math.Abs(d.Trace-c.trace) > 1e-4 {
				t.Errorf("log|M| %.9f, trace %.7f; want %.9f, %.7f", d.LogDet, d.Trace, c.logdet, c.trace)
			}
		})
	}
}

// Invariants of a design for any matrix.
func TestDesignProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, shape := range [][2]int{{1, 1}, {1, 9}, {4, 4}, {5, 3}, {5, 60}, {30, 31}, {20, 300}} {
		p, n := shape[0], shape[1]
		t.Run(fmt.Sprintf("%d×%d", p, n), func(t *testing.T) {
			c := mat.NewDense(p, n, nil)
			for i := range p {
				for j := range n {
					// Scales over six decades: the optimum must not care.
					c.Set(i, j, rng.NormFloat64()*math.Pow(10, float64(i%4)-3+float64(j%3)))
				}
			}
			r, d := solve(t, c, 0)
			rank := min(p, n)
			if len(r.Scale) != rank || d.Gap > DefaultGap || math.Abs(d.SumLambda-float64(rank)) > 1e-9*float64(rank) ||
				math.Abs(d.MaxMahalanobis-1) > 1e-8 {
				t.Errorf("rank %d, gap %g, sum %g, largest norm %.12f", len(r.Scale), d.Gap, d.SumLambda, d.MaxMahalanobis)
			}
			// M itself: FFᵀ = Σ λ_i c_i c_iᵀ, which solves to the same norms.
			var m, want mat.Dense
			m.Mul(d.Factor(), d.Factor().T())
			want.Product(c, mat.NewDiagDense(n, d.Lambda), c.T())
			if !mat.EqualApprox(&m, &want, 1e-9*mat.Norm(&want, 2)) {
				t.Error("the factor is not one of Σ λ c cᵀ")
			}
			if math.Abs(mat.Trace(&m)/d.Trace-1) > 1e-12 {
				t.Errorf("trace %g, reported %g", mat.Trace(&m), d.Trace)
			}
			if p == rank && p <= 5 {
				if logdet, _ := mat.LogDet(&m); math.Abs(logdet-d.LogDet) > 1e-6 {
					t.Errorf("log|M| %.9f, reported %.9f", logdet, d.LogDet)
				}
			}
		})
	}
}

// With a square, invertible C every weight is one: the mechanism is Gaussian
// noise on the labels.
func TestSquareMatrixIsLabelNoise(t *testing.T) {
	_, d := solve(t, formulaMatrix(6, 6), 0)
	for i, l := range d.Lambda {
		if math.Abs(l-1) > 1e-7 {
			t.Errorf("weight %d is %.9f, want 1", i, l)
		}
	}
}

func TestRankOne(t *testing.T) {
	_, d := solve(t, mat.NewDense(1, 4, []float64{1, -3, 2, 0}), 0)
	if math.Abs(d.LogDet-math.Log(9)) > 1e-8 || math.Abs(d.Lambda[1]-1) > 1e-8 {
		t.Errorf("log|M| %.9f, weights %v; want log 9 and all weight on -3", d.LogDet, d.Lambda)
	}
}

// Repeating columns changes nothing but who carries the weight.
func TestDuplicateColumns(t *testing.T) {
	c := formulaMatrix(4, 20)
	var twice mat.Dense
	twice.Augment(c, c)
	_, a := solve(t, c, 0)
	_, b := solve(t, &twice, 0)
	if math.Abs(a.LogDet-b.LogDet) > 1e-7 {
		t.Errorf("log|M| %.9f, with every column twice %.9f", a.LogDet, b.LogDet)
	}
}

// The certificate holds for any weights: the distance of the optimum never exceeds the gap.
func TestGapBoundsTheDistanceToTheOptimum(t *testing.T) {
	c := formulaMatrix(5, 40)
	r, best := solve(t, c, 0)
	rng := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		lambda := make([]float64, 40)
		for i := range lambda {
			lambda[i] = rng.ExpFloat64()
		}
		d, err := FromWeights(r, lambda)
		if err != nil {
			t.Fatal(err)
		}
		// Δ²M is the covariance of the noise.
		feasible := d.LogDet + 10*math.Log(d.MaxMahalanobis)
		if feasible-best.LogDet > d.Gap+1e-9 || feasible < best.LogDet-DefaultGap {
			t.Errorf("log|Δ²M| is %.9f above the optimum, the gap says %.9f", feasible-best.LogDet, d.Gap)
		}
	}
}

// A singular matrix: the released part and the noise live in the same
// directions, and within these every column is protected.
func TestRankDeficiency(t *testing.T) {
	var c mat.Dense
	c.Mul(formulaMatrix(8, 3), formulaMatrix(3, 50)) // rank 3
	for _, rank := range []int{0, 3, 2, 1} {
		t.Run(fmt.Sprintf("rank %d", rank), func(t *testing.T) {
			r, d := solve(t, &c, rank)
			k := len(r.Scale)
			if rank == 0 && k != 3 || rank > 0 && k != rank {
				t.Fatalf("got rank %d", k)
			}
			// The noise has no part outside the range of U ...
			var inside, rest mat.Dense
			inside.Product(r.U, r.U.T(), d.Factor())
			rest.Sub(&inside, d.Factor())
			if e := mat.Norm(&rest, 2); e > 1e-12*mat.Norm(d.Factor(), 2) {
				t.Errorf("noise outside the released range, %g", e)
			}
			// ... and solving Fx = UUᵀc_i gives the weight of one column.
			var qr mat.QR
			qr.Factorize(d.Factor())
			for j := range 50 {
				released := r.Project(mat.Col(nil, j, &c))
				var x mat.VecDense
				if err := qr.SolveVecTo(&x, false, mat.NewVecDense(8, released)); err != nil {
					t.Fatal(err)
				}
				if norm := mat.Norm(&x, 2); norm > 1+1e-6 {
					t.Errorf("column %d: Mahalanobis norm %.9f", j, norm)
				}
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	c := formulaMatrix(3, 9)
	bad := mat.DenseCopyOf(c)
	bad.Set(1, 2, math.NaN())
	e := cpuEngine(t)
	for _, x := range []struct {
		name string
		c    *mat.Dense
		rank int
		want string
	}{
		{"not finite", bad, 0, "(1, 2) is NaN"},
		{"zero", mat.NewDense(2, 3, nil), 0, "is zero"},
		{"empty", new(mat.Dense), 0, "empty"},
		{"rank too large", c, 4, "numerical rank 3"},
		{"rank negative", c, -1, "use 1 to 3"},
	} {
		t.Run(x.name, func(t *testing.T) {
			_, err := Whiten(context.Background(), e, []*mat.Dense{x.c}, x.rank, Tolerance64)
			if err == nil || !strings.Contains(err.Error(), x.want) {
				t.Errorf("%v; want %q", err, x.want)
			}
		})
	}
	r := whiten(t, c, FullRank)
	for name, lambda := range map[string][]float64{
		"too few":  {1, 1},
		"negative": {1, 1, 1, -1, 1, 1, 1, 1, 1},
		"nan":      {1, 1, 1, math.NaN(), 1, 1, 1, 1, 1},
		"singular": make([]float64, 9),
	} {
		t.Run("weights, "+name, func(t *testing.T) {
			if _, err := FromWeights(r, lambda); err == nil {
				t.Error("accepted")
			}
		})
	}
}

func TestSolveStops(t *testing.T) {
	r := whiten(t, formulaMatrix(3, 9), FullRank)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Solve(ctx, r, 0, MaxIterations); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// A design short of its target is an error, with the certificate that was reached:
// where rounding keeps it from a target, and where the steps end.
func TestSolveShortOfItsGap(t *testing.T) {
	for _, c := range []struct {
		name        string
		rows, cols  int
		target      float64 // nats
		cap         int     // on the steps
		least, most float64 // of the gap that is reached
	}{
		{"rounding", 9, 40, 1e-300, MaxIterations, 0, 1e-10},
		{"rounding, more columns", 20, 300, 1e-300, MaxIterations, 0, 1e-10},
		{"one step", 6, 40, DefaultGap, 1, 1e-3, 10},
		{"four steps", 20, 300, DefaultGap, 4, 2 * DefaultGap, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := whiten(t, formulaMatrix(c.rows, c.cols), FullRank)
			d, err := solveOn(t.Context(), r, r.distinct, c.target, c.cap)
			var short *GapError
			if !errors.As(err, &short) {
				t.Fatalf("%+v, %v", d, err)
			}
			if short.Rank != c.rows || short.Columns != c.cols || !(short.Gap > c.least && short.Gap <= c.most) ||
				c.cap < MaxIterations && short.Iterations != c.cap {
				t.Errorf("%+v: %v", short, short)
			}
		})
	}
}

// Weights that another implementation found are taken with a certificate near the targeton any
// scale, and refused with a worse one.
func TestFromInterior(t *testing.T) {
	r, d := solve(t, formulaMatrix(6, 40), FullRank)
	columns := learn.AllRows(40)
	mixed := func(share float64) []float64 { // with equal weights
		out := make([]float64, len(d.Lambda))
		for i, l := range d.Lambda {
			out[i] = 3 * ((1-share)*l + share*d.SumLambda/40)
		}
		return out
	}
	if got, err := FromInterior(r, columns, mixed(0), 5); err != nil || got.Iterations != 5 || got.Gap > 2*DefaultGap {
		t.Errorf("%+v, %v", got, err)
	}
	refused := 0
	for share := 1e-1; share > 1e-12; share /= 2 {
		worse, err := FromWeights(r, mixed(share))
		if err != nil {
			t.Fatal(err)
		}
		_, err = FromInterior(r, columns, mixed(share), 5)
		var short *GapError
		if errors.As(err, &short) != (worse.Gap > 2*DefaultGap) {
			t.Errorf("a gap of %g: %v", worse.Gap, err)
		}
		if err != nil && worse.Gap < 10*DefaultGap {
			refused++
		}
	}
	if refused == 0 {
		t.Error("no gap is near the target")
	}
}

// Without noise in every direction there is no certificate.
func TestSolveWithoutCertificate(t *testing.T) {
	r := whiten(t, formulaMatrix(3, 9), FullRank)
	r.B.Zero()
	var none *NoCertificateError
	d, err := Solve(context.Background(), r, 0, MaxIterations)
	if !errors.As(err, &none) || none.Rank != 3 || none.Columns != 9 {
		t.Errorf("%v, %v", d, err)
	}
}

// symmetricProblem is a positive definite matrix of order n and rank 4, whole
// and by its spectrum.
func symmetricProblem(t *testing.T, n int) (c *mat.Dense, values []float64, vectors *mat.Dense) {
	t.Helper()
	v := formulaMatrix(4, n)
	c = new(mat.Dense)
	c.Mul(v.T(), v)
	var eigen mat.EigenSym
	if !eigen.Factorize(mat.NewSymDense(n, c.RawMatrix().Data), true) {
		t.Fatal("no eigenvalues")
	}
	var columns mat.Dense
	eigen.VectorsTo(&columns)
	vectors = mat.NewDense(6, n, nil)
	for i := range 6 { // two more than the rank
		values = append(values, eigen.Values(nil)[n-1-i])
		vectors.SetRow(i, mat.Col(nil, n-1-i, &columns))
	}
	return c, values, vectors
}

// A range by its spectrum is the one that Whiten finds.
func TestFromSpectrum(t *testing.T) {
	c, values, vectors := symmetricProblem(t, 15)
	_, want := solve(t, c, FullRank)
	r, err := FromSpectrum(values, vectors, FullRank, Tolerance64)
	if err != nil {
		t.Fatal(err)
	}
	d, err := Solve(context.Background(), r, 0, MaxIterations)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Scale) != 4 || math.Abs(d.LogDet-want.LogDet) > 1e-7 || math.Abs(d.Trace/want.Trace-1) > 1e-7 {
		t.Errorf("rank %d, log|M| %.9f, trace %.9f; want 4, %.9f, %.9f", len(r.Scale), d.LogDet, d.Trace, want.LogDet,
			want.Trace)
	}
	if r, err := FromSpectrum(values, vectors, 2, Tolerance64); err != nil || len(r.Scale) != 2 || r.Dropped != values[2] {
		t.Errorf("rank 2: %v", err)
	}
	first := mat.DenseCopyOf(vectors.Slice(0, 4, 0, 15))
	if r, err := FromSpectrum(values[:4], first, 4, Tolerance64); err != nil || len(r.Scale) != 4 || r.Dropped != 0 {
		t.Errorf("all that is given: %v", err)
	}
	for want, call := range map[string]func() error{
		"numerical rank 4": func() error { _, err := FromSpectrum(values, vectors, 5, Tolerance64); return err },
		"is zero":          func() error { _, err := FromSpectrum(make([]float64, 6), vectors, 0, Tolerance64); return err },
		"not finite": func() error {
			_, err := FromSpectrum([]float64{math.NaN(), 1, 1, 1, 1, 1}, vectors, 0, Tolerance64)
			return err
		},
		"3 eigenvalues with 6 eigenvectors": func() error {
			_, err := FromSpectrum(values[:3], vectors, 0, Tolerance64)
			return err
		},
	} {
		t.Run(want, func(t *testing.T) {
			if err := call(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}

// M = Σ λ_i c_i c_iᵀ for c = (2, 0), (0, 1), (0, 2): diag(4λ₁, λ₂ + 4λ₃). A direction without
// noise is dropped by the pseudo-inverse, and its columns count for nothing.
func TestPseudoInverse(t *testing.T) {
	r := whiten(t, mat.NewDense(2, 3, []float64{2, 0, 0, 0, 1, 2}), FullRank)
	for _, c := range []struct {
		lambda, norms         []float64
		logDet, inRange, norm float64
		kept                  int
	}{
		{[]float64{3, 5, 2}, []float64{1. / 3, 1. / 13, 4. / 13}, math.Log(12 * 13), math.Log(3 * 13. / 5),
			math.Sqrt(1. / 3), 2},
		{[]float64{0, 5, 2}, []float64{0, 1. / 13, 4. / 13}, math.Inf(-1), math.Log(13. / 5), math.Sqrt(4. / 13), 1},
	} {
		t.Run(fmt.Sprint(c.lambda), func(t *testing.T) {
			inverse, err := PseudoInverseOf(r, c.lambda)
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range c.norms {
				if math.Abs(inverse.SquaredNorms[i]-want) > 1e-12 {
					t.Errorf("column %d has the squared norm %g, want %g", i, inverse.SquaredNorms[i], want)
				}
			}
			if inverse.Kept != c.kept || !(math.Abs(inverse.LogDet-c.logDet) < 1e-12 || inverse.LogDet == c.logDet) {
				t.Errorf("%d directions, log|M| %g; want %d, %g", inverse.Kept, inverse.LogDet, c.kept, c.logDet)
			}
			d, err := FromPseudoInverse(r, c.lambda)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(d.LogDetRange-c.inRange) > 1e-12 || math.Abs(d.LogDet-c.inRange-math.Log(4*5)) > 1e-12 ||
				math.Abs(d.MaxMahalanobis-c.norm) > 1e-12 || d.SumLambda != floats.Sum(c.lambda) {
				t.Errorf("%+v", d)
			}
		})
	}
}

// C times the labels that a release shows is the released prediction and its
// noise, UUᵀCy + Fz, which Release computes from the same numbers.
func TestLabels(t *testing.T) {
	c := formulaMatrix(6, 15)
	r, d := solve(t, c, 4)
	y := mat.Col(nil, 0, formulaMatrix(15, 1))
	const draws = 3
	noise := d.Coordinates(rand.New(rand.NewPCG(3, 4)), draws)
	var got mat.Dense
	got.Product(r.U.T(), c, r.Labels(r.Coordinates(y, noise))) // in U's coordinates
	released := r.Predictions(r.Coordinates(y, noise))
	var f mat.VecDense
	f.MulVec(c, mat.NewVecDense(15, y))
	z := rand.New(rand.NewPCG(3, 4))
	for j := range draws {
		unit := make([]float64, 4)
		for i := range unit {
			unit[i] = z.NormFloat64()
		}
		var want mat.VecDense
		want.MulVec(d.Factor(), mat.NewVecDense(4, unit))
		want.AddScaledVec(mat.NewVecDense(6, r.Project(mat.Col(nil, 0, &f))), d.MaxMahalanobis, &want)
		for i := range 6 {
			if math.Abs(released.At(i, j)-want.AtVec(i)) > 1e-10 {
				t.Errorf("draw %d: %g is released of prediction %d, want %g", j, released.At(i, j), i, want.AtVec(i))
			}
		}
		var coordinates mat.VecDense
		coordinates.MulVec(r.U.T(), &want)
		for i := range 4 {
			if math.Abs(got.At(i, j)-coordinates.AtVec(i)) > 1e-10 {
				t.Errorf("draw %d, direction %d: %g, want %g", j, i, got.At(i, j), coordinates.AtVec(i))
			}
		}
	}
}
