package experiments

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/schematest"
	"privkern/experiments/model"
)

// keptModels are files that were released or exported, of each version of each format, with
// optional members.
var keptModels = []struct {
	version, path, schema string
	optional              []string
}{
	{"dpgp/1", "dpgp/modelfile/testdata/dpgp-1.json", "dpgp-model-1", nil},
	{"dpgp/2", "dpgp/modelfile/testdata/dpgp-2.json", "dpgp-model-2", nil},
	{"dpgp/classification-model/1", "dpgp/classmodel/testdata/dpgp-classification-model-1.json",
		"dpgp-classification-model", nil},
	{"privkern/kahm-model/1", "kahm/machinefile/testdata/released-1.json", "kahm-model", nil},
	{"privkern/kahm-model/2", "kahm/machinefile/testdata/released-2.json", "kahm-model",
		[]string{"/machines/0/lambda?", "/privacy/groups?"}},
	{"privkern/privacygp-model/1", "privacygp/modelfile/testdata/version1.json", "privacygp-model", nil},
	{"privkern/privacygp-model/1", "privacygp/modelfile/testdata/condition.json", "privacygp-model",
		[]string{"/condition?", "/condition/kernel?"}},
	{"privkern/multikernel-model/1", "multikernel/projectionfile/testdata/exported-1.json", "multikernel-model",
		[]string{"/points/rows?", "/scaling?"}},
	{"baseline/histogram/1", "baseline/histogram/testdata/histogram-1.json", "baseline-model",
		[]string{"/privacy/groups?"}},
	{"baseline/ridge/1", "baseline/ridge/testdata/ridge-1.json", "baseline-model",
		[]string{"/privacy/groups?"}},
	{"baseline/ebm-regression/1", "baseline/ebm/testdata/ebm-regression-1.json", "baseline-model",
		[]string{"/privacy/groups?"}},
	{"baseline/sgd-regression/1", "baseline/sgd/testdata/sgd-regression-1.json", "baseline-model",
		[]string{"/privacy/groups?", "/parameters/hidden?"}},
	{"baseline/label-noise/1", "baseline/labelnoise/testdata/label-noise-1.json", "baseline-model",
		[]string{"/privacy/groups?"}},
	{"baseline/class-means/1", "baseline/means/testdata/class-means-1.json", "baseline-model",
		[]string{"/privacy/groups?"}},
	{"baseline/logistic/1", "baseline/logistic/testdata/logistic-1.json", "baseline-model",
		[]string{"/privacy/groups?"}},
	{"baseline/forest/1", "baseline/forest/testdata/forest-1.json", "baseline-model",
		[]string{"/privacy/groups?"}},
	{"baseline/ebm-classification/1", "baseline/ebm/testdata/ebm-classification-1.json", "baseline-model",
		[]string{"/privacy/groups?"}},
	{"baseline/sgd-classification/1", "baseline/sgd/testdata/sgd-classification-1.json", "baseline-model",
		[]string{"/privacy/groups?"}},
	{"baseline/randomised-response/1", "baseline/response/testdata/randomised-response-1.json", "baseline-model",
		[]string{"/privacy/groups?"}},
	{"baseline/largest-class/1", "baseline/largest/testdata/largest-class-1.json", "baseline-model",
		[]string{"/privacy/groups?"}},
}

