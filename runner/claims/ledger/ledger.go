// Package ledger holds the published values that the project reproduces.
//
// A paper's package embeds a ledger: a YAML file that lists, table by table and
// cell by cell, the printed text, the experiment that reproduces it with its
// parameters and seeds, how many draws are behind the print, and which settings are
// assumed and from where. [Read]
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
	settings sync.Map // those that were resolved, by experiment and what is given
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
// statements. Experiment, Params, Seeds, Metric, Unit, Settings and what decides a
// verdict (Draws, Pool, Tolerance, Headline, UncertaintyOf, Ours, StandIn, Deterministic
// and Times) are what a cell has where it says nothing else.
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

	Draws         *float64   `yaml:"draws"` // 1 where nothing is given
	Pools         []Pool     `yaml:"pools"`
	Pool          string     `yaml:"pool"`
	Tolerance     *Tolerance `yaml:"tolerance"`
	Headline      string     `yaml:"headline"`
	UncertaintyOf text       `yaml:"uncertainty_of"`
	Ours          bool       `yaml:"ours"`
	StandIn       string     `yaml:"stand_in"`
	Deterministic bool       `yaml:"deterministic"`
	Times         bool       `yaml:"times"`

	Variants []Variant `yaml:"variants"`
	Cells    []*Cell   `yaml:"cells"`

	ledger *Ledger
	path   string // of this table in the source
}

// Variant is one of several ways to compute a table.
type Variant struct {
	Name   string         `yaml:"name"`
	Note   string         `yaml:"note"`
	Params map[string]any `yaml:"params"`
	// Corrected says that the variant shows the effect of an erratum: it stands beside
	// the print and is not judged against it.
	Corrected bool `yaml:"corrected"`
	// Assumed are assumptions beyond those of the table or the cell.
	Assumed []Assumption `yaml:"assumed"`
	StandIn string       `yaml:"stand_in"` // as in [Cell]
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
	Settings   *Settings      `yaml:"settings"`
	Note       string         `yaml:"note"`

	// Draws is how many independent draws the print is the mean of, in units of our
	// trial: .01 for a print of one draw beside trials that average a hundred.
	Draws *float64 `yaml:"draws"`
	// Pool names the cells of the table with one variance. The table's is not that of
	// a mean or a difference, which vary otherwise.
	Pool      string     `yaml:"pool"`
	Tolerance *Tolerance `yaml:"tolerance"`
	// Headline is the variant that is judged; the others are folded beneath.
	Headline string `yaml:"headline"`
	// UncertaintyOf says what the printed ± is: [Repetitions], or words such as
	// "14 folds". Only the former enters the band.
	UncertaintyOf text `yaml:"uncertainty_of"`
	// Ours says that the entry is not the paper's: a reference check, a statement from
	// an erratum, an adversary of our own. Entries without a print or statement are.
	Ours *bool `yaml:"ours"`
	// StandIn says which data or model take the place of the paper's, where the
	// experiment does not know ([experiment.Experiment.StandIn]).
	StandIn string `yaml:"stand_in"`
	// Deterministic says that no random draw enters ours, where the experiment does not
	// know ([experiment.Experiment.Seedless]). Trials of several seeds are held to it.
	Deterministic *bool `yaml:"deterministic"`
	// Times says that the value is a time on another machine; metrics that are marked
	// as times are known to be.
	Times *bool `yaml:"times"`

	// Claim groups the cells of one claim in words: it is one entry, and holds where
	// all of its parts do. Its cells may stand in several tables of the paper.
	Claim string `yaml:"claim"`
	// ID names a printed value, so that SameAs of other cells, in any table of the
	// paper, can say that the paper prints it there again. It counts once.
	ID     string `yaml:"id"`
	SameAs string `yaml:"same_as"`

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
	// Paired says that a paired t-test over the seeds decides, of level Alpha (0.05
	// where none is given).
	Paired bool     `yaml:"paired"`
	Alpha  *float64 `yaml:"alpha"`
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
