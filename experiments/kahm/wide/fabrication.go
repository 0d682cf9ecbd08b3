package wide

import (
	"context"
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/shared"
	"privkern/graphs/hull"
	"privkern/runner/experiment"
)

// maxSmoothing caps the smoothing steps of a fabrication towards a radius.
const maxSmoothing = 100

// Fabrication is the result of a fabrication.
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
	radii := []float64{math.NaN()}
	one := []Cluster{c}
	if b.private {
		if err := b.radiiOf(ctx, one, radii, func() {}); err != nil {
			return nil, err
		}
	}
	all, err := b.fabricate(ctx, one, radii, func() {})
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// radiiOf computes the modelling errors of the original samples of clusters (Eqs. 88 and
// 96), and drops the samples.
func (b *Builder) radiiOf(ctx context.Context, clusters []Cluster, radii []float64, step func()) error {
	originals := take(clusters, func(c *Cluster) **mat.Dense { return &c.original })
	return hull.ModelAll(ctx, b.e, originals, b.machineOptions(1), func(i int, m *hull.SmoothModel, err error) error {
		if err == nil && m.Unsafe > 0 {
			err = fmt.Errorf("%d of the original samples have no image, because the sum of memberships is not "+
				"safely positive (the paper's Eq. 148 fails), so that there is no radius (Eq. 96); use another n, or "+
				"variant=corrected", m.Unsafe)
		}
		if err != nil {
			return fmt.Errorf("%v: %w", clusters[i].source, err)
		}
		originals[i], radii[i] = nil, m.Error
		step()
		return nil
	})
}

// radii returns the radius of every cluster, and drops the original samples. Radii are the
// same for every ε, and computed once in a sweep; elsewhere is the time of another trial, to
// be added to that of the call.
func (b *Builder) radii(ctx context.Context, clusters []Cluster, digest func() string,
) (radii []float64, elsewhere time.Duration, err error) {
	key := func(in *experiment.Inputs) {
		in.Text(digest())
		in.Whole(b.n, len(clusters))
		if b.lambda != Near {
			in.Whole(int(b.lambda))
		}
		for i := range clusters {
			in.Whole(clusters[i].rows...)
		}
	}
	numbers, elsewhere, err := b.work(ctx, "radii of the fabrication", key, func() (shared.Numbers, error) {
		out := make([]float64, len(clusters))
		counter := experiment.NewCounter(b.trial.Progress, len(clusters), "radii")
		err := b.radiiOf(ctx, clusters, out, counter.Step)
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

// fabricate computes the fabricated samples of clusters, up to the radius of each where the
// variant has one, and calls step for each that is ready. It drops the samples given.
//
// All clusters take a smoothing step together; those that are ready take no further one.
func (b *Builder) fabricate(ctx context.Context, clusters []Cluster, radii []float64, step func(),
) ([]*Fabrication, error) {
	out := make([]*Fabrication, len(clusters))
	y := take(clusters, func(c *Cluster) **mat.Dense { return &c.Samples })
	at := make([]int, len(clusters)) // the clusters that y belongs to
	for i := range clusters {
		out[i], at[i] = new(Fabrication), i
	}
	for steps := 0; len(y) > 0; steps++ {
		err := hull.ModelAll(ctx, b.e, y, b.machineOptions(1), func(j int, m *hull.SmoothModel, err error) error {
			i := at[j]
			if err != nil {
				return fmt.Errorf("%v: smoothing step %d: %w", clusters[i].source, steps, err)
			}
			f := out[i]
			f.Errors = append(f.Errors, m.Error)
			y[j] = m.Smoothed
			switch {
			case b.private && m.Error <= radii[i] || !b.private && steps == b.smoothing:
				f.Samples, f.unsafe, y[j] = m.Images, m.Unsafe, nil
				step()
			case b.private && steps == maxSmoothing:
				return fmt.Errorf("%v: fabrication stopped after %d smoothing steps, the most that are allowed, at a "+
					"modelling error of %g, and at most that of the original samples, %g, is wanted; use a larger epsilon "+
					"or another n, or variant=corrected, which takes a given number of steps", clusters[i].source, steps,
					m.Error, radii[i])
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		var left []int
		var samples []*mat.Dense
		for j, i := range at {
			if y[j] != nil {
				left, samples = append(left, i), append(samples, y[j])
			}
		}
		at, y = left, samples
	}
	return out, nil
}
