package kahm

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
)

// Modelled is what the KAHM of a set of samples makes of these very samples.
type Modelled struct {
	// Images are the images A(y_i), N×p; a sample whose memberships do not have
	// a safely positive sum keeps its place.
	Images *mat.Dense
	// Smoothed are the images times their sums of memberships (Eq. 81), N×p.
	Smoothed *mat.Dense
	// Error is the modelling error Σ‖y_i − A(y_i)‖ (Eq. 88).
	Error float64
	// Unsafe counts the samples without an image.
	Unsafe int
	// Lambda is λ*, Evaluations how often R was evaluated to find it.
	Lambda      float64
	Evaluations int
}

// Model fits a KAHM (Definition 1) to the rows of y (N×p) and returns what it
// makes of them. No product with the kernel matrix is needed: with
// B = (K+λI)⁻¹Y the smoothed samples are KB = Y − λB. The errors are those of
// Fit.
func Model(ctx context.Context, e *engine.Engine, y *mat.Dense, dim int) (*Modelled, error) {
	if err := check(y, Options{Dim: dim, Layers: 1}); err != nil {
		return nil, fmt.Errorf("kernel affine hull machine: %w", err)
	}
	f, err := newFit(ctx, e, y, dim)
	if err != nil {
		return nil, fmt.Errorf("kernel affine hull machine: %w", err)
	}
	one, fixed, err := f.layer(ctx, f.dim, Secant, nil)
	if err != nil {
		return nil, fmt.Errorf("kernel affine hull machine: %w", err)
	}
	solutions, err := engine.Dense(one.solutions)
	if err != nil {
		return nil, err
	}
	out := &Modelled{Images: mat.NewDense(f.n, f.p, nil), Smoothed: mat.NewDense(f.n, f.p, nil), Lambda: fixed.lambda(), Evaluations: fixed.evaluations}
	for i := range f.n {
		from, b := y.RawRowView(i), solutions.RawRowView(i)
		smoothed, image := out.Smoothed.RawRowView(i), out.Images.RawRowView(i)
		sum := 1 - out.Lambda*b[f.p]
		for j, v := range from {
			smoothed[j] = v - out.Lambda*(b[j]+b[f.p]*f.mean[j])
		}
		if !(sum > membershipSafety) {
			out.Unsafe++
			out.Error = math.Inf(1)
			copy(image, from)
			continue
		}
		square := 0.0
		for j, v := range from {
			image[j] = smoothed[j] / sum
			square += (v - image[j]) * (v - image[j])
		}
		out.Error += math.Sqrt(square)
	}
	return out, nil
}

// membershipSafety is the sum of memberships of a sample below which it is not
// safely positive: it is one less a number near one.
const membershipSafety = 1e-8
