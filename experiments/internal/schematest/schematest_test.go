package schematest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

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
			path := filepath.Join(t.TempDir(), "schema.json")
			if err := os.WriteFile(path, []byte(c.schema), 0o600); err != nil {
				t.Fatal(err)
			}
			schema, value := read(t, path, []byte(text))
			if got := strings.Join(allowed(schema, value, []string{"/d", "/d?"}), ", "); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}
