package privacygp

import (
	_ "embed" // for ledger.yaml

	"privkern/runner/experiment"
)

//go:embed ledger.yaml
var ledger []byte

// Paper returns the experiments, figures and published claims of the paper.
func Paper() experiment.Paper {
	return experiment.Paper{
		Name:     "privacygp",
		Title:    "Privacy-aware Gaussian Process Regression",
		Citation: "R. Tuo and R. Bhattacharya, \"Privacy-aware Gaussian Process Regression\", arXiv:2305.16541",
		Experiments: []*experiment.Experiment{
			example1(), example2(), weak(), kernelCondition(), uniform(), satellite(),
		},
		Figures:    []experiment.Figure{figure1(), figure2(), figure3()},
		Ledger:     ledger,
		Benchmarks: benchmarks(),
	}
}

const source = "Tuo and Bhattacharya, Privacy-aware Gaussian Process Regression, "
