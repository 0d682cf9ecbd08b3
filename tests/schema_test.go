package tests

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"privkern/experiments"
	"privkern/runner"
	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/tests/program"
)

// schemaLines bounds configs/sweep.schema.json. Parameters that experiments share are
// written once; in full for each of them they take more than 17,000 lines.
const schemaLines = 7000

func TestSchemaIsSmall(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(program.Root(t), "configs", "sweep.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(raw, []byte("\n")); n >= schemaLines {
		t.Errorf("%d lines, want fewer than %d", n, schemaLines)
	}
}

// jsonSchema is a schema of configs/sweep.schema.json, whose references it follows.
type jsonSchema struct {
	t    *testing.T
	root map[string]any
	node map[string]any
}

func readSchema(t *testing.T) jsonSchema {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(program.Root(t), "configs", "sweep.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	var s map[string]any
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	return jsonSchema{t, s, nil}.resolved(s)
}

// resolved follows $ref; the other members of the object hold, too.
func (s jsonSchema) resolved(v any) jsonSchema {
	s.t.Helper()
	node, ok := v.(map[string]any)
	if !ok {
		s.t.Fatalf("no schema: %v", v)
	}
	ref, ok := node["$ref"].(string)
	if !ok {
		return jsonSchema{s.t, s.root, node}
	}
	target := any(s.root)
	for _, part := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
		m, ok := target.(map[string]any)
		if !ok || m[part] == nil {
			s.t.Fatalf("%s leads nowhere", ref)
		}
		target = m[part]
	}
	out := maps.Clone(s.resolved(target).node)
	for name, v := range node {
		if name != "$ref" {
			out[name] = v
		}
	}
	return jsonSchema{s.t, s.root, out}
}

// at goes down through members.
func (s jsonSchema) at(names ...string) jsonSchema {
	s.t.Helper()
	for _, name := range names {
		s = s.resolved(s.node[name])
	}
	return s
}

// block is the schema that holds for a block with an experiment.
func (s jsonSchema) block(experiment string) jsonSchema {
	s.t.Helper()
	for _, part := range s.node["allOf"].([]any) {
		for _, condition := range s.resolved(part).node["allOf"].([]any) {
			c := s.resolved(condition)
			if c.at("if", "properties", "experiment").node["const"] == experiment {
				return c.at("then")
			}
		}
	}
	s.t.Fatalf("no condition for %s", experiment)
	return s
}

// A file names one element type of trials, and a block of runs none.
func TestSchemaHasElementTypes(t *testing.T) {
	file := readSchema(t)
	got, want := file.at("properties", "dtype").node["enum"], []any{"float64", "float32"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for name, s := range map[string]jsonSchema{"file": file, "runs": file.at("properties", "runs", "items")} {
		_, has := s.at("properties").node["dtype"]
		if s.node["additionalProperties"] != false || has != (name == "file") {
			t.Errorf("%s: an element type: %v", name, has)
		}
	}
}

// Every parameter of every experiment has its type, bounds, words and text in
// the schema, wherever a sweep file may name it.
func TestSchemaHasEveryParameter(t *testing.T) {
	file := readSchema(t)
	experiments := runner.NewCatalogue(experiments.Papers()).Experiments
	if len(experiments.Names()) == 0 {
		t.Fatal("no experiments")
	}
	for _, name := range experiments.Names() {
		t.Run(name, func(t *testing.T) {
			e, err := experiments.Lookup(name)
			if err != nil {
				t.Fatal(err)
			}
			file := jsonSchema{t, file.root, file.node}
			for place, s := range map[string]jsonSchema{"file": file, "runs": file.at("properties", "runs", "items")} {
				block := s.block(name).at("properties")
				sweep := block.at("sweep", "properties")
				checkParams(t, place+": params", e, block.at("params"), false)
				checkParams(t, place+": cases", e, block.at("cases", "items"), false)
				checkParams(t, place+": sweep", e, block.at("sweep"), true, "zip", "cases")
				checkParams(t, place+": zip", e, block.at("zip"), true)
				checkParams(t, place+": sweep, cases", e, sweep.at("cases", "items"), false)
				checkParams(t, place+": sweep, zip", e, sweep.at("zip"), true)
			}
		})
	}
}

// checkParams compares the properties of an object with an experiment's
// parameters; others are further properties.
func checkParams(t *testing.T, place string, e *experiment.Experiment, s jsonSchema, lists bool, others ...string) {
	t.Helper()
	if s.node["additionalProperties"] != false || s.node["type"] != "object" {
		t.Errorf("%s: not an object of these parameters alone", place)
	}
	names := others
	properties := s.at("properties")
	for i := range e.Params {
		p := &e.Params[i]
		names = append(names, p.Name)
		v := properties.at(p.Name)
		if got, want := v.node["description"], paramText(e, p); got != want {
			t.Errorf("%s: %s is described as %q, want %q", place, p.Name, got, want)
		}
		if lists {
			v = v.list(place+": "+p.Name, p)
		}
		got := maps.Clone(v.node)
		delete(got, "description")
		if want := valueOf(p); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %s is %v, want %v", place, p.Name, got, want)
		}
	}
	if got := slices.Sorted(maps.Keys(properties.node)); !slices.Equal(got, slices.Sorted(slices.Values(names))) {
		t.Errorf("%s has %q, want %q", place, got, names)
	}
}

