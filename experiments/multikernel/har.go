package multikernel

import (
	"context"

	"privkern/experiments/dataset"
	"privkern/runner/experiment"
)

const (
	dataHAR              = "har"
	dataHARReconstructed = "har-reconstructed"
	dataHARSurrogate     = "har-surrogate"
)

func har() *experiment.Experiment {
	params := classificationParams(harKernels, dataHAR, dataHARReconstructed, dataHARSurrogate)
	params[0].Doc += "; har-surrogate is simulated windows of the same size: nobody's data, computed from the seed"
	return &experiment.Experiment{
		Name:    "multikernel/har",
		Version: 3,
		Summary: "activities and people recognised from compressed kernels of smartphone features",
		Source:  "Chanyaswad, Chang and Kung 2017, Sections III and IV, Table II",
		Params:  params,
		Metrics: recognitionMetrics,
		Datasets: func(p experiment.Params) []string {
			if name := p.Text("dataset"); name != dataHARSurrogate {
				return []string{name}
			}
			return nil // it is computed
		},
		Check:  func(p experiment.Params) error { return checkRecognition(p, harKernels, dataset.HARActivities) },
		Memory: func(experiment.Params) int64 { return harMemory() },
		Run:    runHAR,
	}
}

// harSubjects are the people 1 to 20: their windows are as many as the paper
// trains and tests on.
const harSubjects = 20

func runHAR(ctx context.Context, t *experiment.Trial) (*experiment.Result, error) {
	name := t.Params.Text("dataset")
	if name == dataHARSurrogate {
		all := surrogate(dataset.HARReconstructed, dataset.HARFeatures, t.Stream("surrogate"))
		r, err := recognise(ctx, t, all, harDivision, harKernels)
		if err == nil {
			r.Warnings = append(r.Warnings, "har-surrogate: simulated windows, nobody's data")
		}
		return r, err
	}
	load := dataset.LoadHAR
	if name == dataHARReconstructed {
		load = dataset.LoadHARReconstructed
	}
	w, err := load(t.Dataset(name))
	if err != nil {
		return nil, err
	}
	var rows []int
	for i, s := range w.Subject {
		if s <= harSubjects {
			rows = append(rows, i)
		}
	}
	return recognise(ctx, t, samplesOf(w, rows), harDivision, harKernels)
}

// samplesOf returns some of the windows.
func samplesOf(w *dataset.Windows, rows []int) Samples {
	return Samples{X: w.Inputs, Utility: w.Activity, Privacy: w.Subject}.take(rows)
}
