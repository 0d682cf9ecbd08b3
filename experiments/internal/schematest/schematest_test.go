package schematest

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// Every keyword refuses what it is for.
func TestProblems(t *testing.T) {
	const schema = `{"type": "object", "required": ["a"], "additionalProperties": false, "properties": {
		"a": {"type": "integer", "minimum": 1}, "b": {"type": "array", "minItems": 2, "uniqueItems": true,
		"items": {"type": "string", "minLength": 2}}, "c": {"const": "x"}, "d": {"enum": ["y", "z"]}, "e": {"odd": 1}}}`
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