// list is the type of the elements of a list; ranges of numbers may stand for it, and in it.
func (s jsonSchema) list(place string, p *experiment.Param) jsonSchema {
	s.t.Helper()
	list, value := s, func(items jsonSchema) jsonSchema { return items }
	if p.Kind != experiment.Text && p.Kind != experiment.Flag {
		or := func(s jsonSchema) jsonSchema {
			choices, ok := s.node["anyOf"].([]any)
			if !ok || len(choices) != 2 || !reflect.DeepEqual(choices[1], textOf("spaced")) {
				s.t.Fatalf("%s: no range may stand here: %v", place, s.node)
			}
			return s.resolved(choices[0])
		}
		list, value = or(s), or
	}
	if list.node["type"] != "array" || list.node["minItems"] != 1. {
		s.t.Errorf("%s is no list with at least one value: %v", place, s.node)
	}
	return value(list.at("items"))
}

// paramText returns the text that an editor shows for a parameter.
func paramText(e *experiment.Experiment, p *experiment.Param) string {
	text := p.Doc
	if p.Unit != "" {
		text += " (" + p.Unit + ")"
	}
	if applies := e.Applies(p.Name); applies != "" {
		text += "; applies " + applies
	}
	return text
}

// textOf refers to the schema of texts that stand for numbers or truth values.
func textOf(name string) any { return map[string]any{"$ref": "#/$defs/" + name} }

// valueOf is the schema of one value, as JSON is decoded.
func valueOf(p *experiment.Param) map[string]any {
	type object = map[string]any
	switch {
	case p.Kind == experiment.Flag:
		return object{"anyOf": []any{object{"type": "boolean"}, textOf("truth")}}
	case p.Kind == experiment.Text && p.Values != nil:
		return object{"type": "string", "enum": anything(p.Values)}
	case p.Kind == experiment.Text:
		return object{"anyOf": []any{object{"type": "string"}, object{"type": "number"}}}
	}
	number, text, positive := object{"type": "number"}, "numeric", "unsigned"
	if p.Kind == experiment.Integer {
		number["type"], text, positive = "integer", "whole", "counting"
	}
	if p.Min != nil && *p.Min >= 0 {
		text = positive
	}
	for _, b := range []struct {
		bound        *float64
		open         bool
		closed, name string
	}{{p.Min, p.OpenMin, "minimum", "exclusiveMinimum"}, {p.Max, p.OpenMax, "maximum", "exclusiveMaximum"}} {
		switch {
		case b.bound == nil:
		case b.open:
			number[b.name] = *b.bound
		default:
			number[b.closed] = *b.bound
		}
	}
	ways := []any{number, textOf(text)}
	if p.Infinite {
		ways = append(ways, textOf("infinite"))
	}
	if p.Kind != experiment.Number && p.Kind != experiment.Integer {
		list := object{"type": "array", "items": object{"anyOf": ways}, "minItems": 1.}
		if p.Kind == experiment.CountOrNumbers {
			ways = []any{object{"type": "integer", "minimum": 1.}}
		}
		ways = append(slices.Clone(ways), list, textOf("several"))
	}
	if len(p.Words) > 0 {
		ways = append(slices.Clone(ways), object{"enum": anything(p.Words)})
	}
	return object{"anyOf": ways}
}

