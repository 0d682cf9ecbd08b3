package commands

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"privkern/tests/program"
	"privkern/tests/tier"
)

// quickstart runs the quick start and returns its output folder and its output.
func quickstart(t *testing.T) (out, stdout string) {
	t.Helper()
	out = filepath.Join(t.TempDir(), "out")
	cmd := program.Command(t, "sweep", filepath.Join(program.Root(t), "configs", "quickstart.yaml"), "--out",
		out, "--quiet", "--check")
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return out, string(text)
}

// The quick start ends with tables in which every cell was computed, plots, and
// a report that needs no other file.
func TestQuickStart(t *testing.T) {
	tier.Gate(t, "the quick start is run by hand first")
	t.Parallel()
	out, stdout := quickstart(t)
	for _, want := range []string{"privacygp/figure1", "privacygp/figure2", "privacygp/figure3",
		"privacygp/claims", "match"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the tables do not contain %q", want)
		}
	}
	if strings.Contains(stdout, "not run") {
		t.Error("the tables have cells that were not run")
	}
	for _, figure := range []string{"privacygp-figure1", "privacygp-figure2", "privacygp-figure3"} {
		svg, err := os.ReadFile(filepath.Join(out, "plots", figure+".svg"))
		if err != nil {
			t.Error(err)
		} else if !strings.Contains(string(svg), "<path") {
			t.Errorf("%s.svg draws nothing", figure)
		}
	}
	page, err := os.ReadFile(filepath.Join(out, "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	if m := regexp.MustCompile(`(?i)<script src|<link|<iframe|@import|url\(|\bsrc=`).Find(page); m != nil {
		t.Errorf("the report refers to something outside itself: %s", m)
	}
	for _, want := range []string{"<svg", "<caption", "Privacy", "Errata", "Provenance"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the report has no %q", want)
		}
	}
}
