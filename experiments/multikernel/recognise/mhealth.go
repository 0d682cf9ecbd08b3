package recognise

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset/readers"
	"privkern/runner/experiment"
)

var mhealth = experiment.Of(experiment.Declaration[*MHEALTHSettings, RecognitionMetrics]{
	Name:     "multikernel/mhealth",
	Version:  5,
	Summary:  "activities and people recognised from compressed kernels of body-worn sensors",
	Source:   "Chanyaswad, Chang and Kung 2017, Sections III and IV, Table I",
	Datasets: func(s *MHEALTHSettings) []string { return []string{experiment.NameOf(s.Dataset)} },
	Check: func(s *MHEALTHSettings) error {
		activities, err := s.activities()
		if err != nil {
			return err
		}
		return s.check(mhealthKernels[s.Experiment-1], len(activities))
	},
	Memory: func(s *MHEALTHSettings) int64 { return mhealthMemory(len(s.Activities)) },
	Run:    runMHEALTH,
})

// activities returns the chosen activities, from 0, in increasing order.
func (s *MHEALTHSettings) activities() ([]int, error) {
	var activities []int
	for _, v := range s.Activities {
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
		return nil, fmt.Errorf("activities: %d given; at least two are required", len(activities))
	}
	slices.Sort(activities)
	return activities, nil
}

func runMHEALTH(ctx context.Context, t *experiment.Trial,
	s *MHEALTHSettings) (*experiment.Outcome[RecognitionMetrics], error) {
	activities, err := s.activities()
	if err != nil {
		return nil, err
	}
	samples, err := mhealthSamples(s.Dataset, t.Dataset(experiment.NameOf(s.Dataset)), activities)
	if err != nil {
		return nil, err
	}
	return recognise(ctx, t, &s.Recognition, samples, mhealthDivision, mhealthKernels[s.Experiment-1])
}

// mhealthSamples takes single readings of all channels for samples: the paper's
// samples have 23 features, as many as there are channels.
func mhealthSamples(data MHEALTHData, folder string, activities []int) (Samples, error) {
	var w *readers.Windows
	var err error
	if data == MHEALTH6 {
		w, err = readers.LoadMHEALTH6(folder)
		if err == nil {
			w = readings(w, readers.MHEALTH6Channels)
		}
	} else {
		w, err = readers.LoadMHEALTH(folder, 1, 1)
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
func readings(w *readers.Windows, channels int) *readers.Windows {
	out := &readers.Windows{Activities: w.Activities}
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
