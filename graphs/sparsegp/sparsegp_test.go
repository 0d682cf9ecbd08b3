package sparsegp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"privkern/tests/tier"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/internal/graphtest"
	"privkern/graphs/kernel"
	"privkern/graphs/op"
)

var ctx = context.Background()

// problem is a small regression, exact and with noise.
type problem struct {
	inducing  InducingInputs
	x         *mat.Dense
	y, w      []float64
	precision float64
	noise     Noise
	sums      Sums // noisy
}

func newProblem(seed uint64, n, m, d int) problem {
	rng := rand.New(rand.NewPCG(seed, 1))
	p := problem{inducing: InducingInputs{Kernel: kernel.EQ(1.3, 0.8), Z: mat.NewDense(m, d, nil)}, x: mat.NewDense(n,
		d, nil),
		precision: 25}
	for i := range m {
		for j := range d {
			p.inducing.Z.Set(i, j, 1.7*float64(i)*float64(1-2*j)+0.1*float64(i*i))
		}
	}
	for i := range n {
		for j := range d {
			p.x.Set(i, j, (rng.Float64()*1.9*float64(m)-0.5)*float64(1-2*j))
		}
		p.y, p.w = append(p.y, rng.NormFloat64()), append(p.w, 0.5+rng.Float64())
	}
	p.noise = Noise{VarianceA: 0.04, VarianceB: 0.09, Ridge: 40, Form: Exact}
	p.sums = p.exact(false)
	for i := range m {
		p.sums.A[i] += 0.2 * rng.NormFloat64()
		for j := range i + 1 {
			v := p.sums.B.At(i, j) + 0.3*rng.NormFloat64()
			p.sums.B.Set(i, j, v)
			p.sums.B.Set(j, i, v)
		}
	}
	return p
}

func (p problem) k(a, b []float64) float64 {
	s := 0.0
	for i := range a {
		s += (a[i] - b[i]) * (a[i] - b[i])
	}
	return 0.8 * math.Exp(-s/(2*1.3*1.3))
}

func (p problem) kernel(a, b *mat.Dense) *mat.Dense {
	n, _ := a.Dims()
	m, _ := b.Dims()
	k := mat.NewDense(n, m, nil)
	for i := range n {
		for j := range m {
			k.Set(i, j, p.k(a.RawRowView(i), b.RawRowView(j)))
		}
	}
	return k
}

// exact returns the sums over the data one by one (Eqs. 3 and 37).
func (p problem) exact(weighted bool) Sums {
	kzx := p.kernel(p.inducing.Z, p.x)
	m, n := kzx.Dims()
	s := Sums{A: make([]float64, m), B: mat.NewDense(m, m, nil)}
	for i := range n {
		w := 1.0
		if weighted {
			w = p.w[i]
		}
		for j := range m {
			s.A[j] += w * kzx.At(j, i) * p.y[i]
			for l := range m {
				s.B.Set(j, l, s.B.At(j, l)+w*kzx.At(j, i)*kzx.At(l, i))
			}
		}
	}
	return s
}

// dense holds the quantities of Eq. (9), by explicit inverses.
type dense struct{ k, q, ks *mat.Dense } // K, Q⁻¹, KQ⁻¹

func (p problem) dense(t *testing.T) dense {
	t.Helper()
	k := p.kernel(p.inducing.Z, p.inducing.Z)
	m, _ := k.Dims()
	a := mat.NewDense(m, m, nil)
	a.Scale(p.precision, p.sums.B)
	a.Add(a, k)
	for i := range m {
		a.Set(i, i, a.At(i, i)+p.noise.Ridge)
	}
	d := dense{k: k, q: new(mat.Dense), ks: new(mat.Dense)}
	if err := d.q.Inverse(a); err != nil {
		t.Fatal(err)
	}
	d.ks.Mul(k, d.q)
	return d
}

// doubleSum returns S₂₂ of Eq. (14), term by term.
func (p problem) doubleSum(d dense) *mat.Dense {
	m, _ := d.k.Dims()
	r := mat.NewDense(m, 1, p.sums.A)
	unit := func(i, j int) *mat.Dense {
		e := mat.NewDense(m, m, nil)
		e.Set(i, j, 1)
		return e
	}
	out := mat.NewDense(m, m, nil)
	add := func(left, right *mat.Dense, factor float64) {
		var x mat.Dense
		x.Product(d.k, d.q, left, d.q, r, r.T(), d.q, right, d.q, d.k)
		x.Scale(factor*math.Pow(p.precision, 4)*p.noise.VarianceB, &x)
		out.Add(out, &x)
	}
	for i := range m {
		add(unit(i, i), unit(i, i), 1)
		for j := i + 1; j < m; j++ {
			add(unit(i, j), unit(j, i), 0.5)
			add(unit(j, i), unit(i, j), 0.5)
		}
	}
	return out
}

