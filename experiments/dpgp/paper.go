package dpgp

import (
	_ "embed"

	"privkern/experiments/dpgp/regression"
	"privkern/runner/experiment"
)

//go:embed ledger.yaml
var ledger []byte

// Paper returns the experiments, tables and figures of the paper.
func Paper() experiment.Paper {
	return experiment.Paper{
		Name: "dpgp",
		Experiments: []*experiment.Experiment{
			gaussianMechanism().Experiment, sensitivities().Experiment, heteroscedastic().Experiment,
			regularisation().Experiment, inference().Experiment, calibration().Experiment, scenarios().Experiment,
			hyperparameters().Experiment, searchTime().Experiment, classification().Experiment,
			regression.Experiment().Experiment,
		},
		Figures: []experiment.Figure{figure1(), figure2(), figure3()},
		Ledger:  ledger,
	}
}
