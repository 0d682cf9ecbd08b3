package dpgp

import (
	_ "embed"

	"privkern/runner/experiment"
)

//go:embed ledger.yaml
var ledger []byte

// Paper returns what this package reproduces.
func Paper() experiment.Paper {
	return experiment.Paper{
		Name:        "dpgp",
		Title:       "Gaussian processes with differential privacy",
		Citation:    "A. Honkela, 2021, arXiv:2106.00474",
		Experiments: []*experiment.Experiment{gaussianMechanism(), sensitivities(), inference(), calibration(), hyperparameters(), classification(), regression()},
		Figures:     []experiment.Figure{figure1(), figure2(), figure3()},
		Benchmarks:  append(benchmarks(), searchBenchmark()),
		Ledger:      ledger,
	}
}
