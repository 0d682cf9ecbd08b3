package tests

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"privkern/experiments"
	"privkern/runner"
	"privkern/runner/claims/judge"
	"privkern/runner/show/tables"
)

// values are the words of a text, a mean and its standard error as one.
var values = regexp.MustCompile(`\S+ ± \S+|\S+`)

// Every table with the results in the repository fits the width of a terminal, in both forms, and has each print and
// each value of ours as a whole.
func TestTablesFitTheTerminal(t *testing.T) {
	board, err := runner.NewCatalogue(experiments.Papers()).Score([]string{"../results"})
	if err != nil {
		t.Fatal(err)
	}
	if len(board.Evaluated) < 40 {
		t.Fatalf("%d tables", len(board.Evaluated))
	}
	for _, e := range board.Evaluated {
		for _, width := range []int{20, 80, 120} {
			for _, all := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%d/%v", e.Table, width, all), func(t *testing.T) {
					var out strings.Builder
					o := tables.TextOptions{Width: width, AllVariants: all}
					if err := tables.Write(&out, tables.FormatText, o, e); err != nil {
						t.Fatal(err)
					}
					fits(t, out.String(), width)
					whole(t, e, out.String(), width, all)
				})
			}
		}
	}
}

// fits checks the lines of a text.
func fits(t *testing.T, text string, width int) {
	t.Helper()
	for line := range strings.Lines(text) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > width {
			t.Errorf("a line of %d characters: %q", n, line)
		}
	}
}

// whole checks that a text has the prints and values of all cells that it has lines for. A value that has no room
// behind the indent of a list of claims may be broken.
func whole(t *testing.T, e *judge.Evaluation, text string, width int, all bool) {
	t.Helper()
	has, wants := map[string]int{}, map[string]int{}
	for line := range strings.Lines(text) {
		for _, value := range values.FindAllString(line, -1) {
			has[value]++
		}
	}
	ran := map[int]bool{} // cells with a headline that has run
	for i := range e.Cells {
		c := &e.Cells[i]
		ran[c.Cell] = ran[c.Cell] || c.Headline && c.Ours != nil
	}
	want := func(s string) {
		for _, value := range values.FindAllString(s, -1) {
			if utf8.RuneCountInString(value) <= width*3/4-5 {
				wants[value]++
			}
		}
	}
	for i := range e.Cells {
		c := &e.Cells[i]
		if c.Headline && c.Statement == "" {
			want(tables.Published(c))
		}
		standIn := !ran[c.Cell] && c.Verdict == judge.StandIn // the first one is shown
		if all || c.Headline && c.Ours != nil || standIn {
			want(tables.Ours(c))
		}
		ran[c.Cell] = ran[c.Cell] || standIn
	}
	for value, n := range wants {
		if has[value] < n {
			t.Errorf("%q stands there %d times, want %d", value, has[value], n)
		}
	}
}
