package text_test

import (
	"os/exec"
	"testing"

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
