// Package simulated holds the experiments of Honkela (2021) on observations that are simulated with a
// known function: the noise of the mechanism, the sensitivity of a sparse GP's sums, the ridge λ, and
// the posterior with its calibration (Sections 2, 3, 6.1 and 6.2, Appendix D; Figs. 1 and 2).
//
// Package sparse computes the model and its noise. A fit is Algorithm 1 for one data set; metrics are
// means over the data sets of a trial.
package simulated

import "privkern/runner/experiment"

// Experiments returns the experiments in the order of the paper.
func Experiments() []*experiment.Experiment {
	return []*experiment.Experiment{
		gaussianMechanism().Experiment, sensitivities().Experiment, heteroscedastic().Experiment,
		regularisation().Experiment, inference().Experiment, calibration().Experiment, scenarios().Experiment,
	}
}

// Figures returns Figs. 1 and 2.
func Figures() []experiment.Figure { return []experiment.Figure{figure1(), figure2()} }
