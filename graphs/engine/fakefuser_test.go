package engine

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/kernels"
)

// fakeFuser is a fakeDevice that computes chains, from their description and not by gorgonia's
// operations.
type fakeFuser struct {
	*fakeDevice
	ready  func() (bool, error)
	chains []*kernels.Chain
	limit  int  // of arguments
	most   int  // arguments of a chain
	fail   bool // launches of chains do
	fused  int  // chains that were launched
}

func newFuser(t *testing.T) *fakeFuser {
	return &fakeFuser{fakeDevice: newFake(t), limit: kernels.MaxWords, ready: func() (bool, error) { return true, nil }}
}

func (f *fakeFuser) FusedWords() int { return f.limit }

func (f *fakeFuser) Fuse(c *kernels.Chain, dtype tensor.Dtype) (Fused, error) {
	if dtype != tensor.Float64 {
		f.t.Errorf("a chain on %v", dtype)
	}
	if len(c.Steps) < 2 {
		f.t.Errorf("a chain of %d steps", len(c.Steps))
	}
	words := len(c.Words())
	if f.most = max(f.most, words); words > f.limit {
		f.t.Errorf("a chain of %d arguments, at most %d", words, f.limit)
	}
	f.chains = append(f.chains, c)
	return fakeFused{f, c}, nil
}

type fakeFused struct {
	f *fakeFuser
	c *kernels.Chain
}

func (k fakeFused) String() string       { return fmt.Sprintf("a chain of %d", len(k.c.Steps)) }
func (k fakeFused) Ready() (bool, error) { return k.f.ready() }

func (k fakeFused) Launch(out, in []DTensor) error {
	if k.f.fail {
		return errors.New("launch failure")
	}
	k.f.fused++
	if len(in) != k.c.Inputs || len(out) != len(k.c.Out) {
		k.f.t.Errorf("%d inputs and %d outputs for a chain with %d and %d", len(in), len(out), k.c.Inputs, len(k.c.Out))
	}
	k.f.enqueue(func() error {
		inputs := make([][]float64, len(in))
		for i, t := range in {
			v, err := k.f.read(t)
			if err != nil {
				return err
			}
			inputs[i] = numbersOf(v)
		}
		steps := compute(k.c, inputs)
		for i, t := range out {
			if err := k.f.write(t, valueOf(t, steps[k.c.Out[i]])); err != nil {
				return err
			}
		}
		return nil
	})
	return nil
}

// numbersOf are the elements of a value, truth values as 1 and 0.
func numbersOf(v gorgonia.Value) []float64 {
	switch data := Data(v).(type) {
	case float64:
		return []float64{data}
	case []float64:
		return slices.Clone(data)
	case []bool:
		all := make([]float64, len(data))
		for i, b := range data {
			all[i] = number(b)
		}
		return all
	}
	panic(fmt.Sprintf("a %T", v))
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func valueOf(t DTensor, data []float64) gorgonia.Value {
	switch {
	case t.DType == tensor.Bool:
		truth := make([]bool, len(data))
		for i, v := range data {
			truth[i] = v != 0
		}
		return TensorOf(truth, t.Shape...)
	case t.Shape.IsScalar():
		return gorgonia.NewF64(data[0])
	}
	return TensorOf(data, t.Shape...)
}

// compute applies a chain's functions at each place.
func compute(c *kernels.Chain, in [][]float64) [][]float64 {
	steps := make([][]float64, len(c.Steps))
	for k, s := range c.Steps {
		steps[k] = make([]float64, c.N)
		for i := range c.N {
			x := make([]float64, len(s.Operands))
			for j, o := range s.Operands {
				if s.From[j] >= 0 {
					x[j] = steps[s.From[j]][i]
					continue
				}
				at := i
				switch o.Index {
				case kernels.TheFirst:
					at = 0
				case kernels.TheRepeated:
					at = i/o.Inner/o.By*o.Inner + i%o.Inner
				}
				x[j] = in[-1-s.From[j]][at]
			}
			steps[k][i] = apply(s.Element, x)
		}
	}
	return steps
}

func apply(e kernels.Element, x []float64) float64 {
	switch e.Function {
	case "add":
		return x[0] + x[1]
	case "subtract":
		return x[0] - x[1]
	case "multiply":
		return x[0] * x[1]
	case "divide", "quotient":
		return x[0] / x[1]
	case "negate":
		return -x[0]
	case "square":
		return x[0] * x[0]
	case "reciprocal":
		return 1 / x[0]
	case "square_root":
		return math.Sqrt(x[0])
	case "repeat":
		return x[0]
	case "fill":
		return e.Numbers[0]
	case "compare", "compare_truth":
		return number([]bool{x[0] < x[1], x[0] > x[1], x[0] <= x[1], x[0] >= x[1], x[0] == x[1], x[0] != x[1]}[e.Codes[0]])
	}
	panic("no function " + e.Function)
}
