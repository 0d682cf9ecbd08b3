package classify

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/cloaking/internal/cloaktest"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// A Newton step with inducing inputs, by its factors, is that of the dense cloaking matrix
// C = ½(K − KW^½(I + W^½KW^½)⁻¹W^½K), K = K_nm K_mm⁻¹ K_mn: the range is that of C, the noise covers every column of C,
// and the latent function is C·y and the part of the mode.
func TestSparseStepIsThatOfTheMatrix(t *testing.T) {
	c := classifierFor(t, lengthscale2, by(cloak.Sparse, 6))
	x := mat.NewDense(45, 2, nil)
	for i := range 45 { // some inputs twice
		x.SetRow(i, []float64{math.Mod(float64(i*7%40)*1.3, 9), math.Mod(float64(i*7%40)*0.7, 5)})
	}
	p, err := c.prepare(t.Context(), x, x, "")
	if err != nil {
		t.Fatal(err)
	}
	n := len(p.inputs.Count)
	z, err := c.centres(t.Context(), x, "k-means")
	if err != nil {
		t.Fatal(err)
	}
	mode, y := make([]float64, n), mat.NewDense(n, 1, nil)
	for i := range n {
		mode[i] = math.Sin(float64(3 * i))
		y.Set(i, 0, p.inputs.Count[i]*float64(1-2*(i%2)))
	}
	dense, target := denseMatrix(t, c, p.inputs, z, mode)
	ranges, designs, err := c.designs(t.Context(), p.cov.model, [][]float64{mode}, "", true)
	if err != nil {
		t.Fatal(err)
	}
	if got := ranges[0].Predictions(ranges[0].B); !mat.EqualApprox(got, dense, 1e-9*mat.Norm(dense, 2)) {
		t.Error("the range is not that of the matrix")
	}
	step, err := p.cov.model.Step(t.Context(), mode, y)
	if err != nil {
		t.Fatal(err)
	}
	var want mat.Dense
	target.Add(target, y)
	want.Mul(dense, target)
	if !mat.EqualApprox(step.Latent, &want, 1e-9*mat.Norm(&want, 2)) {
		t.Error("the step is not that of the matrix")
	}
	var qr mat.QR
	qr.Factorize(designs[0].Factor())
	worst := 0.0
	for j := range n {
		var v mat.VecDense
		if err := qr.SolveVecTo(&v, false, dense.ColView(j)); err != nil {
			t.Fatal(err)
		}
		worst = max(worst, mat.Norm(&v, 2))
	}
	trialtest.Near(t, "the largest norm of a column in the noise", worst, 1, 1e-7)
}

