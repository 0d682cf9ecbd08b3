package multikernel

import (
	_ "embed"

	"privkern/experiments/multikernel/recognise"
	"privkern/runner/experiment"
)

//go:embed ledger.yaml
var ledger []byte

// Paper returns what this package reproduces.
func Paper() experiment.Paper {
	return experiment.Paper{
		Name:        "multikernel",
		Experiments: recognise.Experiments(),
		Benchmarks:  recognise.Benchmarks(),
		Ledger:      ledger,
	}
}
