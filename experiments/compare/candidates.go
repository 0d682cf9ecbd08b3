package compare

import (
	"fmt"
	"math"
	"slices"

	"privkern/experiments/dataset/table"
	"privkern/experiments/mechanism/loss"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// HeldOut is the share of rows, or of persons, that a split holds out.
const HeldOut = 0.2

// Role is the part of a candidate in a comparison.
type Role int

// The roles.
const (
	Private    Role = iota // it is ranked
	Trivial                // a rule that looks at no input: what a method must be better than
	NonPrivate             // it protects nothing: what privacy costs
)

// Candidate is a method that takes part in comparisons.
type Candidate struct {
	Experiment string // its name
	Task       method.Task
	// Protects is the part of a row that its guarantee covers: [experiment.UnitRow], [experiment.UnitOutput] or
	// UnitInputs.
	Protects string
	Role     Role
	// Fixed are settings that make a trial one common split with [HeldOut] of the rows.
	Fixed map[string]string
	// Ignores names settings of a comparison that mean something else in this method, and Renames has those that have
	// another name in it.
	Ignores []string
	Renames map[string]string
	// Limit returns the reason why the method is not tried on a table, with a setting named method; empty where it is, and
	// nil for any table.
	Limit func(t *Table, method string) string
	// Keeps is that the method keeps rows with values that count as constants, which others leave out.
	Keeps bool
	// Settings returns settings that depend on the table; nil for none.
	Settings func(*Table) map[string]string
	// Named has the method take part only where the request names it.
	Named bool
	// Epsilon returns the setting epsilon with which the method has (ε, δ) for the unit of the comparison, of which an
	// input stands in a number of entries; nil where the setting is that ε.
	Epsilon func(epsilon, delta float64, entries int) (float64, error)
}

// UnitInputs is the unit of a guarantee for all inputs of a row, whose class is public.
const UnitInputs = "inputs"

// Table is the public shape of the data that are compared on, and the classes of the output.
type Table struct {
	Rows   int `json:"rows"`
	Inputs int `json:"inputs"`
	// Output is the column that is predicted, and Classes are its classes, in a classification.
	Output  string   `json:"output"`
	Classes []string `json:"classes"`
	Numeric bool     `json:"numeric"` // whether the output is of numbers
	// Clamped is whether values count as constants: infinite numbers, and levels that are not named.
	Clamped bool `json:"clamped"`
}

// onInterface are the settings of a method of package method.
func onInterface() map[string]string { return map[string]string{"splits": "common", "repeats": "1"} }

// onFolds are the settings of a cross-validation of cloaking.
func onFolds() map[string]string {
	return map[string]string{"fold_scheme": "common", "folds": "5", "draws": "1"}
}

// onHulls are the settings of a judged classifier of fabricated rows, without its score of membership inference. An
// entry of a row that is substituted moves by its whole range, so that d is 1.
func onHulls() map[string]string {
	return map[string]string{"splits": "common", "data": "fabricated", "score": "false", "d": "1"}
}

// Entries returns the ε with which that number of entries together have (ε, δ)-differential privacy where each has
// Laplace noise of an ε of its own: by the composition of their privacy losses ([loss.Epsilon]), which is basic without
// δ.
func Entries(each, delta float64, entries int) (float64, error) {
	return loss.Epsilon([]experiment.Loss{{Law: "laplace", Size: each, Times: entries}}, delta)
}

// entryEpsilon returns the largest ε₀, up to a relative 1e-9, so that Laplace noise of ε₀ on each entry is
// (ε, δ)-differentially private for that number of entries together ([Entries]). Basic composition has ε/entries.
func entryEpsilon(epsilon, delta float64, entries int) (float64, error) {
	low, high := epsilon/float64(entries), epsilon
	for high > low*(1+1e-9) {
		middle := math.Sqrt(low * high)
		spent, err := Entries(middle, delta, entries)
		if err != nil {
			return 0, err
		}
		if spent <= epsilon {
			low = middle
		} else {
			high = middle
		}
	}
	return low, nil
}

// Candidates are the methods that comparisons know. A further method of package method is one entry.
func Candidates() []Candidate {
	return slices.Concat(regressions(), classifications())
}

// lengthscale is in the units of the inputs in a comparison, and a factor of their ranges or deviations in some of the
// methods.
const lengthscale = "lengthscale"

func regressions() []Candidate {
	of := func(name string, role Role, protects string, ignores ...string) Candidate {
		return Candidate{Experiment: name, Task: method.Regression, Protects: protects, Role: role, Fixed: onInterface(),
			Ignores: ignores}
	}
	return []Candidate{
		of("dpgp/regression", Private, experiment.UnitRow),
		of("baseline/ridge", Private, experiment.UnitRow, lengthscale),
		of("baseline/histogram", Private, experiment.UnitRow),
		of("baseline/ebm-regression", Private, experiment.UnitRow),
		of("baseline/sgd-regression", Private, experiment.UnitRow),
		{Experiment: "cloaking/regression", Task: method.Regression, Protects: experiment.UnitOutput, Fixed: onFolds(),
			Limit: cubic, Keeps: true},
		of("baseline/label-noise", Private, experiment.UnitOutput),
		of("baseline/exact-regression", NonPrivate, experiment.UnitRow),
	}
}

func classifications() []Candidate {
	of := func(name string, role Role, protects string, ignores ...string) Candidate {
		return Candidate{Experiment: name, Task: method.Classification, Protects: protects, Role: role,
			Fixed: onInterface(), Ignores: append(ignores, "low", "high")}
	}
	hull := of("kahm/classifier", Private, UnitInputs)
	hull.Fixed, hull.Named, hull.Keeps, hull.Epsilon = onHulls(), true, true, entryEpsilon
	hull.Renames = map[string]string{"input_low": "low", "input_high": "high"}
	return []Candidate{
		of("dpgp/classification", Private, experiment.UnitRow),
		of("baseline/logistic", Private, experiment.UnitRow, lengthscale),
		of("baseline/forest", Private, experiment.UnitRow),
		of("baseline/ebm-classification", Private, experiment.UnitRow),
		of("baseline/sgd-classification", Private, experiment.UnitRow),
		of("baseline/class-means", Private, experiment.UnitRow),
		{Experiment: "cloaking/classification", Task: method.Classification, Protects: experiment.UnitOutput,
			Fixed: onFolds(), Limit: twoClasses, Keeps: true, Settings: ends, Ignores: []string{"low", "high"}},
		of("baseline/randomised-response", Private, experiment.UnitOutput, lengthscale),
		hull,
		of("baseline/largest-class", Trivial, experiment.UnitRow),
		of("baseline/exact-classification", NonPrivate, experiment.UnitRow),
	}
}

// The most rows of a Gaussian process with a full covariance, of which a trial takes a minute, and of a sparse one.
const (
	mostFull   = 4000
	mostSparse = 10_000
)

// cubic limits the rows of a method whose time grows with their cube, unless it is sparse.
func cubic(t *Table, method string) string {
	switch {
	case t.Rows > mostSparse:
		return fmt.Sprintf("it takes at most %d rows, and there are %d", mostSparse, t.Rows)
	case t.Rows > mostFull && method != "sparse":
		return fmt.Sprintf("its time grows with the cube of the rows, of which there are %d: at most %d are compared, and "+
			"with method=sparse %d", t.Rows, mostFull, mostSparse)
	}
	return ""
}

// twoClasses limits a method to two classes.
func twoClasses(t *Table, _ string) string {
	if n := len(t.Classes); n != 2 {
		return fmt.Sprintf("it tells two classes apart, and there are %d", n)
	}
	return ""
}

// ends names the two classes of numbers by the settings low and high, where the output does not name them.
func ends(t *Table) map[string]string {
	if !t.Numeric || table.LevelsOf(t.Output) != nil {
		return nil
	}
	return map[string]string{"output": t.Output, "low": t.Classes[0], "high": t.Classes[1]}
}

// Apart is a method for own data that takes no part in comparisons, with the reason.
type Apart struct {
	Experiment string      `json:"method"`
	Reason     string      `json:"reason"`
	Task       method.Task `json:"-"`
}

// NotCompared are the methods whose protection is of another kind.
func NotCompared() []Apart {
	return []Apart{
		{Experiment: "privacygp/regression", Task: method.Regression,
			Reason: "its noise keeps a variance at sensitive places, and no (epsilon, delta) holds"},
		{Experiment: "kahm/classifier", Task: method.Classification,
			Reason: "its epsilon protects one entry of a row, and its classes are public; methods= that names it compares " +
				"it at the epsilon of all entries of a row"},
		{Experiment: "multikernel/learn", Task: method.Classification,
			Reason: "it compresses rows, for which no (epsilon, delta) holds"},
	}
}
