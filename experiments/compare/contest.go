package compare

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"privkern/experiments/dataset/table"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// Contest is a list of methods that are compared on a table.
type Contest struct {
	Request
	Task method.Task
	// Entries are the methods that take part, in the order of [Candidates].
	Entries []*Entry
	// Apart are those that do not, with reasons.
	Apart []Apart
	// Notes tell the operator of choices that were made by looking at the data, and of settings that do less than they
	// seem to.
	Notes []string
	// Published is that the data are: nobody's secret is looked at, and nothing is to be released.
	Published bool

	inputs  string // as a release names them
	output  string
	unnamed bool // columns have levels that are not named, and count as constants
}

// Facts are all that a comparison takes from the data. A plan has them, so that results are judged again without the
// data, which may have changed or be elsewhere.
type Facts struct {
	Table
	Task        string   `json:"task"`
	InputsNamed string   `json:"inputs_named"` // as a release names them
	OutputNamed string   `json:"output_named"`
	Notes       []string `json:"notes"`
}

// Entry is a method that takes part in a comparison.
type Entry struct {
	Candidate
	Definition *experiment.Experiment
	// Params are those of its trials at each of the epsilons; of a method without privacy or a trivial rule that has no
	// epsilon there is one.
	Params []experiment.Params

	given map[string]any // the settings that the command line gives to the method
	// converted is the setting epsilon for that of the comparison; nil where they are the same.
	converted func(epsilon float64) (float64, error)
}

// RefusedError is a mistake in a request: no file of data is at fault.
type RefusedError struct{ Err error }

func (e *RefusedError) Error() string { return e.Err.Error() }

// Unwrap returns the mistake.
func (e *RefusedError) Unwrap() error { return e.Err }

// New settles a comparison of the user's data at a path: the task, the methods and their settings. It reads the
// columns of the data, as the operator may, unless the request has the facts. Its errors are those of reading and a
// [*RefusedError]; what a single method refuses is the reason why it does not take part.
func New(registry *experiment.Registry, r *Request, path string) (*Contest, error) {
	c := &Contest{Request: *r}
	if c.Text("inputs") == "" {
		c.Given = append(c.Given, Setting{"inputs", table.Every})
	}
	if c.Facts == nil {
		summary, err := table.Summarise(r.Text("dataset"), path, r.Reading, r.clamps())
		if err != nil {
			return nil, err
		}
		t, err := c.table(summary)
		if err != nil {
			return nil, &RefusedError{err}
		}
		c.Facts = &Facts{Table: *t, Task: taskNames[c.Task], InputsNamed: c.inputs, OutputNamed: c.output, Notes: c.Notes}
	}
	if err := c.enter(registry); err != nil {
		return nil, &RefusedError{err}
	}
	return c, nil
}

// table settles the task, the classes and the names of inputs.
func (c *Contest) table(s *table.Summary) (*Table, error) {
	output := c.Text("output")
	named := table.NameOf(output)
	column, err := columnOf(s, "output", output)
	if err != nil {
		return nil, err
	}
	text := column.Type == "text" || column.Type == "category"
	switch {
	case column.Problem == "":
	case text && table.LevelsOf(output) == nil:
		return nil, fmt.Errorf("output = %s: it is a text of %d different values, which are neither numbers nor classes; "+
			"name the classes that there are, output=%[1]s[a|b]", output, column.Distinct)
	case !text:
		return nil, c.unusable("output", output, column)
	}
	t := &Table{Rows: s.Rows - column.Missing - column.Infinite, Output: output, Numeric: column.Type == "number"}
	if float64(t.Rows)*HeldOut < 1 {
		return nil, fmt.Errorf("there are %d rows with a value of %s; a split that holds out %g of them needs %g or more",
			t.Rows, named, HeldOut, 1/HeldOut)
	}
	if err := c.checkColumns(s); err != nil {
		return nil, err
	}
	c.setInputs(s, t, named)
	if err := c.checkCounts(); err != nil {
		return nil, err
	}
	c.notePersons(s)
	return t, c.setTask(column, t)
}

