// Package inert holds the conditions that experiments declare of their settings
// against the results of trials: for tests.
package inert

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"privkern/experiments/dataset/table"
	"privkern/runner/experiment"
	"privkern/tests/tier"
)

// Conditions holds the declared conditions of an experiment's settings against the
// results of its trials.
type Conditions[S, M any] struct {
	Of *experiment.Definition[S, M]
	// Common, if not nil, changes the defaults before each of the bases does: it
	// makes trials small.
	Common func(*S)
	// Bases change the settings, each in its way; of each base one setting at a time
	// is then given its other values.
	Bases map[string]func(*S)
	// Others returns the other values of the settings in a struct: [Values] and [Held].
	Others func(*S) []Setting
	// Run runs a trial; its streams are the same each time.
	Run func(*S) (*experiment.Outcome[M], error)
}

// Setting has the other values of one setting.
type Setting struct {
	field  any // a pointer to it
	others []func()
	held   string
}

// Values are other values of the setting that field points to. Where the setting has an
// effect, at least one of them changes the result. Values that the experiment
// refuses are left out.
func Values[T any](field *T, others ...T) Setting {
	s := Setting{field: field}
	for _, v := range others {
		s.others = append(s.others, func() { *field = v })
	}
	return s
}

// Held is a setting that keeps its value, with the reason.
func Held(field any, why string) Setting { return Setting{field: field, held: why} }

// Check fails where a setting that is declared to do nothing changes a result, and
// where one that is not declared so changes none, for a third of the settings of each base, and by
// night for all. Every condition must hold for one of the bases and not for another.
func (x Conditions[S, M]) Check(t *testing.T) {
	t.Helper()
	tier.Sequential(t)
	seen := sightings{active: map[string]bool{}, inert: map[string]bool{}}
	for _, name := range slices.Sorted(maps.Keys(x.Bases)) {
		t.Run(name, func(t *testing.T) {
			problems, err := x.problemsOf(x.Bases[name], seen, func(setting string) bool {
				return tier.InThird(x.Of.Name, name, setting) // a trial for each takes most of the time of many packages
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range problems {
				t.Error(p)
			}
		})
	}
	for _, p := range x.unseen(seen) {
		t.Error(p)
	}
}

// sightings are the settings, by name, that a base has where they do something, and
// where they do nothing.
type sightings struct{ active, inert map[string]bool }

// unseen returns a line for each condition that does not hold for one base and fail
// for another.
func (x Conditions[S, M]) unseen(seen sightings) []string {
	var out []string
	held := x.held()
	for _, p := range x.Of.Params {
		never := strings.HasPrefix(x.Of.Applies(p.Name), "nowhere")
		if p.When != nil && !held[p.Name] && (!seen.inert[p.Name] || !seen.active[p.Name] && !never) {
			out = append(out, fmt.Sprintf("%s: no base has %s where it does something, and one where it does nothing",
				x.Of.Name, p.Name))
		}
	}
	return out
}

func (x Conditions[S, M]) held() map[string]bool {
	s := x.Of.Defaults()
	out := map[string]bool{}
	for name := range experiment.SettingValues(table.Reading{}) { // the package table tries them
		out[name] = true
	}
	for _, o := range x.Others(s) {
		out[x.Of.SettingAt(s, o.field)] = o.held != ""
	}
	return out
}

// problemsOf returns a line for each tried setting whose effect differs from its
// declaration.
func (x Conditions[S, M]) problemsOf(base func(*S), seen sightings, tried func(setting string) bool) ([]string, error) {
	start := x.settings(base)
	params, err := x.Of.Resolved(start)
	if err != nil {
		return nil, err
	}
	out, err := x.Run(start)
	if err != nil {
		return nil, err
	}
	want, held := x.text(out), x.held()
	var problems []string
	for _, p := range x.Of.Params {
		if held[p.Name] {
			continue
		}
		why := x.Of.Inert(p.Name, params)
		seen.active[p.Name] = seen.active[p.Name] || why == nil
		seen.inert[p.Name] = seen.inert[p.Name] || why != nil
		if !tried(p.Name) {
			continue
		}
		changed, others := x.change(base, params, p.Name, want)
		switch {
		case why != nil && changed != "":
			problems = append(problems, fmt.Sprintf("%s, but %s=%s changes the result", why, p.Name, changed))
		case why == nil && others == 0:
			problems = append(problems, fmt.Sprintf("there is no other value of %s", p.Name))
		case why == nil && changed == "":
			problems = append(problems, fmt.Sprintf("%s does something, as it is declared, but none of %d values changes the "+
				"result",
				p.Name, others))
		}
	}
	return problems, nil
}

// settings returns those of a base, in a struct of their own.
func (x Conditions[S, M]) settings(base func(*S)) *S {
	s := x.Of.Defaults()
	if x.Common != nil {
		x.Common(s)
	}
	base(s)
	return s
}

// change returns the first other value of a setting that changes the outcome, and how
// many were tried.
func (x Conditions[S, M]) change(base func(*S), params experiment.Params, name, want string) (changed string,
	tried int) {
	for i := 0; ; i++ {
		s := x.settings(base)
		others := x.others(s, name)
		if i >= len(others) {
			return "", tried
		}
		others[i]()
		other, err := x.Of.Resolved(s)
		if err != nil || experiment.FormatValue(other[name]) == experiment.FormatValue(params[name]) {
			continue
		}
		tried++
		if out, err := x.Run(s); err != nil || x.text(out) != want { // an error is another outcome
			return experiment.FormatValue(other[name]), tried
		}
	}
}

// others returns the functions that set the setting of that name to its other values.
func (x Conditions[S, M]) others(s *S, name string) []func() {
	var out []func()
	for _, o := range x.Others(s) {
		if x.Of.SettingAt(s, o.field) == name {
			out = append(out, o.others...)
		}
	}
	return out
}

// text is all of an outcome but times.
func (x Conditions[S, M]) text(out *experiment.Outcome[M]) string {
	metrics := experiment.MetricValues(out.Metrics)
	for _, m := range x.Of.Metrics {
		if m.Timing {
			delete(metrics, m.Name)
		}
	}
	privacy := "none"
	if out.Privacy != nil {
		privacy = fmt.Sprintf("%+v", *out.Privacy)
	}
	return fmt.Sprint(metrics, out.Series, privacy, out.Warnings)
}
