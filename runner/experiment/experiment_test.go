package experiment_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"privkern/runner/experiment"
)

func nothing(context.Context, *experiment.Trial, experiment.Params) (*experiment.Result, error) {
	return &experiment.Result{}, nil
}

// curve has a parameter without a default, and a combination that its Check
// refuses.
var curve = &experiment.Experiment{
	Untyped: experiment.Untyped{Name: "demo/curve", Version: 1, Run: nothing,
		Check: func(p experiment.Params) error {
			if p["epsilon"].(float64) > 1 && p["inputs"] == "age" {
				return errors.New("epsilon is above 1 with a single input")
			}
			return nil
		}},
	Params: []experiment.Param{
		{Name: "inputs", Kind: experiment.Text, Doc: "columns of the inputs"},
		{Name: "epsilon", Kind: experiment.Number, Default: 1, Infinite: true},
		{Name: "rank", Kind: experiment.Integer, Default: "full", Words: []string{"full"}},
		{Name: "at", Kind: experiment.Numbers, Default: "0..14 step 7"},
	},
}

func TestResolve(t *testing.T) {
	got, err := curve.Resolve(map[string]any{"inputs": "age", "epsilon": "0.5"})
	want := experiment.Params{"inputs": "age", "epsilon": 0.5, "rank": "full", "at": []float64{0, 7, 14}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	if again, err := curve.Resolve(got); err != nil || !reflect.DeepEqual(again, want) {
		t.Errorf("resolved again: %v, %v", again, err)
	}
	for _, c := range []struct {
		name  string
		given map[string]any
		want  string
	}{
		{"no default", nil, `demo/curve: parameter "inputs" has no default and must be given (columns of the inputs)`},
		{"unknown", map[string]any{"inputs": "age", "epsilom": 1},
			`demo/curve: unknown parameter "epsilom"; did you mean "epsilon"?`},
		{"wrong", map[string]any{"inputs": "age", "rank": "most"},
			`demo/curve: parameter "rank": "most" is neither a number nor one of full`},
		{"refused by Check", map[string]any{"inputs": "age", "epsilon": "inf"},
			`demo/curve: epsilon is above 1 with a single input`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if p, err := curve.Resolve(c.given); err == nil || err.Error() != c.want {
				t.Errorf("got  %v, %v\nwant %s", p, err, c.want)
			}
		})
	}
}

