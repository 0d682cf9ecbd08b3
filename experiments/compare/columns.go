package compare

import (
	"fmt"
	"slices"
	"strings"

	"privkern/experiments/dataset/table"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// setInputs counts the inputs, and names those of * and the levels of categories.
func (c *Contest) setInputs(s *table.Summary, t *Table, output string) {
	c.inputs = c.Text("inputs")
	var names []string
	if c.every() {
		for _, column := range s.Columns {
			if column.Input && column.Name != output && column.Name != table.Unquoted(c.Text("person")) {
				names = append(names, table.QuoteName(column.Name))
			}
		}
	} else {
		for _, text := range table.SplitNames(c.inputs, "+,") {
			names = append(names, c.levelled(s, text))
		}
	}
	if inputs := strings.Join(names, "+"); !slices.Equal(names, table.SplitNames(c.inputs, "+,")) {
		c.inputs = inputs
	}
	of := table.Spec{Dataset: c.Text("dataset"), Inputs: c.inputs}
	t.Inputs = table.Width(of.Asked())
	t.Clamped = c.unnamed || slices.ContainsFunc(s.Columns, func(column table.ColumnSummary) bool {
		return column.Infinite > 0 && (column.Name == output || slices.Contains(of.Names(), column.Name))
	})
}

// levelled is an input as it is written, with the levels of its column where that is a category and none are written.
func (c *Contest) levelled(s *table.Summary, written string) string {
	name := table.NameOf(written)
	i := slices.IndexFunc(s.Columns, func(column table.ColumnSummary) bool { return column.Name == name })
	if i < 0 || table.LevelsOf(written) != nil || s.Columns[i].Type != table.Category.String() ||
		s.Columns[i].Problem != "" {
		return written
	}
	text, ok := withLevels(written, s.Columns[i].Levels)
	if !ok {
		c.Notes = append(c.Notes, fmt.Sprintf("the levels of %s cannot be named in a setting, and a release refuses to read "+
			"them off the data: two or more are needed, without the characters [, ] and |", name))
		return written
	}
	c.Notes = append(c.Notes, "the levels of "+name+" are those of the data; a release publishes their names")
	return text
}

// withLevels adds levels to the name of a column, and reports whether a setting can have them.
func withLevels(written string, levels []string) (text string, ok bool) {
	text = table.QuoteName(table.NameOf(written)) + "[" + strings.Join(levels, "|") + "]"
	return text, slices.Equal(table.LevelsOf(text), levels) && !strings.ContainsAny(strings.Join(levels, ""), "[]")
}

// mostNamed is how many classes are named in commands.
const mostNamed = 20

// setTask settles the task by the output's levels or its type, and the classes.
func (c *Contest) setTask(column *table.ColumnSummary, t *Table) error {
	switch {
	case c.Request.Task != "":
		c.Task = method.Task(slices.Index(taskNames, c.Request.Task))
	case table.LevelsOf(t.Output) != nil, column.Type == "category", column.Type == "boolean":
		c.Task = method.Classification
	case column.Distinct == 2:
		c.Notes = append(c.Notes, fmt.Sprintf("%s has two values and is predicted as a number; task=classification "+
			"compares classifiers", t.Output))
	}
	c.output = t.Output
	if c.Task == method.Classification {
		return c.setClasses(column, t)
	}
	if column.Distinct == 1 && t.Numeric {
		return fmt.Errorf("output = %s: all rows have one value, and there is nothing to predict", t.Output)
	}
	if !t.Numeric {
		return fmt.Errorf("output = %s: it is a %s, and no number that a regression predicts; use task=classification",
			t.Output, column.Type)
	}
	return nil
}

// setClasses settles the classes, and names them in the output where the data name them.
func (c *Contest) setClasses(column *table.ColumnSummary, t *Table) error {
	levels := table.LevelsOf(t.Output)
	low, numbers := column.Low.(float64)
	switch {
	case levels != nil:
		t.Classes = levels
	case column.Levels != nil:
		t.Classes = column.Levels
	case column.Distinct == 2 && numbers:
		t.Classes = []string{experiment.FormatNumber(low), experiment.FormatNumber(column.High.(float64))}
	default:
		t.Classes = make([]string, column.Distinct) // their names are not known
	}
	if len(t.Classes) < 2 {
		return fmt.Errorf("output = %s: all rows are of one class, and there is nothing to tell apart", t.Output)
	}
	text, ok := withLevels(t.Output, t.Classes)
	if ok = ok && !slices.Contains(t.Classes, ""); levels == nil && len(t.Classes) <= mostNamed && ok {
		c.output = text
		c.Notes = append(c.Notes, "the classes of "+t.Output+" are those of the data; a release publishes their names")
	}
	return nil
}
