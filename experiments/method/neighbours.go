package method

import (
	_ "embed"
	"errors"

	"privkern/runner/experiment"
)

//go:embed neighbours.go
var neighboursSource string

func init() { experiment.Document[Neighbours](neighboursSource) }

// Relation is the relation of neighbouring data sets.
type Relation int

// The relations.
const (
	Substitute Relation = iota // one unit is replaced by any other
	AddRemove                  // one unit is there or not
)

// Choices are their words.
func (Relation) Choices() []string { return []string{"substitute", "add-remove"} }

// Neighbours is the relation that a guarantee is for, of a method that had substitution alone at first.
type Neighbours struct {
	// neighbouring data, between which the guarantee tells nobody apart: substitute replaces a row (or a person) by any
	// other, add-remove has one more or less, which takes less noise and protects less
	Neighbours Relation `name:"neighbours" default:"substitute" later:"yes" when:"epsilon is not inf"`
}

// CheckRelease refuses the relation for which a release has no guarantee.
func (r Relation) CheckRelease() error {
	if r == AddRemove {
		return errors.New("neighbours = add-remove: the number of rows would have to be private, and a release shows it; " +
			"use neighbours=substitute")
	}
	return nil
}

// Unit describes the protected unit ([Person.Unit]) for the relation.
func (r Relation) Unit(p Person, parts string) string {
	if r == AddRemove {
		return p.Protected(parts) + ", added or removed"
	}
	return p.Unit(parts)
}

// State completes a guarantee, which [experiment.Privacy.State] states for substitution.
func (r Relation) State(p *experiment.Privacy) {
	if r != AddRemove {
		return
	}
	p.Simulated.Neighbours = "add-remove"
	p.Notes = append(p.Notes, "neighbours have one unit more or less: under substitution, as elsewhere here, "+
		"the same noise protects less")
}