// symmetricSum is the same with E_ij = E_ji: the sum over independent elements of ∂m/∂e (∂m/∂e)ᵀ
// Var[e].
func (p problem) symmetricSum(d dense) *mat.Dense {
	m, _ := d.k.Dims()
	var v mat.Dense
	v.Mul(d.q, mat.NewDense(m, 1, p.sums.A))
	out := mat.NewDense(m, m, nil)
	for i := range m {
		for j := range i + 1 {
			e, variance := mat.NewDense(m, m, nil), p.noise.VarianceB
			e.Set(i, j, 1)
			e.Set(j, i, 1)
			if i != j {
				variance /= 2
			}
			var slope, x mat.Dense
			slope.Product(d.ks, e, &v)
			x.Mul(&slope, slope.T())
			x.Scale(math.Pow(p.precision, 4)*variance, &x)
			out.Add(out, &x)
		}
	}
	return out
}

func distance(t *testing.T, what string, got, want *mat.Dense) float64 {
	t.Helper()
	if r, c := got.Dims(); want.RawMatrix().Rows != r || want.RawMatrix().Cols != c {
		t.Fatalf("%s is %d×%d", what, r, c)
	}
	var diff mat.Dense
	diff.Sub(got, want)
	return mat.Norm(&diff, 2) / mat.Norm(want, 2)
}

func closeTo(t *testing.T, what string, got, want *mat.Dense, tolerance float64) {
	t.Helper()
	if d := distance(t, what, got, want); !(d <= tolerance) {
		t.Errorf("%s differs by %.3g of its norm, want at most %g", what, d, tolerance)
	}
}

func col(v []float64) *mat.Dense { return mat.NewDense(len(v), 1, v) }

// The sums are those over the data one by one, in both precisions, with weights
// and without, in one dimension and in two.
func TestSums(t *testing.T) {
	graphtest.EachBLAS(t, func(t *testing.T) {
		for dtype, tolerance := range map[string]float64{"float64": 1e-13, "float32": 1e-5} {
			t.Run(dtype, func(t *testing.T) {
				for dims := 1; dims <= 2; dims++ {
					e, p := graphtest.Engine(t, dtype, 2), newProblem(1, 300, 6, dims)
					for _, weights := range [][]float64{nil, p.w} {
						got, err := Sum(ctx, e, p.inducing, p.x, p.y, weights)
						if err != nil {
							t.Fatal(err)
						}
						want := p.exact(weights != nil)
						closeTo(t, dtype+" A", col(got.A), col(want.A), tolerance)
						closeTo(t, dtype+" B", got.B, want.B, tolerance)
						if got, err = SumDouble(ctx, e, p.inducing, p.x, p.y, weights); err != nil {
							t.Fatal(err)
						}
						closeTo(t, "B in double precision", got.B, want.B, 1e-13)
					}
				}
			})
		}
	})
}

// The posterior agrees with Eq. (9) and explicit sums over elements: with E_ij = E_ji for the
// exact form, and Eq. (14) as printed for the printed form. The two differ.
func TestPosterior(t *testing.T) {
	graphtest.EachBLAS(t, func(t *testing.T) {
		for _, dtype := range []string{"float64", "float32"} { // computed in float64 in both cases
			e := graphtest.Engine(t, dtype, 1)
			p := newProblem(2, 200, 6, 1)
			d := p.dense(t)
			var naive, first mat.Dense
			naive.Mul(d.ks, d.k)
			first.Mul(d.ks, d.ks.T())
			first.Scale(p.noise.VarianceA*p.precision*p.precision, &first)
			sums := map[Form]*mat.Dense{Exact: p.symmetricSum(d), Printed: p.doubleSum(d)}
			if gap := distance(t, "the printed form", sums[Printed], sums[Exact]); gap < 0.05 {
				t.Errorf("Eq. (14) differs from the sum with symmetric noise by %.3g only", gap)
			}
			for form, second := range sums {
				t.Run(fmt.Sprint(form), func(t *testing.T) {
					p.noise.Form = form
					got, err := Infer(ctx, e, p.inducing, p.sums, p.precision, p.noise)
					if err != nil {
						t.Fatal(err)
					}
					var mean, cov mat.Dense
					mean.Mul(d.ks, col(p.sums.A))
					mean.Scale(p.precision, &mean)
					cov.Add(&naive, &first)
					cov.Add(&cov, second)
					closeTo(t, "m", col(got.Mean), &mean, 1e-10)
					closeTo(t, "KQ⁻¹K", got.Naive, &naive, 1e-10)
					closeTo(t, string(form)+" S", got.Cov, &cov, 1e-10)
					if !mat.Equal(got.Cov, got.Cov.T()) {
						t.Error("S is not exactly symmetric")
					}
					if !(got.Reciprocal > 0 && got.Reciprocal < 1) {
						t.Errorf("reciprocal condition number %g", got.Reciprocal)
					}
				})
			}
		}
	})
}

