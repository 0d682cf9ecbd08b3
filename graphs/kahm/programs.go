package kahm

import (
	"fmt"

	"privkern/graphs/engine"
	"privkern/graphs/kernel"
	"privkern/graphs/op"
)

// principalProgram computes "eigen", the k principal variances and directions
// of the centred samples "y" (n×p), as op.LargestEigen lays them out. With
// p > n the directions are those of the Gram matrix, in the space of samples.
func principalProgram(n, p, k int) engine.Program {
	return engine.Program{Name: "principal directions", Key: fmt.Sprintf("principal %d %d %d", n, p, k),
		Build: func(b *engine.Builder) error {
			s, err := op.Scatter(1/float64(n-1), p > n).Apply(b.Input("y", n, p))
			if err != nil {
				return err
			}
			eigen, err := op.LargestEigen(k).Apply(s)
			b.Output("eigen", eigen)
			return err
		}}
}

// gramProgram computes "gram", YYᵀ of "y" (n×p).
func gramProgram(n, p int) engine.Program {
	return engine.Program{Name: "Gram matrix", Key: fmt.Sprintf("gram %d %d", n, p),
		Build: func(b *engine.Builder) error {
			g, err := op.Scatter(1, true).Apply(b.Input("y", n, p))
			b.Output("gram", g)
			return err
		}}
}

// kernelProgram computes "k", the kernel matrix (Eqs. 35 and 39) of encodings
// "x" (n×d) that are scaled so that θ and n are in them.
func kernelProgram(n, d int) engine.Program { return kernel.SymmetricProgram(kernel.RBF(0.5), n, d) }

// ridgeProgram computes the "solutions" B = (K+λI)⁻¹T of "targets" T = [Y−μ, 1]
// (n×(p+1)) for the kernel matrix "k" and the scalar "lambda", and with the
// "mean" μ (1×p) the "norm" ‖(K+λI)⁻¹Y‖²_F, from which R (Eq. 42) follows:
// Y − K(K+λI)⁻¹Y = λ(K+λI)⁻¹Y.
func ridgeProgram(n, p int) engine.Program {
	return engine.Program{Name: "regularised least squares", Key: fmt.Sprintf("ridge %d %d", n, p),
		Build: func(b *engine.Builder) error {
			solutions, err := op.RidgeSolve().Apply(b.Input("k", n, n), b.Scalar("lambda"), b.Input("targets", n, p+1))
			if err != nil {
				return err
			}
			norm, err := op.RidgeNorm().Apply(solutions, b.Input("mean", 1, p))
			b.Output("solutions", solutions)
			b.Output("norm", norm)
			return err
		}}
}

// gramNormProgram computes the "norm" ‖(K+λI)⁻¹Y‖²_F from "k", "lambda" and the
// "gram" matrix YYᵀ.
func gramNormProgram(n int) engine.Program {
	return engine.Program{Name: "norm of the regularised solution", Key: fmt.Sprintf("gram norm %d", n),
		Build: func(b *engine.Builder) error {
			norm, err := op.RidgeGramNorm().Apply(b.Input("k", n, n), b.Scalar("lambda"), b.Input("gram", n, n))
			b.Output("norm", norm)
			return err
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
		Build: func(b *engine.Builder) error {
			queries := b.Input("queries", q, s+c)
			z := queries
			for l := first; l < last; l++ {
				points, weights := b.Input(fmt.Sprintf("points %d", l), n, s-l), b.Input(fmt.Sprintf("weights %d", l), 1, s-l)
				solutions := b.Input(fmt.Sprintf("solutions %d", l), n, s+c+1)
				var err error
				if z, err = op.AffineHull().Apply(z, points, weights, solutions); err != nil {
					return err
				}
				if c > 0 {
					distance, err := op.RowDistance(s).Apply(queries, z)
					if err != nil {
						return err
					}
					b.Output(fmt.Sprintf("distance %d", l), distance)
				}
				if images {
					b.Output(fmt.Sprintf("image %d", l), z)
				}
			}
			return nil
		}}
}
