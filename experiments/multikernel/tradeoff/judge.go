package tradeoff

import (
	"context"
	"fmt"
	"slices"

	"privkern/experiments/learn"
	"privkern/experiments/method"
	"privkern/experiments/multikernel/recognise"
	"privkern/runner/experiment"
)

// judge measures the recognition of each column from the features of the test rows.
func (l *learner) judge(ctx context.Context, m *Metrics, f *recognise.Features, train, test recognise.Samples,
	fold learn.Fold) error {
	columns := append(slices.Clone(l.data.utilities), l.data.privacy)
	names := metricNames(columns)
	last := len(columns) - 1
	m.AUC, m.Balanced, m.BalancedBaseline = map[string]float64{}, map[string]float64{}, map[string]float64{}
	m.Confusion, m.LogLoss, m.LogLossBaseline = map[string]float64{}, map[string]float64{}, map[string]float64{}
	rows, all := fold.Train, f
	f.MachineRows = l.settings.machineRows(len(rows))
	if few := recognise.DrawnRows(l.cells(rows), f.MachineRows, l.Stream("rows of machines")); few != nil {
		l.warnings = append(l.warnings, fmt.Sprintf("support vector machines, that of the adversary too, learn from %d of "+
			"the %d training rows, drawn at random; one that learns from all may tell more", len(few), len(rows)))
		f = &recognise.Features{Train: learn.SelectRows(all.Train, few), Test: all.Test}
		rows = learn.Select(rows, few)
	}
	parts := l.innerParts(rows, "calibration of machines")
	if last > 1 {
		m.Utilities, m.UtilityBaselines = map[string]float64{}, map[string]float64{}
	}
	for i, u := range columns[:last] {
		of, tested := learn.Select(u.labels, rows), learn.Select(u.labels, fold.Test)
		penalty, err := l.penalty(f, of, len(fold.Train))
		if err != nil {
			return fmt.Errorf("utility %s: %w; or give c", u.name, err)
		}
		if i == 0 {
			m.C = penalty
		}
		percent, err := l.machine(m, f, of, tested, penalty, u, names[i], parts)
		if err != nil {
			return fmt.Errorf("utility %s: %w", u.name, err)
		}
		base := baseline(learn.Select(u.labels, fold.Train), tested)
		m.Utility += percent / float64(last)
		m.UtilityBaseline += base / float64(last)
		if last > 1 {
			m.Utilities[names[i]], m.UtilityBaselines[names[i]] = percent, base
		}
	}
	var err error
	hidden := names[last]
	if m.Privacy, err = l.machine(m, f, learn.Select(l.data.privacy.labels, rows), test.Privacy, m.C, l.data.privacy,
		hidden, parts); err != nil {
		return fmt.Errorf("privacy_percent: %w", err)
	}
	m.PrivacyBaseline = baseline(train.Privacy, test.Privacy)
	l.step("classes recognised")
	d, err := recognise.Disclose(ctx, l.Trial, all, train, test, l.step)
	m.AdversarySVM, m.AdversaryNeighbours, m.AdversaryForest, m.Adversary = d.SVM, d.Neighbours, d.Forest, d.Strongest()
	m.AdversaryPooled = map[string]float64{hidden: d.Person, hidden + "_in_utility": d.Activity}
	l.warnUseless(m)
	return err
}

// cells numbers the combinations of all classes of rows.
func (l *learner) cells(rows []int) []int {
	cells, count := learn.Select(l.data.joint, rows), len(l.data.privacy.classes)
	for i, row := range rows {
		cells[i] = cells[i]*count + l.data.privacy.labels[row]
	}
	return cells
}

// metricNames returns the parts of metric names for columns.
func metricNames(columns []column) []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.column
	}
	return method.MetricNames(names)
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

// penalty returns the C of a machine on features of kernels of trace one over that many rows.
func (l *learner) penalty(f *recognise.Features, labels []int, rows int) (float64, error) {
	if !l.settings.C.Is(recognise.CrossValidated) {
		return l.settings.C.Number, nil
	}
	grid := slices.Clone(penaltiesPerRow)
	for i := range grid {
		grid[i] *= float64(rows)
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

// machine returns the share of test rows whose class of a column a machine recognises, in per cent, and
// sets its measures. parts are those of the training rows in which its probabilities are fitted.
func (l *learner) machine(m *Metrics, f *recognise.Features, train, test []int, c float64, of column, name string,
	parts []learn.Fold) (float64, error) {
	options := learn.SVMOptions{C: c}
	machine, err := learn.TrainSVM(f.Train, train, options)
	if err != nil {
		return 0, err
	}
	got := machine.Predict(f.Test)
	judged := &method.Classified{Classes: of.classes, Truth: test, Predicted: got,
		Scores: machine.Scores(f.Test, len(of.classes)), Trained: make([]int, len(of.classes))}
	for _, class := range train {
		judged.Trained[class]++
	}
	if coupling, err := method.Couple(f.Train, train, parts, options); err != nil {
		l.warnings = append(l.warnings, fmt.Sprintf("there is no log_loss_%s, for which parts of the training rows are held "+
			"out: %v", name, err))
	} else {
		judged.Probabilities = coupling.Probabilities(machine.Decisions(f.Test), len(of.classes))
	}
	measured := judged.Measures()
	if measured.AUC != nil {
		m.AUC[name] = *measured.AUC
	}
	m.Balanced[name], m.BalancedBaseline[name] = 100**measured.Balanced, 100**measured.BalancedTrivial
	if measured.LogLoss != nil {
		m.LogLoss[name] = *measured.LogLoss
	}
	m.LogLossBaseline[name] = *measured.LogLossTrivial
	for pair, n := range measured.Confusion {
		m.Confusion[name+"_"+pair] = n
	}
	return 100 * learn.Accuracy(got, test), nil
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
