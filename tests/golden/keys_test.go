package golden

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privkern/experiments"
	"privkern/runner/experiment"
	"privkern/runner/record"
)

// TestKeys compares the keys of settings of every experiment with those that were
// made before settings became types: a setting's name, default and text must not
// change, or stored results would be computed again. A line of the file is an
// experiment with its result version, a list of name=value, and the key of that
// trial with seed 3; the digest of a data set is that of its name.
func TestKeys(t *testing.T) {
	file := filepath.Join(testdata, "keys.tsv")
	registry := experiment.RegistryOf(experiments.Papers())
	if *update {
		if err := addKeys(file, keyLines(t, registry)); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		head, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		name, _, _ := strings.Cut(head, " ")
		lines[name] = append(lines[name], head+"\t"+rest)
	}
	for _, name := range registry.Names() {
		t.Run(name, func(t *testing.T) {
			compared := 0
			for _, want := range lines[name] {
				fields := strings.Split(want, "\t")
				if e, err := registry.Lookup(name); err == nil && fields[0] != fmt.Sprint(name, " ", e.Version) {
					continue // of an earlier version
				}
				compared++
				got, err := keyLine(registry, name, strings.Fields(fields[1]))
				if err != nil {
					t.Errorf("%s: %v", fields[1], err)
				} else if got != want {
					t.Errorf("got  %s\nwant %s", got, want)
				}
			}
			if compared < 3 {
				t.Errorf("%d keys of this version are known: run `%s`", compared, updates)
			}
		})
	}
	for name := range lines {
		t.Run(name, func(t *testing.T) {
			if _, err := registry.Lookup(name); err != nil {
				t.Errorf("keys of an experiment that there is not: %v", err)
			}
		})
	}
}

// addKeys writes the lines of settings that the file does not have in this version of
// their experiment. Its lines stay with their keys, because keys must not change.
func addKeys(file string, lines []string) error {
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	settings := func(line string) string { return line[:strings.LastIndex(line, "\t")] } // without the key
	kept := strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' })
	known := map[string]bool{}
	for _, line := range kept {
		known[settings(line)] = true
	}
	for _, line := range lines {
		if !known[settings(line)] {
			kept = append(kept, line)
		}
	}
	slices.SortStableFunc(kept, func(a, b string) int {
		nameA, _, _ := strings.Cut(a, " ")
		nameB, _, _ := strings.Cut(b, " ")
		return strings.Compare(nameA, nameB)
	})
	return os.WriteFile(file, []byte(strings.Join(kept, "\n")+"\n"), 0o644)
}

// A key that is known stays, and one of a new version is added: the file shows both.
func TestAddKeys(t *testing.T) {
	file := filepath.Join(t.TempDir(), "keys.tsv")
	for _, lines := range [][]string{{"a/b 1\tx=1\told", "c/d 1\t\tother"}, {"a/b 1\tx=1\tnew", "a/b 2\tx=1\tnew"}} {
		if err := addKeys(file, lines); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if want := "a/b 1\tx=1\told\na/b 2\tx=1\tnew\nc/d 1\t\tother\n"; err != nil || string(text) != want {
		t.Errorf("%q, %v; want %q", text, err, want)
	}
}

// keyLine returns the line of the file for an experiment with these name=value
// settings.
func keyLine(registry *experiment.Registry, name string, settings []string) (string, error) {
	e, err := registry.Lookup(name)
	if err != nil {
		return "", err
	}
	given := map[string]any{}
	for _, setting := range settings {
		name, value, _ := strings.Cut(setting, "=")
		given[name] = value
	}
	p, err := e.Resolve(given)
	if err != nil {
		return "", err
	}
	id := experiment.Identity{Experiment: name, ResultVersion: e.Version, Params: p, Seed: 3,
		Backend: "cpu", DType: "float64", Datasets: map[string]string{}}
	if e.Datasets != nil {
		for _, d := range e.Datasets(p) {
			sum := sha256.Sum256([]byte(d))
			id.Datasets[d] = hex.EncodeToString(sum[:])
		}
	}
	key, err := record.Key(id)
	return fmt.Sprintf("%s %d\t%s\t%s", name, e.Version, strings.Join(settings, " "), key), err
}

// keyLines are the lines of the file for the defaults of every experiment, and for
// another value of each of its parameters. Settings that own data require are tried
// on all experiments: a line is made where the settings
// are valid.
func keyLines(t *testing.T, registry *experiment.Registry) []string {
	var out []string
	for _, name := range registry.Names() {
		e, err := registry.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		var base []string
		for _, tried := range [][]string{nil,
			{"dataset=csv:own.csv", "output=y", "inputs=x", "low=0", "high=1", "delta=1e-4"},
			{"dataset=csv:own.csv", "output=y", "inputs=x", "sensitive=x:2..3"},
			{"data=csv:own.csv", "label=y"}, {"dataset=csv:own.csv"}, {"file=csv:own.csv"}} {
			line, err := keyLine(registry, name, tried)
			if err != nil {
				continue
			}
			if base == nil {
				base = tried
			}
			out = append(out, line)
		}
		for i := range e.Params {
			for _, value := range otherValues(&e.Params[i]) {
				settings := append(slices.DeleteFunc(slices.Clone(base), func(s string) bool {
					return strings.HasPrefix(s, e.Params[i].Name+"=")
				}), e.Params[i].Name+"="+value)
				if line, err := keyLine(registry, name, settings); err == nil && !slices.Contains(out, line) {
					out = append(out, line)
					break
				}
			}
		}
	}
	return out
}

// otherValues are values of a parameter that differ from its default, as one writes
// them.
func otherValues(p *experiment.Param) []string {
	tried := slices.Concat(p.Words, p.Values)
	slices.Reverse(tried)
	switch p.Kind {
	case experiment.Flag:
		tried = append(tried, "true", "false")
	case experiment.Text:
		tried = append(tried, "x,z", "y")
	default:
		tried = append(tried, "0.3", "7", "2", "1", "3", "40", "0.05", "1e-6", "150", "[1,2]", "inf")
	}
	defaults := experiment.FormatValue(p.Default)
	distinct := map[string]bool{defaults: true}
	return slices.DeleteFunc(tried, func(v string) bool {
		seen := distinct[v] || strings.ContainsAny(v, " \t")
		distinct[v] = true
		return seen
	})
}
