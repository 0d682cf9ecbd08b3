package kahm

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset"
	"privkern/experiments/learn"
	"privkern/runner/experiment"
)

const (
	dataStress = "stress"

	splitAuto    = "auto"
	splitRandom  = "random"
	splitBlocked = "blocked"

	// historyDefault is the longest history, in tens, for which the stand-in
	// still has vectors of most of its subjects: 8429 at rest and 3838 under
	// stress of 29 subjects, 24 with both. The paper's 216 leaves those of one
	// subject with both, because the wristband loses beats.
	historyDefault = 30
	maxHistory     = 2000
)

// The classes of the stress data, which are the labels of the vectors.
const (
	classRest   = int(dataset.StressRest)
	classStress = int(dataset.StressTask)
)

func stress() *experiment.Experiment {
	params := []experiment.Param{
		count("history", historyDefault, 1, maxHistory, "R-R intervals before the current one in a vector; the paper has 216, some three minutes, for which the stand-in has hardly any vectors"),
		choice("split_scheme", splitAuto, "which half of each subject's vectors is for training: random, any half (the paper's words), although successive vectors share all intervals but one; blocked, the first half in time, and no test vector shares an interval with one for training; auto: random as published, blocked when corrected", splitAuto, splitRandom, splitBlocked),
		choice("data", dataOriginal, "what the machines model: the original vectors (Definition 7), vectors with noise (Definition 12), or vectors fabricated from those (Definition 15)", dataOriginal, dataNoisy, dataFabricated),
	}
	params = append(params, scaledMechanism("d is in seconds, as R-R intervals are")...)
	params = append(params, machineParams(5)...)
	params = append(params, pipelineParams()...)
	params = append(params, scoreParams()...)
	metrics := append(slices.Clone(classifierMetrics), matchingMetrics...)
	metrics = append(metrics,
		experiment.Metric{Name: "accuracy_majority", Doc: "accuracy of answering always with the more frequent class of the training vectors: what an accuracy is to be compared with"},
		experiment.Metric{Name: "overlap_fraction", Doc: "share of test vectors that have an interval in common with a training vector"},
		experiment.Metric{Name: "subjects", Doc: "subjects with a vector"},
		experiment.Metric{Name: "train_rest", Doc: "training vectors at rest"},
		experiment.Metric{Name: "train_stress", Doc: "training vectors during a stress task"},
		experiment.Metric{Name: "test_rest", Doc: "test vectors at rest"},
		experiment.Metric{Name: "test_stress", Doc: "test vectors during a stress task"},
		experiment.Metric{Name: "artefacts", Doc: "intervals that the impulse rejection filter finds fault with; no vector has one"},
	)
	return &experiment.Experiment{
		Name:     "kahm/stress",
		Version:  2,
		Summary:  "stress told from R-R intervals by the nearest machine, on the Stress-Predict stand-in for the paper's private data",
		Source:   "Kumar, Moser and Fischer, Definitions 7, 12 and 15, Section 6.2.3, Table 7; the data are those of Iqbal et al. 2022",
		Params:   params,
		Metrics:  metrics,
		Datasets: func(experiment.Params) []string { return []string{dataStress} },
		Check:    checkStress,
		Memory:   stressMemory,
		Run:      runStress,
	}
}

func checkStress(p experiment.Params) error {
	if n, h := p.Int("n"), p.Int("history"); n > h+1 {
		return fmt.Errorf("n = %d: a vector has only history + 1 = %d intervals; use a smaller n or a longer history", n, h+1)
	}
	return checkPipeline(p)
}

// splitSchemeOf resolves the parameter "split_scheme".
func splitSchemeOf(p experiment.Params) string {
	switch s := p.Text("split_scheme"); {
	case s != splitAuto:
		return s
	case p.Text("variant") == variantPublished:
		return splitRandom
	}
	return splitBlocked
}

func runStress(ctx context.Context, t *experiment.Trial) (*experiment.Result, error) {
	subjects, err := dataset.LoadStress(t.Dataset(dataStress))
	if err != nil {
		return nil, err
	}
	v := splitVectors(t, subjects)
	d, err := v.labelled(t.Params)
	if err != nil {
		return nil, err
	}
	result, err := runClassifier(ctx, t, d)
	if err != nil {
		return nil, err
	}
	train, test := v.train.counts(), v.test.counts()
	majority := classRest
	if train[classStress] > train[classRest] {
		majority = classStress
	}
	overlap := float64(v.overlapping) / float64(len(v.test.labels))
	for name, value := range map[string]float64{
		"accuracy_majority": float64(test[majority]) / float64(len(v.test.labels)),
		"overlap_fraction":  overlap,
		"subjects":          float64(v.subjects),
		"train_rest":        float64(train[classRest]),
		"train_stress":      float64(train[classStress]),
		"test_rest":         float64(test[classRest]),
		"test_stress":       float64(test[classStress]),
		"artefacts":         float64(v.artefacts),
	} {
		result.Metrics[name] = value
	}
	if v.overlapping > 0 {
		result.Warnings = append(result.Warnings, fmt.Sprintf("%.4g %% of the test vectors share intervals with training vectors, so that the accuracy says little of unseen data and the membership scores little of unseen vectors; split_scheme=blocked keeps them apart", 100*overlap))
	}
	if splitSchemeOf(t.Params) == splitBlocked && t.Params.Flag("score") {
		result.Warnings = append(result.Warnings, "training vectors are from the first half of each recording and test vectors from the second: the membership scores also count what changed in between, such as the heart rate")
	}
	if result.Metrics["accuracy"] <= result.Metrics["accuracy_majority"] {
		result.Warnings = append(result.Warnings, "the accuracy is not above that of answering always with the more frequent class (accuracy_majority)")
	}
	if result.Privacy != nil {
		copies := t.Params.Int("history") + 1
		result.Privacy.Notes = append(result.Privacy.Notes,
			fmt.Sprintf("an R-R interval stands in up to %d rows of the data matrix, one entry in each: by basic "+
				"composition a changed interval has (%[1]dε, %[1]dδ) only, and a subject's whole recording "+
				"far less", copies))
		result.Privacy.Refute("which intervals are artefacts, and so which rows there are, is computed from the " +
			"private intervals without noise")
	}
	return result, nil
}

