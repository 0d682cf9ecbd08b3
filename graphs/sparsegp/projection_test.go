package sparsegp

import (
	"errors"
	"math"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/graphs/internal/graphtest"
	"privkern/graphs/op"
)

// projected is a problem with its posterior and a projection of its inputs.
func projected(t *testing.T, workers int) (*engine.Engine, problem, *Posterior, *Projection) {
	t.Helper()
	e := graphtest.Engine(t, "float64", workers)
	p := newProblem(5, 40, 6, 1)
	post, err := Infer(ctx, e, p.inducing, p.sums, p.precision, p.noise)
	if err != nil {
		t.Fatal(err)
	}
	at, err := Project(ctx, e, p.inducing, p.x)
	if err != nil {
		t.Fatal(err)
	}
	return e, p, post, at
}

// A projection has the predictions of Predict, for several posteriors and from several goroutines.
func TestProjection(t *testing.T) {
	e, p, post, at := projected(t, 2)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			m := slices.Clone(post.Mean)
			m[0] += float64(i)
			var s mat.Dense
			s.Scale(1+float64(i), post.Cov)
			mean, variances, err := Predict(ctx, e, p.inducing, m, []*mat.Dense{&s}, p.x)
			if err != nil {
				t.Error(err)
				return
			}
			gotMean, gotVariance, err := at.Predict(ctx, e, m, &s)
			if err != nil || !slices.EqualFunc(gotMean, mean, alike(e)) ||
				!slices.EqualFunc(gotVariance, variances[0], alike(e)) {
				t.Errorf("posterior %d: %v\nmean %v, want %v\nvariance %v, want %v", i, err, gotMean, mean, gotVariance,
					variances[0])
			}
		})
	}
	all.Wait()
}

// The variances of a projection are those on the inducing inputs and, of the whole, those without a covariance.
func TestInside(t *testing.T) {
	e, _, post, at := projected(t, 1)
	variances := func(at *Projection, cov *mat.Dense) []float64 {
		_, v, err := at.Predict(ctx, e, post.Mean, cov)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	whole, left := variances(at, post.Cov), variances(at, mat.NewDense(6, 6, nil))
	for i, v := range variances(at.Inside(), post.Cov) {
		if math.Abs(v+left[i]-whole[i]) > 1e-12 || !(v > 0) {
			t.Errorf("input %d: %g on the inducing inputs, %g left, %g in all", i, v, left[i], whole[i])
		}
	}
}

func TestProjectionRefuses(t *testing.T) {
	e := graphtest.Engine(t, "float64", 1)
	p := newProblem(5, 40, 6, 1)
	at, err := Project(ctx, e, p.inducing, p.x)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := at.Predict(ctx, e, make([]float64, 5), mat.NewDense(6, 6, nil)); err == nil {
		t.Error("a mean that is too short")
	}
	if _, _, err := at.Predict(ctx, e, make([]float64, 6), mat.NewDense(5, 5, nil)); err == nil {
		t.Error("a covariance that is too small")
	}
	if _, err := Project(ctx, e, p.inducing, mat.NewDense(3, 2, nil)); err == nil {
		t.Error("inputs of another dimension")
	}
	twice := p.inducing
	twice.Z = mat.DenseCopyOf(p.inducing.Z)
	twice.Z.Set(1, 0, twice.Z.At(0, 0))
	var notPD *op.NotPositiveDefiniteError
	if _, err := Project(ctx, e, twice, p.x); !errors.As(err, &notPD) {
		t.Errorf("equal inducing inputs: %v", err)
	}
}
