package cloaking

import (
	_ "embed"

	"privkern/experiments/cloaking/choose"
	"privkern/experiments/cloaking/classify"
	"privkern/experiments/cloaking/regress"
	"privkern/runner/experiment"
)

//go:embed ledger.yaml
var ledger []byte

// Paper returns the experiments, tables and figures of the paper.
func Paper() experiment.Paper {
	return experiment.Paper{
		Name: "cloaking",
		Experiments: []*experiment.Experiment{
			regress.Design().Experiment, regress.Regression().Experiment, regress.Curve().Experiment,
			regress.Surface().Experiment, regress.Regimes().Experiment, classify.Classification().Experiment,
			classify.Stripes().Experiment, classify.HMEQ().Experiment, classify.Digits().Experiment,
			choose.Selection().Experiment, classify.Reference().Experiment,
		},
		Figures: []experiment.Figure{
			regress.Figure1(), regress.Figure2(), classify.Figure3(), classify.Figure4(), classify.Figure5(),
			choose.Figure6(), regress.NoiseFigure(), regress.DesignFigure(),
		},
		Ledger: ledger,
	}
}
