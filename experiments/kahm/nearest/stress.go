package nearest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset/readers"
	"privkern/experiments/kahm/wide"
	"privkern/experiments/learn"
	"privkern/runner/experiment"
)

const dataStress = "stress"

// The classes of the stress data, which are the labels of the vectors.
const (
	classRest   = int(readers.StressRest)
	classStress = int(readers.StressTask)
)

// Stress returns the experiment kahm/stress.
var Stress = experiment.Of(experiment.Declaration[*StressSettings, StressMetrics]{
	Name:    "kahm/stress",
	Version: 4,
	Summary: "stress recognised in R-R intervals by the nearest machine, on the Stress-Predict stand-in for the " +
		"paper's private data",
	Source: "Kumar, Moser and Fischer, Definitions 7, 12 and 15, Section 6.2.3, Table 7; the data are those of " +
		"Iqbal et al. 2022",
	Datasets: func(*StressSettings) []string { return []string{dataStress} },
	Check:    checkStress,
	// That of the recordings, cut into vectors of some intervals: 216 and 123 MiB
	// were measured for 30 and 100.
	Memory:       func(s *StressSettings) int64 { return process + 10<<20 + 6200<<20/int64(s.History) },
	CountsShared: true,
	Rules: []experiment.Rule[*StressSettings]{wide.VariantRule(
		func(s *StressSettings) (*wide.Data, *wide.Pipeline) { return &s.Data, &s.Pipeline })},
	Run: runStress,
})

// checkStress refuses more directions than a vector has intervals.
func checkStress(s *StressSettings) error {
	if s.N > s.History+1 {
		return fmt.Errorf("n = %d: a vector has only history + 1 = %d intervals; use a smaller n or a longer history",
			s.N, s.History+1)
	}
	return s.Pipeline.Check()
}

// runStress evaluates a classifier of vectors of R-R intervals.
func runStress(ctx context.Context, t *experiment.Trial, s *StressSettings,
) (*experiment.Outcome[StressMetrics], error) {
	subjects, err := readers.LoadStress(t.Dataset(dataStress))
	if err != nil {
		return nil, err
	}
	v := splitVectors(s, t.Stream("split"), subjects)
	d, err := v.classData(s.History)
	if err != nil {
		return nil, err
	}
	r, err := evaluate(ctx, t, s.Data, &s.Pipeline, &s.Score, d)
	if err != nil {
		return nil, err
	}
	train, test := v.train.counts(), v.test.counts()
	majority := classRest
	if train[classStress] > train[classRest] {
		majority = classStress
	}
	vectors := float64(len(v.test.labels))
	m := StressMetrics{
		ClassifierMetrics: r.ClassifierMetrics, MatchingMetrics: r.MatchingMetrics,
		AccuracyMajority: float64(test[majority]) / vectors,
		OverlapFraction:  float64(v.overlapping) / vectors,
		Subjects:         float64(v.subjects),
		TrainRest:        float64(train[classRest]), TrainStress: float64(train[classStress]),
		TestRest: float64(test[classRest]), TestStress: float64(test[classStress]),
		Artefacts: float64(v.artefacts),
	}
	refuteStress(r.privacy, s.History+1)
	return &experiment.Outcome[StressMetrics]{Metrics: m, Series: r.series, Privacy: r.privacy,
		Warnings: append(r.warnings, stressWarnings(s, &m)...)}, nil
}

// stressWarnings returns warnings of effects of the split on accuracy and scores.
func stressWarnings(s *StressSettings, m *StressMetrics) (warnings []string) {
	if m.OverlapFraction > 0 {
		warnings = append(warnings, fmt.Sprintf("%.4g %% of the test vectors share intervals with training vectors, so "+
			"that the accuracy says little of unseen data and the membership scores little of unseen vectors; "+
			"split_scheme=blocked keeps them apart", 100*m.OverlapFraction))
	}
	if s.scheme() == BlockedSplit && s.Score.Score {
		warnings = append(warnings, "training vectors are from the first half of each recording and test vectors from "+
			"the second: the membership scores also count what changed in between, such as the heart rate")
	}
	if m.Accuracy <= m.AccuracyMajority {
		warnings = append(warnings, "the accuracy is not above that of answering always with the more frequent class "+
			"(accuracy_majority)")
	}
	return warnings
}

