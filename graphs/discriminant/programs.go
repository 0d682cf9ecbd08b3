package discriminant

import (
	"fmt"

	"gorgonia.org/gorgonia"

	"privkern/graphs/engine"
	"privkern/graphs/kernel"
)

// solveProgram computes from the samples "x" (n×d), the basis "u" (n×m) and
// "rho" what KDCA needs of a kernel: X_1 … X_J side by side ("solutions",
// n×Jm), K̄X_j likewise ("images"), UᵀK̄X_j likewise ("small", m×Jm), the
// "means" of the rows of the kernel matrix (n×1), the "trace" of the centred one
// and the reciprocal of the condition number ("rcond"). At no time are there
// more than two n×n matrices.
//
// The images take no product: with X_0 = U, K̄X_j = X_(j−1) − ρX_j. What rounding leaves of the
// difference is of the size of U, so that an image of norm κ/(κ+ρ) has a relative error of
// ρ/κ units of roundoff more than its product would have.
//
// Operations are N²d for the kernel matrix, N³/3 for the factor, and 2N²Jm for the solves, with
// J = 5 and m = L−1 as a rule: the factor decides. The generalised eigenproblem of order N takes
// about 14N³.
func solveProgram(k kernel.Kernel, n, d, m, solves int) engine.Program {
	return engine.Program{Name: "discriminant components of kernel " + k.String(),
		Key: fmt.Sprintf("kdca %v %d %d %d %d", k, n, d, m, solves),
		Build: func(b *engine.Builder) {
			x, u := b.Input("x", n, d), b.Input("u", n, m)
			matrix := k.Symmetric(b, x)
			means := b.RowMeans(matrix)
			centred := b.CentreSymmetric(matrix, means) // K̄ = CKC, C = I − 11ᵀ/n
			trace := b.Trace(centred)
			rho := b.Scalar("rho")
			l := b.CholeskyShifted(centred, rho) // LLᵀ = K̄ + ρI
			rcond := b.ReciprocalCondition(centred, l)

			// X_j = (K̄ + ρI)⁻ʲU: each power from the one before.
			powers := make(gorgonia.Nodes, solves+1)
			powers[0] = u
			for j := range solves {
				powers[j+1] = b.CholeskySolve(l, powers[j])
			}
			solutions := b.Concat(1, powers[1:]...) // [X_1 … X_J], n×Jm
			// K̄X_j, n×Jm
			images := b.Sub(b.Concat(1, powers[:solves]...), b.ScaledBy(solutions, rho))
			small := b.Mul(b.Transpose(u), images) // UᵀK̄X_j, m×Jm

			b.Output("means", means)
			b.Output("trace", trace)
			b.Output("rcond", rcond)
			b.Output("solutions", solutions)
			b.Output("images", images)
			b.Output("small", small)
		}}
}

// projectProgram computes the "product" (t×q) of the kernel matrix between the samples
// "y" (t×d) and "x" (n×d) with the coefficients "a" (n×q). Its t×n matrix is the only
// large one: callers take a few hundred samples at a time.
func projectProgram(k kernel.Kernel, t, n, d, q int) engine.Program {
	return engine.Program{Name: "projection by kernel " + k.String(),
		Key: fmt.Sprintf("kdca projection %v %d %d %d %d", k, t, n, d, q),
		Build: func(b *engine.Builder) {
			matrix := k.Cross(b, b.Input("y", t, d), b.Input("x", n, d)) // t×n
			b.Output("product", b.Mul(matrix, b.Input("a", n, q)))
		}}
}

// productsProgram computes the "gram" matrix ZᵀZ (r×r) of features "z" (n×r) and
// their "sums" over indicators "e" (n×c), eᵀz (c×r).
// r is the rank of all kernels together, at most the sum of their Q.
func productsProgram(n, r, c int) engine.Program {
	return engine.Program{Name: "inner products of compressive kernels",
		Key: fmt.Sprintf("multikernel products %d %d %d", n, r, c),
		Build: func(b *engine.Builder) {
			z, e := b.Input("z", n, r), b.Input("e", n, c)
			gram := b.ColumnGram(1, z)
			sums := b.Mul(b.Transpose(e), z)
			b.Output("gram", gram)
			b.Output("sums", sums)
		}}
}
