package cloak

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/mat"

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
// a file is read: its columns are as many inputs or more.
func (k *Kernel) CheckOwn(o *OwnData, m Method) error {
	switch {
	case !k.apart() || m == Nonstationary: // which has no such lengthscale
		return nil
	case !o.IsFile():
		return fmt.Errorf("lengthscale = %s: a lengthscale for each input is for data of your own, such as "+
			"dataset=csv:PATH; give one number", k.Lengthscale)
	case m == WeightedSum:
		return fmt.Errorf("lengthscale = %s: with method=%s all inputs share kde_bandwidth and max_lengthscale; give one "+
			"number and bring the columns to one scale, or use method=%s or %s", k.Lengthscale, m, Standard, Sparse)
	case len(k.Lengthscale) < o.Table().Width():
		return k.countError(o.Table().Width(), nil)
	}
	return nil
}

// CheckInputs refuses lengthscales that are neither one nor as many as the inputs with these
// names, of which a category with k levels is k.
func (k *Kernel) CheckInputs(names []string, m Method) error {
	if !k.apart() || len(k.Lengthscale) == len(names) || m == Nonstationary {
		return nil
	}
	return k.countError(len(names), names)
}

// mostNamed is how many inputs a message names one by one.
const mostNamed = 12

func (k *Kernel) countError(inputs int, names []string) error {
	noun, list := "inputs", ""
	if inputs == 1 {
		noun = "input"
	}
	if n := len(names); n > 0 && n <= mostNamed {
		list = " (" + strings.Join(names, ", ") + ")"
	}
	return fmt.Errorf("lengthscale = %s: these are %d numbers for %d %s%s; give one for all, or one for each",
		k.Lengthscale, len(k.Lengthscale), inputs, noun, list)
}
