package commands

import (
	"fmt"
	"os"
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

// widest returns the width of the longest line that a command line prints on a terminal; command lines count for none.
func widest(t *testing.T, columns int, line string) (widest int) {
	t.Helper()
	text, err := program.OnTerminal(t, columns, line).Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "  run ") {
			widest = max(widest, utf8.RuneCountInString(strings.TrimRight(line, "\r\n")))
		}
	}
	return widest
}

// Results, messages and help follow the width of the terminal.
func TestWidthOfATerminal(t *testing.T) {
	own := filepath.Join(t.TempDir(), "my.csv")
	rows := "person,a reading of the first instrument,another reading\n"
	for i := range 40 {
		rows += fmt.Sprintf("person %d,%d.25,%d\n", i/3, i, i*i)
	}
	if err := os.WriteFile(own, []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		line    string
		columns int
		least   int // columns that are used
	}{
		{"$RUN list", 60, 52},
		{"$RUN list", 140, 132},
		{"$RUN data show '" + own + "'", 60, 52},
		{"$RUN audit --list", 80, 76},
		{"$RUN audit hall --draws 2000 2>/dev/null", 60, 52},
		{"$RUN help data show", 60, 55},
	} {
		t.Run(fmt.Sprintf("%d columns of %s", c.columns, strings.Fields(c.line)[1]), func(t *testing.T) {
			if got := widest(t, c.columns, c.line); got > c.columns || got < c.least {
				t.Errorf("%s: %d columns of %d are used", c.line, got, c.columns)
			}
		})
	}
}
