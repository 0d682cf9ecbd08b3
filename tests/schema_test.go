package tests

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"privkern/runner/experiment"
)

// schemaLines bounds configs/sweep.schema.json. What experiments share is
// written once; parameters in full for each of them take more than 17,000 lines.
const schemaLines = 7000

func TestSchemaIsSmall(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(root(t), "configs", "sweep.schema.json"))
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
	raw, err := os.ReadFile(filepath.Join(root(t), "configs", "sweep.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	var s map[string]any
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	return jsonSchema{t, s, nil}.resolved(s)
}

// resolved follows $ref; the members beside a reference hold, too.
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

// A file names one element type of those that trials compute in, and a block of runs
// none.
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
	experiments := catalogue(t).Experiments
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
// parameters; others are properties beside them.
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
			v = v.list(place + ": " + p.Name)
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

// list is the type of the elements of a list; a range of numbers may stand for it.
func (s jsonSchema) list(place string) jsonSchema {
	s.t.Helper()
	choices, ok := s.node["oneOf"].([]any)
	if !ok || len(choices) != 2 {
		s.t.Fatalf("%s is neither a list nor a range: %v", place, s.node)
	}
	list, text := s.resolved(choices[0]), s.resolved(choices[1]).node
	pattern, _ := text["pattern"].(string)
	if list.node["type"] != "array" || list.node["minItems"] != 1. || !strings.Contains(pattern, "(lin|log)space") {
		s.t.Errorf("%s is no list with at least one value, or no range: %v", place, s.node)
	}
	return list.at("items")
}

// paramText is what an editor is to show of a parameter.
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

// valueOf is the schema of one value, as JSON is decoded.
func valueOf(p *experiment.Param) map[string]any {
	type object = map[string]any
	numbers := []any{
		object{"type": "array", "items": object{"type": "number"}, "minItems": 1.},
		object{"type": "string", "pattern": `^.*\.\..*$`}, // a range, such as 0..84 step 7
	}
	switch p.Kind {
	case experiment.Flag:
		return object{"type": "boolean"}
	case experiment.Numbers:
		return object{"oneOf": numbers}
	case experiment.CountOrNumbers:
		return object{"oneOf": append(numbers, object{"type": "integer", "minimum": 1.})}
	case experiment.Text:
		s := object{"type": "string"}
		if p.Values != nil {
			s["enum"] = anything(p.Values)
		}
		return s
	}
	s := object{"type": "number"}
	if p.Kind == experiment.Integer {
		s["type"] = "integer"
	}
	for _, b := range []struct {
		bound        *float64
		open         bool
		closed, name string
	}{{p.Min, p.OpenMin, "minimum", "exclusiveMinimum"}, {p.Max, p.OpenMax, "maximum", "exclusiveMaximum"}} {
		switch {
		case b.bound == nil:
		case b.open:
			s[b.name] = *b.bound
		default:
			s[b.closed] = *b.bound
		}
	}
	if p.Kind == experiment.NumberOrNumbers {
		one := []any{s, object{"type": "array", "items": s, "minItems": 1.0},
			object{"type": "string", "pattern": `^.*(,|\.\.).*$`}}
		if len(p.Words) > 0 {
			one = append(one, object{"enum": anything(p.Words)})
		}
		return object{"oneOf": one}
	}
	words := slices.Clone(p.Words)
	if p.Infinite {
		words = append(words, "inf")
	}
	if len(words) == 0 {
		return s
	}
	return object{"anyOf": []any{s, object{"enum": anything(words)}}}
}

func anything(texts []string) []any {
	out := make([]any, len(texts))
	for i, s := range texts {
		out[i] = s
	}
	return out
}
