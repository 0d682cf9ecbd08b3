package ledger

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
)

// Tolerance is the distance from the print within which a value still serves the paper's
// purpose. It derives from the paper's own repeatability or the unit of use, and is
// declared before results exist, never derived from our differences.
type Tolerance struct {
	Absolute *float64 `yaml:"absolute"` // in the cell's unit
	Relative *float64 `yaml:"relative"` // as a fraction of the print
	Source   string   `yaml:"source"`   // repeatability or unit of use
}

// Of returns the tolerance of a printed value: the larger of the absolute and the
// relative one.
func (t *Tolerance) Of(printed float64) float64 {
	out := 0.0
	if t.Absolute != nil {
		out = *t.Absolute
	}
	if t.Relative != nil {
		out = max(out, *t.Relative*math.Abs(printed))
	}
	return out
}

// Pool names a set of cells of a table that have one variance, separately for each variant.
type Pool struct {
	Name  string `yaml:"name"`
	Scale Scale  `yaml:"scale"` // empty: linear
}

// Scale is the scale on which the cells of a pool have one variance.
type Scale string

// The scales of a pool.
const (
	Linear Scale = "linear" // equal standard deviations
	Log    Scale = "log"    // equal deviations of the logarithms, for values that span decades
)

// Repetitions is the [Terms.UncertaintyOf] of a ± that is the standard deviation of
// independent repetitions of the printed number.
const Repetitions = "repetitions"

// Conditions hold everything except the numbers that a verdict on a cell under one variant
// depends on, resolved from cell, variant and table.
type Conditions struct {
	Draws         float64 // behind the print, in units of one trial
	Pool          *Pool   // nil where no other cell shares the variance
	Tolerance     *Tolerance
	UncertaintyOf string
	Assumed       []Assumption
	SettingsNote  string

	Headline      bool   // the variant that is judged, or the only one
	Corrected     bool   // the effect of an erratum
	Fitted        bool   // an assumed setting was fitted to the cell
	Ours          bool   // not an entry of the paper
	StandIn       string // replacement of the paper's data; empty for none
	Deterministic bool
	Times         bool

	// Entry identifies the paper's value or claim in its ledger: cells with one entry
	// count once. Primary is false where the entry is another cell's ("same_as").
	Entry   string
	Primary bool
}

// terms returns the terms of a cell: those of the table where the cell has none. Params
// remain the cell's, because those of the variants take precedence over the table's.
func (t *Table) terms(c *Cell) Terms {
	out := c.Terms
	out.Experiment = cmp.Or(out.Experiment, t.Experiment)
	out.Metric = cmp.Or(out.Metric, t.Metric)
	out.Unit = cmp.Or(out.Unit, t.Unit)
	if out.Seeds == nil {
		out.Seeds = t.Seeds
	}
	out.Settings = cmp.Or(out.Settings, t.Settings)
	out.Draws = cmp.Or(out.Draws, t.Draws)
	if c.MeanOf == nil && c.Minus == nil {
		out.Pool = cmp.Or(out.Pool, t.Pool)
	}
	out.Tolerance = cmp.Or(out.Tolerance, t.Tolerance)
	out.Headline = cmp.Or(out.Headline, t.Headline)
	out.UncertaintyOf = cmp.Or(out.UncertaintyOf, t.UncertaintyOf)
	out.Ours = cmp.Or(out.Ours, t.Ours)
	out.StandIn = cmp.Or(out.StandIn, t.StandIn)
	out.Deterministic = cmp.Or(out.Deterministic, t.Deterministic)
	out.Times = cmp.Or(out.Times, t.Times)
	return out
}

// valueOf returns *v, or otherwise where v is nil.
func valueOf[T any](v *T, otherwise T) T {
	if v == nil {
		return otherwise
	}
	return *v
}

// UnitOf returns the unit of a cell.
func (t *Table) UnitOf(c *Cell) string { return t.terms(c).Unit }

