package commands

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"privkern/tests/program"
)

// screen runs a command line on a terminal of that kind, 100 columns wide, and returns its output.
func screen(t *testing.T, term, line string) string {
	t.Helper()
	cmd := program.OnTerminal(t, 100, line)
	cmd.Env = append(cmd.Env, "TERM="+term)
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return string(text)
}

// On a terminal a bar shows overall and inner progress, and is gone at the end;
// with TERM=dumb there are lines instead.
func TestProgressOnATerminal(t *testing.T) {
	for _, c := range []struct{ name, line, bar, experiment, end, dumb string }{
		{"a sweep", "sweep", "/24)", "cloaking/design", "24 ok in ", "24 ok in "},
		{"an audit", "$RUN audit entry-noise hall --draws 100000 >/dev/null", "/200000)", "entry-noise", "",
			"auditing hall: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			line := func() string {
				if c.line != "sweep" {
					return c.line
				}
				out, _ := program.NewSweep(t)
				return fmt.Sprintf("$RUN sweep '%s' --out '%s' >/dev/null", filepath.Join(filepath.Dir(out), "sweep.yaml"), out)
			}
			text := screen(t, "xterm", line())
			if !strings.Contains(text, c.bar) || !strings.Contains(text, c.experiment) {
				t.Errorf("no bar with a name:\n%q", text)
			}
			plain := regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]").ReplaceAllString(text, "")
			for line := range strings.SplitSeq(strings.ReplaceAll(plain, "\r\n", "\n"), "\n") {
				shown := line[strings.LastIndex(line, "\r")+1:] // the final state of a line
				if strings.Contains(shown, "|") {
					t.Errorf("a bar is left on the screen: %q", shown)
				}
			}
			if !strings.Contains(plain, c.end) {
				t.Errorf("no summary:\n%s", plain)
			}
			if text := screen(t, "dumb", line()); strings.Contains(text, "\x1b") || !strings.Contains(text, c.dumb) {
				t.Errorf("TERM=dumb:\n%q", text)
			}
		})
	}
}

// The list follows the width of the terminal.
func TestListOnATerminal(t *testing.T) {
	for _, columns := range []int{60, 140} {
		t.Run(fmt.Sprintf("%d columns", columns), func(t *testing.T) {
			text, err := program.OnTerminal(t, columns, "$RUN list").Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			widest := 0
			for line := range strings.Lines(string(text)) {
				widest = max(widest, utf8.RuneCountInString(strings.TrimRight(line, "\r\n")))
			}
			if widest > columns || widest < columns-8 {
				t.Errorf("%d columns of %d are used", widest, columns)
			}
		})
	}
}
