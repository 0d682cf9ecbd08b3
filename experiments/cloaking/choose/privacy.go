package choose

import (
	"fmt"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// privacy describes the protection by a choice of a configuration followed by a release of one set
// of predictions made with it.
func (s *selector) privacy() *experiment.Privacy {
	p, number := s.settings, experiment.FormatNumber
	notes := []string{
		"this record itself is not private: errors and probabilities are computed from the heights; only the selected " +
			"configuration would be released, and noisy predictions made with it",
		"protects the heights only: ages, weights, who is in the data, and the grid are taken as public",
	}
	out := &experiment.Privacy{
		Unit: fmt.Sprintf("one height changed by at most %s cm", number(p.Sensitivity)),
		Mechanism: "exponential mechanism (McSherry and Talwar 2007) over a grid, by cross-validated squared " +
			"error; then cloaking (Smith et al. 2018, 2019)",
		Notes: notes,
	}
	if p.Noiseless() {
		out.State(p.SelectionEpsilon, 0)
		out.Notes = append(out.Notes, "the selected configuration alone is protected: with epsilon = inf the "+
			"regression after it has no noise, and its predictions are not to be released")
	} else {
		out.State(p.SelectionEpsilon+p.Epsilon, p.Delta)
		p.Solver.Refute(out)
	}
	if p.Bound != Exact {
		out.Refute("the sensitivity of Eq. (9) leaves out a term of first order and is no upper bound")
		out.Notes = append(out.Notes, "sensitivity=exact is a proved bound")
	}
	if !p.Cut.Is(method.Absent) {
		out.Refute("sse_cut leaves out configurations by their errors on the private heights: whether one has " +
			"probability zero depends on them")
	}
	if !p.Noiseless() && !p.NoiseInErrors.Is(Expected) {
		out.Refute("drawn noise enters the squared errors times the errors on the private heights, and no sensitivity " +
			"covers that; noise_in_errors=expected does not")
	}
	if s.heights.Normalisation == cloak.AsPublished {
		out.Refute(cloak.PrivateNormalisation)
		out.Notes = append(out.Notes, cloak.PublicNormalisation)
		if p.Bound == Exact {
			out.Notes = append(out.Notes, "the exact sensitivity covers what a height does to the selection "+
				"through the prior mean, but not through the interval")
		}
	}
	if out.Simulated != nil && !p.Noiseless() {
		out.Notes = append(out.Notes, fmt.Sprintf("basic composition of the selection, (%s, 0)-DP, with one "+
			"release of predictions of the same heights by the selected configuration, (%s, %s)-DP; every further "+
			"release spends its own budget", number(p.SelectionEpsilon), number(p.Epsilon), number(p.Delta)))
	}
	out.Notes = append(out.Notes, s.data.ClippingNote())
	return out
}