func anything(texts []string) []any {
	out := make([]any, len(texts))
	for i, s := range texts {
		out[i] = s
	}
	return out
}

// takes reports whether a value fits the schema; it knows the keywords of that of sweep files.
func (s jsonSchema) takes(v any) bool {
	s.t.Helper()
	count := func(name string) (n, of int) {
		all, _ := s.node[name].([]any)
		for _, c := range all {
			if s.resolved(c).takes(v) {
				n++
			}
		}
		return n, len(all)
	}
	if n, of := count("allOf"); n != of {
		return false
	}
	if n, of := count("anyOf"); of > 0 && n == 0 {
		return false
	}
	if n, of := count("oneOf"); of > 0 && n != 1 {
		return false
	}
	if _, ok := s.node["if"]; ok && s.at("if").takes(v) && !s.at("then").takes(v) {
		return false
	}
	if c, ok := s.node["const"]; ok && c != v {
		return false
	}
	if enum, ok := s.node["enum"].([]any); ok && !slices.ContainsFunc(enum, func(e any) bool { return e == v }) {
		return false
	}
	kind, _ := s.node["type"].(string)
	switch x := v.(type) {
	case bool:
		return kind == "" || kind == "boolean"
	case string:
		pattern, _ := s.node["pattern"].(string)
		return (kind == "" || kind == "string") && regexp.MustCompile(pattern).MatchString(x)
	case float64:
		return (kind == "" || kind == "number" || kind == "integer" && x == math.Trunc(x) && !math.IsInf(x, 0)) &&
			s.within(x)
	case []any:
		if least, ok := s.node["minItems"].(float64); ok && float64(len(x)) < least || kind != "" && kind != "array" {
			return false
		}
		return s.node["items"] == nil || !slices.ContainsFunc(x, func(e any) bool { return !s.at("items").takes(e) })
	case map[string]any:
		return (kind == "" || kind == "object") && s.takesMembers(x)
	}
	s.t.Fatalf("a %T is none of these", v)
	return false
}

// within reports whether a number is within the bounds of the schema.
func (s jsonSchema) within(x float64) bool {
	for name, holds := range map[string]func(bound float64) bool{
		"minimum": func(b float64) bool { return x >= b }, "exclusiveMinimum": func(b float64) bool { return x > b },
		"maximum": func(b float64) bool { return x <= b }, "exclusiveMaximum": func(b float64) bool { return x < b },
	} {
		if b, ok := s.node[name].(float64); ok && !holds(b) {
			return false
		}
	}
	return true
}

// takesMembers reports whether the members of an object fit the schema.
func (s jsonSchema) takesMembers(members map[string]any) bool {
	required, _ := s.node["required"].([]any)
	for _, name := range required {
		if _, ok := members[name.(string)]; !ok {
			return false
		}
	}
	known, _ := s.node["properties"].(map[string]any)
	for name, v := range members {
		switch {
		case known[name] != nil:
			if !s.at("properties", name).takes(v) {
				return false
			}
		case s.node["additionalProperties"] == false:
			return false
		}
	}
	return true
}

// plain is a decoded YAML value as JSON would have it.
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
	case uint64:
		return float64(x)
	case int64:
		return float64(x)
	case int:
		return float64(x)
	}
	return v
}

// The schema and the program take the same files.
func TestSchemaAgreesWithTheProgram(t *testing.T) {
	c, file := runner.NewCatalogue(experiments.Papers()), readSchema(t)
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
			if got := (jsonSchema{t, file.root, file.node}).takes(plain(v)); got != (valid || twice) {
				t.Errorf("the schema takes it: %t", got)
			}
		})
	}
}
