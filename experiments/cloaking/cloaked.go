package cloaking

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/cloaking/design"
	"privkern/experiments/internal/fault"
	"privkern/experiments/mechanism"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

// interval is the public interval that outputs are clipped to, with the prior
// mean that is taken off them.
type interval struct{ low, high, prior float64 }

// cloaked is a release of the range of a cloaking matrix: the query is
// Q(y − prior), Q = L⁻¹B, in coordinates in which the noise is independent.
type cloaked struct {
	directions *design.Range
	design     *design.Design
	query      *release.Linear
	noise      *release.Noise
	factor     float64 // σ/Δ of the calibration
	within     interval
}

// newCloaked calibrates the release of one of steps that share the budget. It
// looks at public values alone.
func newCloaked(ctx context.Context, r *design.Range, d *design.Design, p experiment.Params, steps int,
	within interval) (*cloaked, error) {
	s := &cloaked{directions: r, design: d, within: within}
	low, high := within.low-within.prior, within.high-within.prior
	largest := make([]float64, len(d.Lambda))
	for j := range largest {
		largest[j] = math.Max(math.Abs(low), math.Abs(high))
	}
	var err error
	s.query, err = release.NewLinear(ctx, "whitened predictions", d.Whitened(r), release.Up(high-low), largest)
	if err != nil {
		return nil, err
	}
	return s, s.calibrate(ctx, p, steps)
}

// newCloakedLabels calibrates the release of a Newton step, whose query is Qs: s
// are sums of labels (±1), counts of them at each distinct input.
func newCloakedLabels(ctx context.Context, r *design.Range, d *design.Design, p experiment.Params, steps int,
	counts []float64) (*cloaked, error) {
	s := &cloaked{directions: r, design: d}
	var err error
	if s.query, err = release.NewLinear(ctx, "whitened labels of a Newton step", d.Whitened(r), labelSensitivity,
		counts); err != nil {
		return nil, err
	}
	return s, s.calibrate(ctx, p, steps)
}

// calibrate sets factor and noise.
func (s *cloaked) calibrate(ctx context.Context, p experiment.Params, steps int) (err error) {
	if s.factor, err = releaseFactor(ctx, p, steps); err != nil {
		return err
	}
	s.noise, err = release.Gaussian(s.query.Query(), s.factor)
	return err
}

// releaseFactor is σ/Δ of the noise of one of steps that share the budget of a
// release equally.
func releaseFactor(ctx context.Context, p experiment.Params, steps int) (float64, error) {
	epsilon, delta := p.Float("epsilon"), p.Float("delta")
	if planted := fault.In(ctx); !planted.StepsForgotten {
		epsilon, delta = epsilon/float64(steps), delta/float64(steps)
	}
	if times := fault.In(ctx).DeltaTimes; times > 0 {
		delta *= times
	}
	factor, err := mechanism.SafeFactor(mechanism.Calibration(p.Text("calibration")), epsilon, delta)
	if err != nil && steps > 1 {
		return 0, fmt.Errorf("each of %d Newton steps: %w", steps, err)
	}
	return factor, err
}

// noisy returns the whitened coordinates of the range with noise (r×1), from
// outputs that it clips.
func (s *cloaked) noisy(ctx context.Context, outputs []float64, source *release.Source) (*mat.Dense, error) {
	planted := fault.In(ctx)
	y := make([]float64, len(outputs))
	for i, v := range outputs {
		if !planted.Unclipped {
			v = min(max(v, s.within.low), s.within.high)
		}
		y[i] = v - s.within.prior
	}
	return s.noisySums(y, source)
}

// noisySums is noisy for what the matrix is applied to.
func (s *cloaked) noisySums(y []float64, source *release.Source) (*mat.Dense, error) {
	query, err := s.query.Of(y)
	if err != nil {
		return nil, err
	}
	z, err := source.Add(s.noise, query)
	if err != nil {
		return nil, err
	}
	return s.design.Unwhiten(z), nil
}
