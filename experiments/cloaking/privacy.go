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
	noteRecord       = "this record itself is not private: it holds the heights, predictions without noise and errors measured on them; only the noisy predictions would be released"
	noteRecordSecure = "this record itself is not private: its metrics are computed from the heights without noise; the guarantee is about the series released alone"
)

// privacy tells what a release of one set of predictions protects; nil without
// noise.
func (r *predictor) privacy() *experiment.Privacy {
	if r.scale == 0 {
		return nil
	}
	p := r.t.Params
	record := noteRecord
	if r.publishes() {
		record = noteRecordSecure
	}
	notes := []string{
		record,
		"protects the heights (training outputs) only: ages, weights and who is in the data are taken as public",
		"hyperparameters are taken as public; the defaults and the sets A and B of Table 1 were found on these very data, which the guarantee does not cover",
		"delta is not the probability that epsilon-privacy fails, although the paper says so",
		"each set of predictions that is released spends its own budget: the folds of a cross-validation compose",
	}
	if p.Text("normalisation") == normalisationPublished {
		notes = append(notes, "as published, the clipping interval and the prior mean are computed from the private heights without noise, which the guarantee does not cover; normalisation=public avoids it")
	}
	return &experiment.Privacy{
		Guarantee: guarantee(p.Float("epsilon"), p.Float("delta")),
		Unit:      fmt.Sprintf("one training output changed by at most %s cm", experiment.FormatNumber(p.Float("sensitivity_cm"))),
		Mechanism: "cloaking (Smith et al. 2018, 2019): Gaussian noise shaped by the cloaking matrix, " + calibrationSource(p),
		Notes:     append(append(notes, solverNotes(p)...), r.data.clippingNote()),
	}
}

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
