package claims

import (
	"fmt"
	"maps"
	"slices"

	"privkern/runner/experiment"
)

// Wanted is a trial that a table is made of.
type Wanted struct {
	Experiment string
	Params     experiment.Params // defaults filled in
	Seed       int64
}

// Trials returns the trials that the table is made of: every distinct setting
// once, in the order of the cells and their variants.
func (t *Table) Trials(reg *experiment.Registry) ([]Wanted, error) {
	claims, err := t.claims(reg)
	if err != nil {
		return nil, err
	}
	var out []Wanted
	seen := map[string]bool{}
	for i := range claims {
		for _, s := range claims[i].sides() {
			for _, seed := range s.seeds {
				if id := s.identity(seed); !seen[id] {
					seen[id] = true
					out = append(out, Wanted{Experiment: s.experiment.Name, Params: s.params, Seed: seed})
				}
			}
		}
	}
	return out, nil
}

// claim is one cell under one variant, resolved against the experiments.
type claim struct {
	cell      *Cell
	variant   string
	printed   *Printed // nil where no number is published
	left      []*side  // none of a quoted value, several of a mean
	minus     []*side  // of a difference: what is subtracted, one for each of left
	right     *side    // of a statement that compares two metrics
	reference *Reference
}

func (c *claim) sides() []*side {
	out := slices.Concat(c.left, c.minus)
	if c.right != nil {
		out = append(out, c.right)
	}
	return out
}

// metric is what the claim is about; empty for a quoted value.
func (c *claim) metric() string {
	if len(c.left) == 0 {
		return ""
	}
	return c.left[0].metric
}

// side is one metric of one setting over some seeds.
type side struct {
	experiment *experiment.Experiment
	metric     string
	params     experiment.Params
	canonical  string // canonical JSON of params
	seeds      []int64
}

func (s *side) identity(seed int64) string {
	return identity(s.experiment.Name, s.canonical, seed)
}

// identity names a setting independently of backend, data digests and result
// version, which are part of a trial's key but not of a claim.
func identity(name, canonical string, seed int64) string {
	return fmt.Sprintf("%s\x00%d", setting(name, canonical), seed)
}

func setting(name, canonical string) string { return name + "\x00" + canonical }

// layer is a set of parameters and where the ledger gives them.
type layer struct {
	params map[string]any
	path   string
	// strict layers must be known to the experiment; others are left out where
	// it does not have them.
	strict bool
}

// claims resolves every cell under each of its variants, in order.
func (t *Table) claims(reg *experiment.Registry) ([]claim, error) {
	var out []claim
	for _, c := range t.Cells {
		for _, v := range t.variantsOf(c) {
			cl, err := t.claim(reg, c, v)
			if err != nil {
				return nil, err
			}
			out = append(out, cl)
		}
	}
	return out, nil
}

// variantsOf returns the indices of the variants of a cell, -1 for none.
func (t *Table) variantsOf(c *Cell) []int {
	if len(t.Variants) == 0 || c.Quoted {
		return []int{-1}
	}
	var out []int
	for i, v := range t.Variants {
		if len(c.Variants) == 0 || slices.Contains(c.Variants, v.Name) {
			out = append(out, i)
		}
	}
	return out
}

func (t *Table) claim(reg *experiment.Registry, c *Cell, variant int) (claim, error) {
	cl := claim{cell: c}
	if variant >= 0 {
		cl.variant = t.Variants[variant].Name
	}
	var err error
	switch {
	case c.Quoted:
	case c.MeanOf != nil:
		err = t.meanOf(&cl, reg, variant)
	default:
		err = t.resolve(&cl, reg, variant)
	}
	if err != nil {
		return claim{}, err
	}
	if cl.printed, err = c.print(); err != nil {
		return claim{}, t.ledger.source.errorf(c.path+".published", "%w", err)
	}
	for i := range c.Reference {
		r := &c.Reference[i]
		if r.Variant == cl.variant || r.Variant == "" && cl.reference == nil {
			cl.reference = r
		}
	}
	return cl, nil
}

// meanOf takes over the sides of the cells that a mean is taken over.
func (t *Table) meanOf(cl *claim, reg *experiment.Registry, variant int) error {
	c := cl.cell
	for _, m := range t.Cells {
		if !c.MeanOf.covers(m) {
			continue
		}
		if !slices.Contains(t.variantsOf(m), variant) {
			return t.ledger.source.errorf(c.path+".mean_of", `row %q, column %q has no value of the variant %q; restrict the mean by "variants"`,
				m.Row, m.Column, t.Variants[variant].Name)
		}
		member, err := t.claim(reg, m, variant)
		if err != nil {
			return err
		}
		cl.left, cl.minus = append(cl.left, member.left...), append(cl.minus, member.minus...)
		if metric := member.metric(); metric != cl.metric() {
			return t.ledger.source.errorf(c.path+".mean_of", "a mean of different metrics: %s and %s", cl.metric(), metric)
		}
		if len(cl.minus) > 0 && len(cl.minus) < len(cl.left) {
			return t.ledger.source.errorf(c.path+".mean_of", `a mean of differences ("minus") and of values that are none`)
		}
	}
	return nil
}

// covers says whether the mean is taken over a cell.
func (m *MeanOf) covers(c *Cell) bool {
	if c.Quoted || c.MeanOf != nil || c.Holds != nil {
		return false
	}
	return m.Row != "" && c.Row == m.Row || m.Column != "" && c.Column == m.Column
}

