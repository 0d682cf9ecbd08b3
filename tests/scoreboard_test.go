package tests

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"privkern/experiments"
	"privkern/runner"
	"privkern/runner/show/score"
	"privkern/runner/show/tables"
)

// scoreBlocks are blocks of a page with the output of a command: run table --all results
// --output markdown, or that with --outside or --joint.
var scoreBlocks = regexp.MustCompile(`(?s)<!-- (scoreboard|outside|joint): ` +
	`run table --all results (?:--outside |--joint )?--output markdown -->\n\n(.*?)\n<!-- end -->`)

// words are those of a page, however its lines break.
func words(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(string(text)), " ")
}

// The scoreboards of the pages, and the values that lie outside their bands, are those of the
// results in the repository; these pass the check against reference values.
func TestPagesOfResults(t *testing.T) {
	board, err := runner.NewCatalogue(experiments.Papers()).Score([]string{"../results"})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range board.Skipped {
		t.Errorf("not used: %s", s)
	}
	for _, v := range board.Violations {
		t.Errorf("run table --all results --check: %s", v)
	}
	all, page := board.All(), words(t, "../results/README.md")
	for _, sentence := range []string{
		fmt.Sprintf("More trials of ours could settle %d of these %d values", all.Settle, all.Wide),
		fmt.Sprintf("holds %d values, most of which", board.References),
	} {
		if !strings.Contains(page, sentence) {
			t.Errorf("results/README.md does not say %q", sentence)
		}
	}
	for page, want := range map[string][]string{
		"../README.md": {"scoreboard"}, "../results/README.md": {"scoreboard", "joint"},
		"../results/outside.md": {"outside"},
	} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		current(t, page, scoreBlocks.ReplaceAllFunc(text, func(block []byte) []byte {
			m := scoreBlocks.FindSubmatch(block)
			found = append(found, string(m[1]))
			write := map[string]func(io.Writer, *score.Board, tables.Format, int) error{
				"scoreboard": score.Write, "outside": score.WriteOutside, "joint": score.WriteJoint,
			}[string(m[1])]
			now := bytes.NewBuffer(bytes.Clone(block[:bytes.Index(block, []byte("-->"))+5]))
			if err := write(now, board, tables.FormatMarkdown, 0); err != nil {
				t.Fatal(err)
			}
			return append(now.Bytes(), "\n<!-- end -->"...)
		}))
		if !slices.Equal(found, want) {
			t.Errorf("%s has the blocks %q, want %q", page, found, want)
		}
	}
}
