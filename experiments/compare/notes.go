package compare

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"privkern/experiments/dataset/table"
	"privkern/runner/experiment"
)

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
