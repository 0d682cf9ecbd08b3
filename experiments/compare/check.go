package compare

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"privkern/experiments/dataset"
	"privkern/experiments/dataset/table"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// columnOf returns the column that a setting names, with levels or without.
func columnOf(s *table.Summary, setting, text string) (*table.ColumnSummary, error) {
	named := table.NameOf(text)
	var names []string
	for i := range s.Columns {
		if s.Columns[i].Name == named {
			return &s.Columns[i], nil
		}
		names = append(names, s.Columns[i].Name)
	}
	return nil, fmt.Errorf("%s = %s: %w", setting, text, experiment.Unknown("column", named, names))
}

// clamps reports whether invalid values count as constants.
func (r *Request) clamps() bool { return r.Text("invalid") == "clamp" }

// unusable refuses a column with a problem, and names the file and the way round.
func (c *Contest) unusable(setting, text string, column *table.ColumnSummary) error {
	file, _ := dataset.FilePath(c.Text("dataset"))
	remedy := ""
	if column.Infinite > 0 {
		remedy = "; with invalid=clamp an infinite number counts as a public constant"
	}
	return fmt.Errorf("%s = %s: %s: %s%s", setting, text, file, column.Problem, remedy)
}

// checkColumns refuses columns that no trial could use: every one would fail alike.
func (c *Contest) checkColumns(s *table.Summary) error {
	if err := c.checkLevels(s, "output", c.Text("output")); err != nil {
		return err
	}
	output, person := table.NameOf(c.Text("output")), table.Unquoted(c.Text("person"))
	if inputs := c.Text("inputs"); c.every() {
		for i := range s.Columns { // a trial reads all others
			if column := &s.Columns[i]; column.Infinite > 0 && !c.clamps() && column.Name != output && column.Name != person {
				return c.unusable("inputs", column.Name, column)
			}
		}
	} else {
		for _, text := range table.SplitNames(inputs, "+,") {
			column, err := columnOf(s, "inputs", text)
			switch {
			case err != nil:
				return err
			case column.Name == output:
				return fmt.Errorf("inputs = %s: %s is the output; leave it out", inputs, text)
			case column.Name == person:
				return fmt.Errorf("inputs = %s: %s names the persons; leave it out", inputs, text)
			case column.Problem != "" && table.LevelsOf(text) == nil:
				return c.unusable("inputs", text, column)
			}
			if err := c.checkLevels(s, "inputs", text); err != nil {
				return err
			}
		}
	}
	return c.checkPersons(s, output)
}

// every reports whether all columns of numbers are inputs.
func (r *Request) every() bool { return strings.TrimSpace(r.Text("inputs")) == table.Every }

// checkLevels refuses levels of a column that are not all of those of the data, unless others count as a constant.
func (c *Contest) checkLevels(s *table.Summary, setting, text string) error {
	column, err := columnOf(s, setting, text)
	levels := table.LevelsOf(text)
	if err != nil || levels == nil {
		return err
	}
	other := slices.IndexFunc(column.Levels, func(level string) bool { return !slices.Contains(levels, level) })
	more := column.Type == "number" && column.Distinct > len(levels)
	switch {
	case other < 0 && !more:
		return nil
	case c.clamps():
		c.unnamed = true
		return nil
	case other >= 0:
		return fmt.Errorf("%s = %s: the column has %q, too; name all that there are, or use invalid=clamp", setting, text,
			column.Levels[other])
	}
	return fmt.Errorf("%s = %s: the column has %d different numbers; name all of them, or use invalid=clamp", setting,
		text, column.Distinct)
}

// checkPersons refuses a column that names no persons, or too few, and rows of them of which it is not said how many
// are used.
func (c *Contest) checkPersons(s *table.Summary, output string) error {
	rows := c.Text("rows_per_person")
	if c.Unit != experiment.UnitPerson {
		if rows != "" {
			return fmt.Errorf("rows_per_person = %s: no persons are named; add person=COLUMN, or leave it out", rows)
		}
		return nil
	}
	text := c.Text("person")
	column, err := columnOf(s, "person", text)
	switch {
	case err != nil:
		return err
	case column.Name == output:
		return fmt.Errorf("person = %s: it is the output; name the column that names the person of a row", text)
	case column.Missing > 0:
		return fmt.Errorf("person = %s: %d of %d rows have no value, and each needs one", text, column.Missing, s.Rows)
	case !column.Many && float64(column.Distinct)*HeldOut < 1:
		return fmt.Errorf("person = %s: it names %d persons; a split that holds out %g of them needs %g or more", text,
			column.Distinct, HeldOut, 1/HeldOut)
	case rows == "" && severalRows(s, column, 1):
		return errors.New("rows_per_person is not given, and persons have several rows: name how many of each are used; " +
			"others are left out, and the noise grows with it")
	}
	return nil
}

