package cloaking

import (
	"fmt"
	"math"

	"privkern/experiments/mechanism"
	"privkern/runner/experiment"
)

// privacyless says whether a trial adds no noise.
func privacyless(p experiment.Params) bool { return math.IsInf(p.Float("epsilon"), 1) }

// noiseFactor is the ratio σ/Δ of the trial's calibration. It is 0 for
// epsilon = inf.
func noiseFactor(p experiment.Params) (float64, error) {
	if privacyless(p) {
		return 0, nil
	}
	return mechanism.Calibration(p.Text("calibration")).Factor(p.Float("epsilon"), p.Float("delta"))
}

// What of a record is not private.
const (
	noteRecord       = "this record itself is not private: it holds the %s, predictions without noise and errors measured on them; only the noisy predictions would be released"
	noteRecordSecure = "this record itself is not private: its metrics are computed from the %s without noise; " +
		"noise covers the series released alone"
)

// privacy says what a release of one set of predictions protects; nil without
// noise.
func (r *predictor) privacy() *experiment.Privacy {
	if r.scale == 0 {
		return nil
	}
	record := noteRecord
	if r.publishes() {
		record = noteRecordSecure
	}
	out := r.guarantee()
	out.Notes = append(out.Notes,
		"hyperparameters are taken as public"+r.data.names.tuning,
		fmt.Sprintf(record, r.data.names.outputs),
		"each set of predictions that is released spends its own budget: the folds of a cross-validation compose",
		r.data.clippingNote(),
	)
	return out
}

// guarantee says what a release of one set of predictions protects, in words
// that say nothing of the outputs.
func (r *predictor) guarantee() *experiment.Privacy {
	p, names := r.t.Params, r.data.names
	notes := []string{
		fmt.Sprintf("protects the %s (training outputs) only: %s and who is in the data are taken as public", names.outputs, names.public),
		"delta is not the probability that epsilon-privacy fails, although the paper says so",
	}
	if r.data.kung == nil {
		notes = append(notes, "low and high are taken as public, and their middle is the prior mean; sensitivity_cm, normalisation and public_low_cm do not apply")
	}
	out := &experiment.Privacy{
		Guarantee: guarantee(p.Float("epsilon"), p.Float("delta")),
		Unit:      fmt.Sprintf("one training output changed by at most %s%s", experiment.FormatNumber(r.data.width), names.unit),
		Mechanism: "cloaking (Smith et al. 2018, 2019): Gaussian noise shaped by the cloaking matrix, " + calibrationSource(p),
		Notes:     append(notes, solverNotes(p)...),
	}
	if r.data.kung != nil && p.Text("normalisation") == normalisationPublished {
		out.Refute(privateNormalisation)
		out.Notes = append(out.Notes, publicNormalisation)
	}
	return out
}

// Of normalisation=as-published.
const (
	privateNormalisation = "the clipping interval and the prior mean are computed from the private heights without " +
		"noise"
	publicNormalisation = "normalisation=public takes the interval and the prior mean from constants"
)

func guarantee(epsilon, delta float64) string {
	return fmt.Sprintf("(%s, %s)-DP", experiment.FormatNumber(epsilon), experiment.FormatNumber(delta))
}

// calibrationSource says where the ratio of noise to sensitivity comes from.
func calibrationSource(p experiment.Params) string {
	if p.Text("calibration") == string(mechanism.Analytic) {
		return "calibrated by the analytic Gaussian mechanism (Balle and Wang 2018)"
	}
	return "calibrated as in Hall, Rinaldo and Wasserman (2013), proved for epsilon <= 1"
}

// solverNotes says what the choice of the solver means for the guarantee.
func solverNotes(p experiment.Params) []string {
	if p.Text("solver") != solverGradient {
		return nil
	}
	return []string{"the gradient descent's covariance is scaled by its largest Mahalanobis norm, so that the guarantee holds wherever the descent ended"}
}

// privacy says what it protects to choose a configuration and then to release
// one set of predictions made with it.
func (s *selector) privacy() *experiment.Privacy {
	p := s.t.Params
	number := func(name string) string { return experiment.FormatNumber(p.Float(name)) }
	notes := []string{
		"this record itself is not private: errors and probabilities are computed from the heights; only the selected configuration would be released, and noisy predictions made with it",
		"protects the heights only: ages, weights, who is in the data, and the grid are taken as public",
	}
	out := &experiment.Privacy{
		Guarantee: fmt.Sprintf("(%s, 0)-DP", number("selection_epsilon")),
		Unit:      fmt.Sprintf("one height changed by at most %s cm", number("sensitivity_cm")),
		Mechanism: "exponential mechanism (McSherry and Talwar 2007) over a grid, by cross-validated squared " +
			"error; then cloaking (Smith et al. 2018, 2019)",
		Notes: notes,
	}
	if privacyless(p) {
		out.Notes = append(out.Notes, "the selected configuration alone is protected: with epsilon = inf the "+
			"regression after it has no noise, and its predictions are not to be released")
	} else {
		out.Guarantee = fmt.Sprintf("(%s, %s)-DP",
			experiment.FormatNumber(p.Float("selection_epsilon")+p.Float("epsilon")), number("delta"))
	}
	exact := p.Text("sensitivity") == sensitivityExact
	if !exact {
		out.Refute("the sensitivity of Eq. (9) leaves out a term of first order and is no upper bound")
		out.Notes = append(out.Notes, "sensitivity=exact is a proved bound")
	}
	if p.Text("sse_cut") != "none" {
		out.Refute("sse_cut leaves out configurations by their errors on the private heights: whether one has " +
			"probability zero depends on them")
	}
	if p.Text("normalisation") == normalisationPublished {
		out.Refute(privateNormalisation)
		out.Notes = append(out.Notes, publicNormalisation)
		if exact {
			out.Notes = append(out.Notes, "the exact sensitivity covers what a height does to the selection "+
				"through the prior mean, but not through the interval")
		}
	}
	if out.Guarantee != "" && !privacyless(p) {
		out.Notes = append(out.Notes, fmt.Sprintf("basic composition of the selection, (%s, 0)-DP, with one "+
			"release of predictions of the same heights by the selected configuration, (%s, %s)-DP; every further "+
			"release spends its own budget", number("selection_epsilon"), number("epsilon"), number("delta")))
	}
	out.Notes = append(out.Notes, s.data.clippingNote())
	return out
}