// refuteStress takes the guarantee away: artefacts are found in the private intervals,
// and each interval stands in several rows.
func refuteStress(p *experiment.Privacy, copies int) {
	if p == nil {
		return
	}
	p.Notes = append(p.Notes,
		fmt.Sprintf("an R-R interval stands in up to %d rows of the data matrix, one entry in each: by basic "+
			"composition a changed interval has (%[1]dε, %[1]dδ) only, and a subject's whole recording "+
			"far less", copies))
	p.Refute("which intervals are artefacts, and so which rows there are, is computed from the " +
		"private intervals without noise")
}

// rrVectors are R-R data vectors with their classes.
type rrVectors struct {
	data    []float64
	labels  []int
	columns int // history+1
}

// add appends a vector of history+1 intervals, in seconds.
func (v *rrVectors) add(row []float64, label int) {
	v.data, v.labels, v.columns = append(v.data, row...), append(v.labels, label), len(row)
}

// counts returns the number of vectors of each class.
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
// has every subject, as in the paper: no accuracy is that of people not seen.
// In the blocked scheme test vectors that reach back into the training half are dropped.
func splitVectors(settings *StressSettings, rng *rand.Rand, subjects []readers.StressSubject) *stressVectors {
	out := new(stressVectors)
	history, scheme := settings.History, settings.scheme()
	for _, s := range subjects {
		s, artefacts := withoutArtefacts(s)
		out.artefacts += artefacts
		rows, labels := readers.RRVectors(s, history)
		n := len(labels)
		if n == 0 {
			continue
		}
		out.subjects++
		ends := lastBeats(s, history)
		half := (n + 1) / 2
		trains := make([]bool, n)
		if scheme == RandomSplit {
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
			if trains[i] || shares && scheme == BlockedSplit {
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
func withoutArtefacts(s readers.StressSubject) (clean readers.StressSubject, artefacts int) {
	filtered, artefacts := readers.RejectImpulses(s, readers.ImpulseWindow, readers.ImpulseThreshold)
	clean = readers.StressSubject{Subject: s.Subject, Beats: slices.Clone(s.Beats)}
	for i := range clean.Beats {
		// A replaced interval differs: it was far from its replacement.
		if filtered.Beats[i].Interval != s.Beats[i].Interval {
			clean.Beats[i].Label = readers.StressUnlabelled
		}
	}
	return clean, artefacts
}

// lastBeats returns the index of the beat that each vector ends with.
// It builds the vectors once more from numbers in place of intervals, so that which
// beats make a vector is decided in one place.
func lastBeats(s readers.StressSubject, history int) []int {
	numbered := readers.StressSubject{Subject: s.Subject, Beats: slices.Clone(s.Beats)}
	for i := range numbered.Beats {
		numbered.Beats[i].Interval = float64(i)
	}
	rows, labels := readers.RRVectors(numbered, history)
	ends := make([]int, len(labels))
	for i := range ends {
		ends[i] = int(rows.At(i, 0)) // the newest interval comes first
	}
	return ends
}

// classData returns the vectors as a data set of the two classes, or an error
// where a class lacks vectors.
func (v *stressVectors) classData(history int) (*classData, error) {
	train, test := v.train.counts(), v.test.counts()
	if slices.Contains(train[:], 0) || slices.Contains(test[:], 0) {
		advice := "use a shorter history"
		if history > historyDefault {
			advice += fmt.Sprintf(", such as %d", historyDefault)
		}
		return nil, fmt.Errorf("history = %d leaves %d vectors at rest and %d under stress for training, and %d and %d "+
			"for testing; each must be at least one: %s",
			history, train[classRest], train[classStress], test[classRest], test[classStress], advice)
	}
	d := &classData{
		classes: 2, test: mat.NewDense(len(v.test.labels), v.test.columns, v.test.data), testLabels: v.test.labels,
		trainPoints: len(v.train.labels), matching: true,
		privacy: entry("one entry, in seconds, of the data matrix of the Stress-Predict stand-in (one copy of an R-R " +
			"interval)"),
	}
	samples := mat.NewDense(len(v.train.labels), v.train.columns, v.train.data)
	rows := make([][]int, d.classes)
	for i, l := range v.train.labels {
		rows[l] = append(rows[l], i)
	}
	for c := range rows {
		d.train = append(d.train, wide.Source{Class: c, Samples: learn.SelectRows(samples, rows[c])})
	}
	return d, nil
}
