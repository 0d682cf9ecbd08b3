package experiment

import (
	"context"
	"maps"
	"slices"
	"testing"
)

func empty(context.Context, *Trial, Params) (*Result, error) { return &Result{}, nil }

// when adds conditions to a parameter.
func when(p Param, conditions ...Condition) Param {
	p.When = append(p.When, conditions...)
	return p
}

// conditional has a solver that noise alone needs, with steps that a descent
// alone takes, and a parameter that never does anything.
func conditional() *Experiment {
	integer := func(name string) Param {
		return Param{Name: name, Kind: Integer, Default: 3}
	}
	text := func(name, def string, values ...string) Param {
		return Param{Name: name, Kind: Text, Default: def, Values: values}
	}
	return &Experiment{Untyped: Untyped{Name: "demo/when", Version: 1, Run: empty}, Params: []Param{
		text("dataset", "census"),
		text("method", "standard", "standard", "sparse", "dense"),
		{Name: "epsilon", Kind: Number, Default: 1, Infinite: true},
		when(integer("inducing"), is("method", "sparse", "dense")),
		when(integer("width"), isNot("dataset", "csv:*")),
		when(text("solver", "exact", "exact", "descent"), isNot("epsilon", "inf")),
		when(integer("steps"), is("solver", "descent")),
		when(integer("share"), Condition{Params: []string{"steps", "method"},
			Words: "steps is above 1, or method is sparse",
			Holds: func(p Params) bool { return p["steps"].(int) > 1 || p["method"] == "sparse" }}),
		when(integer("unused"), never("nothing reads it")),
	}}
}

func TestInert(t *testing.T) {
	e := conditional()
	for _, c := range []struct {
		name, param string
		given       map[string]any
		want        string // empty where it does something
	}{
		{"no condition", "method", nil, ""},
		{"another value", "inducing", nil,
			"inducing does nothing where method is standard; it applies where method is sparse or dense"},
		{"the second of two values", "inducing", map[string]any{"method": "dense"}, ""},
		{"any but a value", "solver", nil, ""},
		{"that value", "solver", map[string]any{"epsilon": "inf"},
			"solver does nothing where epsilon is inf; it applies where epsilon is not inf"},
		{"any ending", "width", map[string]any{"dataset": "csv:my.csv"},
			"width does nothing where dataset is csv:my.csv; it applies where dataset is not csv:*"},
		{"another beginning", "width", map[string]any{"dataset": "my.csv:"}, ""},
		{"what it rests on does nothing", "steps", map[string]any{"epsilon": "inf", "solver": "descent"},
			"steps does nothing where epsilon is inf; it applies where solver is descent and epsilon is not inf"},
		{"a condition of its own", "share", map[string]any{"steps": 1}, "share does nothing where steps is 1 and method is " +
			"standard; it applies where steps is above 1, or method is sparse"},
		// A parameter that decides a hand-written condition may be without effect itself.
		{"a condition of its own decides alone", "share", map[string]any{"epsilon": "inf"}, ""},
		{"never", "unused", nil, "unused does nothing; it applies nowhere: nothing reads it"},
		{"unknown", "other", nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := e.Resolve(c.given)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if why := e.Inert(c.param, p); why != nil {
				got = why.String()
			}
			if got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestActive(t *testing.T) {
	e := conditional()
	p, err := e.Resolve(map[string]any{"epsilon": "inf", "method": "sparse"})
	if err != nil {
		t.Fatal(err)
	}
	got := slices.Sorted(maps.Keys(e.Active(p)))
	if want := []string{"dataset", "epsilon", "inducing", "method", "share", "width"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(p) != len(e.Params) {
		t.Errorf("the trial's own parameters are %v", p)
	}
}

func TestConditionsThatNoExperimentCanHave(t *testing.T) {
	plain := func(name string) Param {
		return Param{Name: name, Kind: Text, Default: "a", Values: []string{"a", "b"}}
	}
	for _, c := range []struct {
		name   string
		params []Param
		want   string
	}{
		{"unknown parameter", []Param{plain("y"), when(plain("x"), is("other", "a"))},
			`demo/a: the condition of parameter "x": unknown parameter "other"; valid: y, x`},
		{"unknown value", []Param{plain("y"), when(plain("x"), isNot("y", "other"))},
			`demo/a: the condition of parameter "x": parameter "y": "other" is not one of a, b`},
		{"itself", []Param{when(plain("x"), is("x", "a"))},
			`demo/a: whether "x" applies is decided by itself`},
		{"each other", []Param{when(plain("y"), is("x", "a")), when(plain("x"), is("y", "a"))},
			`demo/a: whether "y" applies is decided by itself`},
		{"no words", []Param{when(plain("x"), Condition{})},
			`demo/a: parameter "x" has a condition without words, or without what decides`},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer func() {
				if r := recover(); r != "experiment: "+c.want {
					t.Errorf("got  %v\nwant %s", r, c.want)
				}
			}()
			NewRegistry(&Experiment{Untyped: Untyped{Name: "demo/a", Version: 1, Run: empty}, Params: c.params})
		})
	}
}
