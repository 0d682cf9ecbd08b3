package schematest

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// Every keyword refuses its violations.
func TestProblems(t *testing.T) {
	const schema = `{"type": "object", "required": ["a"], "additionalProperties": false, "properties": {
		"a": {"type": "integer", "minimum": 1}, "b": {"type": "array", "minItems": 2, "uniqueItems": true,
		"items": {"type": "string", "minLength": 2}}, "c": {"const": "x"}, "d": {"enum": ["y", "z"]}, "e": {"odd": 1},
		"g": {"additionalProperties": {"type": "number", "exclusiveMinimum": 0}}}}`
	for text, want := range map[string]string{
		`{"a": 1, "b": ["uu", "vv"], "c": "x", "d": "z"}`: "",
		`{"b": ["uu", "vv"]}`:                             ": a is missing",
		`{"a": 1.5}`:                                      "/a: it is of type number, want integer",
		`{"a": 0}`:                                        "/a: it is 0, want at least 1",
		`{"a": 1, "b": ["uu"]}`:                           "/b: 1 elements, want at least 2",
		`{"a": 1, "b": ["uu", "uu"]}`:                     "/b: uu is there twice",
		`{"a": 1, "b": ["uu", "v"]}`:                      `/b/1: "v" is too short`,
		`{"a": 1, "b": ["uu", 3]}`:                        "/b/1: it is of type integer, want string",
		`{"a": 1, "c": "y"}`:                              "/c: it is y, want x",
		`{"a": 1, "d": "y2"}`:                             "/d: it is y2, want one of [y z]",
		`{"a": 1, "f": 2}`:                                ": f is not in the schema",
		`{"a": 1, "g": {"x": 0.5, "y": 2}}`:               "",
		`{"a": 1, "g": {"x": 0}}`:                         "/g/x: it is 0, want more than 0",
		`{"a": 1, "g": {"x": "1"}}`:                       "/g/x: it is of type string, want number",
		`[]`:                                              ": it is of type array, want object",
		`{"a": 1, "e": 2}`: `/e: the schema has the keyword "odd", which the tests do not` +
			" know",
	} {
		var s map[string]any
		var v any
		if err := json.Unmarshal([]byte(schema), &s); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		got := problems(s, v, "")
		slices.Sort(got)
		if strings.Join(got, "\n") != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// A schema that is not strict is found out at each place.
func TestAllowed(t *testing.T) {
	const text = `{"a": {"b": 1, "c": ["x"]}, "d": 2}`
	for _, c := range []struct{ name, schema, want string }{
		{"nothing", `{}`, "a strange member in , /a missing, /a of another type, a strange member in /a, /a/b missing, " +
			"/a/b of another type, /a/c missing, /a/c of another type, /a/c/0 of another type"},
		{"members", `{"additionalProperties": false, "properties": {"a": {"additionalProperties": false, "properties":
			{"b": {}, "c": {}}}, "d": {}}}`, "/a missing, /a of another type, /a/b missing, /a/b of another type, /a/c " +
			"missing, /a/c of another type, /a/c/0 of another type"},
		{"what is required", `{"additionalProperties": false, "required": ["a"], "properties": {"a": {"type": "object",
			"additionalProperties": false, "required": ["b", "c"], "properties": {"b": {"type": "number"}, "c": {"type":
			"array"}}}, "d": {}}}`, "/a/c/0 of another type"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var schema map[string]any
			var value any
			if err := json.Unmarshal([]byte(c.schema), &schema); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(text), &value); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(allowed(schema, value, []string{"/d", "/d?"}), ", "); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}
