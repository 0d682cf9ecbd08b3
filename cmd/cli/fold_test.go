package cli

import (
	"math"
	"strings"
	"testing"
)

// Long lines go on below the text behind their label, and command lines stay whole.
func TestFold(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
		width            int
	}{
		{"a program's", "a long  line\n", "a long  line\n", math.MaxInt},
		{"a sentence", "warning: one two three\nshort\n\nend", "warning: one\ntwo three\nshort\n\nend", 14},
		{"a label", "  one   two three four five\n", "  one   two three\n        four five\n", 18},
		{"a label of two words", "LiRA, on  two three four\n", "LiRA, on  two three\n          four\n", 20},
		{"a label without room", "a label of the line  two three\n", "a label of the\nline two three\n", 15},
		{"a command", "  run predict model.json --at x.csv\n", "  run predict model.json --at x.csv\n", 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := fold(c.text, c.width); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// Lines of a paragraph or behind one label are broken anew, and commands and lists are not.
func TestReflow(t *testing.T) {
	text := `Lines of a paragraph that are
long and go on.

  one  what is one and
       goes on
  two  what is two
  run one
  run two
The end.`
	want := `Lines of a
paragraph that are
long and go on.

  one  what is one
       and goes on
  two  what is two
  run one
  run two
The end.`
	if got := reflow(text, 18); got != want {
		t.Errorf("%s", got)
	}
	if got := reflow(text, 100); strings.Count(got, "\n") != 6 {
		t.Errorf("%s", got)
	}
}
