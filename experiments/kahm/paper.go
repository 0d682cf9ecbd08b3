package kahm

import (
	_ "embed"

	"privkern/runner/experiment"
)

//go:embed ledger.yaml
var ledger []byte

// Paper returns what this package reproduces.
func Paper() experiment.Paper {
	return experiment.Paper{
		Name:     "kahm",
		Title:    "On mitigating the utility-loss in differentially private learning: a new perspective by a geometrically inspired kernel approach",
		Citation: "M. Kumar, B. A. Moser, L. Fischer, Journal of Artificial Intelligence Research 79, 2024, https://arxiv.org/abs/2304.01300",
		Experiments: []*experiment.Experiment{
			classifier(), federated(), fabrication(), layers(), toy(), freiburg(), stress(), timing(), reference(),
		},
		Figures: []experiment.Figure{
			figure1(), toyFigure(), figure6(), regionsFigure(), figure9(), figure10(), figure12(), figure13(), figure17(),
		},
		Benchmarks: benchmarks(),
		Ledger:     ledger,
	}
}
