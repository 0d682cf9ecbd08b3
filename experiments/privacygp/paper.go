package privacygp

import (
	_ "embed" // for ledger.yaml

	"privkern/experiments/privacygp/regression"
	"privkern/runner/experiment"
)

//go:embed ledger.yaml
var ledger []byte

// Paper returns the experiments, figures and published claims of the paper.
func Paper() experiment.Paper {
	return experiment.Paper{
		Name: "privacygp",
		Experiments: []*experiment.Experiment{
			example1().Experiment, example2().Experiment, weak().Experiment,
			strong().Experiment, kernelCondition().Experiment, uniform().Experiment, nested().Experiment,
			satellite().Experiment, scaling().Experiment, regression.Experiment().Experiment,
		},
		Figures: []experiment.Figure{figure1(), figure2(), figure3()},
		Ledger:  ledger,
	}
}

const source = "Tuo and Bhattacharya, Privacy-aware Gaussian Process Regression, "
