package recognise

import (
	"context"

	"privkern/experiments/dataset/readers"
	"privkern/runner/experiment"
)

var har = experiment.Of(experiment.Declaration[*HARSettings, RecognitionMetrics]{
	Name:    "multikernel/har",
	Version: 5,
	Summary: "activities and people recognised from compressed kernels of smartphone features",
	Source:  "Chanyaswad, Chang and Kung 2017, Sections III and IV, Table II",
	Datasets: func(s *HARSettings) []string {
		if s.Dataset == HARSurrogate {
			return nil // it is computed
		}
		return []string{experiment.NameOf(s.Dataset)}
	},
	StandIn: func(s *HARSettings) string { return surrogateStandIn(s.Dataset) },
	Check:   func(s *HARSettings) error { return s.check(harKernels[s.Experiment-1], readers.HARActivities) },
	Memory:  func(*HARSettings) int64 { return harMemory() },
	Run:     runHAR,
})

// harSubjects are the people 1 to 20: their windows are as many as the paper
// trains and tests on.
const harSubjects = 20

func runHAR(ctx context.Context, t *experiment.Trial,
	s *HARSettings) (*experiment.Outcome[RecognitionMetrics], error) {
	kernels := harKernels[s.Experiment-1]
	all, err := harSamples(t, s.Dataset)
	if err != nil {
		return nil, err
	}
	out, err := recognise(ctx, t, &s.Recognition, all, harDivision, kernels)
	if err == nil && s.Dataset == HARSurrogate {
		out.Warnings = append(out.Warnings, "har-surrogate: simulated windows, nobody's data")
	}
	return out, err
}

// samplesOf returns some of the windows.
func samplesOf(w *readers.Windows, rows []int) Samples {
	return Samples{X: w.Inputs, Utility: w.Activity, Privacy: w.Subject}.take(rows)
}

// harSamples reads the windows of the 20 people.
func harSamples(t *experiment.Trial, of HARData) (Samples, error) {
	load := readers.LoadHAR
	switch of {
	case HARSurrogate:
		return surrogate(readers.HARReconstructed, readers.HARFeatures, t.Stream("surrogate")), nil
	case HARReconstructed:
		load = readers.LoadHARReconstructed
	}
	w, err := load(t.Dataset(experiment.NameOf(of)))
	if err != nil {
		return Samples{}, err
	}
	var rows []int
	for i, subject := range w.Subject {
		if subject <= harSubjects {
			rows = append(rows, i)
		}
	}
	return samplesOf(w, rows), nil
}

// surrogateStandIn names the stand-in for the published features; it is empty where the register of
// data sets has one.
func surrogateStandIn(of HARData) string {
	if of == HARSurrogate {
		return "har-surrogate, simulated windows, in the place of the published features"
	}
	return ""
}
