package multikernel

import (
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
	"privkern/graphs/kernel"
	"privkern/graphs/op"
)

func scalar(dtype tensor.Dtype, v float64) gorgonia.Value {
	if dtype == tensor.Float32 {
		return gorgonia.NewF32(float32(v))
	}
	return gorgonia.NewF64(v)
}

// solveProgram computes from the samples "x" (n×d), the basis "u" (n×m) and
// "rho" what KDCA needs of a kernel: X_1 … X_J side by side ("solutions",
// n×Jm), K̄X_j likewise ("images"), UᵀK̄X_j likewise ("small", m×Jm), the
// "means" of the rows of the kernel matrix (n×1), the "trace" of the centred one
// and the reciprocal of the condition number ("rcond"). At no time are there
// more than two n×n matrices.
func solveProgram(k kernel.Kernel, n, d, m, solves int) engine.Program {
	return engine.Program{Name: "discriminant components of kernel " + k.String(),
		Key: fmt.Sprintf("kdca %v %d %d %d %d", k, n, d, m, solves),
		Build: func(b *engine.Builder) error {
			x, u := b.Input("x", n, d), b.Input("u", n, m)
			matrix, err := k.Symmetric(x)
			if err != nil {
				return err
			}
			means, err := op.RowMeans().Apply(matrix)
			if err != nil {
				return err
			}
			centred, err := op.CentreSymmetric().Apply(matrix, means)
			if err != nil {
				return err
			}
			trace, err := op.Trace().Apply(centred)
			if err != nil {
				return err
			}
			l, err := op.CholeskyShifted().Apply(centred, b.Scalar("rho"))
			if err != nil {
				return err
			}
			rcond, err := op.ReciprocalCondition().Apply(centred, l)
			if err != nil {
				return err
			}
			powers := make(gorgonia.Nodes, solves)
			last := u
			for j := range powers {
				if powers[j], err = op.CholeskySolve().Apply(l, last); err != nil {
					return err
				}
				last = powers[j]
			}
			solutions, err := gorgonia.Concat(1, powers...)
			if err != nil {
				return err
			}
			images, err := gorgonia.Mul(centred, solutions)
			if err != nil {
				return err
			}
			uT, err := gorgonia.Transpose(u)
			if err != nil {
				return err
			}
			small, err := gorgonia.Mul(uT, images)
			b.Output("means", means)
			b.Output("trace", trace)
			b.Output("rcond", rcond)
			b.Output("solutions", solutions)
			b.Output("images", images)
			b.Output("small", small)
			return err
		}}
}

// projectProgram computes the "product" (t×q) of the kernel matrix between the
// samples "y" (t×d) and "x" (n×d) with the coefficients "a" (n×q).
func projectProgram(k kernel.Kernel, t, n, d, q int) engine.Program {
	return engine.Program{Name: "projection by kernel " + k.String(),
		Key: fmt.Sprintf("kdca projection %v %d %d %d %d", k, t, n, d, q),
		Build: func(b *engine.Builder) error {
			matrix, err := k.Cross(b.Input("y", t, d), b.Input("x", n, d))
			if err != nil {
				return err
			}
			product, err := gorgonia.Mul(matrix, b.Input("a", n, q))
			b.Output("product", product)
			return err
		}}
}

// productsProgram computes the "gram" matrix ZᵀZ (r×r) of features "z" (n×r) and
// their "sums" over indicators "e" (n×c), eᵀz.
func productsProgram(n, r, c int) engine.Program {
	return engine.Program{Name: "inner products of compressive kernels", Key: fmt.Sprintf("multikernel products %d %d %d", n, r, c),
		Build: func(b *engine.Builder) error {
			z, e := b.Input("z", n, r), b.Input("e", n, c)
			gram, err := op.Scatter(1, false).Apply(z)
			if err != nil {
				return err
			}
			eT, err := gorgonia.Transpose(e)
			if err != nil {
				return err
			}
			sums, err := gorgonia.Mul(eT, z)
			b.Output("gram", gram)
			b.Output("sums", sums)
			return err
		}}
}
