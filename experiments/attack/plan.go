package attack

import (
	"errors"
	"fmt"
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
		return nil, &compare.RefusedError{Err: fmt.Errorf("%s: its trials do not record what a fit tells of its rows; "+
			"methods that can be attacked are those with the setting %s, such as %s", r.Methods[0], membershipSetting,
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
		if err != nil || c.Role != compare.Private || c.Protects != experiment.UnitRow {
			continue
		}
		if _, err := e.Param(membershipSetting); err == nil {
			out = append(out, c.Experiment)
		}
	}
	return out
}

// settle makes the parameters of the trials.
func (p *Plan) settle() error {
	at := slices.IndexFunc(p.Entries, func(e *compare.Entry) bool { return e.Experiment == p.Methods[0] })
	if at < 0 {
		return fmt.Errorf("%s takes no part: it protects nothing", p.Methods[0])
	}
	if e := p.Entries[at]; e.Protects != experiment.UnitRow {
		return fmt.Errorf("%s protects outputs of rows whose inputs are public: that a row is there is no secret, and there "+
			"is no membership to infer", e.Experiment)
	}
	return p.on(p.Entries[at])
}

// on makes an entry the only one, with the parameters of the trials of an attack on it.
func (p *Plan) on(e *compare.Entry) error {
	own := *e
	own.Params = nil
	p.Entry, p.Entries = &own, []*compare.Entry{&own}
	for _, epsilon := range p.Epsilons {
		params, err := own.At(epsilon, map[string]string{"splits": "common", "repeats": "1", "holdout": "0.5",
			membershipSetting: "true"})
		if err != nil {
			return err
		}
		own.Params = append(own.Params, params)
	}
	return nil
}

// budgetOf is that of a trial.
func budgetOf(p experiment.Params) mechanism.Budget {
	return *experiment.SettingsIn[mechanism.Budget](p)
}

// guaranteeIn is the guarantee of a trial, for the substitution of a unit.
func guaranteeIn(p experiment.Params) Guarantee {
	b := budgetOf(p)
	return guaranteeOf(b.Epsilon, b.Delta, experiment.SettingsIn[method.Neighbours](p).Neighbours == method.AddRemove)
}

// guaranteeOf is the guarantee of (ε, δ) for the substitution of a unit: where neighbours have one unit more or less,
// that of two of those steps.
func guaranteeOf(epsilon, delta float64, addsRemoves bool) Guarantee {
	switch {
	case math.IsInf(epsilon, 1):
		return Guarantee{Epsilon: epsilon}
	case addsRemoves:
		return Guarantee{Epsilon: 2 * epsilon, Delta: min(1, (1+math.Exp(epsilon))*delta)}
	}
	return Guarantee{Epsilon: epsilon, Delta: delta}
}

// Title names the attack.
func (p *Plan) Title() string {
	_, data, _ := strings.Cut(p.Contest.Title(), " for ")
	return fmt.Sprintf("Membership attacks on %s: %s", p.Entry.Experiment, data)
}
