package page_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"privkern/experiments/page"
)

func shell(arguments []string, width int) string { return fmt.Sprint(width, arguments) }

// No line is wider than a terminal of any width, and no value of the table is cut.
func TestWidths(t *testing.T) {
	p := &page.Page{Caption: "scores of a method " + strings.Repeat("and words ", 10),
		Header: []string{"method", "eps 1", "eps 3", "CPU s"},
		Rows: [][]string{{"dpgp/regression", "6000.00 ± 0.07", "2.00 ± 0.07", "0.1"}, {"protect less: one output"},
			{"cloaking/regression", "failed 1/5", "2.00 ± 0.07", "0.1"}},
		Legend: "* best", Sentences: []string{"at (1, 1e-6) nothing is better than 2.00 ± 0.07"},
		Remarks:  []string{"a path " + strings.Repeat("/folder", 20)},
		Releases: []page.Release{{Title: "The release:", Arguments: []string{"trial", "x/y"}}},
		Looking:  "These are for your eyes."}
	for _, width := range []int{24, 40, 60, 80} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			var b strings.Builder
			if err := p.Text(&b, shell, width); err != nil {
				t.Fatal(err)
			}
			for line := range strings.SplitSeq(b.String(), "\n") {
				if n := utf8.RuneCountInString(line); n > width {
					t.Errorf("%d characters: %s", n, line)
				}
			}
			for _, want := range []string{"6000.00 ± 0.07", "2.00 ± 0.07", "failed 1/5", "eps 3", "CPU s",
				fmt.Sprintf("\n%d [trial x/y]\n", width)} {
				if !strings.Contains(b.String(), want) {
					t.Errorf("%q is cut:\n%s", want, b.String())
				}
			}
		})
	}
}
