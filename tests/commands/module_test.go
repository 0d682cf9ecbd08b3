package commands

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"privkern/tests/program"
	"privkern/tests/tier"
)

// The module in docs/example builds against this one, and its program runs sweeps of its own experiment, in worker
// processes of its own.
func TestModuleOfOthers(t *testing.T) {
	tier.Gate(t, "it builds a second program")
	root, dir := program.Root(t), t.TempDir()
	for _, name := range []string{"go.mod", "main.go", "median.yaml"} {
		text, err := os.ReadFile(filepath.Join(root, "docs", "example", name))
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(dir, name), strings.Replace(string(text), "=> ../..", "=> "+root, 1))
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "go.sum"), string(sums))
	run := func(want, name string, args ...string) {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod -trimpath", "GOPROXY=off", "GOWORK=off")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) {
			t.Fatalf("%v: %v, want %q\n%s", cmd.Args, err, want, out)
		}
	}
	run("", "go", "build", "-o", "mine", ".")
	run("distance of the answer from the median", "./mine", "list", "mine")
	run(`"metrics":{"error":`, "./mine", "trial", "mine/median", "points=50")
	run("30 ok", "./mine", "sweep", "median.yaml", "--out", "out", "--jobs", "2")
	run("cloaking/table1", "./mine", "list", "tables")
}
