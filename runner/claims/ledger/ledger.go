// Package ledger holds the published values that the project reproduces.
//
// A paper's package embeds a ledger: a YAML file that lists, table by table and
// cell by cell, the printed text, the experiment that reproduces it with its
// parameters and seeds, the number of draws behind the print, and the assumed
// settings with their sources. [Read] decodes it strictly, [Ledger.Validate] checks
// it against the experiments, and [Table.Trials] lists the trials of a table.
// Package judge compares records of these trials with the print.
//
// # Parameters of a cell
//
// A cell is evaluated once per variant. The parameters of the cell take precedence
// over those of the variant, and these over those of the table; the defaults of the
// experiment fill the rest. A table may mix experiments: a parameter of a table or a
// variant is left out where the cell's experiment does not have it, and is an error
// where no experiment of the table does. The right-hand side of a statement ("holds")
// and a subtrahend ("minus") start from the cell's parameters in the same manner.
package ledger

import (
	"sync"

	"privkern/runner/experiment"
)

// Ledger holds the claims of one paper.
type Ledger struct {
	Paper    string    `yaml:"paper"`
	Title    string    `yaml:"title"`
	Citation string    `yaml:"citation"`
	Errata   []Erratum `yaml:"errata"`
	Tables   []*Table  `yaml:"tables"`

	source   *source
	settings sync.Map // resolved settings by the parameters that were given
}

// Erratum is a mistake in the paper.
type Erratum struct {
	Where string `yaml:"where"`
	Text  string `yaml:"text"`
}

// TableKind is the kind of a ledger's table.
type TableKind string

// The kinds of tables.
const (
	KindTable  TableKind = "table"  // a printed table
	KindFigure TableKind = "figure" // readable values of a figure
	KindClaims TableKind = "claims" // statements in words
)

// Terms are the entries that a table sets for all of its cells and that each cell may
// set for itself.
type Terms struct {
	Experiment string         `yaml:"experiment"`
	Params     map[string]any `yaml:"params"` // merged name by name
	Seeds      Seeds          `yaml:"seeds"`
	Metric     string         `yaml:"metric"`
	Unit       string         `yaml:"unit"`
	Settings   *Settings      `yaml:"settings"`

	// Draws is the number of independent draws that the print averages, in units of
	// one trial: .01 for a print of one draw where a trial averages a hundred; by
	// default 1.
	Draws *float64 `yaml:"draws"`
	// Pool names the cells of the table that have one variance. The pool of the table
	// excludes means and differences, because their variance differs.
	Pool      string     `yaml:"pool"`
	Tolerance *Tolerance `yaml:"tolerance"`
	// Headline is the variant that is judged; the others are folded beneath it.
	Headline string `yaml:"headline"`
	// UncertaintyOf is the source of the printed ±: [Repetitions], or words such as
	// "14 folds". Only the former enters the band.
	UncertaintyOf text `yaml:"uncertainty_of"`
	// Ours marks an entry that is not the paper's: a reference check, a statement from
	// an erratum, an adversary of our own. Entries without a print or statement are
	// ours by default.
	Ours *bool `yaml:"ours"`
	// StandIn names the data or model that replace the paper's, where the experiment
	// does not know ([experiment.Experiment.StandIn]).
	StandIn string `yaml:"stand_in"`
	// Deterministic marks values without a random draw of ours, where the experiment
	// does not know ([experiment.Experiment.Seedless]). Trials of several seeds must
	// then agree.
	Deterministic *bool `yaml:"deterministic"`
	// Times marks a time on another machine; by default the value of a timing metric.
	Times *bool `yaml:"times"`
}