// enter fills in the methods by the facts, or returns the reason why none takes part.
func (c *Contest) enter(registry *experiment.Registry) error {
	f := c.Facts
	task, err := choice("task", f.Task, taskNames)
	if err != nil {
		return err
	}
	c.Task, c.inputs, c.output, c.Notes = method.Task(slices.Index(taskNames, task)), f.InputsNamed, f.OutputNamed,
		slices.Clone(f.Notes)
	t := &f.Table
	if err := c.checkMethods(); err != nil {
		return err
	}
	if err := c.checkNames(registry); err != nil {
		return err
	}
	var settled []*Entry // those that no limit keeps out
	reasons := map[string]string{}
	for _, candidate := range Candidates() {
		if candidate.Task != c.Task || !c.wants(candidate) {
			continue
		}
		definition, err := registry.Lookup(candidate.Experiment)
		if err != nil {
			return err
		}
		e := &Entry{Candidate: candidate, Definition: definition}
		reason := c.limits(e, t)
		if reason == "" {
			reason = c.settle(e, t)
			settled = append(settled, e)
			reasons[e.Experiment] = reason
		}
		if reason != "" {
			c.Apart = append(c.Apart, Apart{Experiment: e.Experiment, Reason: reason})
			continue
		}
		c.Entries = append(c.Entries, e)
	}
	if err := c.checkTaken(settled, reasons); err != nil {
		return err
	}
	if !slices.ContainsFunc(c.Entries, func(e *Entry) bool { return e.Role == Private }) {
		return noMethod(c.Apart)
	}
	for _, a := range NotCompared() {
		if a.Task == c.Task && c.Methods == nil {
			c.Apart = append(c.Apart, a)
		}
	}
	c.noteSettings()
	return nil
}

// wants reports whether a candidate is asked for. Methods that are named have the trivial rules and those without
// privacy at their side.
func (c *Contest) wants(candidate Candidate) bool {
	return c.Methods == nil && !candidate.Named || candidate.Role != Private ||
		slices.Contains(c.Methods, candidate.Experiment)
}

// checkMethods refuses methods that there are not, or that are for another task.
func (c *Contest) checkMethods() error {
	var names []string
	others := map[string]string{}
	for _, candidate := range Candidates() {
		if candidate.Task == c.Task {
			names = append(names, candidate.Experiment)
		} else {
			others[candidate.Experiment] = "it is for a " + taskNames[candidate.Task]
		}
	}
	for _, a := range NotCompared() {
		others[a.Experiment] = cmp.Or(others[a.Experiment], a.Reason)
	}
	for _, name := range c.Methods {
		switch {
		case slices.Contains(names, name):
		case others[name] != "":
			return fmt.Errorf("methods: %s cannot be compared: %s", name, others[name])
		default:
			return fmt.Errorf("methods: %w", experiment.Unknown("method", name, names))
		}
	}
	return nil
}

// checkNames refuses settings that no method of the comparison has.
func (c *Contest) checkNames(registry *experiment.Registry) error {
	var known, ignored []string
	for _, candidate := range Candidates() {
		if candidate.Task != c.Task || !c.wants(candidate) {
			continue
		}
		e, err := registry.Lookup(candidate.Experiment)
		if err != nil {
			return err
		}
		known = slices.AppendSeq(known, maps.Keys(candidate.Renames))
		for _, name := range e.ParamNames() {
			if slices.Contains(candidate.Ignores, name) {
				ignored = append(ignored, name)
			} else {
				known = append(known, name)
			}
		}
	}
	for _, s := range c.Given {
		switch {
		case slices.Contains(known, s.Name):
		case slices.Contains(ignored, s.Name) && c.Methods == nil: // it is noted
		case slices.Contains(ignored, s.Name):
			return fmt.Errorf("%s means something else in the methods that are named than in a comparison, which leaves it at "+
				"its default there; leave it out", s.Name)
		default:
			return experiment.Unknown("setting", s.Name, append(known, "unit", "methods", "task"))
		}
	}
	return nil
}

// limits returns the reason why a method takes no part whose settings are right; empty for none.
func (c *Contest) limits(e *Entry, t *Table) (reason string) {
	if e.Keeps && t.Clamped {
		return "it keeps rows with values that count as constants, and the others leave them out"
	}
	if e.Limit != nil {
		if reason := e.Limit(t, c.Text("method")); reason != "" {
			return reason
		}
	}
	if _, err := e.Definition.Param("person"); err != nil && c.Unit == experiment.UnitPerson && e.Role == Private {
		return "it protects no person"
	}
	if _, err := e.Definition.Param(neighbours); err != nil && c.AddsRemoves() && e.Role == Private {
		return "its guarantee is for the substitution of a unit alone"
	}
	return ""
}

// settle makes the parameters of a method's trials, or returns the reason why it refuses the settings.
func (c *Contest) settle(e *Entry, t *Table) (reason string) {
	e.given = map[string]any{}
	for _, s := range c.Given {
		if name, ok := e.Renames[s.Name]; ok {
			e.given[name] = s.Text
		} else if _, err := e.Definition.Param(s.Name); err == nil && !slices.Contains(e.Ignores, s.Name) {
			e.given[s.Name] = s.Text
		}
	}
	if !c.every() {
		e.given["inputs"] = c.inputs
	}
	if c.Task == method.Classification {
		e.given["output"] = c.output
	}
	if e.Settings != nil {
		for name, text := range e.Settings(t) {
			e.given[name] = text
		}
	}
	if e.Epsilon != nil && !c.alone {
		if err := c.convert(e, t); err != nil {
			return err.Error()
		}
	}
	epsilons := c.Epsilons
	if _, err := e.Definition.Param("epsilon"); err != nil || e.Role == NonPrivate {
		epsilons = epsilons[:1]
	}
	for _, epsilon := range epsilons {
		params, err := e.At(epsilon, e.Fixed)
		if err != nil {
			e.Params = nil
			return strings.TrimPrefix(err.Error(), e.Experiment+": ")
		}
		e.Params = append(e.Params, params)
	}
	return ""
}

