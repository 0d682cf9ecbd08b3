package ledger

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"privkern/runner/experiment"
)

// Validate checks the ledger against the experiments: names, parameters and
// metrics must be known, printed texts must read as numbers, and every entry
// must be complete. It returns all mistakes, joined, each with its position.
func (l *Ledger) Validate(reg *experiment.Registry) error {
	v := &validator{src: l.source}
	v.require("$", l.Paper != "", `"paper" is missing`)
	v.require("$", len(l.Tables) > 0, "no tables")
	for i, e := range l.Errata {
		v.require(fmt.Sprintf("$.errata[%d]", i), e.Where != "" && e.Text != "", `an erratum needs "where" and "text"`)
	}
	seen := map[string]bool{}
	for _, t := range l.Tables {
		v.require(t.path+".name", !seen[t.Name], "a second table of the name %q", t.Name)
		seen[t.Name] = true
		v.require(t.path+".name", strings.HasPrefix(t.Name, l.Paper+"/"), "the name %q does not start with %q", t.Name,
			l.Paper+"/")
		v.table(t, reg)
	}
	v.entries(l)
	return errors.Join(v.errs...)
}

// checkFigures checks that the paper has the figures that tables name.
func (l *Ledger) checkFigures(figures []experiment.Figure) error {
	var names []string
	for _, f := range figures {
		names = append(names, f.Name)
	}
	v := &validator{src: l.source}
	for _, t := range l.Tables {
		if t.Figure != "" && !slices.Contains(names, t.Figure) {
			v.fail(t.path+".figure", "%w", experiment.Unknown("figure", t.Figure, names))
		}
	}
	return errors.Join(v.errs...)
}

type validator struct {
	src  *source
	errs []error
}

func (v *validator) fail(path, format string, args ...any) {
	v.errs = append(v.errs, v.src.errorf(path, format, args...))
}

func (v *validator) require(path string, ok bool, format string, args ...any) {
	if !ok {
		v.fail(path, format, args...)
	}
}

func (v *validator) table(t *Table, reg *experiment.Registry) {
	kinds := []string{string(KindTable), string(KindFigure), string(KindClaims)}
	if !slices.Contains(kinds, string(t.Kind)) {
		v.fail(t.path+".kind", "%w", experiment.Unknown("kind", string(t.Kind), kinds))
	}
	v.require(t.path, t.Title != "", `"title" is missing`)
	v.require(t.path, len(t.Cells) > 0, "a table without cells")
	v.settings(t.path, t.Settings)
	v.terms(t.path, t, &t.Terms)
	v.pools(t)

	var variants []string
	for i, va := range t.Variants {
		path := fmt.Sprintf("%s.variants[%d]", t.path, i)
		v.require(path, va.Name != "", "a variant without a name")
		v.require(path+".name", !slices.Contains(variants, va.Name), "a second variant of the name %q", va.Name)
		variants = append(variants, va.Name)
		v.assumptions(path, va.Assumed, t)
	}
	v.joint(t, variants)
	v.commonParams(t, reg)

	seen := map[string]bool{}
	for _, c := range t.Cells {
		id := fmt.Sprint(c.Row, "\x00", c.Column, "\x00", c.Statement, "\x00", c.Variants)
		v.require(c.path, !seen[id], "a second cell for row %q, column %q", c.Row, c.Column)
		seen[id] = true
		before := len(v.errs)
		v.cell(t, c, variants)
		if len(v.errs) > before {
			continue // do not report the consequences too
		}
		for _, i := range t.variantsOf(c) {
			if _, err := t.claim(reg, c, i); err != nil {
				v.errs = append(v.errs, err)
				break
			}
		}
	}
}

// commonParams refuses a table's or variant's parameter that no experiment of
// the table has: it would be left out everywhere.
func (v *validator) commonParams(t *Table, reg *experiment.Registry) {
	var known []string
	for _, c := range t.Cells {
		names := []string{t.terms(c).Experiment}
		if c.Holds != nil {
			names = append(names, c.Holds.Experiment)
		}
		if c.Minus != nil {
			names = append(names, c.Minus.Experiment)
		}
		for _, name := range names {
			if e, err := reg.Lookup(name); err == nil {
				known = append(known, e.ParamNames()...)
			}
		}
	}
	if known == nil {
		return // unknown experiments are reported with their cells
	}
	check := func(path string, params map[string]any) {
		for _, k := range slices.Sorted(maps.Keys(params)) {
			if !slices.Contains(known, k) {
				v.errs = append(v.errs, v.src.keyErrorf(path+".params."+k, "no experiment of the table has it: %w",
					experiment.Unknown("parameter", k, known)))
			}
		}
	}
	check(t.path, t.Params)
	if t.Joint != nil {
		check(t.path+".joint", t.Joint.Params)
	}
	for i, va := range t.Variants {
		check(fmt.Sprintf("%s.variants[%d]", t.path, i), va.Params)
	}
}