// resolve fills in both sides of a claim from the layers of parameters.
func (t *Table) resolve(cl *claim, reg *experiment.Registry, variant int) error {
	c := cl.cell
	layers := []layer{{t.Params, t.path + ".params", false}}
	if variant >= 0 {
		layers = append(layers, layer{t.Variants[variant].Params, fmt.Sprintf("%s.variants[%d].params", t.path, variant), false})
	}
	layers = append(layers, layer{c.Params, c.path + ".params", true})

	seeds := c.Seeds
	if seeds == nil {
		seeds = t.Seeds
	}
	if seeds == nil {
		seeds = Seeds{0}
	}
	name, metric := or(c.Experiment, t.Experiment), or(c.Metric, t.Metric)
	left, err := t.side(reg, c.path, name, metric, seeds, layers)
	if err != nil {
		return err
	}
	cl.left = []*side{&left}
	// Another experiment need not have all of the cell's parameters; for the same
	// one the left side has checked them.
	layers[len(layers)-1].strict = false
	if h := c.Holds; h != nil && h.Value == nil {
		right, err := t.side(reg, c.path+".holds", or(h.Experiment, name), or(h.Metric, metric), seeds,
			append(slices.Clip(layers), layer{h.Params, c.path + ".holds.params", true}))
		if err != nil {
			return err
		}
		cl.right = &right
	}
	if m := c.Minus; m != nil {
		if m.Seeds != nil {
			seeds = m.Seeds
		}
		minus, err := t.side(reg, c.path+".minus", or(m.Experiment, name), or(m.Metric, metric), seeds,
			append(slices.Clip(layers), layer{m.Params, c.path + ".minus.params", true}))
		if err != nil {
			return err
		}
		if minus.experiment == left.experiment && minus.canonical == left.canonical && minus.metric == left.metric {
			return t.ledger.source.errorf(c.path+".minus", `the cell's own value is subtracted: give another "metric", "params" or "experiment"`)
		}
		cl.minus = []*side{&minus}
	}
	return nil
}

// side resolves the layers, the later ones over the earlier, for one experiment.
func (t *Table) side(reg *experiment.Registry, path, name, metric string, seeds []int64, layers []layer) (side, error) {
	src := t.ledger.source
	if name == "" {
		return side{}, src.errorf(path, "no experiment: name one in the cell or the table")
	}
	e, err := reg.Lookup(name)
	if err != nil {
		return side{}, src.errorf(path+".experiment", "%w", err)
	}
	if metric == "" {
		return side{}, src.errorf(path, "no metric: name one in the cell or the table")
	}
	if err := knownMetric(e, metric); err != nil {
		return side{}, src.errorf(path+".metric", "%w", err)
	}
	given := map[string]any{}
	for _, l := range layers {
		for _, k := range slices.Sorted(maps.Keys(l.params)) {
			p, err := e.Param(k)
			if err != nil {
				if l.strict {
					return side{}, src.keyErrorf(l.path+"."+k, "%s: %w", e.Name, err)
				}
				continue
			}
			if given[k], err = p.Convert(l.params[k]); err != nil {
				return side{}, src.errorf(l.path+"."+k, "%s: %w", e.Name, err)
			}
		}
	}
	params, err := e.Resolve(given)
	if err != nil {
		return side{}, src.errorf(path, "%w", err)
	}
	canonical, err := canonicalJSON(params)
	if err != nil {
		return side{}, src.errorf(path, "%s: %w", e.Name, err)
	}
	return side{experiment: e, metric: metric, params: params, canonical: canonical, seeds: seeds}, nil
}

// knownMetric looks for a documented metric; a trailing "*" stands for a
// family.
func knownMetric(e *experiment.Experiment, name string) error {
	var valid []string
	for _, m := range e.Metrics {
		if m.Covers(name) {
			return nil
		}
		valid = append(valid, m.Name)
	}
	return fmt.Errorf("%s: %w", e.Name, experiment.Unknown("metric", name, valid))
}

// print returns the published number: what the printed text says, with the
// explicit entries over it; nil where the cell publishes none.
func (c *Cell) print() (*Printed, error) {
	var p Printed
	switch {
	case c.Value != nil:
		// Where the text says the same number, it also says how it is rounded.
		if q, err := ParsePrinted(string(c.Published)); err == nil && q.Value == *c.Value {
			p = q
			break
		}
		if c.Rounding == nil {
			return nil, fmt.Errorf("%q does not read as the value %s; give its rounding (half a unit of the last printed digit) too",
				c.Published, experiment.FormatNumber(*c.Value))
		}
		p = Printed{Value: *c.Value, Relation: Equal}
	case c.Published == "":
		return nil, nil
	default:
		var err error
		if p, err = ParsePrinted(string(c.Published)); err != nil {
			if c.Holds != nil {
				return nil, nil // printed words, decided by the statement
			}
			return nil, err
		}
	}
	if c.Uncertainty != nil {
		p.Uncertainty = c.Uncertainty
	}
	if c.Rounding != nil {
		p.Rounding = *c.Rounding
	}
	return &p, nil
}

func or[T comparable](a, b T) T {
	var zero T
	if a != zero {
		return a
	}
	return b
}