// denseMatrix returns C, and W f·2 + n − 2nπ, the part of 2b that the labels have none in.
func denseMatrix(t *testing.T, c *classifier, g cloak.Groups, z *mat.Dense, mode []float64) (
	matrix, target *mat.Dense) {
	t.Helper()
	kernel := func(a, b *mat.Dense) *mat.Dense {
		k, err := c.settings.EQ().Matrix(c.e, a, b)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	n := len(mode)
	cross := kernel(z, g.Rows)
	var inverse, k, scaled, inner, part mat.Dense
	if err := inverse.Solve(kernel(z, z), cross); err != nil {
		t.Fatal(err)
	}
	k.Mul(cross.T(), &inverse)
	root, target := mat.NewDiagDense(n, nil), mat.NewDense(n, 1, nil)
	for i, f := range mode {
		count, positive := g.Count[i], logistic(f)
		w := count * positive * (1 - positive)
		root.SetDiag(i, math.Sqrt(w))
		target.Set(i, 0, 2*w*f+count-2*count*positive)
	}
	scaled.Mul(root, &k)
	inner.Mul(&scaled, root)
	for i := range n {
		inner.Set(i, i, inner.At(i, i)+1)
	}
	if err := part.Solve(&inner, &scaled); err != nil {
		t.Fatal(err)
	}
	matrix = new(mat.Dense)
	matrix.Mul(scaled.T(), &part)
	matrix.Sub(&k, matrix)
	matrix.Scale(0.5, matrix)
	return matrix, target
}

// As many different inputs as the sparse method takes are computed, and one more is refused.
func TestClassificationManyInputs(t *testing.T) {
	var b strings.Builder
	b.WriteString("a,class\n")
	for i := range maxInputsSparse + 1 {
		fmt.Fprintf(&b, "%d,%d\n", i, 1+i*i%3%2)
	}
	s := trialtest.Options{File: cloaktest.File(t, b.String())}
	sparse := func(s *classificationSettings) {
		s.Inputs, s.Method, s.Inducing, s.Draws = "a", cloak.Sparse, 2, 1
		s.Lengthscale = method.LengthscalesOf(9000)
		s.Folds = cloak.Folds{Folds: 2, FoldScheme: cloak.Interleaved}
	}
	_, err := trialtest.Try(t, s, Classification(), ownClasses, sparse)
	trialtest.Refuses(t, err, "20001 different training inputs; at most 20000 are taken by method=sparse: draw")
	r := validated(t, s, ownClasses, sparse, func(s *classificationSettings) {
		s.Rows = experiment.NumberOr[All](maxInputsSparse)
	})
	trialtest.Near(t, "used rows", r.Metrics.UsedRows, maxInputsSparse, 0)
	trialtest.Near(t, "rank", *r.Metrics.Rank, 2, 0)
}

// Draws whose ranges are in memory together are sixteen of few inputs, and fewer of many.
func TestDrawsAtOnce(t *testing.T) {
	for _, c := range []struct{ inputs, inducing, want int }{
		{2000, 2000, 16}, {5000, 100, 16}, {16000, 100, 5}, {20000, 2000, 1},
	} {
		f := &classifier{settings: &ClassifierSettings{Inducing: c.inducing}}
		if got := f.drawsAtOnce(c.inputs); got != c.want {
			t.Errorf("%d inputs, %d inducing: %d at once, want %d", c.inputs, c.inducing, got, c.want)
		}
	}
}

// Measured memory lies within the estimates.
func TestClassificationMemory(t *testing.T) {
	for _, c := range []struct{ inputs, inducing, more, measured int }{ // MiB
		{2000, 20, 0, 152}, {5000, 20, 0, 90}, {5000, 100, 0, 129}, {20000, 20, 0, 125}, {20000, 100, 0, 299},
		{20000, 100, 24, 611}, {20000, 100, 12, 380},
	} {
		got := float64(sparseMemory(c.inputs, c.inducing, c.more) >> 20)
		if m := float64(c.measured); got < m || got > 1.5*m {
			t.Errorf("%+v: %g MiB", c, got)
		}
	}
	file := cloaktest.File(t, "a,class\n"+strings.Repeat("1,1\n", 3000))
	of := func(changes ...func(*classificationSettings)) int64 {
		return memory(Classification().With(append([]func(*classificationSettings){ownClasses,
			func(s *classificationSettings) { s.Dataset, s.Inputs = "csv:"+file, "a" }}, changes...)...))
	}
	all, fewer := of(), of(func(s *classificationSettings) { s.Rows = experiment.NumberOr[All](1000) })
	several := of(func(s *classificationSettings) { s.Iterations = steps(2) })
	clean := of(func(s *classificationSettings) { noiseless(&s.ClassifierSettings) })
	low := laplaceMemory(cloak.Standard, 2000)
	if all < low || all > low+8<<20 || fewer > low/2 || several < all+1000<<20 || clean < all+30<<20 {
		t.Errorf("of a file %d, of fewer rows %d, of several steps %d, without noise %d; %d of the method", all, fewer,
			several, clean, low)
	}
	missing := of(func(s *classificationSettings) { s.Dataset = "csv:" + filepath.Join(t.TempDir(), "none.csv") })
	empty := cloaktest.File(t, "a,class\n")
	none := of(func(s *classificationSettings) { s.Dataset = "csv:" + empty })
	if loans := memory(Classification().With()); slices.Max([]int64{missing, none, loans}) != 0 {
		t.Errorf("missing file %d, empty file %d, loans %d", missing, none, loans)
	}
}
