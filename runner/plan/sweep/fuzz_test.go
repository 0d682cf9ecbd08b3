package sweep_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"privkern/runner/experiment"
	"privkern/runner/plan/sweep"
)

// fewTrials keeps the fuzzer from texts that are allowed but take long, such as a
// range of a million values.
func fewTrials(text string) bool {
	for field := range strings.FieldsFuncSeq(text, func(c rune) bool { return c < '0' || c > '9' }) {
		if len(strings.TrimLeft(field, "0")) > 3 {
			return false
		}
	}
	return strings.Count(text, "space")+strings.Count(text, "..") <= 2
}

// Any text of a sweep file is read or refused with its place, and
// expands the same way each time.
func FuzzRead(f *testing.F) {
	f.Add("experiment: demo/curve\nsweep:\n  folds: [1, 2]\n")
	f.Add("runs:\n  - experiment: demo/other\n    seeds: 0..3\n")
	f.Add("experiment: demo/curve\nsweep:\n  epsilon: linspace(0,1,2)\nzip: {folds: [1, 2], rank: [full, 3]}\n")
	f.Add("a: &a [*a]\n")
	f.Add("title: |\n  two\n  lines\nexperiment: demo/curve\ncases:\n  - {method: sparse}\n  - {at: [1, 2], points: " +
		"0..3 step 1}\ntables: [demo/table1]\n")
	f.Add("experiment: demo/other\nexperiment: demo/curve\n---\n")
	f.Add("dtype: float32\ntables: [demo/table1]\n")
	f.Add("? [a, b]\n: - c\n")
	f.Add("title: ${folds} $${x}\nexperiment: demo/curve\nparams: {folds: 2, at: [1, 2], points: '${at}'}\n")
	f.Add("include: [a.yaml]\nexperiment: demo/curve\nparams:\n  folds: ${env:PRIVKERN_TEST_NONE:3}\n" +
		"  epsilon: ${folds}\n")
	f.Fuzz(func(t *testing.T, text string) {
		if !fewTrials(text) {
			return
		}
		s, err := sweep.Read("f.yaml", []byte(text), names)
		if err != nil {
			placed(t, text, err)
			return
		}
		x, err := s.Expand()
		if err != nil {
			placed(t, text, err)
			return
		}
		differ(t, x.Settings)
		again, err := s.Expand()
		if err != nil || !slices.Equal(key(x.Settings), key(again.Settings)) {
			t.Errorf("a second expansion is another one: %v", err)
		}
	})
}

// placed wants an error that names the file and a place in it.
func placed(t *testing.T, text string, err error) {
	t.Helper()
	var at *sweep.Error
	if !errors.As(err, &at) {
		t.Fatalf("an error without a place: %v", err)
	}
	if lines := strings.Count(text, "\n") + strings.Count(text, "\r") + 1; at.File != "f.yaml" || at.Line < 1 ||
		at.Line > lines+1 || at.Column < 1 {
		t.Errorf("%d lines, but: %v", lines, err)
	}
}

// differ wants each setting once.
func differ(t *testing.T, settings []sweep.Assignment) {
	t.Helper()
	seen := map[string]bool{}
	for i := range settings {
		id := fmt.Sprint(settings[i].Experiment.Name, settings[i].Seed, key(settings[i:i+1]))
		if seen[id] {
			t.Errorf("a setting twice: %s", id)
		}
		seen[id] = true
	}
}

// key makes settings comparable.
func key(settings []sweep.Assignment) (all []string) {
	for _, s := range settings {
		for _, p := range s.Experiment.Params {
			all = append(all, p.Name+"="+experiment.FormatValue(s.Params[p.Name]))
		}
	}
	return all
}

// Any name=value argument is refused with its text and changes
// nothing, or its values, written as arguments, give themselves.
func FuzzOverride(f *testing.F) {
	for _, s := range []string{
		"epsilon=0.5,1,inf", "folds=2", "points=[1,2,3],5", "at=0..14 step 7", "rank=full,3", "method=sparse,standard",
		"score=yes", "epsilon=linspace(0.1,1,3)", "delta=logspace(-3,-1,3)", "epsilon=", "=1", "size=[", "points=],[",
		"at=1e308..1e309", "epsilon=-0",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, assignment string) {
		if !fewTrials(assignment) {
			return
		}
		const file = "runs:\n  - experiment: demo/curve\n    sweep: {folds: [1, 2]}\n  - experiment: demo/other\n"
		read := func() *sweep.Sweep {
			s, err := sweep.Read("f.yaml", []byte(file), names)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		expand := func(s *sweep.Sweep) []string {
			x, err := s.Expand()
			if err != nil {
				return nil // a combination that the experiment refuses
			}
			return key(x.Settings)
		}
		s := read()
		before := expand(s)
		if err := s.Override(assignment); err != nil {
			if name, _, _ := strings.Cut(assignment, "="); !strings.Contains(err.Error(), name) &&
				!strings.Contains(err.Error(), "name=value") {
				t.Errorf("the error does not name the argument: %v", err)
			}
			if !slices.Equal(expand(s), before) {
				t.Error("a refused argument changed the sweep")
			}
			return
		}
		after := expand(s)
		if after == nil {
			return
		}
		name, _, _ := strings.Cut(assignment, "=")
		name = strings.TrimSpace(name)
		var values []string
		for _, v := range after {
			if n, text, _ := strings.Cut(v, "="); n == name {
				if len(values) == 0 || values[len(values)-1] != text {
					values = append(values, text)
				}
			}
		}
		if len(values) != 1 {
			return // the product with other parameters would have to be undone
		}
		once := read()
		if err := once.Override(name + "=" + values[0]); err != nil {
			t.Fatalf("%s=%s, as the value is written, is refused: %v", name, values[0], err)
		}
		settings := expand(once)
		if !slices.Equal(settings, after) {
			t.Errorf("%q gave %v, which give %v", assignment, values, settings)
		}
	})
}

// Any text of seeds is refused, or gives different whole numbers from 0 up.
func FuzzParseSeeds(f *testing.F) {
	for _, s := range []string{"7", "0..19", "0,2, 4..6", "-1", "9223372036854775807..9223372036854775807",
		"1..0", "..", "1,1", " 3 "} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		seeds, err := sweep.ParseSeeds(text)
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without words")
			}
			return
		}
		seen := map[int64]bool{}
		for _, s := range seeds {
			if s < 0 || seen[s] {
				t.Errorf("%q gave %d, negative or twice", text, s)
			}
			seen[s] = true
		}
		if len(seeds) == 0 {
			t.Error("no seeds and no error")
		}
	})
}
