// Package recognise has the experiments of Chanyaswad, Chang and Kung (2017) on their data sets:
// activities and people recognised from compressive multi-kernels, by the paper's machine and by
// stronger adversaries. Parts that experiments on other data share are exported.
package recognise

import "privkern/runner/experiment"

// Experiments are the experiments of this package, in the order in which they are shown.
func Experiments() []*experiment.Experiment {
	return []*experiment.Experiment{har().Experiment, mhealth().Experiment, eigenproblem().Experiment,
		reference().Experiment}
}
