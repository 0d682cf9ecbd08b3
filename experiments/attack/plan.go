package attack

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"privkern/experiments/compare"
	"privkern/experiments/mechanism"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// membershipSetting is the setting of trials that record the confidence of a fit in each unit.
const membershipSetting = "membership"

// canariesSetting is the setting of rows that are added.
const canariesSetting = "canaries"

// Is reports whether a trial is one of an attack.
func Is(p experiment.Params) bool { return experiment.SettingsIn[method.Recorded](p).Membership }

// Plan is an attack on a method, with its trials.
type Plan struct {
	*compare.Contest
	Entry *compare.Entry // the only one, with the parameters of the trials at each of the epsilons
}

// New settles the attack that is asked for by [compare.RequestOf], on data at a path. Its errors are those of
// [compare.New].
func New(registry *experiment.Registry, r *compare.Request, path string) (*Plan, error) {
	if len(r.Methods) != 1 {
		return nil, &compare.RefusedError{Err: errors.New("one method is attacked at a time")}
	}
	definition, err := registry.Lookup(r.Methods[0])
	if err != nil {
		return nil, &compare.RefusedError{Err: err}
	}
	if _, err := definition.Param(membershipSetting); err != nil {
		return nil, &compare.RefusedError{Err: fmt.Errorf("%s cannot be attacked: %s; methods that can be are those with "+
			"the setting %s, such as %s", r.Methods[0], unattacked(r.Methods[0]), membershipSetting,
			strings.Join(attackable(registry), ", "))}
	}
	contest, err := compare.New(registry, r, path)
	if err != nil {
		return nil, err
	}
	p := &Plan{Contest: contest}
	if err := p.settle(); err != nil {
		return nil, &compare.RefusedError{Err: err}
	}
	return p, nil
}

// attackable are the methods of comparisons that can be attacked.
func attackable(registry *experiment.Registry) (out []string) {
	for _, c := range compare.Candidates() {
		e, err := registry.Lookup(c.Experiment)
		if err != nil || c.Role != compare.Private || c.Protects == experiment.UnitOutput {
			continue
		}
		if _, err := e.Param(membershipSetting); err == nil {
			out = append(out, c.Experiment)
		}
	}
	return out
}

// outputsAlone is the reason why there is no game about methods that protect outputs.
const outputsAlone = "it protects outputs of rows whose inputs are public: that a row is there is no secret, and " +
	"there is no membership to infer"

// unattacked is the reason why the trials of an experiment record nothing for an adversary.
func unattacked(name string) string {
	for _, c := range compare.Candidates() {
		if c.Experiment == name && c.Protects == experiment.UnitOutput {
			return outputsAlone
		}
	}
	for _, a := range compare.NotCompared() {
		if a.Experiment == name {
			return a.Reason + ", which attacks could be held against"
		}
	}
	return "its trials do not record what a fit tells of its rows"
}

// settle makes the parameters of the trials.
func (p *Plan) settle() error {
	at := slices.IndexFunc(p.Entries, func(e *compare.Entry) bool { return e.Experiment == p.Methods[0] })
	if at < 0 {
		return fmt.Errorf("%s takes no part: it protects nothing", p.Methods[0])
	}
	if e := p.Entries[at]; e.Protects == experiment.UnitOutput {
		return fmt.Errorf("%s cannot be attacked: %s", e.Experiment, outputsAlone)
	}
	if err := p.on(p.Entries[at]); err != nil {
		return err
	}
	return p.checkSettings()
}

// on makes an entry the only one, with the parameters of the trials of an attack on it.
func (p *Plan) on(e *compare.Entry) error {
	own := *e
	own.Params = nil
	p.Entry, p.Entries = &own, []*compare.Entry{&own}
	settings := maps.Clone(own.Fixed)
	settings["holdout"], settings[membershipSetting] = "0.5", "true"
	for _, epsilon := range p.Epsilons {
		params, err := own.At(epsilon, settings)
		if err != nil {
			return err
		}
		own.Params = append(own.Params, params)
	}
	return nil
}

// checkSettings refuses settings that the method lacks, which rules at its side in comparisons may have.
func (p *Plan) checkSettings() error {
	e := p.Entry
	for _, s := range p.Given {
		name := cmp.Or(e.Renames[s.Name], s.Name)
		if _, err := e.Definition.Param(name); err != nil {
			if s.Name == canariesSetting {
				return fmt.Errorf("%s: %s has no canaries: leave them out, and its own rows are attacked", canariesSetting,
					e.Experiment)
			}
			return err
		}
	}
	return nil
}

// canaries is the number of pairs that are added.
func (p *Plan) canaries() int {
	return experiment.SettingsIn[method.Planted](p.Entry.Params[0]).Canaries
}

// budgetOf is that of a trial.
func budgetOf(p experiment.Params) mechanism.Budget {
	return *experiment.SettingsIn[mechanism.Budget](p)
}

// guaranteeOf is the guarantee for the substitution of a unit that a record of an experiment states, and none of nil:
// where neighbours have one unit more or less, it is that of two of those steps, and where the budget is that of one
// entry, the composition of all entries of the unit.
func guaranteeOf(name string, s *experiment.Simulated, b mechanism.Budget) Guarantee {
	switch {
	case s == nil:
		return Guarantee{Epsilon: math.Inf(1)}
	case ofEntries(name, s, b):
		// A record has their basic composition.
		epsilon, err := compare.Entries(b.Epsilon, b.Delta, int(math.Round(s.Epsilon/b.Epsilon)))
		if err == nil && epsilon < worthDelta*s.Epsilon {
			return Guarantee{Epsilon: epsilon, Delta: b.Delta}
		}
	case s.Neighbours == experiment.NameOf(method.AddRemove):
		return Guarantee{Epsilon: 2 * s.Epsilon, Delta: min(1, (1+math.Exp(s.Epsilon))*s.Delta)}
	}
	return Guarantee{Epsilon: s.Epsilon, Delta: s.Delta}
}

// worthDelta is the share of a sum of ε below which the ε of a composition is worth its δ.
const worthDelta = .99

// ofEntries reports whether the budget protects an entry of the unit of which a guarantee is stated. Other experiments
// may state more than the budget, too: that of classes composed, of which each has the whole.
func ofEntries(name string, s *experiment.Simulated, b mechanism.Budget) bool {
	return s != nil && s.Epsilon > b.Epsilon*(1+1e-9) && slices.ContainsFunc(compare.Candidates(),
		func(c compare.Candidate) bool { return c.Experiment == name && c.Epsilon != nil })
}

// Title names the attack.
func (p *Plan) Title() string {
	_, data, _ := strings.Cut(p.Contest.Title(), " for ")
	return fmt.Sprintf("Membership attacks on %s: %s", p.Entry.Experiment, data)
}
