package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"privkern/experiments/dataset"
	"privkern/experiments/dataset/table"
	"privkern/runner/experiment"
	"privkern/runner/text"
)

// Bounds on the output of run data show for people.
const (
	shownColumns = 40
	shownLevels  = 8
)

func (a *app) dataShowCommand() *cobra.Command {
	var output string
	var all bool
	cmd := &cobra.Command{
		Use:   "show DATA [name=value...]",
		Short: "Show the columns of your own data, and which would be used",
		Long: `Show the columns of your own data: type, rows without a value, range, different
values, and whether inputs=* takes the column. DATA are a file, a folder, or a
value of dataset=: csv:PATH, parquet:PATH, npy:PATH, images:FOLDER.

Settings name=value say how a file is written: missing, decimal, separator, encoding,
header, comment, dates (run list stats/columns explains them). Without any, those
that a file of comma-separated values seems to need are proposed, and the file is
shown as it is read with them, with its first rows.

Types are number, boolean (true and false, or yes and no), date, category; text is
a category of too many values, and mixed has values of several types, of which the
first of each is named. A column that looks like an identifier of persons with
several rows is warned of: person= makes a guarantee hold for them. Docs:
docs/own-data.md.

The output depends on the data, and no guarantee of a release covers it.`,
		Example: "  run data show my.csv\n  run data show my.csv separator=';' decimal=,\n" +
			"  run data show images:pictures --output json",
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			name := table.Named(args[0])
			path, err := a.pathOf(name)
			if err != nil {
				return err
			}
			reading, err := experiment.ReadSettings[table.Reading](args[1:])
			if err == nil {
				err = reading.Valid()
			}
			if err != nil {
				return usageError{err}
			}
			if len(args) == 1 {
				if *reading, err = table.Propose(name, path); err != nil {
					return err
				}
			}
			s, err := table.Summarise(name, path, *reading, false)
			if err != nil {
				return asRead(err, *reading)
			}
			s.Reading = reading.Unusual()
			if output == "json" {
				return a.printJSON(s)
			}
			most := shownColumns
			if all {
				most = len(s.Columns)
			}
			if err := a.printFirst(name, path, *reading, len(args) == 1); err != nil {
				return err
			}
			return a.printColumns(name, s, *reading, most)
		},
	}
	formats(cmd, &output, "table or json", "table", "json")
	cmd.Flags().BoolVar(&all, "all", false, fmt.Sprintf("all columns, not the first %d", shownColumns))
	return cmd
}

// settingsText are the settings of reading that are no defaults, as a shell takes them.
func settingsText(r table.Reading) string {
	settings := r.Unusual()
	for i, s := range settings {
		name, value, _ := strings.Cut(s, "=")
		settings[i] = name + "=" + text.Quote(value)
	}
	return strings.Join(settings, " ")
}

// asRead completes an error by the settings of reading.
func asRead(err error, r table.Reading) error {
	if settings := settingsText(r); settings != "" {
		return fmt.Errorf("%w (read with %s)", err, settings)
	}
	return err
}

// pathOf is the path of a user's own data as it was written, or the folder of a registered set.
func (a *app) pathOf(name string) (string, error) {
	if _, ok := dataset.SetName(name); ok {
		folder, _, err := a.locator().Find(name)
		return folder, err
	}
	path, _ := dataset.FilePath(name)
	return path, nil
}

// printFirst prints the first rows of a file that is read with settings.
func (a *app) printFirst(name, path string, r table.Reading, proposed bool) error {
	settings := settingsText(r)
	if settings == "" {
		return nil
	}
	const most, mostColumns = 5, 8
	columns, rows, err := table.First(name, path, r, most)
	if err != nil {
		return err
	}
	if proposed {
		settings += ", as the file seems to be written; a trial needs these settings"
	}
	if err := a.printFolded("read with " + settings + "\n"); err != nil {
		return err
	}
	var lines [][]string
	for _, row := range append([][]string{columns}, rows...) {
		var cells []string
		for _, cell := range row[:min(len(row), mostColumns)] {
			cells = append(cells, text.Printable(cell))
		}
		if len(row) > mostColumns {
			cells = append(cells, "...")
		}
		lines = append(lines, cells)
	}
	if err := a.printAligned(lines[0], lines[1:]); err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.out)
	return err
}

func (a *app) printColumns(name string, s *table.Summary, r table.Reading, most int) error {
	var lines [][]string
	var after strings.Builder // the table
	for i := range s.Columns[:min(most, len(s.Columns))] {
		c := &s.Columns[i]
		lines = append(lines, []string{text.Printable(c.Name), c.Type, strconv.Itoa(c.Missing), distinctText(c),
			text.Printable(valuesText(c))})
	}
	if err := a.printAligned([]string{"column", "type", "missing", "different", "values"}, lines); err != nil {
		return err
	}
	if left := len(s.Columns) - len(lines); left > 0 {
		fmt.Fprintf(&after, "... and %s; see all with --all\n", text.Count(left, "more column"))
	}
	settings := settingsText(r)
	if settings != "" {
		settings += " "
	}
	fmt.Fprintf(&after, "%s\n%s %sinputs=* %s\n", text.Count(s.Rows, "row"), text.Quote("dataset="+name), settings,
		text.Printable(takenText(s)))
	for i := range s.Columns {
		if c := &s.Columns[i]; c.Identifier != nil {
			fmt.Fprintf(&after, "warning: %s\n", text.Printable(c.Identifier.String()))
		}
	}
	return a.printFolded(after.String())
}

func distinctText(c *table.ColumnSummary) string {
	if c.Many {
		return fmt.Sprintf("> %d", c.Distinct)
	}
	return fmt.Sprint(c.Distinct)
}

func valuesText(c *table.ColumnSummary) string {
	switch {
	case c.Problem != "":
		return c.Problem
	case len(c.Levels) > shownLevels:
		return fmt.Sprintf("%s|... (%d)", strings.Join(c.Levels[:shownLevels], "|"), len(c.Levels))
	case c.Levels != nil:
		return strings.Join(c.Levels, "|")
	case c.Distinct == 1:
		return fmt.Sprintf("%s in all rows", endText(c.Low))
	}
	return endText(c.Low) + " to " + endText(c.High)
}

func endText(v any) string {
	if f, ok := v.(float64); ok {
		return strconv.FormatFloat(f, 'g', 6, 64)
	}
	return fmt.Sprint(v)
}

// takenText completes "inputs=*".
func takenText(s *table.Summary) string {
	var inputs []string
	for i := range s.Columns {
		switch c := &s.Columns[i]; {
		case c.Type == "mixed":
			return fmt.Sprintf("is refused, since the column %q is mixed; name the inputs", c.Name)
		case c.Type == "number" && c.Problem != "":
			return fmt.Sprintf("is refused, since the column %q is no input; name the inputs", c.Name)
		case c.Input:
			inputs = append(inputs, c.Name)
		}
	}
	const few = 12
	switch n := len(inputs); {
	case n == 0:
		return "takes nothing: no column is of numbers or truth values"
	case n > few:
		return fmt.Sprintf("takes %d columns without the output and other named ones: %s, ...", n,
			strings.Join(inputs[:few], ", "))
	}
	return fmt.Sprintf("takes %s, without the output and other named ones", strings.Join(inputs, ", "))
}
