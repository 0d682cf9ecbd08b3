package kahm

import (
	_ "embed"

	"privkern/experiments/kahm/fit"
	"privkern/experiments/kahm/nearest"
	"privkern/experiments/kahm/picture"
	"privkern/experiments/kahm/printed"
	"privkern/runner/experiment"
)

//go:embed ledger.yaml
var ledger []byte

// Paper returns the experiments and figures of the paper.
func Paper() experiment.Paper {
	values := printed.Read(ledger)
	return experiment.Paper{
		Name: "kahm",
		Experiments: []*experiment.Experiment{
			nearest.Classifier().Experiment, nearest.Federated().Experiment, picture.Fabrication().Experiment,
			picture.Layers().Experiment, picture.Toy().Experiment, nearest.Freiburg().Experiment,
			nearest.Stress().Experiment, fit.Timing().Experiment, fit.Bounds().Experiment, fit.Reference().Experiment,
		},
		Figures: []experiment.Figure{
			picture.Figure1(), picture.ToyFigure(), picture.Figure6(), picture.RegionsFigure(), picture.Figure9(),
			picture.Figure10(), nearest.Figure12(values), nearest.Figure13(), nearest.Figure14a(values),
			nearest.Figure14b(values), nearest.Figure16(values), fit.Figure17(values),
		},
		Ledger: ledger,
	}
}
