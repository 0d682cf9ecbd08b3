package op

import (
	"context"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/cpublas"
	"privkern/graphs/parallel"
	"privkern/graphs/simd/vector"
)

// arithmetics are the functions of the host on matching elements, by operator.
var arithmetics = [...]struct {
	run64 func(to, a, b []float64)
	run32 func(to, a, b []float32)
}{
	addOperator:      {vector.Add[float64], vector.Add[float32]},
	subtractOperator: {vector.Sub[float64], vector.Sub[float32]},
	multiplyOperator: {vector.Mul[float64], vector.Mul[float32]},
}

// arithmeticOnHost returns the host's kernels of sums, differences and products of tensors of
// one shape, and of products with a scalar. gorgonia copies one operand before it overwrites the copy.
func arithmeticOnHost(operator int) func(*parameters, []gorgonia.Value) HostKernel {
	if operator >= len(arithmetics) {
		return nil
	}
	f := arithmetics[operator]
	return func(p *parameters, in []gorgonia.Value) HostKernel {
		if p.code(operatorOfTwo) != operator || len(in) != 2 {
			return nil
		}
		x, y := contiguous(in[0]), contiguous(in[1])
		switch {
		case operator != multiplyOperator:
		case x != nil && in[1].Shape().IsScalar():
			return multiple(x, in[1])
		case y != nil && in[0].Shape().IsScalar():
			return multiple(y, in[0])
		}
		if x == nil || y == nil || x.Dtype() != y.Dtype() || !x.Shape().Eq(y.Shape()) {
			return nil
		}
		switch x.Dtype() {
		case tensor.Float64:
			return combine(f.run64, x, y)
		case tensor.Float32:
			return combine(f.run32, x, y)
		}
		return nil
	}
}

// multiple returns the kernel of the product of a tensor and a scalar; nil for types that it has not.
func multiple(x *tensor.Dense, scalar gorgonia.Value) HostKernel {
	switch s := scalar.Data().(type) {
	case float64:
		if x.Dtype() == tensor.Float64 {
			return scaled(x, s)
		}
	case float32:
		if x.Dtype() == tensor.Float32 {
			return scaled(x, s)
		}
	}
	return nil
}

// scaled returns the kernel that multiplies the elements of x by s.
func scaled[T cpublas.Float](x *tensor.Dense, s T) HostKernel {
	return overParts(func(dst, src []T) {
		for i, v := range src {
			dst[i] = v * s
		}
	}, x)
}

// combine returns the kernel that calls f for parts of x and y.
func combine[T cpublas.Float](f func(to, a, b []T), x, y *tensor.Dense) HostKernel {
	return func(pool *parallel.Pool, out *tensor.Dense) error {
		a, err := elementsOf[T](x)
		if err != nil {
			return err
		}
		b, err := elementsOf[T](y)
		if err != nil {
			return err
		}
		to, err := elementsOf[T](out)
		if err != nil {
			return err
		}
		return pool.For(context.Background(), len(to), elementPart, func(lo, hi int) error {
			f(to[lo:hi], a[lo:hi], b[lo:hi])
			return nil
		})
	}
}

// repetitionOnHost is the host's kernel of repetitions.
func repetitionOnHost(p *parameters, in []gorgonia.Value) HostKernel {
	along := p.integer("along")
	if len(in) == 0 || p.err != nil {
		return nil
	}
	if x := contiguous(in[0]); x == nil && !in[0].Shape().IsScalar() {
		return nil
	}
	inner := 1
	if shape := in[0].Shape(); along < len(shape) {
		inner = sizeOf(shape[along+1:])
	}
	switch in[0].Dtype() {
	case tensor.Float64:
		return repeat[float64](in[0], inner)
	case tensor.Float32:
		return repeat[float32](in[0], inner)
	}
	return nil
}

// repeat returns the kernel that repeats every run of inner elements as often as the result has room
// for.
func repeat[T cpublas.Float](x gorgonia.Value, inner int) HostKernel {
	return func(pool *parallel.Pool, out *tensor.Dense) error {
		from, err := elementsOf[T](x)
		if err != nil {
			return err
		}
		to, err := elementsOf[T](out)
		if err != nil {
			return err
		}
		runs := len(from) / inner
		all := len(to) / runs // elements of all repetitions of a run
		return pool.For(context.Background(), runs, max(1, elementPart/all), func(lo, hi int) error {
			for r := lo; r < hi; r++ {
				part := to[r*all : (r+1)*all]
				for done := copy(part, from[r*inner:(r+1)*inner]); done < len(part); {
					done += copy(part[done:], part[:done])
				}
			}
			return nil
		})
	}
}
