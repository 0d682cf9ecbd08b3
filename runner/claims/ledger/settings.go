package ledger

import (
	"slices"
	"strings"
)

// Settings is the origin of the settings of a value: the paper states all of them, or some
// are assumed. They never change a verdict. A table without this entry counts as stated.
type Settings struct {
	Stated  *bool        `yaml:"stated"`  // true, or left out where Assumed has entries
	Assumed []Assumption `yaml:"assumed"` // a cell's replace the table's
	Note    string       `yaml:"note"`
}

// Assumption is a setting that the paper leaves open.
type Assumption struct {
	Text   string `yaml:"text" json:"text"` // the setting, and its value
	Source Source `yaml:"source" json:"source"`
	// Repository ("owner/name") holds the authors' code. Place is the file and line in
	// it, or the section of the paper.
	Repository string `yaml:"repository" json:"repository"`
	Place      string `yaml:"place" json:"place"`
	// Fitted are the cells that the setting was fitted to, which therefore have no verdict.
	Fitted []CellPlace `yaml:"fitted" json:"-"`
}

// Source is the kind of source of an assumed setting.
type Source string

// The sources of an assumption.
const (
	FromPaper Source = "paper"        // another place of the paper
	FromCode  Source = "authors-code" // public code of the authors
	FromUs    Source = "ours"
)

var sources = []string{string(FromPaper), string(FromCode), string(FromUs)}

// Citation returns the source in words, such as "authors' code, owner/name, file.py:12".
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

// covers reports whether the place includes a cell.
func (p CellPlace) covers(c *Cell) bool {
	return (p.Row == "" || p.Row == c.Row) && (p.Column == "" || p.Column == c.Column)
}

// assumptionsOf returns the assumptions for a cell under a variant (-1 for none), and the
// remark on its settings. A cell whose own entry is "stated: true" has none.
func (t *Table) assumptionsOf(c *Cell, variant int) (assumed []Assumption, note string) {
	if c.Settings != nil && c.Settings.Stated != nil {
		return nil, c.Settings.Note
	}
	if s := t.terms(c).Settings; s != nil {
		assumed, note = slices.Clone(s.Assumed), s.Note
	}
	if variant >= 0 {
		assumed = append(assumed, t.Variants[variant].Assumed...)
	}
	return assumed, note
}
