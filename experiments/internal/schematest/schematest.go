// Package schematest holds files against the JSON Schemas that document them: for tests.
package schematest

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"testing"
)

// Check fails where a text is no JSON that the schema at path allows. It knows the keywords
// that the project's formats use, and fails on any other: type, const, enum, required,
// properties, additionalProperties (false, or the schema of members of any name), items,
// minItems, uniqueItems, minLength, minimum and exclusiveMinimum. Descriptions are
// left out.
func Check(t *testing.T, path string, text []byte) {
	t.Helper()
	schema, value := read(t, path, text)
	for _, problem := range problems(schema, value, "") {
		t.Error(problem)
	}
}

// read reads the schema at path and a text.
func read(t *testing.T, path string, text []byte) (schema map[string]any, value any) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &schema); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	return schema, value
}

// problems returns the violations of a schema by a value.
func problems(schema map[string]any, value any, at string) (out []string) {
	wrong := func(format string, args ...any) {
		out = append(out, fmt.Sprintf("%s: ", at)+fmt.Sprintf(format, args...))
	}
	for keyword, want := range schema {
		switch keyword {
		case "$schema", "title", "description", "contentEncoding":
		case "const":
			if !reflect.DeepEqual(value, want) {
				wrong("it is %v, want %v", value, want)
			}
		case "enum":
			if !slices.ContainsFunc(want.([]any), func(v any) bool { return reflect.DeepEqual(value, v) }) {
				wrong("it is %v, want one of %v", value, want)
			}
		case "type":
			if got := typeOf(value); got != want && (got != "integer" || want != "number") {
				wrong("it is of type %s, want %v", got, want)
			}
		case "minimum":
			if v, ok := value.(float64); ok && v < want.(float64) {
				wrong("it is %v, want at least %v", v, want)
			}
		case "exclusiveMinimum":
			if v, ok := value.(float64); ok && v <= want.(float64) {
				wrong("it is %v, want more than %v", v, want)
			}
		case "minLength":
			if v, ok := value.(string); ok && float64(len([]rune(v))) < want.(float64) {
				wrong("%q is too short", v)
			}
		case "required", "properties", "additionalProperties":
			out = append(out, members(keyword, schema, value, at)...)
		case "items", "minItems", "uniqueItems":
			out = append(out, elements(keyword, want, value, at)...)
		default:
			wrong("the schema has the keyword %q, which the tests do not know", keyword)
		}
	}
	return out
}

// members are the problems of an object's members.
func members(keyword string, schema map[string]any, value any, at string) (out []string) {
	object, ok := value.(map[string]any)
	if !ok {
		return nil
	}
	properties, _ := schema["properties"].(map[string]any)
	switch keyword {
	case "required":
		for _, name := range schema["required"].([]any) {
			if _, there := object[name.(string)]; !there {
				out = append(out, fmt.Sprintf("%s: %v is missing", at, name))
			}
		}
	case "properties":
		for name, one := range properties {
			if v, there := object[name]; there {
				out = append(out, problems(one.(map[string]any), v, at+"/"+name)...)
			}
		}
	default:
		others, open := schema["additionalProperties"].(map[string]any)
		if !open && schema["additionalProperties"] != false {
			return []string{at + ": additionalProperties is false or a schema in the project's schemas"}
		}
		for name, v := range object {
			switch {
			case properties[name] != nil:
			case open:
				out = append(out, problems(others, v, at+"/"+name)...)
			default:
				out = append(out, fmt.Sprintf("%s: %s is not in the schema", at, name))
			}
		}
	}
	return out
}

// elements are the problems of a list's elements.
func elements(keyword string, want, value any, at string) (out []string) {
	list, ok := value.([]any)
	if !ok {
		return nil
	}
	switch keyword {
	case "items":
		for i, v := range list {
			out = append(out, problems(want.(map[string]any), v, fmt.Sprintf("%s/%d", at, i))...)
		}
	case "minItems":
		if float64(len(list)) < want.(float64) {
			out = append(out, fmt.Sprintf("%s: %d elements, want at least %v", at, len(list), want))
		}
	default:
		for i, v := range list {
			if slices.ContainsFunc(list[:i], func(u any) bool { return reflect.DeepEqual(u, v) }) {
				out = append(out, fmt.Sprintf("%s: %v is there twice", at, v))
			}
		}
	}
	return out
}

func typeOf(value any) string {
	switch v := value.(type) {
	case map[string]any:
		return "object"
	case []any:
		return "array"
	case string:
		return "string"
	case bool:
		return "boolean"
	case float64:
		if v == float64(int64(v)) {
			return "integer"
		}
		return "number"
	}
	return "null"
}