// severalRows reports whether persons have more than that number of rows, as far as a summary shows.
func severalRows(s *table.Summary, column *table.ColumnSummary, most int) bool {
	return column.Identifier != nil && column.Identifier.Most > most || !column.Many && s.Rows > most*column.Distinct
}

// checkCounts refuses lists of numbers that are not one for each input, also of inputs=*, whose columns are known here.
func (c *Contest) checkCounts() error {
	inputs := table.Spec{Dataset: c.Text("dataset"), Inputs: c.inputs}.Asked()
	for _, name := range []string{"input_low", "input_high", lengthscale} {
		p := experiment.Param{Name: name, Kind: experiment.Numbers}
		if numbers, err := p.Convert(c.Text(name)); err == nil { // a word is for the methods
			if _, err := method.ForInputs(name, numbers.([]float64), inputs); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkTaken refuses a setting that is wrong in every method that has it, for one reason. A method that refuses alone
// takes no part.
func (c *Contest) checkTaken(entries []*Entry, reasons map[string]string) error {
	for _, s := range c.Given {
		var all []string
		for _, e := range entries {
			if _, err := e.Definition.Param(s.Name); err == nil && !slices.Contains(e.Ignores, s.Name) {
				all = append(all, reasons[e.Experiment])
			}
		}
		if all = slices.Compact(all); len(all) == 1 && all[0] != "" {
			return errors.New(all[0])
		}
	}
	return nil
}

// noMethod lists the reasons why no method takes part, each once.
func noMethod(apart []Apart) error {
	var reasons []string
	methods := map[string][]string{}
	for _, a := range apart {
		if methods[a.Reason] == nil {
			reasons = append(reasons, a.Reason)
		}
		methods[a.Reason] = append(methods[a.Reason], a.Experiment)
	}
	for i, reason := range reasons {
		reasons[i] = strings.Join(methods[reason], ", ") + ": " + reason
	}
	return fmt.Errorf("no method can be compared:\n  %s", strings.Join(reasons, "\n  "))
}

// neighbours is the setting of the relation of data that a guarantee is for, which is substitution in methods without
// it, and addRemove its other value.
const neighbours, addRemove = "neighbours", "add-remove"

// AddsRemoves reports whether the guarantees that are compared are for a unit that is there or not.
func (c *Contest) AddsRemoves() bool { return c.Text(neighbours) == addRemove }

// noteSettings notes settings that do not go to all methods that have one of their name, and a relation for which there
// is no release.
func (c *Contest) noteSettings() {
	for _, s := range c.Given {
		var methods []string
		for _, e := range c.Entries {
			if _, err := e.Definition.Param(s.Name); err == nil && slices.Contains(e.Ignores, s.Name) {
				methods = append(methods, e.Experiment)
			}
		}
		if methods != nil {
			c.Notes = append(c.Notes, fmt.Sprintf("%s does not go to %s, where it means something else", s.Name,
				strings.Join(methods, ", ")))
		}
	}
	if c.AddsRemoves() {
		c.Notes = append(c.Notes, "neighbours=add-remove is for judging: a release refuses it, and none is printed")
	}
}

// notePersons notes that rows are left out, where persons have more than are used.
func (c *Contest) notePersons(s *table.Summary) {
	used, err := strconv.Atoi(c.Text("rows_per_person"))
	if c.Unit != experiment.UnitPerson || err != nil {
		return
	}
	if column, err := columnOf(s, "person", c.Text("person")); err == nil && severalRows(s, column, used) {
		c.Notes = append(c.Notes, fmt.Sprintf("some persons have more rows than rows_per_person=%d: that number of each is "+
			"drawn, and others are left out, here and in a release", used))
	}
}
