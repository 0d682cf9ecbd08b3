package process

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/trialtest"
	"privkern/graphs/engine"
	"privkern/graphs/kernel"
)

// scattered returns n places in the unit square, each of them several times, and their correlation.
func scattered(t *testing.T, e *engine.Engine, n, times int) (x, k *mat.Dense) {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 6))
	x = mat.NewDense(n*times, 2, nil)
	for i := range n {
		at := []float64{rng.Float64(), rng.Float64()}
		for j := range times {
			x.SetRow(j*n+i, at)
		}
	}
	k, err := kernel.EQ(0.3, 1).Matrix(e, x, x)
	if err != nil {
		t.Fatal(err)
	}
	return x, k
}

// rowsOf returns rows of k.
func rowsOf(k *mat.Dense) func([]int) (*mat.Dense, error) {
	return func(rows []int) (*mat.Dense, error) {
		_, n := k.Dims()
		out := mat.NewDense(len(rows), n, nil)
		for i, row := range rows {
			out.SetRow(i, k.RawRowView(row))
		}
		return out, nil
	}
}

// LLᵀ is K_XZ K_ZZ⁻¹ K_ZX, and K is between it and it with the rest. Equal places are one inducing input.
func TestInduce(t *testing.T) {
	e := engine.Of(trialtest.New(t, trialtest.Options{}).Engine)
	for _, c := range []struct{ places, times, most, want int }{
		{60, 1, 8, 8}, {150, 2, 140, 140}, {12, 20, 30, 12}, {1, 9, 3, 1},
	} {
		_, k := scattered(t, e, c.places, c.times)
		n, _ := k.Dims()
		p, err := Induce(t.Context(), n, c.most, rowsOf(k))
		if err != nil {
			t.Fatal(err)
		}
		if _, m := p.L.Dims(); m > c.want || m != len(p.Pivots) || c.places < 20 && m != c.want {
			t.Errorf("%d inducing inputs of %d places, each %d times, want %d", m, c.places, c.times, c.want)
		}
		var rest mat.Dense
		rest.Mul(p.L, p.L.T())
		rest.Sub(k, &rest)
		values, err := Eigenvalues(&rest)
		if err != nil {
			t.Fatal(err)
		}
		low, high := slices.Min(values), slices.Max(values)
		if low < -p.Rounding || high > p.Rest || mat.Trace(&rest) > p.Rest {
			t.Errorf("%d inducing inputs: the rest has eigenvalues from %g to %g, bounds %g and %g", c.want, low, high,
				-p.Rounding, p.Rest)
		}
		for _, z := range p.Pivots {
			for i := range n {
				if math.Abs(rest.At(i, z)) > 1e-7 {
					t.Fatalf("the rest is %g at an inducing input", rest.At(i, z))
				}
			}
		}
		if c.want == 8 && !(p.Rest < 40) { // of 60
			t.Errorf("8 inducing inputs leave %g", p.Rest)
		}
	}
}

