package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privkern/experiments"
	"privkern/runner/plan"
)

// A comparison warns of methods whose trials take much memory, before any runs, and of no others.
func TestWarnOfMemory(t *testing.T) {
	for _, c := range []struct {
		name, want string
		rows       int
	}{
		{"many rows", "warning: trials of these methods take much memory, and minutes: " +
			"baseline/randomised-response 2.2 GiB; methods= names others\n", 200_000},
		{"few rows", "", 2_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "my.csv")
			if err := os.WriteFile(file, []byte("x,c\n"+strings.Repeat("1,a\n2,b\n", c.rows/2)), 0o600); err != nil {
				t.Fatal(err)
			}
			said := filepath.Join(dir, "said")
			messages, err := os.Create(said)
			if err != nil {
				t.Fatal(err)
			}
			results, err := os.Create(filepath.Join(dir, "results"))
			if err != nil {
				t.Fatal(err)
			}
			status := execute(t.Context(), experiments.Papers(), []string{"compare", "dataset=csv:" + file, "inputs=x",
				"output=c[a|b]", "input_low=0", "input_high=3", "epsilon=1", "delta=1e-9", "--dry-run", "--out",
				filepath.Join(dir, "out")}, strings.NewReader(""), results, messages)
			if err := messages.Close(); err != nil {
				t.Fatal(err)
			}
			if err := results.Close(); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(said)
			if err != nil || status != 0 || string(got) != c.want {
				t.Errorf("status %d, %q, %v; want %q", status, got, err, c.want)
			}
		})
	}
}

// The best of a comparison's run is of the private methods that protect the unit, and of no attack; other plans have no
// such list.
func TestRivals(t *testing.T) {
	h := &plan.Head{Trials: []plan.HeadTrial{{Experiment: "baseline/ridge"}, {Experiment: "baseline/label-noise"}}}
	if h.Overrides = []string{"dataset=csv:my.csv"}; rivals(h) != nil {
		t.Error("no comparison")
	}
	h.Overrides = []string{"dataset=csv:my.csv", "output=y", "epsilon=1", "delta=1e-4"}
	among := rivals(h)
	for name, want := range map[[2]string]bool{{"baseline/ridge", `{"epsilon":1}`}: true,
		{"baseline/ridge", `{"membership":true}`}: false, {"baseline/label-noise", "{}"}: false} {
		if among(name[0], name[1]) != want {
			t.Errorf("%s is a rival: %v", name, !want)
		}
	}
	if h.Tables = []string{"demo/table"}; rivals(h) != nil {
		t.Error("a table is a comparison")
	}
}
