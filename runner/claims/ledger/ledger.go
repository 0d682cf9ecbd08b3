// Package ledger holds the published values that the project reproduces.
//
// A paper's package embeds a ledger: a YAML file that lists, table by table and
// cell by cell, the printed text, the experiment that reproduces it with its
// parameters and seeds, and whether the paper states all settings. [Read]
// decodes it strictly, [Ledger.Validate] holds it against the experiments, and
// [Table.Trials] lists the trials that a table is made of. Package judge compares
// records of such trials with the print.
//
// # Parameters of a cell
//
// A cell is evaluated once per variant. Its parameters are the table's, over
// them the variant's, over those the cell's own; the experiment's defaults fill
// the rest. A table may mix experiments: a table's or variant's parameter is
// then left out where a cell's experiment does not have it, and is an error
// where none of the table's experiments does. The right-hand side of a statement
// ("holds") and what is subtracted ("minus") start from the cell's parameters in
// the same manner.
package ledger

import "privkern/runner/experiment"

// Ledger holds the claims of one paper.
type Ledger struct {
	Paper    string    `yaml:"paper"`
	Title    string    `yaml:"title"`
	Citation string    `yaml:"citation"`
	Errata   []Erratum `yaml:"errata"`
	Tables   []*Table  `yaml:"tables"`

	source *source
}

// Erratum is a mistake in the paper.
type Erratum struct {
	Where string `yaml:"where"`
	Text  string `yaml:"text"`
}

// TableKind says what a ledger's table stands for.
type TableKind string

// The kinds of tables.
const (
	KindTable  TableKind = "table"  // a printed table
	KindFigure TableKind = "figure" // readable values of a figure
	KindClaims TableKind = "claims" // statements in words
)

// Table is a printed table, the readable values of a figure, or a list of
// statements. Experiment, Params, Seeds, Metric, Unit and Settings are what a
// cell has where it says nothing else.
type Table struct {
	Name   string    `yaml:"name"` // "paper/table"
	Title  string    `yaml:"title"`
	Kind   TableKind `yaml:"kind"`
	Figure string    `yaml:"figure"` // name of an experiment.Figure shown with it

	Experiment string         `yaml:"experiment"`
	Params     map[string]any `yaml:"params"`
	Seeds      Seeds          `yaml:"seeds"`
	Metric     string         `yaml:"metric"`
	Unit       string         `yaml:"unit"`
	Settings   *Settings      `yaml:"settings"`

	// UncertaintyOf n > 0 says that the printed ± is a standard deviation over
	// n values, so that the standard error is ±/√n. 0: it is a standard error.
	UncertaintyOf int `yaml:"uncertainty_of"`

	Variants []Variant `yaml:"variants"`
	Cells    []*Cell   `yaml:"cells"`

	ledger *Ledger
	path   string // of this table in the source
}

// Settings says whether the paper states all settings of a value. A table
// without this entry counts as fully stated.
type Settings struct {
	Stated *bool  `yaml:"stated"` // must be given
	Note   string `yaml:"note"`   // what is left open, and what we chose
}

// Variant is one of several ways to compute a table.
type Variant struct {
	Name   string         `yaml:"name"`
	Note   string         `yaml:"note"`
	Params map[string]any `yaml:"params"`
}

// Cell is one published value or statement. Experiment, Params, Seeds, Metric, Unit
// and Settings are the table's where the cell has none; Params are merged name by
// name.
type Cell struct {
	Row    string `yaml:"row"`
	Column string `yaml:"column"`
	// Published is the printed text, exactly.
	Published text `yaml:"published"`
	// Value, Uncertainty and Rounding replace what Published parses to.
	Value       *float64 `yaml:"value"`
	Uncertainty *float64 `yaml:"uncertainty"`
	Rounding    *float64 `yaml:"rounding"`
	// Statement is a claim in words, Holds the comparison that decides it.
	Statement string `yaml:"statement"`
	Holds     *Holds `yaml:"holds"`

	Experiment string         `yaml:"experiment"`
	Params     map[string]any `yaml:"params"`
	Seeds      Seeds          `yaml:"seeds"`
	Metric     string         `yaml:"metric"`
	Unit       string         `yaml:"unit"`
	Direction  Direction      `yaml:"direction"`
	Settings   *Settings      `yaml:"settings"`
	Note       string         `yaml:"note"`
	// Minus makes the cell a difference: its metric less what this names.
	Minus *Minus `yaml:"minus"`
	// Quoted says that the value is of another method, as the paper prints it:
	// nothing is computed for it, and it has no variants.
	Quoted bool `yaml:"quoted"`
	// MeanOf makes the cell the mean of other cells, under each of its variants.
	MeanOf *MeanOf `yaml:"mean_of"`
	// Variants restricts the cell to some of the table's variants.
	Variants  []string    `yaml:"variants"`
	Reference []Reference `yaml:"reference"`

	path string
}

// Holds is what a statement says of the cell's metric: metric Op Value, or
// metric Op another metric, of the same trials or of others.
type Holds struct {
	Op         Relation       `yaml:"op"`
	Value      *float64       `yaml:"value"`
	Tolerance  float64        `yaml:"tolerance"`
	Metric     string         `yaml:"metric"`
	Experiment string         `yaml:"experiment"`
	Params     map[string]any `yaml:"params"`
}

// Minus is what a cell's metric is diminished by: a metric of the same trials or
// of others. Seeds are the cell's where there are none.
type Minus struct {
	Experiment string         `yaml:"experiment"`
	Params     map[string]any `yaml:"params"`
	Seeds      Seeds          `yaml:"seeds"`
	Metric     string         `yaml:"metric"`
}

// MeanOf names the cells that a printed mean is taken over: those of a row or of
// a column of the same table, but for quoted values, statements and other means.
type MeanOf struct {
	Row    string `yaml:"row"`
	Column string `yaml:"column"`
}

// Reference is the value that an independent implementation gives.
type Reference struct {
	Variant   string   `yaml:"variant"` // empty: of every variant
	Value     *float64 `yaml:"value"`
	Tolerance *float64 `yaml:"tolerance"`
}

// Table returns the table of that name, or an *experiment.UnknownError.
func (l *Ledger) Table(name string) (*Table, error) {
	names := make([]string, len(l.Tables))
	for i, t := range l.Tables {
		if names[i] = t.Name; t.Name == name {
			return t, nil
		}
	}
	return nil, experiment.Unknown("table", name, names)
}

// Ledger returns the ledger that the table belongs to.
func (t *Table) Ledger() *Ledger { return t.ledger }

// SettingsOf returns what holds for a cell: its own entry or the table's.
func (t *Table) SettingsOf(c *Cell) (stated bool, note string) {
	s := c.Settings
	if s == nil {
		s = t.Settings
	}
	if s == nil {
		return true, ""
	}
	return s.Stated == nil || *s.Stated, s.Note
}
