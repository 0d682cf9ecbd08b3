package ledger

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"privkern/runner/experiment"
	"privkern/runner/record"
)

// Trials returns the trials that the table is made of: every distinct setting
// once, in the order of the cells and their variants. The identities have experiment,
// parameters (with defaults filled in) and seed.
func (t *Table) Trials(reg *experiment.Registry) ([]experiment.Identity, error) {
	claims, err := t.Claims(reg)
	if err != nil {
		return nil, err
	}
	var out []experiment.Identity
	seen := map[record.TrialID]bool{}
	for i := range claims {
		for _, s := range claims[i].sides() {
			for _, seed := range s.Seeds {
				if id := (record.TrialID{Setting: s.ID, Seed: seed}); !seen[id] {
					seen[id] = true
					out = append(out, experiment.Identity{Experiment: s.Experiment.Name, Params: s.Params, Seed: seed})
				}
			}
		}
	}
	return out, nil
}

// Claim is one cell under one variant, resolved against the experiments.
type Claim struct {
	Cell      *Cell
	Variant   string
	Printed   *Number  // nil where no number is published
	Left      []*Side  // none of a quoted value, several of a mean
	Members   []*Claim // of a mean: its terms, one for each of Left
	Minus     []*Side  // of a difference: the subtrahends, one for each of Left
	Right     *Side    // of a statement that compares two metrics
	Reference *Reference
	// Joint are the trials of the claim in a joint verdict, nil where it has none. JointDraws are
	// the draws behind the print in units of one of them.
	Joint      *Side
	JointDraws float64
	Conditions
}

func (c *Claim) sides() []*Side {
	out := slices.Concat(c.Left, c.Minus)
	if c.Right != nil {
		out = append(out, c.Right)
	}
	if c.Joint != nil {
		out = append(out, c.Joint)
	}
	return out
}

// Metric returns the name of the claim's metric; empty for a quoted value.
func (c *Claim) Metric() string {
	if len(c.Left) == 0 {
		return ""
	}
	return c.Left[0].Metric
}

// Side is one metric of one setting over some seeds.
type Side struct {
	Experiment *experiment.Experiment
	Metric     string
	Params     experiment.Params // defaults filled in
	ID         record.SettingID
	Seeds      []int64

	setting *setting
}

// Seedless reports whether the seed changes nothing.
func (s *Side) Seedless() bool { return s.setting.seedless }

// Timed reports whether the metric measures the speed of the machine.
func (s *Side) Timed() bool {
	return slices.ContainsFunc(s.Experiment.Metrics, func(m experiment.Metric) bool {
		return m.Timing && m.Covers(s.Metric)
	})
}

// layer is a set of parameters with its path in the ledger.
type layer struct {
	params map[string]any
	path   string
	// The experiment must have the parameters of a strict layer; those of others are
	// left out where it does not.
	strict bool
}