// read reads a kept file.
func read(t testing.TB, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.FromSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// payloadOf decodes a file and encodes its payload again.
func payloadOf(t *testing.T, raw []byte) (*model.Model, []byte) {
	t.Helper()
	m, err := model.Decode("m.json", raw, Models())
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(m.Files[0].Payload); err != nil {
		t.Fatal(err)
	}
	return m, text.Bytes()
}

// Kept files have the documented form, are read without loss, and predict.
func TestKeptModels(t *testing.T) {
	versions := map[string]bool{}
	for _, kept := range keptModels {
		t.Run(kept.path, func(t *testing.T) {
			versions[kept.version] = true
			raw := read(t, kept.path)
			schema := filepath.Join("..", "docs", "formats", kept.schema+".schema.json")
			schematest.CheckStrict(t, schema, raw, kept.optional...)
			m, again := payloadOf(t, raw)
			schematest.Check(t, schema, again)
			if !bytes.Equal(again, raw) || m.Format != kept.version {
				t.Errorf("%s: written again it differs:\n%s", m.Format, again)
			}
			of := m.Envelope()
			p, err := m.Predict(t.Context(), mat.NewDense(2, len(of.Inputs), nil))
			if err != nil || len(p.Rows) != 2 || len(p.Rows[0]) != len(p.Columns) || p.Guarantee != of.Privacy.Guarantee {
				t.Errorf("%+v, %v", p, err)
			}
		})
	}
	for _, f := range Models() {
		for _, v := range f.Versions {
			if !versions[v] {
				t.Errorf("no file of %s is kept", v)
			}
		}
	}
}

// checkMessage refuses an error that is not one sentence about a file, in words of its format.
func checkMessage(t *testing.T, what, path string, err error) {
	t.Helper()
	var at *model.Error
	if !errors.As(err, &at) || !strings.HasPrefix(err.Error(), path+":") {
		t.Errorf("%s: %v, want an error with the path", what, err)
		return
	}
	for _, word := range []string{"json: ", "Go ", "float64", "unmarshal", "EOF", "struct ", "a defect", "\n"} {
		if text := at.Field + " " + at.Err.Error(); strings.Contains(text, word) {
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

// Files that are damaged or made to do harm are refused in a sentence that names the path and,
// where a value was replaced, the member.
func TestHostileModels(t *testing.T) {
	formats := Models()
	for _, kept := range keptModels {
		t.Run(kept.path, func(t *testing.T) {
			raw := read(t, kept.path)
			refuse := func(what, text string) error {
				_, err := model.Decode("dir/m.json", []byte(text), formats)
				checkMessage(t, what, "dir/m.json", err)
				return err
			}
			for i := range 50 {
				end := i * (len(raw) - 2) / 50
				_ = refuse(fmt.Sprintf("cut off after %d bytes", end), string(raw[:end]))
			}
			whole := string(raw)
			version := kept.version
			_ = refuse("a newer version", strings.Replace(whole, version, version[:len(version)-1]+"99", 1))
			_ = refuse("nested", strings.Replace(whole, `": [`, `": `+strings.Repeat("[", 1e5), 1))
			_ = refuse("a wrong number", strings.Replace(whole, `": [`, `": [NaN,`, 1))
			_ = refuse("two", whole+whole)
			for _, other := range keptModels {
				if other.version != version && (version[:4] != "dpgp" || other.version[:5] != "dpgp/") {
					_ = refuse("the members of "+other.version, strings.Replace(whole, version, other.version, 1))
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
					if new == nil && slices.Contains([]string{"privacy.notes", "privacy.groups", "scaling", "utility",
						"condition", "condition.kernel"}, member) {
						continue // they may be missing
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

// A text is refused with its place, or reads the same once it is written again, and predicts
// numbers or not at all.
func FuzzModels(f *testing.F) {
	for _, kept := range keptModels {
		raw := read(f, kept.path)
		f.Add(raw)
		f.Add(raw[:len(raw)/2])
	}
	formats := Models()
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := model.Decode("m.json", text, formats)
		if err != nil {
			var at *model.Error
			if !errors.As(err, &at) || at.Path != "m.json" {
				t.Errorf("an error without a place: %v", err)
			}
			return
		}
		_, again := payloadOf(t, text)
		if n, third := payloadOf(t, again); n.Format != m.Format || string(third) != string(again) {
			t.Errorf("%s became %s", again, third)
		}
		inputs := len(m.Envelope().Inputs)
		if inputs > 8 || len(text) > 8000 {
			return // that takes long
		}
		p, err := m.Predict(t.Context(), mat.NewDense(1, inputs, nil))
		if err != nil {
			return
		}
		for _, v := range p.Rows[0] {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%s predicts %v", text, p.Rows)
			}
		}
	})
}
