// Package inert holds what experiments declare of their parameters against what
// these do: for tests.
package inert

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"privkern/runner/experiment"
)

// Trials are trials of an experiment with which its declarations are checked.
type Trials struct {
	Experiment *experiment.Experiment
	// Bases are settings, of which one parameter at a time is changed.
	Bases []map[string]any
	// Others are other values of each parameter that is changed. Of a parameter
	// that does something one of them at least changes the result. Those that the
	// experiment refuses are left out.
	Others map[string][]any
	// Held are the parameters that are not changed, with the reason.
	Held map[string]string
	Run  func(experiment.Params) (*experiment.Result, error)
}

// Check fails where a parameter that is declared to do nothing changes a result,
// and where one that is not declared so changes none. Every condition must hold
// for one of the bases and not for another.
func (x Trials) Check(t *testing.T) {
	t.Helper()
	active, inert := map[string]bool{}, map[string]bool{}
	for _, base := range x.Bases {
		t.Run(fmt.Sprint(base), func(t *testing.T) { x.checkBase(t, base, active, inert) })
	}
	for _, p := range x.Experiment.Params {
		never := strings.HasPrefix(x.Experiment.Applies(p.Name), "nowhere")
		if p.When != nil && x.Held[p.Name] == "" && (!inert[p.Name] || !active[p.Name] && !never) {
			t.Errorf("%s: no base has %s where it does something, and one where it does nothing", x.Experiment.Name, p.Name)
		}
	}
}

func (x Trials) checkBase(t *testing.T, base map[string]any, active, inert map[string]bool) {
	params, err := x.Experiment.Resolve(base)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := x.Run(params); err != nil {
		t.Fatal(err)
	}
	want := x.outcome(params)
	for _, p := range x.Experiment.Params {
		if x.Held[p.Name] != "" {
			continue
		}
		why := x.Experiment.Inert(p.Name, params)
		if why != nil {
			inert[p.Name] = true
		} else {
			active[p.Name] = true
		}
		changed, tried := x.change(base, params, p.Name, want)
		switch {
		case why != nil && changed != "":
			t.Errorf("%s, but %s=%s changes the result", why, p.Name, changed)
		case why == nil && tried == 0:
			t.Errorf("there is no other value of %s", p.Name)
		case why == nil && changed == "":
			t.Errorf("%s does something, as it is declared, but none of %v changes the result", p.Name, x.Others[p.Name])
		}
	}
}

// change returns the first other value of a parameter that changes the outcome,
// and how many were tried.
func (x Trials) change(base map[string]any, params experiment.Params, name, want string) (changed string, tried int) {
	for _, v := range x.Others[name] {
		given := maps.Clone(base)
		given[name] = v
		other, err := x.Experiment.Resolve(given)
		if err != nil || experiment.FormatValue(other[name]) == experiment.FormatValue(params[name]) {
			continue
		}
		tried++
		if x.outcome(other) != want {
			return experiment.FormatValue(v), tried
		}
	}
	return "", tried
}

// outcome is all of a result but times, or the error.
func (x Trials) outcome(p experiment.Params) string {
	r, err := x.Run(p)
	if err != nil {
		return err.Error()
	}
	metrics := maps.Clone(r.Metrics)
	for _, m := range x.Experiment.Metrics {
		if m.Timing {
			delete(metrics, m.Name)
		}
	}
	privacy := "none"
	if r.Privacy != nil {
		privacy = fmt.Sprintf("%+v", *r.Privacy)
	}
	return fmt.Sprint(metrics, r.Series, privacy, r.Warnings)
}
