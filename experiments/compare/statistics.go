package compare

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"privkern/experiments/learn"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// ratio is the number of test rows over that of training rows, n₂/n₁ of the corrected test.
const ratio = HeldOut / (1 - HeldOut)

// level is the probability of a wrong distinction.
const level = 0.05

// Mean is a score over splits.
type Mean struct {
	Mean float64 `json:"mean"`
	// StandardError is that of the mean over the splits, S/√k; nil for one split.
	StandardError *float64 `json:"standard_error"`
}

// meanOf returns the mean of scores, one a split, of which there is at least one.
func meanOf(scores []float64) Mean {
	if len(scores) == 1 {
		return Mean{Mean: scores[0]}
	}
	mean, variance := stat.MeanVariance(scores, nil)
	se := math.Sqrt(variance / float64(len(scores)))
	return Mean{mean, &se}
}

// correctedT returns the two-sided p-value of the corrected resampled t-test that two methods are alike, from the
// differences of their scores on the same splits, two or more, and the ratio of test rows to training rows (Nadeau and
// Bengio 2003, Section 3). Differences that are all equal are no chance, unless they are zero.
func correctedT(differences []float64, ratio float64) float64 {
	k := float64(len(differences))
	mean, variance := stat.MeanVariance(differences, nil)
	if variance == 0 {
		if mean == 0 {
			return 1
		}
		return 0
	}
	t := mean / math.Sqrt((1/k+ratio)*variance)
	return 2 * distuv.StudentsT{Sigma: 1, Nu: k - 1}.CDF(-math.Abs(t))
}

// holm returns p-values adjusted for their number by Holm's procedure: those below a level are distinctions of which
// with that probability at most any is wrong.
func holm(p []float64) []float64 {
	order := learn.AllRows(len(p))
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	out, most := make([]float64, len(p)), 0.0
	for rank, i := range order {
		most = max(most, min(1, float64(len(p)-rank)*p[i]))
		out[i] = most
	}
	return out
}

// Measure is a metric by which methods are compared.
type Measure struct {
	Name   string      `json:"name"`
	Task   method.Task `json:"-"`
	Larger bool        `json:"larger_is_better"`
	// trivial are metrics of the same trial with the score of the trivial rule, the first that there is; constant is its
	// score where it follows from the definition.
	trivial  []string
	constant *float64
	exact    string // metric of the score without noise; empty for none
}

// measures are those that can be chosen, the first of each task by default.
func measures() []Measure {
	return []Measure{
		{Name: "rmse", Task: method.Regression, trivial: []string{"rmse_centre"}, exact: "rmse_without_noise"},
		{Name: "mae", Task: method.Regression, trivial: []string{"mae_centre"}},
		{Name: "r2", Task: method.Regression, Larger: true, trivial: []string{"r2_centre"}},
		{Name: "accuracy", Task: method.Classification, Larger: true, trivial: []string{"accuracy_largest", "majority"},
			exact: "accuracy_without_noise"},
		{Name: "auc", Task: method.Classification, Larger: true, constant: new(0.5)},
		{Name: "balanced_accuracy", Task: method.Classification, Larger: true,
			trivial: []string{"balanced_accuracy_trivial"}},
		{Name: "log_loss", Task: method.Classification, trivial: []string{"log_loss_trivial"}},
	}
}

// MeasureOf returns the measure of a name, the first of the task for an empty one, or an
// [*experiment.UnknownError].
func MeasureOf(task method.Task, name string) (Measure, error) {
	all := slices.DeleteFunc(measures(), func(m Measure) bool { return m.Task != task })
	var names []string
	for _, m := range all {
		if m.Name == name || name == "" {
			return m, nil
		}
		names = append(names, m.Name)
	}
	return Measure{}, experiment.Unknown("measure of this task", name, names)
}

// better reports whether a is a better score than b.
func (m Measure) better(a, b float64) bool {
	if m.Larger {
		return a > b
	}
	return a < b
}

// metric returns the look-up of a metric in those of a trial.
func metric(name string) func(map[string]float64) (float64, bool) {
	return func(metrics map[string]float64) (float64, bool) { v, ok := metrics[name]; return v, ok }
}

// trivialOf returns the score of the trivial rule on the split of a trial with these metrics.
func (m Measure) trivialOf(metrics map[string]float64) (float64, bool) {
	if m.constant != nil {
		return *m.constant, true
	}
	for _, name := range m.trivial {
		if v, ok := metrics[name]; ok {
			return v, true
		}
	}
	return 0, false
}

// TrivialName names the trivial rule of a task.
func TrivialName(task method.Task) string {
	if task == method.Regression {
		return "always the middle"
	}
	return "always one class"
}
