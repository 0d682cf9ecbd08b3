package cloak

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset/table"
	"privkern/experiments/method"
	"privkern/graphs/kernel"
)

// EQ is the kernel of inputs that are as [Kernel.Scaled] returns them.
func (k *Kernel) EQ() kernel.Kernel {
	lengthscale := 1.0
	if !k.apart() {
		lengthscale = k.Lengthscale.Numbers[0]
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
		for j, l := range k.Lengthscale.Numbers {
			if row[j] /= l; math.IsInf(row[j], 0) {
				return nil, fmt.Errorf("lengthscale = %s: input %d of %d has the value %g, which over its lengthscale %g is "+
					"beyond floating point; lengthscales are in the units of the inputs", k.Lengthscale, j+1, len(row), x.At(i, j), l)
			}
		}
	}
	return out, nil
}

// apart is whether each input has a lengthscale of its own.
func (k *Kernel) apart() bool { return len(k.Lengthscale.Numbers) > 1 }

// CheckOwn refuses lengthscales that do not fit data and method, as far as that is known before
// a file is read: a category may have more levels then.
func (k *Kernel) CheckOwn(o *OwnData, m Method) error {
	inputs, numbers := o.Table().Asked(), k.Lengthscale.Numbers
	switch {
	case !k.apart() && !k.Lengthscale.IsWord || m == Nonstationary: // which has no such lengthscale
		return nil
	case !o.IsFile() && k.Lengthscale.IsWord:
		return errors.New("lengthscale = auto: it is for data of your own, such as dataset=csv:PATH; give one number")
	case !o.IsFile():
		return fmt.Errorf("lengthscale = %s: a lengthscale for each input is for data of your own, such as "+
			"dataset=csv:PATH; give one number", k.Lengthscale)
	case m == WeightedSum:
		return fmt.Errorf("lengthscale = %s: with method=%s all inputs share kde_bandwidth and max_lengthscale; give one "+
			"number and bring the columns to one scale, or use method=%s or %s", k.Lengthscale, m, Standard, Sparse)
	case k.apart() && len(numbers) != len(inputs) && len(numbers) < table.Width(inputs):
		return method.CountError("lengthscale", k.Lengthscale.String(), len(numbers), inputs)
	}
	return nil
}

// CompleteOwn has the lengthscales of a file follow from its inputs where none are given, for methods that may have one
// for each.
func (k *Kernel) CompleteOwn(o *OwnData, m Method, given func(field any) bool) {
	if o.IsFile() && !m.ByDensity() && !given(&k.Lengthscale) {
		k.Lengthscale = method.Automatic()
	}
}

// FitInputs gives each column of the inputs of a file its lengthscale ([method.ForInputs]), where
// there are several. Those of the rule are a share of the range of each input over all rows
// ([Method.share]), which is public as the inputs are: they are the same in every fold, and for
// every draw of rows. The note, empty for given lengthscales, has them.
func (k *Kernel) FitInputs(data *table.Data, m Method) (note string, err error) {
	if m == Nonstationary {
		return "", nil
	}
	numbers := k.Lengthscale.Numbers
	if k.Lengthscale.IsWord {
		low, high := ends(data)
		numbers, err = method.ByRange(m.share(len(data.Asked)), data.Asked, low, high, "rows")
		if err != nil {
			return "", err
		}
		note = fmt.Sprintf("lengthscale = auto is %s here: it follows from the public ranges of the inputs", numbers)
	}
	if len(numbers) > 1 {
		if numbers, err = method.ForInputs("lengthscale", numbers, data.Asked); err != nil {
			return "", err
		}
	}
	k.Lengthscale = method.LengthscalesOf(numbers...)
	return note, nil
}

// ends returns the range of each column of the inputs over all rows, of length one where all rows have one value,
// because its lengthscale has no effect; NaN for levels.
func ends(data *table.Data) (low, high []float64) {
	low, high = slices.Clone(data.Extremes.RawRowView(0)), slices.Clone(data.Extremes.RawRowView(1))
	for j := range low {
		if low[j] == high[j] {
			high[j]++
		}
	}
	return low, high
}

// share is the fraction of the ranges of d inputs that is a lengthscale. A few inducing inputs bound
// the noise for any lengthscale. Without them it grows with the number of lengthscales that the
// ranges hold, in all inputs together, and a function that hardly bends has the least error:
// d√d/3 was found on the data of docs/cloaking.md, "Defaults on your own data".
func (m Method) share(inputs int) float64 {
	if m == Sparse {
		return method.Share(inputs)
	}
	d := float64(inputs)
	return d * math.Sqrt(d) / 3
}
