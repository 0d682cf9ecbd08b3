package wide

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/fault"
	"privkern/graphs/hull"
)

// maxSmoothing caps the smoothing steps of a fabrication towards a radius.
const maxSmoothing = 100

// Fabrication is fabricated samples, and how they came about.
type Fabrication struct {
	Samples *mat.Dense // Ỹ (Eq. 89): the images of the smoothed samples
	// Errors are the modelling errors Σ‖ŷ − A(ŷ)‖ of the samples Ŷ_m after
	// m = 0, 1, …, M̃−1 smoothing steps (Eq. 87): first those of the samples as
	// given (Eq. 79), last those whose images are fabricated.
	Errors []float64

	// unsafe counts samples without an image, which stay as they were smoothed.
	unsafe int
}

// Steps returns the number M̃−1 of smoothing steps.
func (f *Fabrication) Steps() int { return len(f.Errors) - 1 }

// Fabricate computes the fabricated samples of a machine (Definition 14).
//
// Ŷ₀ is the noisy samples, Ŷ_{m+1} their smoothing (Eq. 81). As published M̃−1 is the
// first m at which the modelling error of Ŷ_m is at most that of the original samples
// (Eqs. 92 and 96), and M̃ = 1 means no smoothing; as corrected, the number of steps is
// public. Each step fits a machine, O(N³ + N²p) operations. Smoothing also shrinks the
// samples, which is part of why the error falls.
func (b *Builder) Fabricate(ctx context.Context, c Cluster) (*Fabrication, error) {
	radius := math.NaN()
	if b.private {
		m, err := hull.Model(ctx, b.e, c.original, b.n)
		if err != nil {
			return nil, err
		}
		if radius = m.Error; m.Unsafe > 0 {
			return nil, fmt.Errorf("%d of the original samples have no image, because the sum of memberships is not "+
				"safely positive (the paper's Eq. 148 fails), so that there is no radius (Eq. 96); use another n, or "+
				"variant=corrected", m.Unsafe)
		}
	}
	out := new(Fabrication)
	y, most := c.Samples, fault.Capped(ctx, maxSmoothing)
	for steps := 0; ; steps++ {
		m, err := hull.Model(ctx, b.e, y, b.n)
		if err != nil {
			return nil, fmt.Errorf("smoothing step %d: %w", steps, err)
		}
		out.Errors = append(out.Errors, m.Error)
		if b.private && m.Error <= radius || !b.private && steps == b.smoothing {
			out.Samples, out.unsafe = m.Images, m.Unsafe
			return out, nil
		}
		if b.private && steps == most {
			return nil, fmt.Errorf("fabrication stopped after %d smoothing steps, the most that are allowed, at a modelling "+
				"error of %g, and at most that of the original samples, %g, is wanted; use a larger epsilon or another n, "+
				"or variant=corrected, which takes a given number of steps", steps, m.Error, radius)
		}
		y = m.Smoothed
	}
}
