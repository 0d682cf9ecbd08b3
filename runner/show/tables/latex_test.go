package tables_test

import (
	"testing"

	"privkern/runner/show/tables"
)

// Characters that have a meaning in LaTeX, signs of the papers, letters with a combining
// accent, and one that LaTeX cannot show.
func TestEscapeLaTeX(t *testing.T) {
	for text, want := range map[string]string{
		"50 % & #_":        `50 \% \& \#\_`,
		`"a" ‖x‖ ≤ ε`:      "``a'' $\\|$x$\\|$ $\\le$ $\\varepsilon$",
		"K\u0304 = S′ ⪰ 0": `\={K} = S$'$ $\succeq$ 0`,
		"α\u0302_i":        `\^{$\alpha$}\_i`,
		"\u0304":           `\texttt{U+0304}`,
		"字":                `\texttt{U+5B57}`,
	} {
		if got := tables.EscapeLaTeX(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
