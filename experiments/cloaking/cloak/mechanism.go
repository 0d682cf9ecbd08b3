package cloak

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/cloaking/design"
	"privkern/experiments/release"
)

// LabelSensitivity is how far a label can move: from −1 to +1.
const LabelSensitivity = 2

// Interval is the public interval that outputs are clipped to, with the prior
// mean that is taken off them.
type Interval struct{ Low, High, Prior float64 }

// Mechanism is a release of the range of a cloaking matrix: the query is
// Q(y − prior), Q = L⁻¹B, in coordinates in which the noise is independent.
//
// With C = USVᵀ of rank r and B = S⁻¹UᵀC (r×N), the design's covariance in the
// coordinates of B is LLᵀ, so that noise of unit variance in the coordinates of Q has
// the design's shape there. One output that moves by Δ moves the query by at most
// Δ·max_j ‖q_j‖, from the matrix Q (r×N) that is applied, and not from the solver's
// certificate. The outputs of a person, which all change, move it by at most Δ times the largest norm of a sum of
// columns with any signs, see [release.LargestMove].
type Mechanism struct {
	Directions *design.Range
	Design     *design.Design
	Query      *release.Linear // Q, with its sensitivity and its rounding errors
	Noise      *release.Noise  // exact Gaussian noise for it
	Factor     float64         // σ/Δ of the calibration
	Within     Interval        // of the outputs; not used for labels
}

// NewMechanism calibrates the release, of which one output is protected or, where units is not nil, the outputs of each
// of them. It looks at public values alone.
func NewMechanism(r *design.Range, d *design.Design, b *GaussianBudget, within Interval, units [][]int) (*Mechanism,
	error) {
	s := &Mechanism{Directions: r, Design: d, Within: within}
	low, high := within.Low-within.Prior, within.High-within.Prior
	largest := make([]float64, len(d.Lambda))
	for j := range largest {
		largest[j] = math.Max(math.Abs(low), math.Abs(high))
	}
	var err error
	s.Query, err = release.NewLinear("whitened predictions", d.Whitened(r), release.Up(high-low), units, largest)
	if err != nil {
		return nil, err
	}
	return s, s.calibrate(b, OneStep)
}

// NewLabelMechanism calibrates the release of a Newton step, whose query is Qs: s
// are sums of labels (±1), counts of them at each distinct input. One label is protected or, where units is not
// nil, all of each of them, which lists the input of each label.
func NewLabelMechanism(r *design.Range, d *design.Design, b *GaussianBudget, steps Steps, counts []float64,
	units [][]int) (*Mechanism, error) {
	s := &Mechanism{Directions: r, Design: d}
	var err error
	if s.Query, err = release.NewLinear("whitened labels of a Newton step", d.Whitened(r), LabelSensitivity,
		units, counts); err != nil {
		return nil, err
	}
	return s, s.calibrate(b, steps)
}

// calibrate sets factor and noise.
func (s *Mechanism) calibrate(b *GaussianBudget, steps Steps) (err error) {
	if s.Factor, err = b.ReleaseFactor(steps); err != nil {
		return err
	}
	s.Noise, err = release.Gaussian(s.Query.Query(), s.Factor)
	return err
}

// Noisy returns the whitened coordinates of the range with noise (r×1), from
// outputs that it clips.
func (s *Mechanism) Noisy(outputs []float64, source *release.Source) (*mat.Dense, error) {
	y := make([]float64, len(outputs))
	for i, v := range outputs {
		y[i] = Clipped(v, s.Within.Low, s.Within.High) - s.Within.Prior
	}
	return s.NoisySums(y, source)
}

// NoisySums is [Mechanism.Noisy] for the vector to which the matrix is applied (N): outputs less
// their prior mean, or sums of labels.
func (s *Mechanism) NoisySums(y []float64, source *release.Source) (*mat.Dense, error) {
	query, err := s.Query.Of(y)
	if err != nil {
		return nil, err
	}
	z, err := source.Add(s.Noise, query)
	if err != nil {
		return nil, err
	}
	return s.Design.Unwhiten(z), nil
}

// Moves is how far the outputs of a unit move the predictions at most, in the distance by which a design scales its
// noise, that of the output which moves them the most: 1 where a unit is one output. Where releases are judged, noise
// is multiplied by it.
func Moves(r *design.Range, d *design.Design, units [][]int) float64 {
	if units == nil {
		return 1
	}
	return release.LargestMove(d.Whitened(r), units) / d.MaxMahalanobis
}

// NoiseSD is the standard deviation of the noise at each of P test points: scale times
// the root of the diagonal of M = FFᵀ, with F (P×r) the design's factor, and the design's
// scale of the noise. Scale is σ, in the unit of the outputs.
func NoiseSD(d *design.Design, scale float64) []float64 {
	factor := d.Factor()
	p, _ := factor.Dims()
	sd := make([]float64, p)
	for i := range sd {
		sd[i] = scale * d.NoiseScale * mat.Norm(factor.RowView(i), 2)
	}
	return sd
}
