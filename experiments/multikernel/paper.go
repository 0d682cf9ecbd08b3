package multikernel

import (
	_ "embed"

	"privkern/runner/experiment"
)

//go:embed ledger.yaml
var ledger []byte

// Paper returns what this package reproduces.
func Paper() experiment.Paper {
	return experiment.Paper{
		Name: "multikernel",
		Experiments: []*experiment.Experiment{har().Experiment, mhealth().Experiment, eigenproblem().Experiment,
			reference().Experiment},
		Benchmarks: benchmarks(),
		Ledger:     ledger,
	}
}
