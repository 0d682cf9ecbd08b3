package kernel

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/graphs/op"
)

// GibbsMatrix returns the n×m matrix of the nonstationary Gibbs kernel between the rows of x
// (n×d) and of y (m×d), Eq. (11) of Smith, Álvarez and Lawrence:
//
//	variance · Π_k √(2 a_k b_k / (a_k²+b_k²)) · exp(−Σ_k (x_k−y_k)² / (a_k²+b_k²))
//
// where a and b are the lengthscales at the two points, rows of lx (n×d) and ly (m×d), in the
// unit of the coordinates. Where y and ly equal x and lx, the result is exactly symmetric, and
// its diagonal is exactly variance.
func GibbsMatrix(e *engine.Engine, x, y, lx, ly *mat.Dense, variance float64) (*mat.Dense, error) {
	if !(variance > 0) || math.IsInf(variance, 0) {
		return nil, fmt.Errorf("kernel Gibbs: variance is %g; it must be positive and finite", variance)
	}
	if err := checkPoints("Gibbs", x, y); err != nil {
		return nil, err
	}
	if err := checkLengthscales("x", x, lx); err != nil {
		return nil, err
	}
	if err := checkLengthscales("y", y, ly); err != nil {
		return nil, err
	}
	n, d := x.Dims()
	m, _ := y.Dims()
	return run(context.Background(), e, e.ElementType(), gibbsProgram(variance, n, m, d),
		engine.Values{"x": e.Matrix(x), "y": e.Matrix(y), "lx": e.Matrix(lx), "ly": e.Matrix(ly)})
}

// checkLengthscales returns an error unless l (n×d) has a positive lengthscale for each coordinate of
// x (n×d).
func checkLengthscales(points string, x, l *mat.Dense) error {
	name := "l" + points
	if err := checkMatrix("Gibbs", name, l); err != nil {
		return err
	}
	n, d := x.Dims()
	if r, c := l.Dims(); r != n || c != d {
		return fmt.Errorf("kernel Gibbs: %s is %d×%d, but %s is %d×%d: every coordinate needs a lengthscale", name, r, c,
			points, n, d)
	}
	for i := range n {
		for j, v := range l.RawRowView(i) {
			if v <= 0 {
				return fmt.Errorf("kernel Gibbs: %s is %g in row %d, column %d (counted from 0); lengthscales must be positive",
					name, v, i, j)
			}
		}
	}
	return nil
}

// gibbsProgram computes "k", the n×m matrix of the Gibbs kernel between the inputs "x" (n×d) and
// "y" (m×d) with the lengthscales "lx" (n×d) and "ly" (m×d).
func gibbsProgram(variance float64, n, m, d int) engine.Program {
	return engine.Program{
		Name: "Gibbs kernel matrix",
		Key:  fmt.Sprintf("gibbs %x %d %d %d", variance, n, m, d),
		Build: func(b *engine.Builder) {
			x, y, lx, ly := b.Input("x", n, d), b.Input("y", m, d), b.Input("lx", n, d), b.Input("ly", m, d)
			b.Output("k", b.Apply(op.Gibbs(variance), x, y, lx, ly))
		},
	}
}
