package text_test

import (
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"

	"privkern/runner/text"
)

func TestQuote(t *testing.T) {
	for word, want := range map[string]string{
		"epsilon=0.5": "epsilon=0.5", "/a/b-c": "/a/b-c", "": "''", "a b": "'a b'",
		"at=[1,2]": "'at=[1,2]'", "it's": `'it'\''s'`,
	} {
		t.Run(word, func(t *testing.T) {
			if got := text.Quote(word); got != want {
				t.Errorf("%q becomes %s, want %s", word, got, want)
			}
		})
	}
}

func TestAShellReadsTheWordBack(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh is installed")
	}
	for _, word := range []string{"", "a b", "$HOME", "`id`", `a\b`, "#c", "~", "!x", "{1,2}", "a\nb\t", "it's", "ε≤1",
		"a\"b", "x;y&z|<>*?[]()"} {
		got, err := exec.Command(sh, "-c", "printf %s "+text.Quote(word)).Output()
		if err != nil || string(got) != word {
			t.Errorf("%q is read as %q (%v)", word, got, err)
		}
	}
}

// No line of a command is wider than a terminal, and a shell puts the lines together.
func TestCommand(t *testing.T) {
	long := "at=[" + strings.Repeat("2.125,", 30) + "3]"
	for _, width := range []int{24, 40, 80} {
		got := text.Command([]string{"trial", "a/b", long, "x=1"}, width)
		for line := range strings.SplitSeq(got, "\n") {
			if n := utf8.RuneCountInString(line); n > width {
				t.Errorf("%d characters: %s", n, line)
			}
		}
		sh, err := exec.LookPath("sh")
		if err != nil {
			t.Skip("no sh is installed")
		}
		words, err := exec.Command(sh, "-c", "run() { printf '%s ' \"$@\"; };"+got).Output()
		if want := "trial a/b " + long + " x=1 "; err != nil || string(words) != want {
			t.Errorf("%d: %s is read as %s (%v)", width, got, words, err)
		}
	}
}
