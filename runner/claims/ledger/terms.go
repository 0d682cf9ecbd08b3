package ledger

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
)

// Tolerance is how far from the print a value may be and still do for what the paper
// uses it for. It is taken from the paper's own repeatability or the unit of use, and
// declared before results are made, never taken from our differences.
type Tolerance struct {
	Absolute *float64 `yaml:"absolute"` // in the cell's unit
	Relative *float64 `yaml:"relative"` // a share of the print
	Source   string   `yaml:"source"`   // what it is taken from
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

// Pool is a name for cells of a table with one variance, each under its own variant.
type Pool struct {
	Name  string `yaml:"name"`
	Scale Scale  `yaml:"scale"` // empty: linear
}

// Scale is how a variance is shared.
type Scale string

// The scales of a pool.
const (
	Linear Scale = "linear" // equal standard deviations
	Log    Scale = "log"    // equal ones of the logarithms, of values that span decades
)

// Repetitions is the [Cell.UncertaintyOf] of a ± that is the standard deviation of
// independent repetitions of the printed number.
const Repetitions = "repetitions"

// Terms are what a verdict on a cell under one variant needs beside the numbers,
// resolved from cell, variant and table.
type Terms struct {
	Draws         float64 // behind the print, in units of our trial
	Pool          *Pool   // nil: no other cell shares the variance
	Tolerance     *Tolerance
	UncertaintyOf string
	Assumed       []Assumption
	SettingsNote  string

	Headline      bool   // the variant that is judged, or the only one
	Corrected     bool   // the effect of an erratum, shown beside
	Fitted        bool   // an assumed setting was fitted to the cell
	Ours          bool   // not an entry of the paper
	StandIn       string // what takes the place of the paper's data; empty: nothing
	Deterministic bool
	Times         bool

	// Entry identifies the paper's value or claim in its ledger: cells with one entry
	// count once. Primary is false where the entry is another cell's ("same_as").
	Entry   string
	Primary bool
}

// termsOf resolves what a verdict needs. Claim cl has its sides.
func (t *Table) termsOf(cl *Claim, variant int) Terms {
	c := cl.Cell
	out := Terms{Draws: 1, Tolerance: t.Tolerance, UncertaintyOf: string(cmp.Or(c.UncertaintyOf, t.UncertaintyOf)),
		Headline: t.headline(c) == variant, Entry: t.Entry(c), Primary: c.SameAs == "",
		Ours:    t.Ours || c.Published == "" && c.Statement == "",
		StandIn: cmp.Or(c.StandIn, t.StandIn), Deterministic: t.Deterministic, Times: t.Times}
	for _, d := range []*float64{t.Draws, c.Draws} {
		if d != nil {
			out.Draws = *d
		}
	}
	if c.Tolerance != nil {
		out.Tolerance = c.Tolerance
	}
	if c.Ours != nil {
		out.Ours = *c.Ours
	}
	out.Pool = t.poolOf(c)
	out.Assumed, out.SettingsNote = t.assumptionsOf(c, variant)
	out.Fitted = slices.ContainsFunc(out.Assumed, func(a Assumption) bool {
		return slices.ContainsFunc(a.Fitted, func(p CellPlace) bool { return p.covers(c) })
	})
	if variant >= 0 {
		out.Corrected = t.Variants[variant].Corrected
		out.StandIn = cmp.Or(c.StandIn, t.Variants[variant].StandIn, t.StandIn)
	}
	t.deriveTerms(&out, cl)
	return out
}

// deriveTerms adds what the experiments know of the sides, and the cell's own word.
func (t *Table) deriveTerms(out *Terms, cl *Claim) {
	c, sides := cl.Cell, cl.sides()
	seedless := len(sides) > 0
	for _, s := range sides {
		out.StandIn = cmp.Or(out.StandIn, s.setting.standIn)
		seedless = seedless && s.setting.seedless
	}
	out.Deterministic = out.Deterministic || seedless
	if len(cl.Left) > 0 && cl.Left[0].timed() {
		out.Times = true
	}
	if c.Deterministic != nil {
		out.Deterministic = *c.Deterministic
	}
	if c.Times != nil {
		out.Times = *c.Times
	}
}

// headline returns the index of the variant that is judged, -1 for the only one of a
// table without variants and for a quoted cell, -2 where all are corrected.
func (t *Table) headline(c *Cell) int {
	candidates := t.judgedVariants(c)
	if name := cmp.Or(c.Headline, t.Headline); name != "" {
		for _, i := range candidates {
			if i >= 0 && t.Variants[i].Name == name {
				return i
			}
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

// poolOf returns the pool of a cell. That of the table is not for means and
// differences.
func (t *Table) poolOf(c *Cell) *Pool {
	name := c.Pool
	if name == "" && c.MeanOf == nil && c.Minus == nil {
		name = t.Pool
	}
	for i := range t.Pools {
		if t.Pools[i].Name == name && name != "" {
			return &t.Pools[i]
		}
	}
	return nil
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

// Digest identifies what a verdict on the claim was made with, beside the numbers: the
// settings, metrics and seeds of its trials, the versions of their experiments, the print,
// and what the ledger says of it. A verdict that was kept with another digest is stale.
func (c *Claim) Digest() string {
	h := sha256.New()
	say := func(values ...any) {
		for _, v := range values {
			_, _ = fmt.Fprintf(h, "%q\n", fmt.Sprint(v))
		}
	}
	for _, sides := range [][]*Side{c.Left, c.Minus, {c.Right}} {
		for _, s := range sides {
			if s != nil {
				say(s.ID, s.Experiment.Version, s.Metric, s.Seeds)
			}
		}
		say("end")
	}
	if p := c.Printed; p != nil {
		say(p.Value, p.Rounding, p.Relation, optional(p.Uncertainty), c.UncertaintyOf)
	}
	if o := c.Cell.Holds; o != nil {
		say(o.Op, optional(o.Value), o.Tolerance, o.Paired, optional(o.Alpha))
	}
	if t := c.Tolerance; t != nil {
		say(optional(t.Absolute), optional(t.Relative))
	}
	for _, with := range append([]*Claim{c}, c.Members...) {
		if with.Pool != nil {
			say(with.Pool.Name, with.Pool.Scale)
		}
	}
	say(c.Cell.Published, c.Draws, c.Corrected, c.Fitted, c.StandIn, c.Deterministic, c.Times)
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// optional is the number, or nil where there is none.
func optional(v *float64) any {
	if v == nil {
		return nil
	}
	return *v
}
