package cli

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"privkern/runner/show/tables"
)

// label is the begin of a line that has a word or more and two spaces or more before its text, or is indented.
var label = regexp.MustCompile(`^ *(\S+( \S+)*  +)?`)

// labelOf is that of a line in a text of a width; one that takes half of it is none.
func labelOf(line string, width int) string {
	found := label.FindString(line)
	if utf8.RuneCountInString(found) > width/2 {
		return found[:len(found)-len(strings.TrimLeft(found, " "))]
	}
	return found
}

// fold breaks lines of a text that are longer than a width. They go on below the text behind their label. A command
// line stays as it is, to be copied.
func fold(text string, width int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if utf8.RuneCountInString(strings.TrimRight(line, "\n")) <= width || strings.HasPrefix(line, "  run ") {
			b.WriteString(line)
			continue
		}
		before := labelOf(line, width)
		b.WriteString(tables.Hang(before, line[len(before):], width))
	}
	return b.String()
}

// reflow is fold for a text that is written in lines: those that go on with the text of others are broken anew.
func reflow(text string, width int) string {
	var lines []string
	hang := -1 // where the next line goes on with the last one, in characters; -1 for nowhere
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		own := labelOf(line, width)
		unlabelled := strings.TrimSpace(own) == ""
		if unlabelled && line != "" && len(own) == hang {
			lines[len(lines)-1] += " " + line[len(own):]
			continue
		}
		lines = append(lines, line)
		if hang = utf8.RuneCountInString(own); line == "" || unlabelled && own != "" {
			hang = -1
		}
	}
	return fold(strings.Join(lines, "\n"), width)
}

// printAligned prints a table; one that is wider than the terminal as [app.printGrid] does.
func (a *app) printAligned(titles []string, lines [][]string) error {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, line := range append([][]string{titles}, lines...) {
		fmt.Fprintln(w, strings.Join(line, "\t"))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if width := bound(a.out); fold(b.String(), width) != b.String() {
		return a.printGrid(titles, lines)
	}
	_, err := io.WriteString(a.out, b.String())
	return err
}

// folded is a message in the width of the terminal.
func (a *app) folded(message string) string {
	return strings.TrimSuffix(fold(message, bound(a.err)), "\n")
}

// printFolded prints a text in the width of the terminal; programs have its lines as they are.
func (a *app) printFolded(text string) error {
	_, err := io.WriteString(a.out, fold(text, bound(a.out)))
	return err
}