// For small noise, S₂ is the covariance of m over draws of the noise: the exact
// form within the error of 20,000 draws, the printed one far outside.
func TestAddedCovarianceIsThatOfTheMean(t *testing.T) {
	tier.Sequential(t)
	const draws = 20000
	e, p := graphtest.Engine(t, "float64", 1), newProblem(3, 200, 4, 1)
	p.sums = p.exact(false)
	p.noise = Noise{VarianceA: 1e-12, VarianceB: 1e-6, Ridge: 10}
	m := len(p.sums.A)
	added := func(form Form) *mat.Dense {
		p.noise.Form = form
		post, err := Infer(ctx, e, p.inducing, p.sums, p.precision, p.noise)
		if err != nil {
			t.Fatal(err)
		}
		out := new(mat.Dense)
		out.Sub(post.Cov, post.Naive)
		return out
	}
	exact, printed := added(Exact), added(Printed)
	rng := rand.New(rand.NewPCG(4, 4))
	centre, err := Infer(ctx, e, p.inducing, p.sums, p.precision, p.noise)
	if err != nil {
		t.Fatal(err)
	}
	cov := mat.NewDense(m, m, nil)
	for range draws {
		s := Sums{A: slices.Clone(p.sums.A), B: mat.DenseCopyOf(p.sums.B)}
		for i := range m {
			s.A[i] += math.Sqrt(p.noise.VarianceA) * rng.NormFloat64()
			for j := range i + 1 {
				sd := math.Sqrt(p.noise.VarianceB)
				if i != j {
					sd /= math.Sqrt2
				}
				v := s.B.At(i, j) + sd*rng.NormFloat64()
				s.B.Set(i, j, v)
				s.B.Set(j, i, v)
			}
		}
		post, err := Infer(ctx, e, p.inducing, s, p.precision, p.noise)
		if err != nil {
			t.Fatal(err)
		}
		for i := range m {
			for j := range m {
				cov.Set(i, j, cov.At(i, j)+(post.Mean[i]-centre.Mean[i])*(post.Mean[j]-centre.Mean[j])/draws)
			}
		}
	}
	closeTo(t, "the covariance of m", cov, exact, 0.03)
	if gap := distance(t, "the printed form", printed, cov); gap < 0.1 {
		t.Errorf("the printed form differs from the covariance of m by %.3g only", gap)
	}
}

