package cloaking

import (
	_ "embed"

	"privkern/runner/experiment"
)

//go:embed ledger.yaml
var ledger []byte

// Paper returns what this package reproduces.
func Paper() experiment.Paper {
	return experiment.Paper{
		Name:        "cloaking",
		Title:       "Differentially private regression and classification with sparse Gaussian processes",
		Citation:    "M. T. Smith, M. A. Álvarez, N. D. Lawrence, 2019, https://eprints.whiterose.ac.uk/id/eprint/155233/",
		Experiments: []*experiment.Experiment{designs(), regression(), curve(), surface(), classification(), stripes(), hmeq(), digits(), selection(), reference()},
		Figures:     []experiment.Figure{figure1(), figure2(), figure3(), figure4(), figure5(), figure6(), noiseFigure(), designFigure()},
		Benchmarks:  benchmarks(),
		Ledger:      ledger,
	}
}
