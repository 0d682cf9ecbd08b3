package text_test

import (
	"strings"
	"testing"

	"privkern/runner/text"
)

func TestSentence(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a sentence", "the matrix is singular (condition 1e20)", "the matrix is singular (condition 1e20)"},
		{"nothing", "", ""},
		{"lines", "a.csv: no column x\n\n  b.csv: no column y\n", "a.csv: no column x; b.csv: no column y"},
		{"a heading", "two problems:\none\ntwo", "two problems: one; two"},
		{"carriage returns, tabs and bells", "10%\r20%\tdone\a", "10% 20% done"},
		{"no UTF-8", "a\xff\xfeb", "a?b"},
		{"long", strings.Repeat("é", 601), strings.Repeat("é", 600) + "..."},
		{"as long as may be", strings.Repeat("é", 600), strings.Repeat("é", 600)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := text.Sentence(c.text); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
