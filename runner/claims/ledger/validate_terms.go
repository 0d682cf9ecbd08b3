package ledger

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"privkern/runner/experiment"
)

// settings refuses an entry with neither "stated" nor "assumed", or both.
func (v *validator) settings(path string, s *Settings) {
	if s == nil {
		return
	}
	path += ".settings"
	v.require(path, (s.Stated != nil) != (s.Assumed != nil),
		`give either "stated: true", or "assumed" with what is assumed and from where`)
	v.require(path+".stated", s.Stated == nil || *s.Stated, `in place of "stated: false" list what is "assumed"`)
}

// assumptions checks text, source and place of each assumption.
func (v *validator) assumptions(path string, list []Assumption, t *Table) {
	for i := range list {
		a, at := &list[i], fmt.Sprintf("%s.assumed[%d]", path, i)
		v.require(at, a.Text != "", `an assumption needs a "text"`)
		if !slices.Contains(sources, string(a.Source)) {
			v.fail(at+".source", "%q is not one of %s", a.Source, strings.Join(sources, ", "))
		}
		v.require(at+".repository", (a.Repository != "") == (a.Source == FromCode),
			`the authors' code, and nothing else, needs a "repository"`)
		v.require(at+".place", a.Place != "" || a.Source == FromUs, `a source needs its "place"`)
		for j, p := range a.Fitted {
			v.require(fmt.Sprintf("%s.fitted[%d]", at, j), (p.Row != "" || p.Column != "") &&
				slices.ContainsFunc(t.Cells, p.covers), "no cell of the table is in row %q, column %q", p.Row, p.Column)
		}
	}
}

// headline refuses the name of a variant that cannot be judged.
func (v *validator) headline(path string, t *Table, name string) {
	var names []string
	for _, va := range t.Variants {
		if !va.Corrected {
			names = append(names, va.Name)
		}
	}
	if !slices.Contains(names, name) {
		v.fail(path, "%w", experiment.Unknown("variant that is not corrected", name, names))
	}
}

// terms checks the terms of a table or a cell.
func (v *validator) terms(path string, t *Table, terms *Terms) {
	if terms.Settings != nil {
		v.assumptions(path+".settings", terms.Settings.Assumed, t)
	}
	k := terms.Draws
	v.require(path+".draws", k == nil || *k > 0 && !math.IsInf(*k, 0), "must be finite and positive")
	v.tolerance(path, terms.Tolerance)
	if terms.Pool != "" && t.pool(terms.Pool) == nil {
		var names []string
		for _, p := range t.Pools {
			names = append(names, p.Name)
		}
		v.fail(path+".pool", "%w", experiment.Unknown(`pool (of the table's "pools")`, terms.Pool, names))
	}
	if terms.Headline != "" {
		v.headline(path+".headline", t, terms.Headline)
	}
}

// pools checks the names and scales of a table's pools.
func (v *validator) pools(t *Table) {
	seen := map[string]bool{}
	for i, p := range t.Pools {
		path := fmt.Sprintf("%s.pools[%d]", t.path, i)
		v.require(path, p.Name != "" && !seen[p.Name], "a pool needs a name of its own")
		seen[p.Name] = true
		v.require(path+".scale", p.Scale == "" || p.Scale == Linear || p.Scale == Log, "%q is neither linear nor log",
			p.Scale)
	}
}

// cellTerms checks the terms of a cell, and that one of its variants is the headline.
func (v *validator) cellTerms(t *Table, c *Cell) {
	v.terms(c.path, t, &c.Terms)
	judged := t.judgedVariants(c)
	v.require(c.path, len(judged) < 2 || t.namesHeadline(c, judged),
		`which of its variants is judged? name the "headline", in the table or the cell`)
}

// namesHeadline reports whether the headline is one of these variants.
func (t *Table) namesHeadline(c *Cell, judged []int) bool {
	name := t.terms(c).Headline
	return slices.ContainsFunc(judged, func(i int) bool { return i >= 0 && t.Variants[i].Name == name })
}

func (v *validator) tolerance(path string, t *Tolerance) {
	if t == nil {
		return
	}
	path += ".tolerance"
	v.require(path, t.Absolute != nil || t.Relative != nil, `give "absolute", "relative" or both`)
	v.require(path, t.Source != "", `a tolerance needs its "source": the paper's own repeatability, or the unit of use`)
	for name, x := range map[string]*float64{"absolute": t.Absolute, "relative": t.Relative} {
		v.require(path+"."+name, x == nil || *x > 0 && !math.IsInf(*x, 0), "must be finite and positive")
	}
}

// entries checks the identifiers of values and claims, whose scope is the ledger.
func (v *validator) entries(l *Ledger) {
	byID := map[string]*Cell{}
	var ids []string
	each := func(visit func(t *Table, c *Cell)) {
		for _, t := range l.Tables {
			for _, c := range t.Cells {
				visit(t, c)
			}
		}
	}
	ours := map[string]bool{} // of a claim's first part
	each(func(t *Table, c *Cell) {
		v.require(c.path, c.Claim == "" || c.ID == "" && c.SameAs == "",
			`a part of a claim counts with the claim: "id" and "same_as" have no effect`)
		v.require(c.path, c.ID == "" || c.SameAs == "", `give either "id" or "same_as"`)
		if c.ID != "" {
			v.require(c.path+".id", byID[c.ID] == nil, "a second value of the id %q", c.ID)
			byID[c.ID], ids = c, append(ids, c.ID)
		}
		if c.Claim != "" {
			own := valueOf(t.terms(c).Ours, false)
			first, seen := ours[c.Claim]
			v.require(c.path+".claim", !seen || first == own, "some parts of the claim %q are ours, others the paper's", c.Claim)
			ours[c.Claim] = own
		}
	})
	each(func(_ *Table, c *Cell) {
		if c.SameAs == "" {
			return
		}
		of := byID[c.SameAs]
		if of == nil {
			v.fail(c.path+".same_as", "%w", experiment.Unknown("id", c.SameAs, ids))
			return
		}
		here, errHere := ParsePrinted(string(c.Published))
		there, errThere := ParsePrinted(string(of.Published))
		v.require(c.path+".same_as", errHere != nil || errThere != nil || here.Value == there.Value,
			"%q is not the value %q of %q", c.Published, of.Published, c.SameAs)
	})
}
