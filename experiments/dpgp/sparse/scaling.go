package sparse

import (
	"gonum.org/v1/gonum/mat"
)

// Scaling brings inputs to units of a lengthscale each: nil leaves them as they are, for a kernel
// with one lengthscale for all; otherwise the kernel of the scaled inputs has lengthscale 1.
//
// A release computes from scaled inputs. The rounding of the division needs no term of its own in
// the sensitivity of [ExactSums]: the scaled inputs of a row are float64 numbers that depend on
// this row and on public lengthscales alone, so that the sums are those of other rows, one for one;
// the bound on a row's kernel vector is the maximum over all inputs, and with it the sensitivityfor
// all inputs; and the inducing inputs, whose scaled values are public, are the points that the
// bound and every kernel vector are computed from. The same holds for any function of a row in
// place of the division. Readers of a model divide in the same way, so that an input at an inducing
// input stays there.
type Scaling []float64

// Apply returns the scaled rows of x (n×D, D numbers in s), or x where there is nothing to
// scale. A quotient beyond float64 is an infinity, whose kernel values are 0.
func (s Scaling) Apply(x *mat.Dense) *mat.Dense {
	if s == nil {
		return x
	}
	out := mat.DenseCopyOf(x)
	n, _ := x.Dims()
	for i := range n {
		for j, l := range s {
			out.Set(i, j, x.At(i, j)/l)
		}
	}
	return out
}