// A description leaves out defaults, however they are written.
func TestDescribe(t *testing.T) {
	for _, c := range []struct {
		given map[string]any
		want  string
	}{
		{map[string]any{"inputs": "age"}, "inputs=age"},
		{map[string]any{"inputs": "age", "epsilon": "1.0", "at": []any{0, 7, 14}, "rank": "full"}, "inputs=age"},
		{map[string]any{"inputs": "a+b", "epsilon": "inf", "rank": 3, "at": "1,2"}, "inputs=a+b epsilon=inf rank=3 at=[1,2]"},
	} {
		p, err := curve.Resolve(c.given)
		if err != nil {
			t.Fatal(err)
		}
		if got := curve.Describe(p); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// Arguments resolve to the parameters that they are of, also where a setting is asked for or changed that has its
// default.
func TestArguments(t *testing.T) {
	own := &experiment.Experiment{Untyped: experiment.Untyped{Name: "demo/own",
		Complete: func(p experiment.Params, given func(any) bool) error {
			if p["data"] == "own" && !given("delta") {
				return errors.New("delta is not given")
			}
			if !given("noise") {
				p["noise"] = "exact"
			}
			return nil
		}},
		Params: []experiment.Param{{Name: "data", Kind: experiment.Text, Default: "paper"},
			{Name: "delta", Kind: experiment.Number, Default: .01}, {Name: "noise", Kind: experiment.Text, Default: "rough"},
			{Name: "rows", Kind: experiment.Number, Default: 1.}}}
	for _, c := range []struct {
		given map[string]any
		want  string
	}{
		{map[string]any{"noise": "exact"}, "noise=exact"},
		{map[string]any{"noise": "rough", "rows": 1}, "noise=rough"},
		{map[string]any{"data": "own", "delta": .01, "noise": "rough"}, "data=own delta=0.01 noise=rough"},
		{map[string]any{"data": "own", "delta": .02, "noise": "exact", "rows": 2}, "data=own delta=0.02 noise=exact rows=2"},
	} {
		p, err := own.Resolve(c.given)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(own.Arguments(p), " "); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

type runFunc = func(context.Context, *experiment.Trial, experiment.Params) (*experiment.Result, error)

func untyped(name string, version int, run runFunc) *experiment.Experiment {
	return &experiment.Experiment{Untyped: experiment.Untyped{Name: name, Version: version, Run: run}}
}

func TestRegistry(t *testing.T) {
	r := experiment.NewRegistry(curve, untyped("demo/a", 1, nothing))
	if got := strings.Join(r.Names(), " "); got != "demo/a demo/curve" {
		t.Errorf("names %s", got)
	}
	if e, err := r.Lookup("demo/curve"); e != curve || err != nil {
		t.Errorf("%v, %v", e, err)
	}
	var unknown *experiment.UnknownError
	if _, err := r.Lookup("demo/curv"); !errors.As(err, &unknown) ||
		!slices.Equal(unknown.Likely, []string{"demo/curve"}) {
		t.Errorf("%v", err)
	}
}

// A wrong definition is a mistake in the program, seen when it starts.
func TestRegistryRefusesWrongDefinitions(t *testing.T) {
	param := func(params ...experiment.Param) *experiment.Experiment {
		e := untyped("demo/a", 1, nothing)
		e.Params = params
		return e
	}
	for _, c := range []struct {
		want        string
		experiments []*experiment.Experiment
	}{
		{"an experiment without a name", []*experiment.Experiment{untyped("", 1, nothing)}},
		{"demo/a: no Run function", []*experiment.Experiment{untyped("demo/a", 1, nil)}},
		{"demo/a: Version must be at least 1", []*experiment.Experiment{untyped("demo/a", 0, nothing)}},
		{"two definitions of demo/a", []*experiment.Experiment{param(), param()}},
		{`demo/a: parameter "x" is defined twice`,
			[]*experiment.Experiment{param(plainNamed("x", nil), plainNamed("x", nil))}},
		{`demo/a: the default of parameter "x": "many" is not a number`,
			[]*experiment.Experiment{param(plainNamed("x", "many"))}},
	} {
		t.Run(c.want, func(t *testing.T) {
			defer func() {
				if r := recover(); r != "experiment: "+c.want {
					t.Errorf("%v", r)
				}
			}()
			experiment.NewRegistry(c.experiments...)
		})
	}
}

func plainNamed(name string, value any) experiment.Param {
	return experiment.Param{Name: name, Kind: experiment.Number, Default: value}
}

func TestNearest(t *testing.T) {
	valid := []string{"standard", "sparse", "nonstationary", "xi"}
	for name, want := range map[string]string{
		"standrad":     "standard", // neighbours swapped
		"SPARSE":       "sparse",
		"spars":        "sparse",
		"iix":          "xi", // a short name may have two mistakes
		"xxxxx":        "",
		"sparsity":     "",              // three mistakes in eight letters
		"nonstatinary": "nonstationary", // in a long one, a third of the letters
		"quadratic":    "",
	} {
		t.Run(name, func(t *testing.T) {
			if got := experiment.Nearest(name, valid); got != want {
				t.Errorf("%s: got %q, want %q", name, got, want)
			}
		})
	}
	// A swap of neighbours is one mistake, so that it goes before two others.
	if got := experiment.Nearest("ab", []string{"cd", "ba"}); got != "ba" {
		t.Errorf("got %q", got)
	}
}

func TestUnknownErrorHelps(t *testing.T) {
	many := strings.Fields("aaaaaa b c d e f g h i j k l m paper/choose")
	tables := []string{"tables", "cloaking/table1", "cloaking/table2", "privacygp/table1", "kahm/Figure2", "kahm/toy"}
	for _, c := range []struct {
		name  string
		valid []string
		want  string
	}{
		{"aaaaab", many, `unknown method "aaaaab"; did you mean "aaaaaa"?`},
		{"zzzzzzz", []string{"sparse", "standard"}, `unknown method "zzzzzzz"; valid: sparse, standard`},
		{"zzzzzzz", []string{"xi", "theta", "xi"}, `unknown method "zzzzzzz"; valid: xi, theta`},
		{"aazzzzz", many, `unknown method "aazzzzz"; the nearest are aaaaaa, b, c`},
		{"OOS", many, `unknown method "OOS"; the nearest are paper/choose, b, c`},
		{"zzzzzzz", nil, `unknown method "zzzzzzz"`},
		{strings.Repeat("z", 2_000_000), many, `unknown method "` + strings.Repeat("z", 300) + `..."`},
		{strings.Repeat("z", 2_000_000), many[:2], `unknown method "` + strings.Repeat("z", 300) + `..."; valid: aaaaaa, b`},
		{"table2", tables, `unknown method "table2"; did you mean "cloaking/table2"?`},
		{"tabel1", tables, `unknown method "tabel1"; did you mean "cloaking/table1" or "privacygp/table1"?`},
		{"table1", tables, `unknown method "table1"; did you mean "cloaking/table1" or "privacygp/table1"?`},
		{"tales", tables, `unknown method "tales"; did you mean "tables"?`},
		{"foo", strings.Fields("kahm/toy aaaa bbbb cccc dddd eeee ffff gggg hhhh iiii jjjj kkkk llll"),
			`unknown method "foo"; the nearest are kahm/toy, ffff, aaaa`},
		{"figure2", tables, `unknown method "figure2"; did you mean "kahm/Figure2"?`},
		{"table1", append([]string{"kahm/table1"}, tables...),
			`unknown method "table1"; did you mean "kahm/table1", "cloaking/table1" or "privacygp/table1"?`},
	} {
		t.Run(c.want, func(t *testing.T) {
			if got := experiment.Unknown("method", c.name, c.valid).Error(); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}
