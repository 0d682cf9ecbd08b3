// Package schematest holds files against the JSON Schemas that document them: for tests.
package schematest

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Check fails where a text is no JSON that the schema at path allows.
func Check(t *testing.T, path string, text []byte) {
	t.Helper()
	schema, value := read(t, path, text)
	if err := schema.Validate(value); err != nil {
		t.Error(err)
	}
}

// read reads the schema at path and a text.
func read(t *testing.T, path string, text []byte) (schema *jsonschema.Schema, value any) {
	t.Helper()
	schema, err := jsonschema.NewCompiler().Compile(path)
	if err != nil {
		t.Fatal(err)
	}
	if value, err = jsonschema.UnmarshalJSON(bytes.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	return schema, value
}

// CheckStrict is [Check], and fails also where the schema at path allows the text when it
// is spoilt in any one place: a member that is missing, one of another name, a value of
// another type. Free are the places, such as /params, that may hold anything, and those of
// members that may be missing end in a question mark: /score?.
func CheckStrict(t *testing.T, path string, text []byte, free ...string) {
	t.Helper()
	Check(t, path, text)
	schema, value := read(t, path, text)
	for _, where := range allowed(schema, value, free) {
		t.Errorf("%s allows the text with %s", path, where)
	}
}

// allowed returns the ways in which a value can be spoilt so that a schema still allows it.
func allowed(schema *jsonschema.Schema, value any, free []string) (out []string) {
	spoil(value, "", free, func(what string) {
		if schema.Validate(value) == nil {
			out = append(out, what)
		}
	})
	return out
}

// spoil changes a value in one place after the other, calls try, and changes it back. Of a
// list the first element stands for all.
func spoil(value any, at string, free []string, try func(what string)) {
	if slices.Contains(free, at) {
		return
	}
	switch v := value.(type) {
	case map[string]any:
		v["strange"] = 1.0
		try("a strange member in " + at)
		delete(v, "strange")
		for _, name := range slices.Sorted(maps.Keys(v)) {
			was, place := v[name], at+"/"+name
			if delete(v, name); !slices.Contains(free, place+"?") {
				try(place + " missing")
			}
			if v[name] = other(was); !slices.Contains(free, place) {
				try(place + " of another type")
			}
			v[name] = was
			spoil(was, place, free, try)
		}
	case []any:
		if len(v) == 0 {
			return
		}
		was, place := v[0], at+"/"+strconv.Itoa(0)
		v[0] = other(was)
		try(place + " of another type")
		v[0] = was
		spoil(was, place, free, try)
	}
}

// other is a value of another type.
func other(value any) any {
	if _, text := value.(string); text {
		return 1.5
	}
	return "text"
}
