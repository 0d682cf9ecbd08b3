package simulated

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dpgp/sparse"
	"privkern/runner/experiment"
)

var heteroscedastic = experiment.Of(experiment.Declaration[*heteroscedasticSettings, heteroscedasticMetrics]{
	Name:     "dpgp/heteroscedastic",
	Version:  1,
	Summary:  "the sensitivity of weighted sums, as Appendix D has it and as it is",
	Source:   "Honkela 2021, Appendix D, Lemma 5",
	Seedless: func(*heteroscedasticSettings) bool { return true },
	Check:    checkHeteroscedastic,
	Run:      runHeteroscedastic,
})

func checkHeteroscedastic(s *heteroscedasticSettings) error {
	if s.VarianceLow > s.VarianceHigh {
		return fmt.Errorf("variance_low = %g is above variance_high = %g", s.VarianceLow, s.VarianceHigh)
	}
	if err := s.InducingInputs.Check(); err != nil {
		return err
	}
	_, err := s.InducingInputs.Model(s.EQKernel, 1, 0).NormSquared(s.CheapBound(), s.AssumedSpacing())
	return err
}

func runHeteroscedastic(
	_ context.Context, _ *experiment.Trial, s *heteroscedasticSettings,
) (*experiment.Outcome[heteroscedasticMetrics], error) {
	model := s.InducingInputs.Model(s.EQKernel, 1, 0)
	kk, err := model.NormSquared(s.Bound, s.AssumedSpacing())
	if err != nil {
		return nil, err
	}
	delta := sparse.JointSensitivity(s.Ratio, s.OutputBound, kk)
	return &experiment.Outcome[heteroscedasticMetrics]{Metrics: heteroscedasticMetrics{
		Sensitivity: delta, SensitivityPrinted: delta * s.VarianceHigh, SensitivityValid: delta / s.VarianceLow,
		LargestMove: s.largestMove(model),
	}}, nil
}

// largestMove is by how much a substitution moves (A_h, ratio·B̂_h) at most, of those
// tried. With t = ⟨k, k'⟩, c = ratio² and weights w = 1/σ_i² the square is
//
//	w²y²‖k‖² + w'²y'²‖k'‖² − 2ww'yy't + c (w²‖k‖⁴ + w'²‖k'‖⁴ − 2ww't²).
//
// It is convex in y and in w each: outputs and variances at their bounds are enough.
func (s *heteroscedasticSettings) largestMove(model *sparse.Model) float64 {
	z := s.Points()
	low, high := z[0], z[0]
	for _, v := range z {
		low, high = min(low, v), max(high, v)
	}
	var vectors []*mat.VecDense
	for i := range sparse.GridPoints { // beyond the inducing inputs vectors get shorter, and point away from the others
		x := low - s.Lengthscale + (high-low+2*s.Lengthscale)*float64(i)/(sparse.GridPoints-1)
		vectors = append(vectors, mat.NewVecDense(len(z), model.Vector([]float64{x})))
	}
	c, y, found := s.Ratio*s.Ratio, s.OutputBound, 0.0
	weights := [...]float64{1 / s.VarianceLow, 1 / s.VarianceHigh}
	for i, k := range vectors {
		for _, l := range vectors[:i+1] {
			kk, ll, t := mat.Dot(k, k), mat.Dot(l, l), mat.Dot(k, l)
			for _, w := range weights {
				for _, v := range weights {
					for _, sign := range [...]float64{-1, 1} {
						found = max(found, w*w*y*y*kk+v*v*y*y*ll-2*w*v*sign*y*y*t+c*(w*w*kk*kk+v*v*ll*ll-2*w*v*t*t))
					}
				}
			}
		}
	}
	return math.Sqrt(found)
}
