package recognise

import (
	"context"
	"fmt"
	"sync"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/shared"
	"privkern/graphs/discriminant"
	"privkern/graphs/engine"
	"privkern/graphs/kernel"
	"privkern/runner/experiment"
)

// compressor compresses kernels for the utility labels of training samples, each once in a sweep.
//
// A compression takes about N³/3 operations, and its result has 5(N + T) numbers: with HAR's 5,451
// training and 1,080 test samples 7 s and 260 kB. The 40 trials of Table II on one data set ask for
// 104 compressions, 14 of which differ.
type compressor struct {
	trial   *experiment.Trial
	e       *engine.Engine
	train   Samples
	test    *mat.Dense // T×M, nil for none
	options discriminant.Options
	samples func() string // digest of the samples and their labels
}

func newCompressor(t *experiment.Trial, e *engine.Engine, train Samples, test *mat.Dense, o discriminant.Options,
) *compressor {
	return &compressor{t, e, train, test, o, sync.OnceValue(func() string {
		return experiment.Digest(func(in *experiment.Inputs) {
			shared.AddMatrix(in, train.X)
			in.Whole(train.Utility...)
			if test != nil {
				shared.AddMatrix(in, test)
			}
		})
	})}
}

// compress returns the features of the training samples, Z = K̄A (N×Q), and those of the
// test samples (T×Q), nil where there are none.
func (c *compressor) compress(ctx context.Context, k kernel.Kernel) (train, test *mat.Dense, err error) {
	key := func(in *experiment.Inputs) {
		in.Text(c.samples(), k.String())
		in.Numbers(c.options.Ridge, c.options.SignalRidge)
		in.Whole(c.options.Components)
	}
	numbers, _, err := shared.Work(ctx, c.trial, c.e, "compressed kernel", key, func() (shared.Numbers, error) {
		p, err := discriminant.Fit(ctx, c.e, k, c.train.X, c.train.Utility, c.options)
		if err != nil {
			return nil, err
		}
		out := shared.Numbers{"train": elements(p.Features)}
		if c.test == nil {
			return out, nil
		}
		projected, err := p.Project(ctx, c.e, c.test)
		if err != nil {
			return nil, err
		}
		out["test"] = elements(projected)
		return out, nil
	})
	if err != nil {
		return nil, nil, err
	}
	q := c.options.Components
	if train, err = c.features(numbers, "train", c.train.X, q); err == nil && c.test != nil {
		test, err = c.features(numbers, "test", c.test, q)
	}
	return train, test, err
}

// features returns the features of samples, Q for each.
func (c *compressor) features(numbers shared.Numbers, name string, of *mat.Dense, q int) (*mat.Dense, error) {
	n, _ := of.Dims()
	values, err := numbers.Column(name, n*q)
	if err != nil {
		return nil, fmt.Errorf("features for %s: %w", name, err)
	}
	return mat.NewDense(n, q, values), nil
}

// elements returns the elements of a matrix, row by row.
func elements(x *mat.Dense) []float64 { return mat.DenseCopyOf(x).RawMatrix().Data }
