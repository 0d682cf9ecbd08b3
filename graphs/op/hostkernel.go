package op

import (
	"context"
	"math"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/cpublas"
	"privkern/graphs/parallel"
	"privkern/graphs/simd/vector"
)

// HostKernel computes one of gorgonia's operations on operands that it holds, with the
// workers of a pool, into a contiguous tensor of the result's shape and element type. It
// writes every element of out, which may hold anything before.
type HostKernel func(pool *parallel.Pool, out *tensor.Dense) error

// OnHost returns the CPU kernel of one of gorgonia's operations on some operands, or nil
// where the operation or the operands have none: [Do] computes those.
func OnHost(o gorgonia.Op, in ...gorgonia.Value) HostKernel {
	p := parametersOf(o)
	for _, b := range byKind[p.kind] {
		if b.host == nil {
			continue
		}
		// Do comes upon a parameter that cannot be read as well.
		if kernel := b.host(p, in); kernel != nil && p.err == nil {
			return kernel
		}
	}
	return nil
}

// elementPart is the number of elements that one worker takes at a time: operands and results
// stay in a core's cache.
const elementPart = 1 << 13

// elementwise is a function of single elements in both element types. dst and src have the
// same length.
type elementwise struct {
	run64 func(dst, src []float64)
	run32 func(dst, src []float32)
}

// on is the kernel for one operand. A scalar and a tensor that is not contiguous have none.
func (f *elementwise) on(in []gorgonia.Value) HostKernel {
	if len(in) != 1 {
		return nil
	}
	x := contiguous(in[0])
	if x == nil {
		return nil
	}
	switch x.Dtype() {
	case tensor.Float64:
		return overParts(f.run64, x)
	case tensor.Float32:
		return overParts(f.run32, x)
	}
	return nil
}

// contiguous is a value as a tensor whose memory is its elements in order; nil for any other.
func contiguous(v gorgonia.Value) *tensor.Dense {
	x, ok := v.(*tensor.Dense)
	if !ok || x.IsScalar() || x.IsMasked() || !isContiguous(x) {
		return nil
	}
	return x
}

// overParts returns the kernel that calls f for parts of x.
func overParts[T cpublas.Float](f func(dst, src []T), x *tensor.Dense) HostKernel {
	return func(pool *parallel.Pool, out *tensor.Dense) error {
		src, err := elementsOf[T](x)
		if err != nil {
			return err
		}
		dst, err := elementsOf[T](out)
		if err != nil {
			return err
		}
		return pool.For(context.Background(), len(src), elementPart, func(lo, hi int) error {
			f(dst[lo:hi], src[lo:hi])
			return nil
		})
	}
}

// The functions that package vector has.
var (
	exponentials = &elementwise{vector.Exp[float64], vector.Exp[float32]}
	tangents     = &elementwise{vector.Tanh[float64], vector.Tanh[float32]}
	squares      = &elementwise{squared[float64], squared[float32]}
	roots        = &elementwise{rooted[float64], rooted[float32]}
)

// squared is x², as gorgonia has it, in memory that is used again.
func squared[T cpublas.Float](dst, src []T) { vector.Mul(dst, src, src) }

// rooted is √x, rounded once, as gorgonia has it.
func rooted[T cpublas.Float](dst, src []T) {
	for i, v := range src {
		dst[i] = T(math.Sqrt(float64(v)))
	}
}