// conditions resolves the conditions of a claim, whose sides are known.
func (t *Table) conditions(cl *Claim, variant int) Conditions {
	c, terms := cl.Cell, t.terms(cl.Cell)
	out := Conditions{Draws: valueOf(terms.Draws, 1), Pool: t.pool(terms.Pool), Tolerance: terms.Tolerance,
		UncertaintyOf: string(terms.UncertaintyOf), Headline: t.headline(c) == variant, Entry: t.Entry(c),
		Primary: c.SameAs == "", Ours: valueOf(terms.Ours, c.Published == "" && c.Statement == ""),
		StandIn: terms.StandIn}
	out.Assumed, out.SettingsNote = t.assumptionsOf(c, variant)
	out.Fitted = slices.ContainsFunc(out.Assumed, func(a Assumption) bool {
		return slices.ContainsFunc(a.Fitted, func(p CellPlace) bool { return p.covers(c) })
	})
	if variant >= 0 {
		out.Corrected = t.Variants[variant].Corrected
		out.StandIn = cmp.Or(c.StandIn, t.Variants[variant].StandIn, t.StandIn)
	}
	sides := cl.sides()
	seedless := len(sides) > 0
	for _, s := range sides {
		out.StandIn = cmp.Or(out.StandIn, s.setting.standIn)
		seedless = seedless && s.Seedless()
	}
	out.Deterministic = valueOf(terms.Deterministic, seedless)
	out.Times = valueOf(terms.Times, len(cl.Left) > 0 && cl.Left[0].Timed())
	return out
}

// headline returns the index of the variant that is judged, -1 for the only one of a
// table without variants and for a quoted cell, -2 where all are corrected.
func (t *Table) headline(c *Cell) int {
	candidates := t.judgedVariants(c)
	name := t.terms(c).Headline
	for _, i := range candidates {
		if i >= 0 && t.Variants[i].Name == name {
			return i
		}
	}
	if len(candidates) == 0 {
		return -2
	}
	return candidates[0] // the only one: validation asks for a name where there are more
}

// judgedVariants are the variants of a cell that are not corrected.
func (t *Table) judgedVariants(c *Cell) []int {
	return slices.DeleteFunc(t.variantsOf(c), func(i int) bool { return i >= 0 && t.Variants[i].Corrected })
}

// pool returns the pool of that name, nil for none.
func (t *Table) pool(name string) *Pool {
	i := slices.IndexFunc(t.Pools, func(p Pool) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &t.Pools[i]
}

// Entry identifies the paper's value or claim that a cell is of, in its ledger.
func (t *Table) Entry(c *Cell) string {
	switch {
	case c.Claim != "":
		return "claim " + c.Claim
	case c.SameAs != "":
		return "value " + c.SameAs
	case c.ID != "":
		return "value " + c.ID
	}
	out := t.Name
	for _, s := range append([]string{c.Row, c.Column, c.Statement}, c.Variants...) {
		if s != "" {
			out += " | " + s
		}
	}
	return out
}

// Digest identifies the conditions of a verdict on the claim: the settings, metrics and
// seeds of its trials, the versions of their experiments, the print, and its terms. A
// verdict that was kept with another digest is stale.
func (c *Claim) Digest() string {
	h := sha256.New()
	write := func(values ...any) {
		for _, v := range values {
			_, _ = fmt.Fprintf(h, "%q\n", fmt.Sprint(v))
		}
	}
	for _, sides := range [][]*Side{c.Left, c.Minus, {c.Right}} {
		for _, s := range sides {
			if s != nil {
				write(s.ID, s.Experiment.Version, s.Metric, s.Seeds)
			}
		}
		write("end")
	}
	if p := c.Printed; p != nil {
		write(p.Value, p.Rounding, p.Relation, optional(p.Uncertainty), c.UncertaintyOf)
	}
	if o := c.Cell.Holds; o != nil {
		write(o.Op, optional(o.Value), o.Tolerance, o.Paired, optional(o.Alpha))
	}
	if t := c.Tolerance; t != nil {
		write(optional(t.Absolute), optional(t.Relative))
	}
	for _, with := range append([]*Claim{c}, c.Members...) {
		if with.Pool != nil {
			write(with.Pool.Name, with.Pool.Scale)
		}
	}
	write(c.Cell.Published, c.Draws, c.Corrected, c.Fitted, c.StandIn, c.Deterministic, c.Times)
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// optional returns *v, or nil without a type where v is nil.
func optional(v *float64) any {
	if v == nil {
		return nil
	}
	return *v
}
