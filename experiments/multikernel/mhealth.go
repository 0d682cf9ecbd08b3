package multikernel

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset"
	"privkern/runner/experiment"
)

const (
	dataMHEALTH  = "mhealth"
	dataMHEALTH6 = "mhealth-6ch"
)

func mhealth() *experiment.Experiment {
	params := classificationParams(mhealthKernels, dataMHEALTH, dataMHEALTH6)
	params = append(params, experiment.Param{
		Name: "activities", Kind: experiment.Numbers, Default: []float64{1, 2, 3, 4, 5, 6},
		Min: experiment.Bound(1), Max: experiment.Bound(dataset.MHEALTHActivities),
		Doc: "the activities that are told apart, by their numbers in the data set; the paper has six of the twelve and does not say which",
	})
	return &experiment.Experiment{
		Name:     "multikernel/mhealth",
		Version:  3,
		Summary:  "activities and people recognised from compressed kernels of body-worn sensors",
		Source:   "Chanyaswad, Chang and Kung 2017, Sections III and IV, Table I",
		Params:   params,
		Metrics:  recognitionMetrics,
		Datasets: func(p experiment.Params) []string { return []string{p.Text("dataset")} },
		Check: func(p experiment.Params) error {
			activities, err := activitiesOf(p)
			if err != nil {
				return err
			}
			return checkRecognition(p, mhealthKernels, len(activities))
		},
		Memory: func(p experiment.Params) int64 { return mhealthMemory(len(p.Numbers("activities"))) },
		Run:    runMHEALTH,
	}
}

// activitiesOf returns the chosen activities, from 0, in increasing order.
func activitiesOf(p experiment.Params) ([]int, error) {
	var activities []int
	for _, v := range p.Numbers("activities") {
		a := int(v)
		if float64(a) != v {
			return nil, fmt.Errorf("activities: %g is not a whole number", v)
		}
		if slices.Contains(activities, a-1) {
			return nil, fmt.Errorf("activities: %d is given twice", a)
		}
		activities = append(activities, a-1)
	}
	if len(activities) < 2 {
		return nil, fmt.Errorf("activities: %d given; at least two are told apart", len(activities))
	}
	slices.Sort(activities)
	return activities, nil
}

func runMHEALTH(ctx context.Context, t *experiment.Trial) (*experiment.Result, error) {
	activities, err := activitiesOf(t.Params)
	if err != nil {
		return nil, err
	}
	name := t.Params.Text("dataset")
	s, err := mhealthSamples(name, t.Dataset(name), activities)
	if err != nil {
		return nil, err
	}
	return recognise(ctx, t, s, mhealthDivision, mhealthKernels)
}

// mhealthSamples takes single readings of all channels for samples: the paper's
// samples have 23 features, as many as there are channels.
func mhealthSamples(name, folder string, activities []int) (Samples, error) {
	var w *dataset.Windows
	var err error
	if name == dataMHEALTH6 {
		w, err = dataset.LoadMHEALTH6(folder)
		if err == nil {
			w = readings(w, dataset.MHEALTH6Channels)
		}
	} else {
		w, err = dataset.LoadMHEALTH(folder, 1, 1)
	}
	if err != nil {
		return Samples{}, err
	}
	var rows []int
	for i, a := range w.Activity {
		if slices.Contains(activities, a) {
			rows = append(rows, i)
		}
	}
	if len(rows) == 0 {
		return Samples{}, fmt.Errorf("%s: no samples of these activities", folder)
	}
	return samplesOf(w, rows), nil
}

// readings takes windows that overlap apart into single readings of the
// channels, each once. The windows of a recording are in the order of their
// starts.
func readings(w *dataset.Windows, channels int) *dataset.Windows {
	out := &dataset.Windows{Activities: w.Activities}
	var inputs []float64
	_, d := w.Inputs.Dims()
	next := 0 // reading of the recording that was not yet taken
	for i := range w.Len() {
		if i > 0 && (w.Recording[i] != w.Recording[i-1] || w.Subject[i] != w.Subject[i-1]) {
			next = 0
		}
		row := w.Inputs.RawRowView(i)
		end := w.Start[i] + d/channels
		for at := max(next, w.Start[i]); at < end; at++ {
			k := (at - w.Start[i]) * channels
			inputs = append(inputs, row[k:k+channels]...)
			out.Activity, out.Subject = append(out.Activity, w.Activity[i]), append(out.Subject, w.Subject[i])
			out.Recording, out.Start = append(out.Recording, w.Recording[i]), append(out.Start, at)
		}
		next = max(next, end)
	}
	out.Inputs = mat.NewDense(out.Len(), channels, inputs)
	return out
}
