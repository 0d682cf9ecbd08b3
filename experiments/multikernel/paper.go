package multikernel

import (
	_ "embed"

	"privkern/experiments/multikernel/recognise"
	"privkern/experiments/multikernel/tradeoff"
	"privkern/runner/experiment"
)

//go:embed ledger.yaml
var ledger []byte

// Paper returns the experiments, tables and figures of the paper.
func Paper() experiment.Paper {
	return experiment.Paper{
		Name:        "multikernel",
		Experiments: append(recognise.Experiments(), tradeoff.Learn().Experiment),
		Figures:     []experiment.Figure{tradeoff.Frontier()},
		Ledger:      ledger,
	}
}