// The noise from below is that of StrongNoise for the covariance from below; it keeps Eq. (11) under the exact one, and
// is larger than the least noise by no more than the rest.
func TestStrongFromBelow(t *testing.T) {
	e := engine.Of(trialtest.New(t, trialtest.Options{}).Engine)
	const n, places, c = 60, 4, 0.01
	x, k := scattered(t, e, n, 1)
	at := mat.DenseCopyOf(x.Slice(0, places, 0, 2))
	cross, err := kernel.EQ(0.3, 1).Matrix(e, x, at)
	if err != nil {
		t.Fatal(err)
	}
	q, err := kernel.EQ(0.3, 1).Matrix(e, at, at)
	if err != nil {
		t.Fatal(err)
	}
	q.Scale(0.5, q)
	shifted := func(a mat.Matrix) *Observations {
		cov := mat.DenseCopyOf(a)
		for i := range n {
			cov.Set(i, i, cov.At(i, i)+c)
		}
		o, err := Observe(e, cov)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	exact := shifted(k)
	least, err := exact.StrongNoise(cross, q)
	if err != nil {
		t.Fatal(err)
	}
	inner, _, err := exact.Inner(cross, q)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []int{3, 15, 40} {
		p, err := Induce(t.Context(), n, m, rowsOf(k))
		if err != nil {
			t.Fatal(err)
		}
		f, err := Strong(e, cross, q, p.L, c)
		if err != nil {
			t.Fatal(err)
		}
		var low, sigma, above mat.Dense
		low.Mul(p.L, p.L.T())
		sigma.Mul(f, f.T())
		want, err := shifted(&low).StrongNoise(cross, q)
		if err != nil {
			t.Fatal(err)
		}
		if !mat.EqualApprox(&sigma, want.Sigma, 1e-9) {
			t.Errorf("%d inducing inputs: not the positive part", m)
		}
		above.Add(exact.cov, &sigma)
		above.Sub(&above, inner)
		values, err := Eigenvalues(&above)
		if err != nil || slices.Min(values) < -1e-9 {
			t.Errorf("%d inducing inputs: K + V + Σ is below K_XS q⁻¹ K_SX by %g (%v)", m, slices.Min(values), err)
		}
		if excess := mat.Trace(&sigma) - least.Trace; excess < -1e-9 || excess > p.Rest {
			t.Errorf("%d inducing inputs: the trace is larger by %g, and at most by %g", m, excess, p.Rest)
		}
		all, err := NewLowRank(c, p.L, f)
		if err != nil {
			t.Fatal(err)
		}
		got, explained, err := all.SolveExplained(cross)
		if err != nil {
			t.Fatal(err)
		}
		dense, direct, err := shifted(&low).SolveExplained(&sigma, cross)
		if err != nil || !mat.EqualApprox(got, dense, 1e-8) || !slices.EqualFunc(explained, direct,
			func(a, b float64) bool { return math.Abs(a-b) < 1e-10 }) {
			t.Errorf("%d inducing inputs: solution off by rounding, explained %g, want %g (%v)", m, explained, direct, err)
		}
	}
	if f, err := Strong(e, mat.NewDense(n, places, nil), q, k, c); err == nil {
		t.Errorf("as many inducing inputs as rows give %v", f)
	}
	if f, err := Strong(e, cross, q, mat.DenseCopyOf(k.Slice(0, n, 0, 3)), 1e6); f != nil || err != nil {
		t.Errorf("where the data have much noise, noise is added: %v, %v", f, err)
	}
}

func TestInducingRefuses(t *testing.T) {
	for _, m := range []int{0, 5, 6} {
		if _, err := Induce(t.Context(), 5, m, nil); err == nil {
			t.Errorf("%d inducing inputs of 5 rows", m)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	failure := errors.New("no kernel")
	fails := func([]int) (*mat.Dense, error) { return nil, failure }
	if _, err := Induce(ended, 5, 2, fails); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
	if _, err := Induce(t.Context(), 5, 2, fails); !errors.Is(err, failure) {
		t.Errorf("without a kernel: %v", err)
	}
	if _, err := NewLowRank(0, mat.NewDense(3, 2, nil)); err == nil {
		t.Error("a singular matrix is taken")
	}
}

// A covariance whose rank its noise certifies has the results of one that is decomposed, to the last bit.
func TestObserveDefinite(t *testing.T) {
	e := engine.Of(trialtest.New(t, trialtest.Options{}).Engine)
	_, k := scattered(t, e, 30, 2)
	for noise, lazy := range map[float64]bool{0.01: true, 1e-13: false} {
		cov := mat.DenseCopyOf(k)
		for i := range 60 {
			cov.Set(i, i, cov.At(i, i)+noise)
		}
		whole, err := Observe(e, cov)
		if err != nil {
			t.Fatal(err)
		}
		p, err := ObserveDefinite(e, cov, noise)
		if err != nil {
			t.Fatal(err)
		}
		if p.Rank != whole.Rank || (p.values == nil) != lazy || lazy && !(p.Condition >= whole.Condition) {
			t.Errorf("noise %g: rank %d, want %d; condition %g of %g", noise, p.Rank, whole.Rank, p.Condition, whole.Condition)
		}
		b := mat.DenseCopyOf(k.Slice(0, 60, 0, 3))
		x, explained, err := p.SolveExplained(nil, b)
		if err != nil {
			t.Fatal(err)
		}
		solved, err := whole.Solve(nil, b)
		if err != nil || !mat.Equal(x, solved) {
			t.Errorf("noise %g: another solution (%v)", noise, err)
		}
		if want, err := whole.Explained(nil, b); err != nil || !slices.Equal(explained, want) {
			t.Errorf("noise %g: explained %g, want %g (%v)", noise, explained, want, err)
		}
		if err := p.Decompose(); err != nil || p.Condition != whole.Condition {
			t.Errorf("noise %g: condition %g, want %g (%v)", noise, p.Condition, whole.Condition, err)
		}
	}
}
