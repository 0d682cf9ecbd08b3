package experiments

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"privkern/experiments/model"
)

// keptModels are files that were released or exported, one of each format.
var keptModels = map[string]string{
	"dpgp/1":                       "dpgp/modelfile/testdata/dpgp-1.json",
	"dpgp/2":                       "dpgp/modelfile/testdata/dpgp-2.json",
	"dpgp/classification-model/1":  "dpgp/classmodel/testdata/dpgp-classification-model-1.json",
	"privkern/kahm-model/1":        "kahm/machinefile/testdata/released-1.json",
	"privkern/privacygp-model/1":   "privacygp/modelfile/testdata/version1.json",
	"privkern/multikernel-model/1": "multikernel/projectionfile/testdata/exported-1.json",
}

// forPeople refuses an error that is not one sentence about a file, in words of its format.
func forPeople(t *testing.T, what, path string, err error) {
	t.Helper()
	var at *model.Error
	if !errors.As(err, &at) || !strings.HasPrefix(err.Error(), path+":") {
		t.Errorf("%s: %v, want an error with the path", what, err)
		return
	}
	for _, word := range []string{"json: ", "Go ", "float64", "unmarshal", "EOF", "struct", "a defect", "\n"} {
		if said := at.Field + " " + at.Err.Error(); strings.Contains(said, word) {
			t.Errorf("%s: %v: %q is not for users", what, err, word)
		}
	}
}

// replaced calls f with the members of a file, at most two of a list, and the file with
// another value in each place.
func replaced(v any, member string, put func(any), f func(member string, was any, put func(any))) {
	f(member, v, put)
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			replaced(v[name], strings.TrimPrefix(member+"."+name, "."), func(new any) { v[name] = new }, f)
		}
	case []any:
		for i := range min(2, len(v)) {
			replaced(v[i], member+"["+strconv.Itoa(i)+"]", func(new any) { v[i] = new }, f)
		}
	}
}

// Of every format, files that are damaged or made to do harm are refused in a sentence that
// names the path and, where another value is in its place, the member.
func TestHostileModels(t *testing.T) {
	formats := Models()
	for _, format := range formats {
		t.Run(format.Name, func(t *testing.T) {
			raw, err := os.ReadFile(filepath.FromSlash(keptModels[format.Name]))
			if err != nil {
				t.Fatal(err)
			}
			if _, name, err := model.Decode("m.json", raw, formats); err != nil || name != format.Name {
				t.Fatalf("%s, %v", name, err)
			}
			refuse := func(what, text string) error {
				_, _, err := model.Decode("dir/m.json", []byte(text), formats)
				forPeople(t, what, "dir/m.json", err)
				return err
			}
			for i := range 50 {
				end := i * (len(raw) - 2) / 50
				_ = refuse(fmt.Sprintf("cut off after %d bytes", end), string(raw[:end]))
			}
			whole := string(raw)
			version := format.Name[:len(format.Name)-1]
			_ = refuse("a newer version", strings.Replace(whole, format.Name, version+"99", 1))
			_ = refuse("nested", strings.Replace(whole, `": [`, `": `+strings.Repeat("[", 1e5), 1))
			_ = refuse("a wrong number", strings.Replace(whole, `": [`, `": [NaN,`, 1))
			_ = refuse("two", whole+whole)
			for other := range keptModels {
				if other != format.Name && (format.Name[:4] != "dpgp" || other[:5] != "dpgp/") {
					_ = refuse("the members of "+other, strings.Replace(whole, format.Name, other, 1))
				}
			}
			var root any
			if err := json.Unmarshal(raw, &root); err != nil {
				t.Fatal(err)
			}
			replaced(root, "", func(new any) { root = new }, func(member string, was any, put func(any)) {
				defer put(was)
				for _, new := range []any{"x", []any{[]any{[]any{[]any{}}}}, map[string]any{"x": 1.}, true, 1e300, nil} {
					kind := fmt.Sprintf("%T", new)
					if kind == fmt.Sprintf("%T", was) || kind == "map[string]interface {}" && member == "" {
						continue
					}
					put(new)
					text, err := json.Marshal(root)
					if err != nil {
						t.Fatal(err)
					}
					if new == nil && slices.Contains([]string{"privacy.notes", "scaling", "utility"}, member) {
						continue // of these a file may have none
					}
					err = refuse(fmt.Sprintf("%T for %s", new, member), string(text))
					if err != nil && member != "format" && member != "model" && new != nil && !strings.Contains(err.Error(), member) {
						t.Errorf("%v does not name %s", err, member)
					}
				}
			})
		})
	}
}
