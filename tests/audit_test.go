package tests

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// On a terminal an audit shows a bar, which is gone at the end; with TERM=dumb
// there are lines instead.
func TestAuditOnATerminal(t *testing.T) {
	script, err := exec.LookPath("script") // of util-linux: gives a program a terminal
	if err != nil {
		t.Skip("no script command to make a terminal with")
	}
	onTerminal := func(term string) string {
		t.Helper()
		cmd := exec.Command(script, "-qec", "stty cols 100; '"+program+"' audit entry-noise hall --draws 100000 > /dev/null", "/dev/null")
		cmd.Env = append(os.Environ(), "TERM="+term, "NO_COLOR=")
		text, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		return string(text)
	}
	text := onTerminal("xterm")
	if !strings.Contains(text, "/200000)") || !strings.Contains(text, "entry-noise") {
		t.Errorf("no bar with the mechanism's name:\n%q", text)
	}
	plain := regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]").ReplaceAllString(text, "")
	if shown := plain[strings.LastIndex(plain, "\r")+1:]; strings.TrimSpace(shown) != "" {
		t.Errorf("left on the screen: %q", shown)
	}
	if text := onTerminal("dumb"); strings.Contains(text, "\x1b") || !strings.Contains(text, "auditing hall: ") {
		t.Errorf("TERM=dumb:\n%q", text)
	}
}