// rrVectors are R-R data vectors with their classes.
type rrVectors struct {
	data    []float64
	labels  []int
	columns int // history+1
}

func (v *rrVectors) add(row []float64, label int) {
	v.data, v.labels, v.columns = append(v.data, row...), append(v.labels, label), len(row)
}

func (v *rrVectors) counts() (of [2]int) {
	for _, l := range v.labels {
		of[l]++
	}
	return of
}

// stressVectors are the vectors of all subjects.
type stressVectors struct {
	train, test rrVectors
	subjects    int // with a vector
	artefacts   int
	overlapping int // test vectors with an interval of a training vector
}

// splitVectors builds the vectors of every subject and halves them. Either half
// has every subject, as in the paper: no accuracy tells of people not seen.
func splitVectors(t *experiment.Trial, subjects []dataset.StressSubject) *stressVectors {
	out := new(stressVectors)
	history, scheme, rng := t.Params.Int("history"), splitSchemeOf(t.Params), t.Stream("split")
	for _, s := range subjects {
		s, artefacts := withoutArtefacts(s)
		out.artefacts += artefacts
		rows, labels := dataset.RRVectors(s, history)
		n := len(labels)
		if n == 0 {
			continue
		}
		out.subjects++
		ends := lastBeats(s, history)
		half := (n + 1) / 2
		trains := make([]bool, n)
		if scheme == splitRandom {
			for _, i := range rng.Perm(n)[:half] {
				trains[i] = true
			}
		} else {
			for i := range half {
				trains[i] = true
			}
		}
		// known are the intervals of training vectors.
		known := make([]bool, len(s.Beats))
		for i, end := range ends {
			if trains[i] {
				out.train.add(rows.RawRowView(i), labels[i])
				for b := end - history; b <= end; b++ {
					known[b] = true
				}
			}
		}
		for i, end := range ends {
			shares := slices.Contains(known[end-history:end+1], true)
			if trains[i] || shares && scheme == splitBlocked {
				continue
			}
			out.test.add(rows.RawRowView(i), labels[i])
			if shares {
				out.overlapping++
			}
		}
	}
	return out
}

// withoutArtefacts takes the label from beats whose interval the impulse
// rejection filter replaces, so that no vector has them, and returns their
// number. The paper excludes vectors with artefacts, too, so no replaced value
// is ever used.
func withoutArtefacts(s dataset.StressSubject) (clean dataset.StressSubject, artefacts int) {
	filtered, artefacts := dataset.RejectImpulses(s, dataset.ImpulseWindow, dataset.ImpulseThreshold)
	clean = dataset.StressSubject{Subject: s.Subject, Beats: slices.Clone(s.Beats)}
	for i := range clean.Beats {
		// A replaced interval differs: it was far from what replaces it.
		if filtered.Beats[i].Interval != s.Beats[i].Interval {
			clean.Beats[i].Label = dataset.StressUnlabelled
		}
	}
	return clean, artefacts
}

// lastBeats returns the index of the beat that each vector ends with.
func lastBeats(s dataset.StressSubject, history int) []int {
	numbered := dataset.StressSubject{Subject: s.Subject, Beats: slices.Clone(s.Beats)}
	for i := range numbered.Beats {
		numbered.Beats[i].Interval = float64(i)
	}
	rows, labels := dataset.RRVectors(numbered, history)
	ends := make([]int, len(labels))
	for i := range ends {
		ends[i] = int(rows.At(i, 0)) // the newest interval comes first
	}
	return ends
}

// labelled returns the vectors as a data set of the two classes, or an error
// where a class lacks vectors.
func (v *stressVectors) labelled(p experiment.Params) (*labelled, error) {
	train, test := v.train.counts(), v.test.counts()
	if slices.Contains(train[:], 0) || slices.Contains(test[:], 0) {
		advice := "use a shorter history"
		if p.Int("history") > historyDefault {
			advice += fmt.Sprintf(", such as %d", historyDefault)
		}
		return nil, fmt.Errorf("history = %d leaves %d vectors at rest and %d under stress for training, and %d and %d for testing; each must be at least one: %s",
			p.Int("history"), train[classRest], train[classStress], test[classRest], test[classStress], advice)
	}
	d := &labelled{
		classes: 2, test: mat.NewDense(len(v.test.labels), v.test.columns, v.test.data), testLabels: v.test.labels,
		trainPoints: len(v.train.labels), matching: true,
		unit: "one entry, in seconds, of the data matrix of the Stress-Predict stand-in (one copy of an R-R interval)",
	}
	samples := mat.NewDense(len(v.train.labels), v.train.columns, v.train.data)
	rows := make([][]int, d.classes)
	for i, l := range v.train.labels {
		rows[l] = append(rows[l], i)
	}
	for c := range rows {
		d.train = append(d.train, source{class: c, samples: learn.SelectRows(samples, rows[c])})
	}
	return d, nil
}