// Table is a printed table, the readable values of a figure, or a list of statements.
type Table struct {
	Name   string    `yaml:"name"` // "paper/table"
	Title  string    `yaml:"title"`
	Kind   TableKind `yaml:"kind"`
	Figure string    `yaml:"figure"` // name of an experiment.Figure shown with it
	// Baseline states the best method of others at the same (ε, δ) and unit, with the suite of comparisons that has it.
	Baseline string `yaml:"baseline"`
	// Attack states the best attack on the method, with the page of results that has it.
	Attack string `yaml:"attack"`

	Terms `yaml:",inline"`

	Pools    []Pool    `yaml:"pools"`
	Variants []Variant `yaml:"variants"`
	Cells    []*Cell   `yaml:"cells"`
	Joint    *Joint    `yaml:"joint"`

	ledger *Ledger
	path   string // of this table in the source
}

// Variant is one of several ways to compute a table.
type Variant struct {
	Name   string         `yaml:"name"`
	Note   string         `yaml:"note"`
	Params map[string]any `yaml:"params"`
	// Corrected marks the effect of an erratum, which is shown with the print and not
	// judged against it.
	Corrected bool `yaml:"corrected"`
	// Assumed are assumptions in addition to those of the table or the cell.
	Assumed []Assumption `yaml:"assumed"`
	StandIn string       `yaml:"stand_in"` // as in [Terms]; a cell's takes precedence
}

// Cell is one published value or statement.
type Cell struct {
	Row    string `yaml:"row"`
	Column string `yaml:"column"`
	// Published is the printed text, exactly.
	Published text `yaml:"published"`
	// Value, Uncertainty and Rounding replace the numbers parsed from Published.
	Value       *float64 `yaml:"value"`
	Uncertainty *float64 `yaml:"uncertainty"`
	Rounding    *float64 `yaml:"rounding"`
	// Statement is a claim in words, Holds the comparison that decides it.
	Statement string `yaml:"statement"`
	Holds     *Holds `yaml:"holds"`
	Note      string `yaml:"note"`

	Terms `yaml:",inline"`

	// Claim groups the cells of one claim in words: it is one entry, and holds where
	// all of its parts do. Its cells may stand in several tables of the paper.
	Claim string `yaml:"claim"`
	// ID names a printed value. A cell of any table of the paper whose SameAs has this
	// name repeats the value, which counts once.
	ID     string `yaml:"id"`
	SameAs string `yaml:"same_as"`

	// Minus makes the cell a difference: its metric less another.
	Minus *Minus `yaml:"minus"`
	// Quoted marks a value of another method, as the paper prints it: nothing is
	// computed for it, and it has no variants.
	Quoted bool `yaml:"quoted"`
	// MeanOf makes the cell the mean of other cells, under each of its variants.
	MeanOf *MeanOf `yaml:"mean_of"`
	// Variants restricts the cell to some of the table's variants.
	Variants  []string    `yaml:"variants"`
	Reference []Reference `yaml:"reference"`

	path string
}

// Holds is the comparison that decides a statement: the cell's metric Op Value, or
// the metric Op another metric, of the same trials or of others.
type Holds struct {
	Op         Relation       `yaml:"op"`
	Value      *float64       `yaml:"value"`
	Tolerance  float64        `yaml:"tolerance"`
	Metric     string         `yaml:"metric"`
	Experiment string         `yaml:"experiment"`
	Params     map[string]any `yaml:"params"`
	// Paired selects a paired t-test over the seeds, of level Alpha (by default 0.05).
	Paired bool     `yaml:"paired"`
	Alpha  *float64 `yaml:"alpha"`
}

// Minus is a subtrahend: a metric of the same trials or of others. Seeds are by
// default those of the cell.
type Minus struct {
	Experiment string         `yaml:"experiment"`
	Params     map[string]any `yaml:"params"`
	Seeds      Seeds          `yaml:"seeds"`
	Metric     string         `yaml:"metric"`
}

// MeanOf names the cells that a printed mean averages: those of a row or of a column
// of the same table, except quoted values, statements and other means.
type MeanOf struct {
	Row    string `yaml:"row"`
	Column string `yaml:"column"`
}

// Reference is the value that an independent implementation gives.
type Reference struct {
	Variant   string   `yaml:"variant"` // empty for every variant
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
