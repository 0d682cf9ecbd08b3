package wide

import (
	"context"
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/fault"
	"privkern/experiments/internal/shared"
	"privkern/graphs/hull"
	"privkern/runner/experiment"
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
		var err error
		if radius, err = b.radius(ctx, c.original); err != nil {
			return nil, err
		}
	}
	return b.fabricate(ctx, c.Samples, radius)
}

// radius is the modelling error of the original samples of a machine (Eqs. 88 and 96).
func (b *Builder) radius(ctx context.Context, original *mat.Dense) (float64, error) {
	m, err := hull.Model(ctx, b.e, original, MachineOptions(b.n, 1))
	if err != nil {
		return 0, err
	}
	if m.Unsafe > 0 {
		return 0, fmt.Errorf("%d of the original samples have no image, because the sum of memberships is not "+
			"safely positive (the paper's Eq. 148 fails), so that there is no radius (Eq. 96); use another n, or "+
			"variant=corrected", m.Unsafe)
	}
	return m.Error, nil
}

// radii returns the radius of every cluster, and drops the original samples. They are
// the same for every ε, and computed once in a sweep; the time that it took another trial
// is to be added to that of the call.
func (b *Builder) radii(ctx context.Context, clusters []Cluster, digest func() string,
) (radii []float64, elsewhere time.Duration, err error) {
	key := func(in *experiment.Inputs) {
		in.Text(digest())
		in.Whole(b.n, len(clusters))
		for i := range clusters {
			in.Whole(clusters[i].rows...)
		}
	}
	numbers, elsewhere, err := b.work(ctx, "radii of the fabrication", key, func() (shared.Numbers, error) {
		out := make([]float64, len(clusters))
		err := b.each(ctx, clusters, "radii", func(i int) (err error) {
			out[i], err = b.radius(ctx, clusters[i].original)
			return err
		})
		return shared.Numbers{"radius": out}, err
	})
	if err != nil {
		return nil, 0, err
	}
	for i := range clusters {
		clusters[i].original = nil
	}
	radii, err = numbers.Column("radius", len(clusters))
	return radii, elsewhere, err
}

// fabricate computes the fabricated samples of a machine of y, up to the radius where the
// variant has one.
func (b *Builder) fabricate(ctx context.Context, y *mat.Dense, radius float64) (*Fabrication, error) {
	out := new(Fabrication)
	most := fault.Capped(ctx, maxSmoothing)
	for steps := 0; ; steps++ {
		m, err := hull.Model(ctx, b.e, y, MachineOptions(b.n, 1))
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