// Predictions are Eq. (17); without noise and with inducing inputs at the data,
// they are those of the exact GP.
func TestPredictions(t *testing.T) {
	graphtest.EachBLAS(t, func(t *testing.T) {
		e, p := graphtest.Engine(t, "float32", 1), newProblem(5, 200, 6, 1)
		post, err := Infer(ctx, e, p.inducing, p.sums, p.precision, p.noise)
		if err != nil {
			t.Fatal(err)
		}
		x := mat.NewDense(3, 1, []float64{0.3, 4, 11})
		mean, variances, err := Predict(ctx, e, p.inducing, post.Mean, []*mat.Dense{post.Cov, post.Naive}, x)
		if err != nil {
			t.Fatal(err)
		}
		var inv, w, explained, wantMean mat.Dense
		kzx := p.kernel(p.inducing.Z, x)
		if err := inv.Inverse(p.kernel(p.inducing.Z, p.inducing.Z)); err != nil {
			t.Fatal(err)
		}
		w.Mul(&inv, kzx)
		explained.Mul(kzx.T(), &w)
		wantMean.Mul(w.T(), col(post.Mean))
		closeTo(t, "mean", col(mean), &wantMean, 1e-10)
		for i, s := range []*mat.Dense{post.Cov, post.Naive} {
			var q mat.Dense
			q.Product(w.T(), s, &w)
			for j := range mean {
				if want := 0.8 - explained.At(j, j) + q.At(j, j); math.Abs(variances[i][j]-want) > 1e-11 {
					t.Errorf("variance %d at input %d is %.12g, want %.12g", i, j, variances[i][j], want)
				}
			}
		}
		// All data as inducing inputs.
		data := mat.NewDense(7, 1, []float64{-2, -1.1, 0, 0.8, 2, 3.1, 4})
		y := []float64{1, -0.5, 0.2, 0.9, 0.1, -1, 0.4}
		g := InducingInputs{Kernel: kernel.EQ(1.3, 0.8), Z: data}
		wideEngine := graphtest.Engine(t, "float64", 1)
		sums, err := Sum(ctx, wideEngine, g, data, y, nil)
		if err != nil {
			t.Fatal(err)
		}
		if post, err = Infer(ctx, wideEngine, g, sums, 25, Noise{Form: Exact}); err != nil {
			t.Fatal(err)
		}
		if mean, variances, err = Predict(ctx, wideEngine, g, post.Mean, []*mat.Dense{post.Cov}, x); err != nil {
			t.Fatal(err)
		}
		k := p.kernel(data, data)
		for i := range y {
			k.Set(i, i, k.At(i, i)+1/25.0)
		}
		cross := p.kernel(data, x)
		inv.Reset()
		if err := inv.Inverse(k); err != nil {
			t.Fatal(err)
		}
		var gp, reduced mat.Dense
		gp.Product(cross.T(), &inv, col(y))
		reduced.Product(cross.T(), &inv, cross)
		closeTo(t, "the exact GP's mean", col(mean), &gp, 1e-9)
		for j := range mean {
			if want := 0.8 - reduced.At(j, j); math.Abs(variances[0][j]-want) > 1e-9 {
				t.Errorf("the exact GP's variance at input %d is %.12g, want %.12g", j, variances[0][j], want)
			}
		}
	})
}

// Jitter is noise on the values at the inducing inputs: it makes K + jitter·I of
// K, and nothing else.
func TestJitter(t *testing.T) {
	e := graphtest.Engine(t, "float64", 1)
	close2 := InducingInputs{Kernel: kernel.EQ(1, 1), Z: mat.NewDense(2, 1, []float64{0, 1e-9})}
	x := mat.NewDense(1, 1, []float64{0})
	var notPD *op.NotPositiveDefiniteError
	if _, _, err := Predict(ctx, e, close2, []float64{1, 1}, nil, x); !errors.As(err, &notPD) {
		t.Errorf("two inducing inputs in one place: %v", err)
	}
	close2.Jitter = 0.5
	mean, variances, err := Predict(ctx, e, close2, []float64{1, 1}, []*mat.Dense{mat.NewDense(2, 2, nil)}, x)
	if err != nil {
		t.Fatal(err)
	}
	// (J + I/2)⁻¹1 = 1/2.5 each.
	if math.Abs(mean[0]-2/2.5) > 1e-9 || math.Abs(variances[0][0]-(1-2/2.5)) > 1e-9 {
		t.Errorf("mean %g and variance %g with jitter", mean[0], variances[0][0])
	}
}

// An ill-conditioned covariance of the inducing inputs is reported, and the rounding
// that comes with it makes no variance negative.
func TestIllConditioned(t *testing.T) {
	e := graphtest.Engine(t, "float64", 1)
	g := InducingInputs{Kernel: kernel.EQ(1, 1), Z: mat.NewDense(8, 1, []float64{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7})}
	x := mat.NewDense(2000, 1, nil)
	for i := range 2000 {
		x.Set(i, 0, 0.7*float64(i)/1999)
	}
	_, variances, err := Predict(ctx, e, g, make([]float64, 8), []*mat.Dense{mat.NewDense(8, 8, nil)}, x)
	if err != nil {
		t.Fatal(err)
	}
	if low := slices.Min(variances[0]); low != 0 {
		t.Errorf("the smallest of 2,000 variances without uncertainty is %g; rounding should have made some of them "+
			"negative, and they are then zero", low)
	}
	if w := e.Warnings(); len(w) != 1 || !strings.Contains(w[0], "condition number") {
		t.Errorf("warnings %q", w)
	}
	p := newProblem(9, 20, 4, 1)
	e = graphtest.Engine(t, "float64", 1)
	if _, _, err := Predict(ctx, e, p.inducing, p.sums.A, nil, p.x); err != nil || len(e.Warnings()) > 0 {
		t.Errorf("well-conditioned: %v, warnings %q", err, e.Warnings())
	}
}

