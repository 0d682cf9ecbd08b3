package commands

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"privkern/tests/program"
)

// On a terminal a bar shows overall and inner progress, and is gone at the end;
// with TERM=dumb there are lines instead.
func TestProgressOnATerminal(t *testing.T) {
	script, err := exec.LookPath("script") // of util-linux: gives a program a terminal
	if err != nil {
		t.Skip("no script command to make a terminal with")
	}
	onTerminal := func(term string) string {
		t.Helper()
		out, _ := program.NewSweep(t)
		file := filepath.Join(filepath.Dir(out), "sweep.yaml")
		// stty: the terminal that script makes has no size of its own here.
		line := "stty cols 100; '" + program.Path(t) + "' sweep '" + file + "' --out '" + out + "' > /dev/null"
		cmd := exec.Command(script, "-qec", line, "/dev/null")
		cmd.Env = append(os.Environ(), "TERM="+term, "NO_COLOR=")
		text, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		return string(text)
	}
	text := onTerminal("xterm")
	if !strings.Contains(text, "/24)") || !strings.Contains(text, "cloaking/design") {
		t.Errorf("no bar with the running experiment:\n%q", text)
	}
	plain := regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]").ReplaceAllString(text, "")
	for line := range strings.SplitSeq(strings.ReplaceAll(plain, "\r\n", "\n"), "\n") {
		shown := line[strings.LastIndex(line, "\r")+1:] // the final state of a line
		if strings.Contains(shown, "|") {
			t.Errorf("a bar is left on the screen: %q", shown)
		}
	}
	if !strings.Contains(plain, "24 ok in ") {
		t.Errorf("no summary:\n%s", plain)
	}
	if text := onTerminal("dumb"); strings.Contains(text, "\x1b") || !strings.Contains(text, "24 ok in ") {
		t.Errorf("TERM=dumb:\n%q", text)
	}
}

// The list follows the width of the terminal.
func TestListOnATerminal(t *testing.T) {
	script, err := exec.LookPath("script")
	if err != nil {
		t.Skip("no script command to make a terminal with")
	}
	for _, columns := range []int{60, 140} {
		t.Run(fmt.Sprintf("%d columns", columns), func(t *testing.T) {
			line := "stty cols " + strconv.Itoa(columns) + "; '" + program.Path(t) + "' list"
			text, err := exec.Command(script, "-qec", line, "/dev/null").Output()
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