// convert settles the setting epsilon of a method whose noise is stated for one entry of a row, and notes it.
func (c *Contest) convert(e *Entry, t *Table) error {
	given := map[string]string{"delta": cmp.Or(c.Text("delta"), "0"), "rows_per_person": "1"}
	if c.Unit == experiment.UnitPerson {
		given["rows_per_person"] = cmp.Or(c.Text("rows_per_person"), "1")
	}
	delta, errDelta := strconv.ParseFloat(given["delta"], 64)
	rows, errRows := strconv.Atoi(given["rows_per_person"])
	if err := errors.Join(errDelta, errRows); err != nil {
		return err
	}
	entries := t.Inputs * rows
	e.converted = func(epsilon float64) (float64, error) { return e.Epsilon(epsilon, delta, entries) }
	for _, epsilon := range c.Epsilons {
		each, err := e.converted(epsilon)
		if err != nil {
			return err
		}
		c.Notes = append(c.Notes, fmt.Sprintf("%s has noise of epsilon = %.3g for each of %d entries, which compose to "+
			"(%s, %s) for all of them together", e.Experiment, each, entries, experiment.FormatNumber(epsilon),
			given["delta"]))
	}
	return nil
}

// At resolves the parameters of a trial at an epsilon, with further settings.
func (e *Entry) At(epsilon float64, more map[string]string) (_ experiment.Params, err error) {
	given := maps.Clone(e.given)
	for name, text := range more {
		given[name] = text
	}
	if e.converted != nil {
		if epsilon, err = e.converted(epsilon); err != nil {
			return nil, err
		}
	}
	if _, err := e.Definition.Param("epsilon"); err == nil {
		if given["epsilon"] = epsilon; e.Role == NonPrivate {
			given["epsilon"] = math.Inf(1)
		}
	}
	return e.Definition.Resolve(given)
}

// Ranked reports whether an entry is private and protects the unit of the comparison.
func (c *Contest) Ranked(e *Entry) bool {
	return e.Role == Private && (e.Protects == experiment.UnitRow ||
		e.Protects == experiment.UnitOutput && c.Unit == experiment.UnitOutput)
}

// protected names the part of the data that a method protects, which has a part of a row: the row, output or inputs, or
// those of a person where the unit is a person.
func (c *Contest) protected(part string) string {
	switch {
	case c.Unit != experiment.UnitPerson:
		return part
	case part == experiment.UnitRow:
		return c.Unit
	}
	return c.Unit + "'s " + strings.TrimSuffix(part, "s") + "s"
}

// ReleaseParams are the parameters of a release of a method at an epsilon, which names inputs and classes; an error is
// the reason why it refuses them.
func (c *Contest) ReleaseParams(e *Entry, epsilon float64) (experiment.Params, error) {
	given := maps.Clone(e.given)
	given["inputs"], given["epsilon"] = c.inputs, epsilon
	params, err := e.Definition.Resolve(given)
	if err == nil && e.Definition.CheckRelease != nil {
		err = e.Definition.CheckRelease(params)
	}
	return params, err
}

// ReleaseArguments are the arguments of the program that release a method at an epsilon into a file.
func (c *Contest) ReleaseArguments(e *Entry, epsilon float64) []string {
	args := []string{"trial", e.Experiment}
	for _, p := range e.Definition.Params {
		text, ok := e.given[p.Name].(string)
		switch p.Name {
		case "inputs":
			text, ok = c.inputs, true
		case "epsilon":
			text, ok = experiment.FormatNumber(epsilon), true
		}
		if ok {
			args = append(args, p.Name+"="+text)
		}
	}
	file := "release-" + experiment.FormatNumber(epsilon) + string(e.Definition.Written)
	return append(args, "--rng", "secure", "--release", file)
}

// longTitle is how many characters of inputs a title has.
const longTitle = 60

// Title names the comparison; it counts inputs whose list is long.
func (c *Contest) Title() string {
	inputs := c.Text("inputs")
	if utf8.RuneCountInString(inputs) > longTitle {
		inputs = fmt.Sprintf("%d inputs", len(table.SplitNames(inputs, "+,")))
	}
	return fmt.Sprintf("Private methods for %s: %s from %s", c.Text("dataset"), c.Text("output"), inputs)
}
