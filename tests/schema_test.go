package tests

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"privkern/experiments"
	"privkern/runner"
	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/tests/program"
	"privkern/tests/tier"
)

// schemaLines bounds configs/sweep.schema.json. Parameters that experiments share are
// written once; in full for each of them they take more than 17,000 lines.
const schemaLines = 9000

func TestSchemaIsSmall(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(program.Root(t), "configs", "sweep.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(raw, []byte("\n")); n >= schemaLines {
		t.Errorf("%d lines, want fewer than %d", n, schemaLines)
	}
}

// sweepSchema reads configs/sweep.schema.json.
func sweepSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile(filepath.Join(program.Root(t), "configs", "sweep.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

type object = map[string]any

// In each place of a sweep file the schema takes the values of a parameter that the program
// takes, for every parameter of every experiment.
func TestSchemaOfParameters(t *testing.T) {
	schema := sweepSchema(t)
	registry := experiment.RegistryOf(experiments.Papers())
	for _, name := range registry.Names() {
		t.Run(name, func(t *testing.T) {
			tier.Third(t)
			e, err := registry.Lookup(name)
			if err != nil {
				t.Fatal(err)
			}
			check := func(place string, value any, file object, program error) {
				if schema := schema.Validate(file); (schema == nil) != (program == nil) {
					t.Errorf("%s=%v: the schema: %v, the program: %v", place, value, schema, program)
				}
			}
			for i := range e.Params {
				p := &e.Params[i]
				for _, v := range candidates(p) {
					_, err := p.Convert(v.written)
					one, several := object{p.Name: v.value}, object{p.Name: []any{v.value}}
					for place, block := range map[string]object{
						"params": {"params": one}, "cases": {"cases": []any{one}}, "sweep": {"sweep": several},
					} {
						block["experiment"] = name
						check(place+": "+p.Name, v.value, block, err)
					}
					for place, block := range map[string]object{
						"zip": {"zip": several}, "sweep, cases": {"sweep": object{"cases": []any{one}}},
					} {
						block["experiment"] = name
						check("runs: "+place+": "+p.Name, v.value, object{"runs": []any{block}}, err)
					}
				}
			}
			for _, place := range []string{"params", "sweep", "zip"} {
				if schema.Validate(object{"experiment": name, place: object{"no_such": []any{1.0}}}) == nil {
					t.Errorf("%s: the schema takes an unknown parameter", place)
				}
			}
		})
	}
}

// candidate is a value of a parameter as JSON has it, and as a sweep file's reader hands it on.
type candidate struct{ value, written any }

// candidates returns values of which a parameter takes some and refuses others.
func candidates(p *experiment.Param) []candidate {
	numbers := []float64{0.5, -1, 0, 3, 1e9}
	for _, bound := range []*float64{p.Min, p.Max} {
		if bound != nil {
			numbers = append(numbers, *bound, *bound-1, *bound+1)
		}
	}
	out := []candidate{{true, true}, {"no such word", "no such word"}, {"yes", "yes"}}
	for _, v := range numbers {
		out = append(out, candidate{v, experiment.FormatNumber(v)})
	}
	for _, word := range append(p.Words, p.Values...) {
		out = append(out, candidate{word, word})
	}
	if !p.TakesList() { // the schema takes any number in the text of a list
		return append(out, candidate{"inf", "inf"})
	}
	return append(out, candidate{[]any{1.0, 2.0}, []any{"1", "2"}}, candidate{[]any{1.0, true}, []any{"1", true}})
}

// A file names one element type of trials, and a block of runs none.
func TestSchemaHasElementTypes(t *testing.T) {
	schema := sweepSchema(t)
	block := func(dtype any) object { return object{"experiment": "privacygp/example1", "dtype": dtype} }
	for _, c := range []struct {
		file  object
		valid bool
	}{
		{block("float64"), true}, {block("float32"), true}, {block("float16"), false},
		{object{"runs": []any{block("float64")}}, false},
	} {
		if err := schema.Validate(c.file); (err == nil) != c.valid {
			t.Errorf("%v: %v", c.file, err)
		}
	}
}

// plain is a decoded YAML value as JSON has it.
func plain(v any) any {
	switch x := v.(type) {
	case map[string]any:
		for name := range x {
			x[name] = plain(x[name])
		}
	case []any:
		for i := range x {
			x[i] = plain(x[i])
		}
	case float64:
		if math.IsInf(x, 0) {
			return json.Number("1e400")
		}
	}
	return v
}

// The schema and the program take the same files.
func TestSchemaAgreesWithTheProgram(t *testing.T) {
	c, schema := runner.NewCatalogue(experiments.Papers()), sweepSchema(t)
	for text, valid := range map[string]bool{
		"experiment: privacygp/example1\nsweep:\n  xi: [\"linspace(0.1,0.3,3)\", 0.5]\n":          true,
		"experiment: privacygp/example1\nsweep:\n  xi:\n    - linspace(0.1,0.3,3)\n    - 0.5\n":   true,
		"experiment: privacygp/example1\nsweep: {xi: \"logspace(-2,-1,3)\"}\n":                    true,
		"experiment: privacygp/example1\nsweep: {xi: [\"0.3\", 0.5]}\n":                           true,
		"experiment: privacygp/example1\nparams: {xi: \"0.3\"}\n":                                 true,
		"experiment: privacygp/example1\nparams: {xi: 3e-1}\nseeds: 0..1, 4\n":                    true,
		"experiment: privacygp/example1\nparams: {xi: \"-0.3\"}\n":                                false,
		"experiment: privacygp/example1\nparams: {xi: -0.3}\n":                                    false,
		"experiment: privacygp/example1\nparams: {xi: much}\n":                                    false,
		"experiment: privacygp/example1\nparams: {xi: true}\n":                                    false,
		"experiment: privacygp/example1\nparams: {xj: 0.3}\n":                                     false,
		"experiment: privacygp/example1\nsweep: {xi: [\"lenspace(0.1,0.3,3)\"]}\n":                false,
		"experiment: cloaking/stripes\nsweep: {epsilon: [.inf, inf, 1]}\n":                        false, // twice
		"experiment: cloaking/stripes\nsweep: {epsilon: [.inf, 1]}\n":                             true,
		"experiment: cloaking/stripes\nsweep: {epsilon: [\".inf\", 1]}\n":                         true,
		"experiment: cloaking/stripes\nparams: {epsilon: Infinity}\n":                             true,
		"experiment: cloaking/stripes\nparams: {epsilon: -1}\n":                                   false,
		"experiment: cloaking/stripes\nparams: {points: 1.5}\n":                                   false,
		"experiment: cloaking/stripes\nparams: {points: \"1.5\"}\n":                               false,
		"experiment: cloaking/stripes\nparams: {points: \"150\"}\n":                               true,
		"experiment: cloaking/stripes\nparams: {draws: \"10\"}\n":                                 true,
		"experiment: dpgp/calibration\nsweep: {strict: [yes, no]}\n":                              true,
		"experiment: dpgp/calibration\nparams: {strict: maybe}\n":                                 false,
		"experiment: cloaking/design\nsweep: {test_points: [1, \"1,2\", [3, 4], 0..84 step 7]}\n": true,
		"experiment: cloaking/design\nparams: {test_points: 7}\n":                                 true,
		"experiment: cloaking/design\nparams: {test_points: \"[1, 2]\"}\n":                        true,
		"experiment: cloaking/design\nparams: {test_points: \"one,2\"}\n":                         false,
		"experiment: cloaking/stripes\nparams: {method: spars}\n":                                 false,
	} {
		t.Run(text, func(t *testing.T) {
			var v any
			if err := yaml.Unmarshal([]byte(text), &v); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "s.yaml")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := plan.ReadSweeps(c.Book, []string{path}, nil, nil, ""); (err == nil) != valid {
				t.Errorf("the program: %v", err)
			}
			twice := strings.Contains(text, ".inf, inf") // no schema knows equal values
			if err := schema.Validate(plain(v)); (err == nil) != (valid || twice) {
				t.Errorf("the schema: %v", err)
			}
		})
	}
}