func (v *validator) cell(t *Table, c *Cell, variants []string) {
	v.require(c.path, c.Row != "" || c.Column != "" || c.Statement != "", `a cell needs a "row", "column" or "statement"`)
	v.settings(c.path, c.Settings)
	for i, name := range c.Variants {
		if !slices.Contains(variants, name) {
			v.fail(fmt.Sprintf("%s.variants[%d]", c.path, i), "%w", experiment.Unknown("variant", name, variants))
		}
	}
	v.require(c.path, c.Statement == "" || c.Holds != nil || c.Published != "",
		`a statement needs "holds", which decides it, or "published"`)
	for name, x := range map[string]*float64{"value": c.Value, "uncertainty": c.Uncertainty, "rounding": c.Rounding} {
		bad := x != nil && (math.IsNaN(*x) || math.IsInf(*x, 0) || *x < 0 && name != "value")
		v.require(c.path+"."+name, !bad, "must be a finite number, and not negative but for a value")
	}
	v.require(c.path, c.Value == nil || c.Published != "", `a "value" needs the "published" text that it stands for`)
	if c.Holds != nil {
		v.holds(c)
	}
	v.references(c, variants)
	if c.Quoted {
		v.quoted(c)
		return
	}
	v.cellTerms(t, c)
	if c.MeanOf != nil {
		v.meanOf(t, c)
	}
	if p, err := ParsePrinted(string(c.Published)); err == nil && p.Percent && c.Value == nil {
		terms := t.terms(c)
		v.require(c.path+".published", terms.Unit == "%" || strings.HasSuffix(terms.Metric, "_percent"),
			"%q is in per cent, but the metric %s is not; give value and rounding in the metric's scale", c.Published,
			terms.Metric)
	}
}

func (v *validator) holds(c *Cell) {
	h, path := c.Holds, c.path+".holds"
	if !slices.Contains(relations, string(h.Op)) {
		v.fail(path+".op", "%q is not one of %s", h.Op, strings.Join(relations, " "))
	}
	other := h.Metric != "" || h.Experiment != "" || h.Params != nil
	v.require(path, c.Minus == nil || !other, `a difference ("minus") is compared with a "value"`)
	v.require(path, (h.Value != nil) != other,
		`give either "value", or what to compare with: "metric", "params", "experiment"`)
	v.require(path+".value", h.Value == nil || !math.IsNaN(*h.Value) && !math.IsInf(*h.Value, 0), "must be finite")
	v.require(path+".paired", !h.Paired || h.Op != Equal && h.Tolerance == 0,
		`a paired test finds which of two is larger: "=" and a tolerance have no place in it`)
	v.require(path+".paired", !h.Paired || c.MeanOf == nil, "a mean has no pairs of its own")
	v.require(path+".alpha", h.Alpha == nil || h.Paired && *h.Alpha > 0 && *h.Alpha < 1,
		`the level of a paired test: "paired: true", and between 0 and 1`)
	v.require(path+".tolerance", h.Tolerance >= 0 && !math.IsInf(h.Tolerance, 0), "must be finite and not negative")
}

// quoted refuses entries that state how a value is computed or compared.
func (v *validator) quoted(c *Cell) {
	v.require(c.path, c.Published != "", `a quoted cell needs "published", the text that it quotes`)
	v.none(c, "a quoted cell", map[string]bool{"mean_of": c.MeanOf != nil, "settings": c.Settings != nil,
		"variants": c.Variants != nil, "reference": c.Reference != nil, "statement": c.Statement != "",
		"draws": c.Draws != nil, "pool": c.Pool != "", "tolerance": c.Tolerance != nil, "headline": c.Headline != "",
		"claim": c.Claim != "", "stand_in": c.StandIn != "", "ours": c.Ours != nil, "times": c.Times != nil,
		"deterministic": c.Deterministic != nil})
}

func (v *validator) meanOf(t *Table, c *Cell) {
	v.none(c, "a mean", map[string]bool{"statement": c.Statement != ""})
	m, path := c.MeanOf, c.path+".mean_of"
	if (m.Row == "") == (m.Column == "") {
		v.fail(path, `give either "row" or "column"`)
		return
	}
	if slices.ContainsFunc(t.Cells, m.covers) {
		return
	}
	var rows, columns []string
	for _, o := range t.Cells {
		if (&MeanOf{Row: o.Row, Column: o.Column}).covers(o) {
			rows, columns = append(rows, o.Row), append(columns, o.Column)
		}
	}
	if m.Row != "" {
		v.fail(path+".row", "%w", experiment.Unknown("row", m.Row, rows))
	} else {
		v.fail(path+".column", "%w", experiment.Unknown("column", m.Column, columns))
	}
}

// none refuses entries of a cell that has no trials of its own.
func (v *validator) none(c *Cell, what string, given map[string]bool) {
	maps.Copy(given, map[string]bool{"experiment": c.Experiment != "", "params": c.Params != nil, "seeds": c.Seeds != nil,
		"metric": c.Metric != "", "holds": c.Holds != nil, "minus": c.Minus != nil})
	for _, k := range slices.Sorted(maps.Keys(given)) {
		if given[k] {
			v.errs = append(v.errs, v.src.keyErrorf(c.path+"."+k, "%s has no trials of its own, so %q has no effect", what, k))
		}
	}
}

func (v *validator) references(c *Cell, variants []string) {
	seen := map[string]bool{}
	for i, r := range c.Reference {
		path := fmt.Sprintf("%s.reference[%d]", c.path, i)
		v.require(path, !seen[r.Variant], "a second reference for the same variant")
		seen[r.Variant] = true
		switch {
		case r.Variant == "":
		case !slices.Contains(variants, r.Variant):
			v.fail(path+".variant", "%w", experiment.Unknown("variant", r.Variant, variants))
		case len(c.Variants) > 0 && !slices.Contains(c.Variants, r.Variant):
			v.fail(path+".variant", "the cell is not evaluated for the variant %q", r.Variant)
		}
		ok := r.Value != nil && r.Tolerance != nil && !math.IsNaN(*r.Value) && !math.IsInf(*r.Value, 0) &&
			*r.Tolerance >= 0 && !math.IsInf(*r.Tolerance, 0)
		v.require(path, ok, `a reference needs a finite "value" and a "tolerance" that is not negative`)
	}
}
