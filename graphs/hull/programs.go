package hull

import (
	"fmt"
	"maps"
	"slices"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
	"privkern/graphs/kernel"
)

// The programs below compute a batch of m members at once. n is the size class of the members'
// samples; padding contributes nothing.

// covarianceProgram computes "covariance", N−1 times the covariance YᵀY of each of the centred
// samples "y" (m×n×p) or, for p > n, the smaller Gram matrix YYᵀ; its "trace" (m); and "squares",
// the sums of squares of its rows (m×k×1).
//
// From about eleven steps of the eigenpairs on, forming the matrix and multiplying by it costs less
// than multiplying by Y and Yᵀ in turn, and the full decomposition needs it as well.
func covarianceProgram(m, n, p int) engine.Program {
	return engine.Program{Name: "covariance", Key: fmt.Sprintf("covariance %d %d %d", m, n, p),
		Build: func(b *engine.Builder) {
			y := b.Tensor("y", m, n, p)
			var s *gorgonia.Node
			if p > n {
				s = b.RowGram(1, y) // n×n
			} else {
				s = b.ColumnGram(1, y) // YᵀY, p×p
			}
			b.Output("covariance", s)
			b.Output("trace", b.Trace(s))
			b.Output("squares", b.ColumnNorms(s)) // it is symmetric
		}}
}

// leadingProgram computes "eigen", the k leading eigenpairs of each "covariance" (m×n×n) in a
// number of steps, in the layout of op.LeadingEigen.
func leadingProgram(m, n, k, steps int) engine.Program {
	return engine.Program{Name: "leading principal directions", Key: fmt.Sprintf("leading %d %d %d %d", m, n, k, steps),
		Build: func(b *engine.Builder) {
			b.Output("eigen", b.LeadingEigen(k, steps, b.Tensor("covariance", m, n, n)))
		}}
}

// principalProgram computes "eigen", the k largest eigenpairs of each "covariance" (m×n×n), in the
// layout of op.LargestEigen.
func principalProgram(m, n, k int) engine.Program {
	return engine.Program{Name: "principal directions", Key: fmt.Sprintf("principal %d %d %d", m, n, k),
		Build: func(b *engine.Builder) {
			b.Output("eigen", b.LargestEigen(k, b.Tensor("covariance", m, n, n)))
		}}
}

// gramProgram computes "gram", YYᵀ (m×n×n) of "y" (m×n×p), for all layers of a machine in N²p
// operations.
func gramProgram(m, n, p int) engine.Program {
	return engine.Program{Name: "Gram matrix", Key: fmt.Sprintf("gram %d %d %d", m, n, p),
		Build: func(b *engine.Builder) { b.Output("gram", b.RowGram(1, b.Tensor("y", m, n, p))) }}
}

// kernelProgram computes "k", the kernel matrix (Eqs. 35 and 39) of each of the scaled encodings "x"
// (m×n×d), of which "count" (m) are samples. Its padding is an identity.
//
// The exponent of Eq. (35) is −1/(2n) (x−x′)ᵀθ⁻¹(x−x′); with x_j/√(nθ_j) for x_j it is that of
// the RBF kernel with γ = ½.
func kernelProgram(m, n, d int) engine.Program {
	return engine.Program{Name: "kernel of encodings", Key: fmt.Sprintf("encodings %d %d %d", m, n, d),
		Build: func(b *engine.Builder) {
			k := kernel.RBF(0.5).Symmetric(b, b.Tensor("x", m, n, d))
			b.Output("k", b.Leading(1, k, b.Tensor("count", m)))
		}}
}

