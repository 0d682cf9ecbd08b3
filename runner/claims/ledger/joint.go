package ledger

import (
	"fmt"
	"slices"

	"privkern/runner/experiment"
)

// Joint describes the trials of the joint verdict on the printed numbers of a table, where those of
// its cells do not serve: they are few, or average more draws than the print.
type Joint struct {
	Seeds Seeds `yaml:"seeds"` // by default those of the cells
	// Params take precedence over those of a cell, and make a trial one draw of the print's procedure.
	Params map[string]any `yaml:"params"`
	// Variants have a joint verdict, too, which does not count; the headline always has one.
	Variants []string `yaml:"variants"`
}

// joins reports whether a claim is part of a joint verdict: a number that the paper prints for a
// quantity of its own. Means and differences repeat other cells.
func (t *Table) joins(cl *Claim) bool {
	c := cl.Cell
	return cl.Printed != nil && cl.Printed.Relation == Equal && c.Holds == nil && len(cl.Left) == 1 && c.MeanOf == nil &&
		len(cl.Minus) == 0 && cl.Primary && !cl.Ours && !cl.Corrected && !cl.Fitted && !cl.Times && cl.StandIn == "" &&
		(cl.Headline || t.Joint != nil && slices.Contains(t.Joint.Variants, cl.Variant))
}

// join sets the trials of a claim in a joint verdict, and the draws behind the print in units of
// one of them.
func (t *Table) join(cl *Claim, reg *experiment.Registry, variant int) error {
	if !t.joins(cl) {
		return nil
	}
	cl.Joint, cl.JointDraws = cl.Left[0], cl.Draws
	if t.Joint == nil || cl.Deterministic {
		return nil
	}
	left := cl.Left[0]
	layers := append(t.layers(cl.Cell, variant), layer{t.Joint.Params, t.path + ".joint.params", false})
	seeds := left.Seeds
	if t.Joint.Seeds != nil {
		seeds = t.Joint.Seeds
	}
	side, err := t.side(reg, t.path+".joint", left.Experiment.Name, left.Metric, seeds, layers)
	if err != nil {
		return err
	}
	if cl.Joint = &side; side.ID != left.ID {
		cl.JointDraws = max(1, cl.Draws)
	}
	return nil
}

// joint checks the entry of a table.
func (v *validator) joint(t *Table, variants []string) {
	if t.Joint == nil {
		return
	}
	path := t.path + ".joint"
	v.require(path, t.Joint.Seeds != nil || t.Joint.Params != nil || t.Joint.Variants != nil,
		`give "seeds", "params" or "variants"`)
	for i, name := range t.Joint.Variants {
		at := slices.Index(variants, name)
		if at < 0 {
			v.fail(fmt.Sprintf("%s.variants[%d]", path, i), "%w", experiment.Unknown("variant", name, variants))
			continue
		}
		v.require(fmt.Sprintf("%s.variants[%d]", path, i), !t.Variants[at].Corrected,
			"%q is corrected, and not judged against the print", name)
	}
}
