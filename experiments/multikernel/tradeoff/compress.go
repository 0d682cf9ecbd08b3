package tradeoff

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/shared"
	"privkern/experiments/multikernel/kernellist"
	"privkern/experiments/multikernel/recognise"
	"privkern/graphs/discriminant"
	"privkern/graphs/engine"
	"privkern/graphs/kernel"
	"privkern/runner/experiment"
)

// compressor compresses kernels of training samples.
type compressor struct {
	*experiment.Trial
	e          *engine.Engine
	projection projection
	options    discriminant.Options
	train      recognise.Samples
	landmarks  *mat.Dense // scaled as the samples; nil for none
}

// criteria are those of the projections in the primal form.
var criteria = [...]discriminant.Criterion{dca: discriminant.Discriminant, pca: discriminant.Principal,
	rdca: discriminant.Desensitised}

// primal reports whether a kernel is compressed without a matrix of all rows.
func (c *compressor) primal(k kernellist.Kernel) bool {
	n, d := c.train.X.Dims()
	if k.Family == "linear" { // it needs no points
		return d < n || n > mostRows
	}
	return c.landmarks != nil
}

// check refuses, soon, a kernel in which the utility classes differ too little.
func (c *compressor) check(ctx context.Context, k kernellist.Kernel) error {
	if c.projection != dca || c.primal(k) && k.Family != "linear" {
		return nil
	}
	return discriminant.CheckSeparation(ctx, c.e, k.Kernel, c.train.X, c.train.Utility, c.options)
}

// fit returns the map of a kernel to its features, Q for each sample, and those of the
// training samples (N×Q).
func (c *compressor) fit(ctx context.Context, k kernellist.Kernel) (*discriminant.Map, *mat.Dense, error) {
	if err := c.check(ctx, k); err != nil {
		return nil, nil, err
	}
	if !c.primal(k) {
		return c.project(ctx, k.Kernel, c.train.X)
	}
	labels := c.train.Utility
	if c.projection == rdca {
		labels = c.train.Privacy
	}
	if k.Family == "linear" {
		return discriminant.FitPrimal(ctx, c.e, criteria[c.projection], nil, c.train.X, labels, c.options)
	}
	marks, err := discriminant.NewLandmarks(ctx, c.e, k.Kernel, c.landmarks)
	if err != nil {
		return nil, nil, err
	}
	m, z, err := discriminant.FitPrimal(ctx, c.e, criteria[c.projection], marks, c.train.X, labels, c.options)
	if err != nil {
		return nil, nil, fmt.Errorf("by landmarks: %w", err)
	}
	return m, z, nil
}

func (c *compressor) project(ctx context.Context, k kernel.Kernel, x *mat.Dense) (*discriminant.Map, *mat.Dense,
	error) {
	var p *discriminant.Projection
	var err error
	switch c.projection {
	case pca:
		p, err = discriminant.FitPrincipal(ctx, c.e, k, x, c.options)
	case rdca:
		p, err = discriminant.FitDesensitised(ctx, c.e, k, x, c.train.Privacy, c.options)
	default:
		p, err = discriminant.Fit(ctx, c.e, k, x, c.train.Utility, c.options)
	}
	if err != nil {
		return nil, nil, err
	}
	return p.Map(), p.Features, nil
}

// features returns the features of the training samples and of test samples (T×d), T×Q. A
// kernel that another trial of the sweep has compressed for the same samples is not
// compressed again.
func (c *compressor) features(ctx context.Context, k kernellist.Kernel, test *mat.Dense) (train, tested *mat.Dense,
	err error) {
	key := func(in *experiment.Inputs) {
		in.Text(c.projection.String(), k.Kernel.String())
		in.Numbers(c.options.Ridge, c.options.SignalRidge)
		in.Whole(c.options.Components)
		shared.AddMatrix(in, c.train.X)
		shared.AddMatrix(in, test)
		in.Whole(c.train.Utility...)
		in.Whole(c.train.Privacy...)
		if c.landmarks != nil {
			shared.AddMatrix(in, c.landmarks)
		}
	}
	numbers, _, err := shared.Work(ctx, c.Trial, c.e, "compressed kernel of own data", key,
		func() (shared.Numbers, error) {
			m, z, err := c.fit(ctx, k)
			if err != nil {
				return nil, err
			}
			further, err := m.Apply(ctx, c.e, test)
			if err != nil {
				return nil, err
			}
			return shared.Numbers{"train": elements(z), "test": elements(further)}, nil
		})
	if err != nil {
		return nil, nil, err
	}
	if train, err = c.matrix(numbers, "train", c.train.X); err == nil {
		tested, err = c.matrix(numbers, "test", test)
	}
	return train, tested, err
}

func (c *compressor) matrix(numbers shared.Numbers, name string, of *mat.Dense) (*mat.Dense, error) {
	n, _ := of.Dims()
	values, err := numbers.Column(name, n*c.options.Components)
	if err != nil {
		return nil, err
	}
	return mat.NewDense(n, c.options.Components, values), nil
}

// elements returns the elements of a matrix, row by row.
func elements(x *mat.Dense) []float64 { return mat.DenseCopyOf(x).RawMatrix().Data }
