package dpgp

import (
	_ "embed"

	"privkern/experiments/dpgp/regression"
	"privkern/experiments/dpgp/simulated"
	"privkern/runner/experiment"
)

//go:embed ledger.yaml
var ledger []byte

// Paper returns the experiments, tables and figures of the paper.
func Paper() experiment.Paper {
	return experiment.Paper{
		Name: "dpgp",
		Experiments: append(simulated.Experiments(),
			hyperparameters().Experiment, searchTime().Experiment, classification().Experiment,
			regression.Experiment().Experiment),
		Figures: append(simulated.Figures(), figure3()),
		Ledger:  ledger,
	}
}
