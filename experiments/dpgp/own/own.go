// Package own gives the models of a user's own data their inducing inputs, which are public:
// a grid over the range of the inputs, a list, or a file.
package own

import (
	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset/table"
	"privkern/experiments/dpgp/sparse"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// Regular returns the regular grid (count^d × d) between the ends in each of d inputs.
func Regular(count int, low, high []float64) *mat.Dense {
	all, d := 1, len(low)
	for range d {
		all *= count
	}
	out := mat.NewDense(all, d, nil)
	for i := range all {
		for j, rest := d-1, i; j >= 0; j, rest = j-1, rest/count {
			v := low[j] + (high[j]-low[j])/2
			if count > 1 {
				v = low[j] + (high[j]-low[j])*float64(rest%count)/float64(count-1)
			}
			out.Set(i, j, v)
		}
	}
	return out
}

// Model returns the sparse GP with a lengthscale for each of the inputs, or one
// for all, and the scaling of its inputs.
func Model(
	z *mat.Dense, lengthscale experiment.Several, inputs []table.Input, variance, noise, jitter float64,
) (*sparse.Model, sparse.Scaling, error) {
	if len(lengthscale) == 1 {
		return sparse.NewModel(z, lengthscale[0], variance, noise, jitter), nil, nil
	}
	each, err := method.ForInputs("lengthscale", lengthscale, inputs)
	if err != nil {
		return nil, nil, err
	}
	scaling := sparse.Scaling(each)
	return sparse.NewModel(scaling.Apply(z), 1, variance, noise, jitter), scaling, nil
}
