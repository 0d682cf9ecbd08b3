package cloak

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset/table"
	"privkern/experiments/method"
	"privkern/graphs/kernel"
)

// EQ is the kernel of inputs that are as [Kernel.Scaled] returns them.
func (k *Kernel) EQ() kernel.Kernel {
	lengthscale := 1.0
	if !k.apart() {
		lengthscale = k.Lengthscale[0]
	}
	return kernel.EQ(lengthscale, k.KernelVariance)
}

// Scaled returns inputs (n×D), each in units of its lengthscale where each has one, and x
// itself where all share one. Inputs are public, so that rounding the quotients leaves the
// sensitivity of a release as it is: it is that of the cloaking matrix of the quotients. One
// beyond float64 is an error.
func (k *Kernel) Scaled(x *mat.Dense) (*mat.Dense, error) {
	if !k.apart() {
		return x, nil
	}
	out := mat.DenseCopyOf(x)
	n, _ := out.Dims()
	for i := range n {
		row := out.RawRowView(i)
		for j, l := range k.Lengthscale {
			if row[j] /= l; math.IsInf(row[j], 0) {
				return nil, fmt.Errorf("lengthscale = %s: input %d of %d has the value %g, which over its lengthscale %g is "+
					"beyond floating point; lengthscales are in the units of the inputs", k.Lengthscale, j+1, len(row), x.At(i, j), l)
			}
		}
	}
	return out, nil
}

// apart is whether each input has a lengthscale of its own.
func (k *Kernel) apart() bool { return len(k.Lengthscale) > 1 }

// CheckOwn refuses lengthscales that do not fit data and method, as far as that is known before
// a file is read: a category may have more levels then.
func (k *Kernel) CheckOwn(o *OwnData, m Method) error {
	inputs := o.Table().Asked()
	switch {
	case !k.apart() || m == Nonstationary: // which has no such lengthscale
		return nil
	case !o.IsFile():
		return fmt.Errorf("lengthscale = %s: a lengthscale for each input is for data of your own, such as "+
			"dataset=csv:PATH; give one number", k.Lengthscale)
	case m == WeightedSum:
		return fmt.Errorf("lengthscale = %s: with method=%s all inputs share kde_bandwidth and max_lengthscale; give one "+
			"number and bring the columns to one scale, or use method=%s or %s", k.Lengthscale, m, Standard, Sparse)
	case len(k.Lengthscale) != len(inputs) && len(k.Lengthscale) < table.Width(inputs):
		return method.CountError("lengthscale", k.Lengthscale.String(), len(k.Lengthscale), inputs)
	}
	return nil
}

// FitInputs gives each column of the inputs its lengthscale ([method.ForInputs]), where there are
// several.
func (k *Kernel) FitInputs(inputs []table.Input, m Method) (err error) {
	if k.apart() && m != Nonstationary {
		k.Lengthscale, err = method.ForInputs("lengthscale", k.Lengthscale, inputs)
	}
	return err
}
