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
		Name:        "multikernel",
		Title:       "A compressive multi-kernel method for privacy-preserving machine learning",
		Citation:    "T. Chanyaswad, J. M. Chang, S. Y. Kung, IJCNN 2017, https://arxiv.org/abs/2106.10671",
		Experiments: []*experiment.Experiment{har(), mhealth(), reference()},
		Benchmarks:  benchmarks(),
		Ledger:      ledger,
	}
}
