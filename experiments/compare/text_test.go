package compare_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"privkern/experiments/compare"
)

// No line is wider than a terminal of any width, and no value of the table is cut.
func TestWidths(t *testing.T) {
	scores := map[string][]float64{"dpgp/regression": {6000, 2}, "cloaking/regression": {2, 2}}
	r := judged(t, numbers+two, seeds, scores, "cloaking/regression")
	r.Notes = append(r.Notes, "a path "+strings.Repeat("/folder", 20))
	for _, width := range []int{24, 40, 60, 80} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			var b strings.Builder
			if err := r.Write(&b, compare.Text, quoted, width); err != nil {
				t.Fatal(err)
			}
			for line := range strings.SplitSeq(b.String(), "\n") {
				if n := utf8.RuneCountInString(line); n > width {
					t.Errorf("%d characters: %s", n, line)
				}
			}
			for _, want := range []string{"6000.00 ± 0.07", "2.00 ± 0.07", "failed 1/5", "eps 3", "CPU s"} {
				if !strings.Contains(b.String(), want) {
					t.Errorf("%q is cut:\n%s", want, b.String())
				}
			}
			// A shell puts the lines of the command together.
			joined := strings.ReplaceAll(b.String(), "\\\n", "")
			flat := strings.Join(strings.Fields(strings.ReplaceAll(joined, "><", "")), " ")
			if want := "run <trial> <dpgp/regression> <dataset=csv:my.csv> <inputs=x>"; !strings.Contains(flat, want) {
				t.Errorf("no %s in %s", want, flat)
			}
		})
	}
}
