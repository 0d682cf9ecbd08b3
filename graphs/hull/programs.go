package hull

import (
	"fmt"

	"gorgonia.org/gorgonia"

	"privkern/graphs/engine"
	"privkern/graphs/kernel"
)

// covarianceProgram computes "covariance", that of the centred samples "y" (n×p), its
// "trace" and "square", the sum of the squares of its elements. With p > n it is the Gram
// matrix of the samples, YYᵀ/(n−1), the smaller of the two.
//
// To form it and multiply by it costs less than to multiply by Y and Yᵀ in turn from about
// eleven steps of the eigenpairs on, and what they do not resolve needs it anyway.
func covarianceProgram(n, p int) engine.Program {
	return engine.Program{Name: "covariance", Key: fmt.Sprintf("covariance %d %d", n, p),
		Build: func(b *engine.Builder) {
			y := b.Input("y", n, p)
			scale := 1 / float64(n-1)
			var s *gorgonia.Node
			if p > n {
				s = b.RowGram(scale, y) // n×n
			} else {
				s = b.ColumnGram(scale, y) // YᵀY/(n−1), p×p
			}
			b.Output("covariance", s)
			b.Output("trace", b.Trace(s))
			b.Output("square", b.Sum(b.Square(s)))
		}}
}

// leadingProgram computes "eigen", the k leading eigenpairs of the "covariance" (n×n) in
// some steps, as op.LeadingEigen lays them out.
func leadingProgram(n, k, steps int) engine.Program {
	return engine.Program{Name: "leading principal directions", Key: fmt.Sprintf("leading %d %d %d", n, k, steps),
		Build: func(b *engine.Builder) {
			b.Output("eigen", b.LeadingEigen(k, steps, b.Input("covariance", n, n)))
		}}
}

// principalProgram computes "eigen", the k largest eigenpairs of the "covariance" (n×n), as
// op.LargestEigen lays them out.
func principalProgram(n, k int) engine.Program {
	return engine.Program{Name: "principal directions", Key: fmt.Sprintf("principal %d %d", n, k),
		Build: func(b *engine.Builder) {
			b.Output("eigen", b.LargestEigen(k, b.Input("covariance", n, n)))
		}}
}

// gramProgram computes "gram", YYᵀ (n×n) of "y" (n×p). N²p operations, once a machine;
// all layers use it.
func gramProgram(n, p int) engine.Program {
	return engine.Program{Name: "Gram matrix", Key: fmt.Sprintf("gram %d %d", n, p),
		Build: func(b *engine.Builder) { b.Output("gram", b.RowGram(1, b.Input("y", n, p))) }}
}

// kernelProgram computes "k", the kernel matrix (Eqs. 35 and 39) of encodings
// "x" (n×d) that are scaled so that θ and n are in them.
// Eq. (35) has −1/(2n) (x−x′)ᵀθ⁻¹(x−x′); with x_j/√(nθ_j) for x_j it is the RBF kernel
// of γ = ½.
func kernelProgram(n, d int) engine.Program { return kernel.SymmetricProgram(kernel.RBF(0.5), n, d) }

// ridgeProgram computes the "solutions" B = (K+λI)⁻¹T of "targets" T = [Y−μ, 1]
// (n×(p+1)) for the kernel matrix "k" and the scalar "lambda", and with the
// "mean" μ (1×p) the "norm" ‖(K+λI)⁻¹Y‖²_F, from which R (Eq. 42) follows:
// Y − K(K+λI)⁻¹Y = λ(K+λI)⁻¹Y.
func ridgeProgram(n, p int) engine.Program {
	return engine.Program{Name: "regularised least squares", Key: fmt.Sprintf("ridge %d %d", n, p),
		Build: func(b *engine.Builder) {
			solutions := b.RidgeSolve(b.Input("k", n, n), b.Scalar("lambda"), b.Input("targets", n, p+1)) // n×(p+1)
			norm := b.RidgeNorm(solutions, b.Input("mean", 1, p))                                         // scalar
			b.Output("solutions", solutions)
			b.Output("norm", norm)
		}}
}

// gramNormProgram computes the "norm" ‖(K+λI)⁻¹Y‖²_F from "k", "lambda" and the
// "gram" matrix YYᵀ.
// It has the norm only: while λ changes, no solution of p columns is computed.
func gramNormProgram(n int) engine.Program {
	return engine.Program{Name: "norm of the regularised solution", Key: fmt.Sprintf("gram norm %d", n),
		Build: func(b *engine.Builder) {
			b.Output("norm", b.RidgeGramNorm(b.Input("k", n, n), b.Scalar("lambda"), b.Input("gram", n, n)))
		}}
}

// machineProgram evaluates the layers from first (counted from 0) to before last
// of a nest (Eq. 51) at "queries" (q×(s+c)): s principal scores, which are those
// of the points for the first layer, of their images under the layer before for
// a later one, and c coordinates of the points themselves, in which distances
// are measured. Layer l has the inputs "points l" (n×d), "weights l" (1×d) and
// "solutions l" (n×(s+c+1)) with d = s−l. Outputs are "distance l" (q×1) unless
// c is zero, and with images set "image l" (q×(s+c)).
func machineProgram(q, n, s, c, first, last int, images bool) engine.Program {
	return engine.Program{Name: "kernel affine hull machine",
		Key: fmt.Sprintf("machine %d %d %d %d %d %d %v", q, n, s, c, first, last, images),
		Build: func(b *engine.Builder) {
			queries := b.Input("queries", q, s+c)
			z := queries
			for l := first; l < last; l++ {
				layer := func(name string) string { return fmt.Sprintf("%s %d", name, l) }
				d := s - l // each layer encodes in one dimension less
				points, weights := b.Input(layer("points"), n, d), b.Input(layer("weights"), 1, d)
				// Eq. 51: the image of the layer before is what this one is asked for.
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