// gorgonia's TapeMachine computes the same from the same graphs.
func TestTapeMachine(t *testing.T) {
	p := newProblem(8, 30, 4, 2)
	graphtest.TapeMachine(t, projectedProgram(4, 30), graphtest.Inputs{
		"w": mat.NewDense(4, 30, slices.Repeat(p.w[:4], 30)), "m": col(p.sums.A), "s": p.sums.B})
	graphtest.TapeMachine(t, predictProgram(p.inducing.Kernel, 4, 30, 2, 1), graphtest.Inputs{
		"z": p.inducing.Z, "nugget": scaledIdentity(4, 0.01), "x": p.x, "m": col(p.sums.A), "s0": p.sums.B})
}

func TestWorkersDoNotChangeResults(t *testing.T) {
	p := newProblem(6, 700, 9, 2)
	var first Sums
	for _, workers := range []int{1, 2, 5} {
		s, err := Sum(ctx, graphtest.Engine(t, "float64", workers), p.inducing, p.x, p.y, p.w)
		if err != nil {
			t.Fatal(err)
		}
		if first.B == nil {
			first = s
		}
		if !slices.Equal(s.A, first.A) || !mat.Equal(s.B, first.B) {
			t.Errorf("%d workers change the sums", workers)
		}
	}
}

func TestRefusals(t *testing.T) {
	e, p := graphtest.Engine(t, "float64", 1), newProblem(7, 20, 4, 1)
	nan := mat.NewDense(1, 1, []float64{math.NaN()})
	infer := func(change func(*problem)) error {
		q := newProblem(7, 20, 4, 1)
		change(&q)
		_, err := Infer(ctx, e, q.inducing, q.sums, q.precision, q.noise)
		return err
	}
	sum := func(x *mat.Dense, y, w []float64) error {
		_, err := Sum(ctx, e, p.inducing, x, y, w)
		return err
	}
	predict := func(mean []float64, cov, x *mat.Dense) error {
		_, _, err := Predict(ctx, e, p.inducing, mean, []*mat.Dense{cov}, x)
		return err
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{sum(nan, []float64{1}, nil), "NaN in row 0"},
		{sum(mat.NewDense(1, 2, nil), []float64{1}, nil), "2 dimensions"},
		{sum(p.x, p.y[1:], nil), "19 elements, want 20"},
		{sum(p.x, p.y, p.w[1:]), "19 elements, want 20"},
		{infer(func(q *problem) { q.noise.Form = "" }), "unknown form"},
		{infer(func(q *problem) { q.noise.Ridge = -1 }), "lambda is -1"},
		{infer(func(q *problem) { q.noise.VarianceB = math.Inf(1) }), "variance of B"},
		{infer(func(q *problem) { q.precision = 0 }), "precision of the observations is 0"},
		{infer(func(q *problem) { q.sums.B = mat.NewDense(3, 3, nil) }), "3×3 for 4"},
		{infer(func(q *problem) { q.sums.A[0] = math.NaN() }), "NaN in row 0"},
		{infer(func(q *problem) { q.sums.B.Set(0, 0, -1e6) }), "not positive definite"},
		{infer(func(q *problem) { q.inducing.Kernel = kernel.Linear(1) }), "does not depend on a distance"},
		{infer(func(q *problem) { q.inducing.Jitter = -1 }), "the jitter is -1"},
		{predict([]float64{1}, p.sums.B, p.x), "1 elements, want 4"},
		{predict(p.sums.A, nan, p.x), "1×1 for 4"},
		{predict(p.sums.A, mat.NewDense(4, 4, []float64{-9, 0, 0, 0, 0, -9, 0, 0, 0, 0, -9, 0, 0, 0, 0, -9}), p.x),
			"predictive variance"},
	} {
		t.Run(c.want, func(t *testing.T) {
			if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
				t.Errorf("got %v, want it to say %q", c.err, c.want)
			}
		})
	}
}
