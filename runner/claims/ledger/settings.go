package ledger

import (
	"slices"
	"strings"
)

// Settings says where the settings of a value are from: the paper states all of them,
// or some are assumed. They never change a verdict. A table without this entry counts
// as stated.
type Settings struct {
	Stated  *bool        `yaml:"stated"`  // true, or left out where Assumed has entries
	Assumed []Assumption `yaml:"assumed"` // in the place of the table's, for a cell
	Note    string       `yaml:"note"`
}

// Assumption is one setting that the paper leaves open.
type Assumption struct {
	Text   string `yaml:"text"` // the setting, and what was chosen
	Source Source `yaml:"source"`
	// Repository ("owner/name") is of the authors' code. Place is the file and line in
	// it, or the place in the paper.
	Repository string `yaml:"repository"`
	Place      string `yaml:"place"`
	// Fitted are the cells that the setting was fitted to: they have no verdict.
	Fitted []CellPlace `yaml:"fitted"`
}

// Source is where an assumed setting is from.
type Source string

// The sources of an assumption.
const (
	FromPaper Source = "paper"        // another place of the paper
	FromCode  Source = "authors-code" // public code of the authors
	FromUs    Source = "ours"
)

var sources = []string{string(FromPaper), string(FromCode), string(FromUs)}

// Citation is the source in words, such as "authors' code, owner/name, file.py:12".
func (a *Assumption) Citation() string {
	words := string(a.Source)
	if a.Source == FromCode {
		words = "authors' code"
	}
	parts := slices.DeleteFunc([]string{words, a.Repository, a.Place}, func(s string) bool { return s == "" })
	return strings.Join(parts, ", ")
}

// CellPlace names cells by row, column, or both.
type CellPlace struct {
	Row    string `yaml:"row"`
	Column string `yaml:"column"`
}

// covers says whether the place is the cell's.
func (p CellPlace) covers(c *Cell) bool {
	return (p.Row == "" || p.Row == c.Row) && (p.Column == "" || p.Column == c.Column)
}

// assumptionsOf returns what is assumed for a cell under a variant (-1: none), and the
// remark on its settings. A cell whose own entry says "stated" has none.
func (t *Table) assumptionsOf(c *Cell, variant int) (assumed []Assumption, note string) {
	s := c.Settings
	if s == nil {
		s = t.Settings
	} else if s.Stated != nil {
		return nil, s.Note
	}
	if s != nil {
		assumed, note = slices.Clone(s.Assumed), s.Note
	}
	if variant >= 0 {
		assumed = append(assumed, t.Variants[variant].Assumed...)
	}
	return assumed, note
}
