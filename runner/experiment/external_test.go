package experiment

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func external(name string, params ...Param) *Experiment {
	return &Experiment{Params: params, Untyped: Untyped{Name: name, Version: 1, External: true,
		Run: func(context.Context, *Trial, Params) (*Result, error) { return nil, errors.New("not run") }}}
}

// An external experiment takes settings that it has not declared, and none that is missing.
func TestResolveExternal(t *testing.T) {
	e := external("command", Param{Name: "lr", Kind: Number, Max: Bound(1)},
		Param{Name: "mode", Kind: Text, Default: "fast"})
	for _, c := range []struct {
		given map[string]any
		want  Params
		wrong string
	}{
		{given: map[string]any{}, want: Params{"mode": "fast"}},
		{given: map[string]any{"lr": "0.5", "n": 3, "list": []any{1.0, "inf"}, "on": true, "text": "inf"},
			want: Params{"lr": 0.5, "mode": "fast", "n": 3, "list": []float64{1, inf}, "on": true, "text": "inf"}},
		{given: map[string]any{"lr": 2}, wrong: "2 is outside (-inf, 1]"},
		{given: map[string]any{"list": []any{"a"}}, wrong: `"a" is not a number`},
		{given: map[string]any{"nested": map[string]any{}}, wrong: "no setting of a program is a map"},
	} {
		got, err := e.Resolve(c.given)
		if c.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%v: %v, want %q", c.given, err, c.wrong)
			}
			continue
		}
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v: %v, %v, want %v", c.given, got, err, c.want)
		}
	}
	if got := e.Describe(Params{"mode": "slow"}); got != "mode=slow" {
		t.Errorf("a setting that a trial lacks is described: %q", got)
	}
}

var inf = math.Inf(1)

// A name below that of the admitted experiment is known, and one that is defined is preferred.
func TestLookupExternal(t *testing.T) {
	r := NewRegistry()
	if _, err := r.Lookup("command/a"); err == nil {
		t.Error("an experiment is found that was not admitted")
	}
	r.Admit(external("command"))
	if e, err := r.Lookup("command/a"); err != nil || e.Name != "command/a" || !e.External {
		t.Errorf("%+v, %v", e, err)
	}
	var unknown *UnknownError
	if _, err := r.Lookup("comand"); !errors.As(err, &unknown) || !slices.Equal(unknown.Likely, []string{"command"}) {
		t.Errorf("%v", err)
	}
	if names := r.Names(); len(names) != 0 {
		t.Errorf("%q are listed", names)
	}
	r.Define(external("command/a", Param{Name: "x", Kind: Number}))
	r.Define(external("command/a", Param{Name: "y", Kind: Number}, Param{Name: "x", Kind: Number}))
	r.Define(external("command/b"))
	if e, err := r.Lookup("command/a"); err != nil || !slices.Equal(e.ParamNames(), []string{"y", "x"}) {
		t.Errorf("%v, %v", e.ParamNames(), err)
	}
	r.Define(external("command/a", Param{Name: "z", Kind: Number}))
	if e, err := r.Lookup("command/a"); err != nil || !slices.Equal(e.ParamNames(), []string{"z", "y", "x"}) {
		t.Errorf("%v, %v", e.ParamNames(), err)
	}
}

func TestUsage(t *testing.T) {
	var u Usage
	u.Add(Usage{CPU: time.Second, PeakRSS: 5})
	u.Add(Usage{CPU: time.Minute, PeakRSS: 3})
	if u != (Usage{CPU: 61 * time.Second, PeakRSS: 5}) {
		t.Errorf("%+v", u)
	}
}