// Claims resolves every cell under each of its variants, in order.
func (t *Table) Claims(reg *experiment.Registry) ([]Claim, error) {
	var out []Claim
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

func (t *Table) claim(reg *experiment.Registry, c *Cell, variant int) (Claim, error) {
	cl := Claim{Cell: c}
	if variant >= 0 {
		cl.Variant = t.Variants[variant].Name
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
		return Claim{}, err
	}
	if cl.Printed, err = c.print(); err != nil {
		return Claim{}, t.ledger.source.errorf(c.path+".published", "%w", err)
	}
	for i := range c.Reference {
		r := &c.Reference[i]
		if r.Variant == cl.Variant || r.Variant == "" && cl.Reference == nil {
			cl.Reference = r
		}
	}
	cl.Conditions = t.conditions(&cl, variant)
	return cl, t.join(&cl, reg, variant)
}

// meanOf adds the sides of the cells that a mean averages.
func (t *Table) meanOf(cl *Claim, reg *experiment.Registry, variant int) error {
	c := cl.Cell
	for _, m := range t.Cells {
		if !c.MeanOf.covers(m) {
			continue
		}
		if !slices.Contains(t.variantsOf(m), variant) {
			return t.ledger.source.errorf(c.path+".mean_of",
				`row %q, column %q has no value of the variant %q; restrict the mean by "variants"`,
				m.Row, m.Column, t.Variants[variant].Name)
		}
		member, err := t.claim(reg, m, variant)
		if err != nil {
			return err
		}
		cl.Members = append(cl.Members, &member)
		cl.Left, cl.Minus = append(cl.Left, member.Left...), append(cl.Minus, member.Minus...)
		if metric := member.Metric(); metric != cl.Metric() {
			return t.ledger.source.errorf(c.path+".mean_of", "a mean of different metrics: %s and %s", cl.Metric(), metric)
		}
		if len(cl.Minus) > 0 && len(cl.Minus) < len(cl.Left) {
			return t.ledger.source.errorf(c.path+".mean_of", `a mean of differences ("minus") and of values that are none`)
		}
	}
	return nil
}

// covers reports whether the mean averages a cell.
func (m *MeanOf) covers(c *Cell) bool {
	if c.Quoted || c.MeanOf != nil || c.Holds != nil {
		return false
	}
	return m.Row != "" && c.Row == m.Row || m.Column != "" && c.Column == m.Column
}

// layers returns the parameters of a cell under a variant (-1 for none).
func (t *Table) layers(c *Cell, variant int) []layer {
	out := []layer{{t.Params, t.path + ".params", false}}
	if variant >= 0 {
		out = append(out, layer{t.Variants[variant].Params, fmt.Sprintf("%s.variants[%d].params", t.path, variant), false})
	}
	return append(out, layer{c.Params, c.path + ".params", true})
}

// resolve fills in both sides of a claim from the layers of parameters.
func (t *Table) resolve(cl *Claim, reg *experiment.Registry, variant int) error {
	c := cl.Cell
	layers := t.layers(c, variant)
	terms := t.terms(c)
	name, metric, seeds := terms.Experiment, terms.Metric, terms.Seeds
	if seeds == nil {
		seeds = Seeds{0}
	}
	left, err := t.side(reg, c.path, name, metric, seeds, layers)
	if err != nil {
		return err
	}
	cl.Left = []*Side{&left}
	// Another experiment need not have all of the cell's parameters; for the same
	// one the left side has checked them.
	layers[len(layers)-1].strict = false
	if h := c.Holds; h != nil && h.Value == nil {
		right, err := t.side(reg, c.path+".holds", cmp.Or(h.Experiment, name), cmp.Or(h.Metric, metric), seeds,
			append(slices.Clip(layers), layer{h.Params, c.path + ".holds.params", true}))
		if err != nil {
			return err
		}
		cl.Right = &right
	}
	if m := c.Minus; m != nil {
		if m.Seeds != nil {
			seeds = m.Seeds
		}
		minus, err := t.side(reg, c.path+".minus", cmp.Or(m.Experiment, name), cmp.Or(m.Metric, metric), seeds,
			append(slices.Clip(layers), layer{m.Params, c.path + ".minus.params", true}))
		if err != nil {
			return err
		}
		if minus.ID == left.ID && minus.Metric == left.Metric {
			return t.ledger.source.errorf(c.path+".minus",
				`the cell's own value is subtracted: give another "metric", "params" or "experiment"`)
		}
		cl.Minus = []*Side{&minus}
	}
	return nil
}

// side resolves the layers, the later ones over the earlier, for one experiment.
func (t *Table) side(reg *experiment.Registry, path, name, metric string, seeds []int64, layers []layer) (Side, error) {
	src := t.ledger.source
	if name == "" {
		return Side{}, src.errorf(path, "no experiment: name one in the cell or the table")
	}
	e, err := reg.Lookup(name)
	if err != nil {
		return Side{}, src.errorf(path+".experiment", "%w", err)
	}
	if metric == "" {
		return Side{}, src.errorf(path, "no metric: name one in the cell or the table")
	}
	if err := knownMetric(e, metric); err != nil {
		return Side{}, src.errorf(path+".metric", "%w", err)
	}
	given := map[string]any{}
	for _, l := range layers {
		for _, k := range slices.Sorted(maps.Keys(l.params)) {
			p, err := e.Param(k)
			if err != nil {
				if l.strict {
					return Side{}, src.keyErrorf(l.path+"."+k, "%s: %w", e.Name, err)
				}
				continue
			}
			if given[k], err = p.Convert(l.params[k]); err != nil {
				return Side{}, src.errorf(l.path+"."+k, "%s: %w", e.Name, err)
			}
		}
	}
	of, err := t.ledger.setting(e, given)
	if err != nil {
		return Side{}, src.errorf(path, "%w", err)
	}
	return Side{Experiment: e, Metric: metric, Params: of.params, ID: of.id, Seeds: seeds, setting: of}, nil
}

// setting is a setting of an experiment with defaults filled in.
type setting struct {
	params   experiment.Params
	id       record.SettingID
	standIn  string // the data set that is not the paper's, if any
	seedless bool   // whether the seed changes nothing
}

// setting resolves the parameters of a side. The result is kept, because a ledger has seven
// times as many sides as settings, and checking a setting may calibrate its noise.
func (l *Ledger) setting(e *experiment.Experiment, given map[string]any) (*setting, error) {
	key, err := record.IDOfSetting(e.Name, given)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.Name, err)
	}
	if known, ok := l.settings.Load(key); ok {
		return known.(*setting), nil
	}
	params, err := e.Resolve(given)
	if err != nil {
		return nil, err
	}
	id, err := record.IDOfSetting(e.Name, params)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.Name, err)
	}
	of := &setting{params: params, id: id, seedless: e.Seedless != nil && e.Seedless(params)}
	if e.StandIn != nil {
		of.standIn = e.StandIn(params)
	}
	l.settings.Store(key, of)
	return of, nil
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

// print returns the published number: parsed from the printed text unless explicit
// entries replace it; nil where the cell publishes none.
func (c *Cell) print() (*Number, error) {
	var p Number
	switch {
	case c.Value != nil:
		// A text with the same number also shows its rounding.
		if q, err := ParsePrinted(string(c.Published)); err == nil && q.Value == *c.Value {
			p = q
			break
		}
		if c.Rounding == nil {
			return nil, fmt.Errorf("%q does not read as the value %s; give its rounding (half a unit of the last printed "+
				"digit) too",
				c.Published, experiment.FormatNumber(*c.Value))
		}
		p = Number{Value: *c.Value, Relation: Equal}
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
