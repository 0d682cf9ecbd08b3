package tests

import (
	"bytes"
	"os"
	"regexp"
	"testing"

	"privkern/runner/show/score"
	"privkern/runner/show/tables"
)

// scoreboard is the block of a page that `run table --all results --output markdown`
// prints.
var scoreboard = regexp.MustCompile(`(?s)<!-- scoreboard: run table --all results --output markdown -->\n\n(.*?)\n` +
	`<!-- end of the scoreboard -->`)

// The scoreboard of the README is that of the results in the repository.
func TestScoreboardOfTheREADME(t *testing.T) {
	page, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	block := scoreboard.FindSubmatch(page)
	if block == nil {
		t.Skip("the README has no scoreboard between its two comments")
	}
	board, err := catalogue(t).Score([]string{"../results"})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range board.Skipped {
		t.Errorf("not used: %s", s)
	}
	var want bytes.Buffer
	if err := score.Write(&want, board, tables.FormatMarkdown); err != nil {
		t.Fatal(err)
	}
	if got := string(block[1]); got != want.String() {
		t.Errorf("the README has\n%s\nand the results give\n%s", got, want.String())
	}
}
