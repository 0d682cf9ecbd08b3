package tradeoff

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"privkern/experiments/learn"
	"privkern/experiments/multikernel/recognise"
	"privkern/runner/experiment"
)

// judge measures the recognition of each column from the features of the test rows.
func (l *learner) judge(ctx context.Context, m *Metrics, f *recognise.Features, train, test recognise.Samples,
	fold learn.Fold) error {
	c, names := 0.0, metricNames(l.data.utilities)
	several := len(names) > 1
	if several {
		m.Utilities, m.UtilityBaselines = map[string]float64{}, map[string]float64{}
	}
	for i, u := range l.data.utilities {
		of, tested := choose(u.labels, fold.Train), choose(u.labels, fold.Test)
		penalty, err := l.penalty(f, of)
		if err != nil {
			return fmt.Errorf("utility %s: %w; or give c", u.name, err)
		}
		if i == 0 {
			c = penalty
		}
		percent, err := l.machine(f, of, tested, penalty)
		if err != nil {
			return fmt.Errorf("utility %s: %w", u.name, err)
		}
		base := baseline(of, tested)
		m.Utility += percent / float64(len(names))
		m.UtilityBaseline += base / float64(len(names))
		if several {
			m.Utilities[names[i]], m.UtilityBaselines[names[i]] = percent, base
		}
	}
	m.C = c
	var err error
	if m.Privacy, err = l.machine(f, train.Privacy, test.Privacy, c); err != nil {
		return fmt.Errorf("privacy_percent: %w", err)
	}
	m.PrivacyBaseline = baseline(train.Privacy, test.Privacy)
	l.step("classes recognised")
	d, err := recognise.Disclose(ctx, l.Trial, f, train, test, l.step)
	m.AdversarySVM, m.AdversaryActivity, m.AdversaryPerson = d.SVM, d.Activity, d.Person
	m.AdversaryNeighbours, m.AdversaryForest, m.Adversary = d.Neighbours, d.Forest, d.Strongest()
	l.warnUseless(m)
	return err
}

// warnUseless warns where the features recognise no more than the largest class as the answer.
func (l *learner) warnUseless(m *Metrics) {
	if m.Utility <= m.UtilityBaseline {
		l.warnings = append(l.warnings, fmt.Sprintf("computed but suspect: the features tell the utility (%.3g %%) no "+
			"better than always the largest class (%.3g %%)", m.Utility, m.UtilityBaseline))
	}
}

// penaltiesPerRow are the candidates for C, divided by the number of training rows: kernels of trace
// one have entries of about 1/N.
var penaltiesPerRow = []float64{.1, 1, 10, 100}

// penalty returns the C of a machine.
func (l *learner) penalty(f *recognise.Features, labels []int) (float64, error) {
	if !l.settings.C.Is(recognise.CrossValidated) {
		return l.settings.C.Number, nil
	}
	grid := slices.Clone(penaltiesPerRow)
	for i := range grid {
		grid[i] *= float64(len(labels))
	}
	choice, err := learn.CrossValidateC(f.Train, labels, grid, penaltyFolds, l.Stream("cross-validation of C"),
		learn.SVMOptions{})
	if err != nil {
		return 0, err
	}
	if choice.C == grid[len(grid)-1] {
		l.warnings = append(l.warnings, fmt.Sprintf("cross-validation of C: the best is %g, the largest that was tried",
			choice.C))
	}
	return choice.C, nil
}

// penaltyFolds trains on two of three rows of a class.
const penaltyFolds = 3

// machine returns the share of test rows whose class a machine recognises, in per cent.
func (l *learner) machine(f *recognise.Features, train, test []int, c float64) (float64, error) {
	m, err := learn.TrainSVM(f.Train, train, learn.SVMOptions{C: c})
	if err != nil {
		return 0, err
	}
	return 100 * learn.Accuracy(m.Predict(f.Test), test), nil
}

// baseline returns the share of test rows in the largest class of the training rows, the first of
// equal ones, in per cent.
func baseline(train, test []int) float64 {
	counts := map[int]int{}
	for _, l := range train {
		counts[l]++
	}
	largest := train[0]
	for l, n := range counts {
		if n > counts[largest] || n == counts[largest] && l < largest {
			largest = l
		}
	}
	right := 0
	for _, l := range test {
		if l == largest {
			right++
		}
	}
	return 100 * float64(right) / float64(len(test))
}

// metricNames returns the parts of metric names for columns: small letters, digits and _, and a
// number where two would be equal.
func metricNames(columns []column) []string {
	var names []string
	for _, c := range columns {
		name := strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
				return r
			}
			return '_'
		}, strings.ToLower(c.name))
		unique := name
		for i := 2; slices.Contains(names, unique); i++ {
			unique = fmt.Sprintf("%s_%d", name, i)
		}
		names = append(names, unique)
	}
	return names
}

// means accumulates the metrics of folds.
type means struct{ of []*Metrics }

func (s *means) add(m *Metrics) { s.of = append(s.of, m) }

// mean returns the mean of each metric over the folds.
func (s *means) mean() *Metrics {
	if len(s.of) == 1 {
		return s.of[0]
	}
	sums := map[string]float64{}
	for _, m := range s.of {
		for name, v := range experiment.MetricValues(*m) {
			sums[name] += v / float64(len(s.of))
		}
	}
	return experiment.MetricsIn[Metrics](sums)
}

// privacyOf states that there is no guarantee.
func (d *data) privacyOf() *experiment.Privacy {
	hidden := d.privacy.column
	out := &experiment.Privacy{
		Unit:      "the class of " + hidden + " that a row is of",
		Mechanism: "compression of kernels, without noise (Chanyaswad, Chang and Kung 2017)",
		Notes: []string{
			"adversary_percent is what some classifiers read off the features of " + hidden + "; it is no bound on others",
			"what the features reveal of other columns is not measured",
		},
	}
	out.Withdraw("the kernels are compressed without noise, and there is no (epsilon, delta)")
	return out
}
