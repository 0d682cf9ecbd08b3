package discriminant

import (
	"fmt"

	"gorgonia.org/gorgonia"

	"privkern/graphs/engine"
	"privkern/graphs/kernel"
)

// solveProgram computes, from the samples "x" (n×d), the basis "u" (n×m) and "rho", the matrices
// of KDCA: "solutions", [X_1 … X_J] (n×Jm); "images", [K̄X_1 … K̄X_J] (n×Jm); "small", [UᵀK̄X_1 …
// UᵀK̄X_J] (m×Jm); the "means" of the rows of the kernel matrix (n×1); the "trace" of the centred
// one; the reciprocal of the condition number, "rcond"; and the "factor" L (n×n) for
// furtherProgram. At most two n×n matrices exist at a time.
//
// With X_0 = U, the images are K̄X_j = X_(j−1) − ρX_j, without a product. The rounding error of
// the difference is of the size of U, so that for an image of norm κ/(κ+ρ) the relative error
// exceeds that of the product by ρ/κ units of roundoff.
//
// The kernel matrix takes n²d operations, the factor n³/3, and the solves 2n²Jm with J = 5 and
// m = L−1 as a rule, so that the factor dominates. The generalised eigenproblem of order n would
// take about 14n³.
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

			b.Output("means", means)
			b.Output("trace", trace)
			b.Output("rcond", rcond)
			b.Output("factor", l)
			outputSolutions(b, l, u, rho, nil, u, solves)
		}}
}

// furtherProgram computes the "solutions", "images" and "small" of solveProgram for a larger number of solves, from the
// "factor", and "have", those X_j that are known (n×Jm), of which the "last" (n×m) is given once more.
func furtherProgram(n, m, have, solves int) engine.Program {
	return engine.Program{Name: "further discriminant components",
		Key: fmt.Sprintf("kdca further %d %d %d %d", n, m, have, solves),
		Build: func(b *engine.Builder) {
			l, u, rho := b.Input("factor", n, n), b.Input("u", n, m), b.Scalar("rho")
			known, last := b.Input("have", n, have*m), b.Input("last", n, m)
			outputSolutions(b, l, u, rho, gorgonia.Nodes{known}, last, solves-have)
		}}
}

// outputSolutions goes on from the last of those X_j that are known, by more solves.
func outputSolutions(b *engine.Builder, l, u, rho *gorgonia.Node, known gorgonia.Nodes, last *gorgonia.Node,
	solves int) {
	// X_j = (K̄ + ρI)⁻¹X_(j−1), n×m.
	powers := append(gorgonia.Nodes{u}, known...)
	for range solves {
		last = b.CholeskySolve(l, last)
		powers = append(powers, last)
	}
	solutions := b.Concat(1, powers[1:]...) // [X_1 … X_J], n×Jm
	// K̄X_j, n×Jm
	images := b.Sub(b.Concat(1, powers[:len(powers)-1]...), b.ScaledBy(solutions, rho))
	b.Output("solutions", solutions)
	b.Output("images", images)
	b.Output("small", b.Mul(b.Transpose(u), images)) // UᵀK̄X_j, m×Jm
}

// projectProgram computes the "product" (t×q) of the kernel matrix between the samples "y" (t×d)
// and "x" (n×d) with the coefficients "a" (n×q). Callers bound t, because the kernel matrix is
// t×n.
func projectProgram(k kernel.Kernel, t, n, d, q int) engine.Program {
	return engine.Program{Name: "projection by kernel " + k.String(),
		Key: fmt.Sprintf("kdca projection %v %d %d %d %d", k, t, n, d, q),
		Build: func(b *engine.Builder) {
			matrix := k.Cross(b, b.Input("y", t, d), b.Input("x", n, d)) // t×n
			b.Output("product", b.Mul(matrix, b.Input("a", n, q)))
		}}
}

// productsProgram computes the "gram" matrix ZᵀZ (r×r) of features "z" (n×r), and their "sums"
// EᵀZ (c×r) over the indicators "e" (n×c). r is the sum of the kernels' Q.
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