// ridgeProgram computes the "solutions" B = (K+λI)⁻¹T of "targets" T = [Y−μ, 1]
// (m×n×(p+1)) for the kernel matrices "k" and "lambda" (m), and with the
// "mean" μ (m×1×p) the "norm" ‖(K+λI)⁻¹Y‖²_F (m), from which R (Eq. 42) follows:
// Y − K(K+λI)⁻¹Y = λ(K+λI)⁻¹Y.
func ridgeProgram(m, n, p int) engine.Program {
	return engine.Program{Name: "regularised least squares", Key: fmt.Sprintf("ridge %d %d %d", m, n, p),
		Build: func(b *engine.Builder) {
			solutions := b.RidgeSolve(b.Tensor("k", m, n, n), b.Tensor("lambda", m), b.Tensor("targets", m, n, p+1))
			b.Output("solutions", solutions) // m×n×(p+1)
			b.Output("norm", b.RidgeNorm(solutions, b.Tensor("mean", m, 1, p)))
		}}
}

// gramNormProgram computes the "norm" ‖(K+λI)⁻¹Y‖²_F (m) from "k", "lambda" and the "gram" matrices
// YYᵀ, without the solutions of p columns.
func gramNormProgram(m, n int) engine.Program {
	return engine.Program{Name: "norm of the regularised solution", Key: fmt.Sprintf("gram norm %d %d", m, n),
		Build: func(b *engine.Builder) {
			b.Output("norm", b.RidgeGramNorm(b.Tensor("k", m, n, n), b.Tensor("lambda", m), b.Tensor("gram", m, n, n)))
		}}
}

// pickProgram copies the members with the indices "at" (count) from batches of the given shapes, by
// name.
func pickProgram(count int, shapes map[string]tensor.Shape) engine.Program {
	names := slices.Sorted(maps.Keys(shapes))
	key := fmt.Sprintf("members %d", count)
	for _, name := range names {
		key += fmt.Sprintf(" %s %v", name, shapes[name])
	}
	return engine.Program{Name: "members of a batch", Key: key, Build: func(b *engine.Builder) {
		at := b.Tensor("at", count)
		for _, name := range names {
			b.Output(name, b.Members(b.Tensor(name, shapes[name]...), at))
		}
	}}
}

// part returns the name of input i of joinProgram.
func part(i int) string { return fmt.Sprintf("part %d", i) }

// joinProgram concatenates batches of the given shapes, which differ only in the number of
// members, to "all".
func joinProgram(shapes []tensor.Shape) engine.Program {
	return engine.Program{Name: "batches in one", Key: fmt.Sprintf("join %v", shapes), Build: func(b *engine.Builder) {
		parts := make([]*gorgonia.Node, len(shapes))
		for i, shape := range shapes {
			parts[i] = b.Tensor(part(i), shape...)
		}
		b.Output("all", b.Concat(0, parts...))
	}}
}

// machineProgram evaluates the layers [first, last) of a nest (Eq. 51), counted from 0, at
// "queries" (q×(s+c)). A query has s principal scores, those of its image under layer first−1 if
// first > 0, and c coordinates of the point itself, in which distances are measured. Layer l has
// the inputs "points l" (n×d), "weights l" (1×d) and "solutions l" (n×(s+c+1)) with d = s−l.
// Outputs are "distance l" (q×1) unless c is zero, and "image l" (q×(s+c)) if images is set.
func machineProgram(q, n, s, c, first, last int, images bool) engine.Program {
	return engine.Program{Name: "kernel affine hull machine",
		Key: fmt.Sprintf("machine %d %d %d %d %d %d %v", q, n, s, c, first, last, images),
		Build: func(b *engine.Builder) {
			queries := b.Input("queries", q, s+c)
			z := queries
			for l := first; l < last; l++ {
				layer := func(name string) string { return fmt.Sprintf("%s %d", name, l) }
				d := s - l // directions of layer l
				points, weights := b.Input(layer("points"), n, d), b.Input(layer("weights"), 1, d)
				// Eq. 51: a layer maps the image of the layer before.
				z = b.AffineHull(z, points, weights, b.Input(layer("solutions"), n, s+c+1))
				if c > 0 {
					b.Output(layer("distance"), b.RowDistance(s, queries, z)) // ‖y − ŷ‖
				}
				if images {
					b.Output(layer("image"), z)
				}
			}
		}}
}
