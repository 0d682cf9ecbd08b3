package compare

import (
	"slices"

	"privkern/experiments/method"
	"privkern/runner/experiment"
)

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
