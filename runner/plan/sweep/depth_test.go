package sweep_test

import (
	"errors"
	"strings"
	"testing"

	"privkern/runner/plan/sweep"
)

// A text that is nested too deeply is refused with its place, before it is parsed: these
// texts would take the parser minutes and gigabytes.
func TestTooDeep(t *testing.T) {
	steps := func(n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.Repeat(" ", i) + "a:\n")
		}
		return b.String()
	}
	for _, c := range []struct {
		name, text   string
		line, column int
	}{
		{"maps in braces", strings.Repeat("{a: ", 62_000), 1, 401},
		{"lists in brackets", strings.Repeat("[", 250_000), 1, 101},
		{"lists", strings.Repeat("- ", 125_000), 1, 201},
		{"keys that are maps", strings.Repeat("? ", 120_000), 1, 201},
		{"maps", steps(2000), 101, 102},
		{"both", strings.Repeat("- ", 60) + strings.Repeat("[", 1000), 1, 161},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := sweep.Read("deep.yaml", []byte(c.text), sweep.Names{})
			var at *sweep.Error
			if !errors.As(err, &at) || at.Line != c.line || at.Column != c.column ||
				!strings.Contains(err.Error(), "nested deeper than 100 levels") {
				t.Errorf("%.200v", err)
			}
		})
	}
}

// Depth counts the open lists and maps, not all of them.
func TestManyButNotDeep(t *testing.T) {
	for _, c := range []struct{ name, text string }{
		{"many cases", "cases:\n" + strings.Repeat("  - {a: [1, 2]}\n", 1000)},
		{"many keys", "params:\n" + strings.Repeat("  a: 1\n  b:\n    - 2\n", 300)},
		{"brackets in a text", "title: \"" + strings.Repeat("[", 500) + "\"\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := sweep.Read("wide.yaml", []byte(c.text), sweep.Names{}); err == nil || strings.Contains(err.Error(),
				"nested") {
				t.Errorf("%.200v", err)
			}
		})
	}
}
