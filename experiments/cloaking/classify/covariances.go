package classify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/internal/shared"
	"privkern/experiments/learn"
	"privkern/graphs/engine"
	"privkern/graphs/kernel"
	"privkern/graphs/laplace"
	"privkern/graphs/op"
	"privkern/runner/experiment"
)

// covariances of a training set with itself and with test inputs, as
// [laplace.Model] wants them.
type covariances struct {
	model *laplace.Model // to be closed, where the engine lives longer than the fit
	cross *mat.Dense
	// prior is the starting value of the variance at each test input, and sign tells whether the
	// model's part is added to it or subtracted.
	prior []float64
	sign  float64
}

// covariances are those of a training set (N×d), of which g has the distinct rows, and
// of test inputs (P×d).
func (c *classifier) covariances(ctx context.Context, train *mat.Dense, g cloak.Groups, test *mat.Dense,
	purpose string) (*covariances, error) {
	s := c.settings
	k := s.EQ()
	points, _ := test.Dims()
	out := &covariances{prior: slices.Repeat([]float64{s.KernelVariance}, points)}
	if c.method == cloak.Standard {
		return out, out.full(c.e, k, g.Rows, g.Count, test)
	}
	if s.Inducing > len(g.Count) {
		return nil, fmt.Errorf("inducing: %d inducing inputs, but there are only %d different training inputs", s.Inducing,
			len(g.Count))
	}
	centres, err := c.centres(ctx, train, purposed("k-means", purpose))
	if err != nil {
		return nil, fmt.Errorf("inducing inputs: %w", err)
	}
	return out, out.sparse(ctx, c.e, k, centres, g.Rows, g.Count, test, s.Approximation)
}

// centres places the inducing inputs by k-means on the training inputs (N×d). Trials of a
// seed that differ in kernel or noise alone have the same ones.
func (c *classifier) centres(ctx context.Context, train *mat.Dense, stream string) (*mat.Dense, error) {
	key := func(in *experiment.Inputs) {
		shared.AddMatrix(in, train)
		in.Text(stream, strconv.FormatInt(c.t.Seed, 10))
		in.Whole(c.settings.Inducing, c.caps.Clusters)
	}
	work, err := c.t.Memo(ctx, "inducing inputs", key, func() (*experiment.Shared, error) {
		found, err := learn.KMeans(ctx, c.e, train, c.settings.Inducing, c.t.Stream(stream),
			learn.KMeansOptions{Iterations: c.caps.Clusters})
		if err != nil {
			return nil, err
		}
		return &experiment.Shared{Numbers: shared.Numbers{"centres": found.Centres.RawMatrix().Data}}, nil
	})
	if err != nil {
		return nil, err
	}
	_, d := train.Dims()
	all, err := shared.Numbers(work.Numbers).Column("centres", c.settings.Inducing*d)
	if err != nil {
		return nil, err
	}
	return mat.NewDense(c.settings.Inducing, d, all), nil
}

// full sets the model with the kernel itself. Counts are the labels at each of
// the training inputs.
func (v *covariances) full(e *engine.Engine, k kernel.Kernel, train *mat.Dense, counts []float64,
	test *mat.Dense) error {
	all, err := k.Matrix(e, train, train)
	if err != nil {
		return err
	}
	if v.cross, err = k.Matrix(e, train, test); err != nil {
		return err
	}
	v.sign = -1
	v.model, err = laplace.Full(e, all, counts)
	return err
}

// sparse sets the model with the subset of regressors (Eq. 7) in place of the kernel. The
// approximation determines the starting value of the variance.
func (v *covariances) sparse(ctx context.Context, e *engine.Engine, k kernel.Kernel, inducing, train *mat.Dense,
	counts []float64, test *mat.Dense, a Approximation) error {
	kmm, err := k.Matrix(e, inducing, inducing)
	if err != nil {
		return err
	}
	features := make([]*mat.Dense, 2)
	for i, x := range []*mat.Dense{train, test} {
		cross, err := k.Matrix(e, inducing, x)
		if err != nil {
			return err
		}
		features[i], err = laplace.Features(ctx, e, kmm, cross)
		if _, ok := errors.AsType[*op.NotPositiveDefiniteError](err); ok {
			return fmt.Errorf("%w; the inducing inputs lie too near each other for the lengthscale: use fewer of them", err)
		}
		if err != nil {
			return err
		}
	}
	v.cross, v.sign = features[1], 1
	for i := range v.prior {
		if a == SoR {
			v.prior[i] = 0
			continue
		}
		column := mat.Col(nil, i, v.cross)
		v.prior[i] = max(0, v.prior[i]-dot(column, column))
	}
	v.model, err = laplace.LowRank(e, mat.DenseCopyOf(features[0].T()), counts)
	return err
}
