// Package gorgonia runs gorgonia's own tests with the engine next to its machine.
package gorgonia

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"privkern/tests/tier"
)

// refusals are the operations in gorgonia's tests that the engine refuses, and why.
var refusals = map[string]string{
	"CTCLoss": "gorgonia's derivative is wrong",
	"I":       "an operation of Example_iop writes over its operand",
	"YOLO":    "gorgonia takes wrong anchors",
}

// onDevice are tests whose results a device has otherwise, and why.
var onDevice = map[string]string{
	"TestBatchNormAll":    "out of training gorgonia's derivative takes the variance that the last run in training left",
	"TestByIndicesOpFull": "an index is outside of its axis: a device gives NaN, gorgonia a row that happens to be there",
}

// fewest is a lower bound of the runs that agree: there are 7,608, those of a solver's steps included.
const fewest = 7600

// failed are the lines of failed tests, among much that gorgonia's print.
var failed = regexp.MustCompile(`(?m)^(\s*--- FAIL|panic|.*\.go:\d+:|got:|want:|.*Error:|\w+: y = |FAIL).*$`)

// verdict is a line that testdata/beside_test.go writes for each run of a TapeMachine.
type verdict struct{ Verdict, Test, Detail string }

// Every graph that gorgonia's own tests run on a TapeMachine has the same values on the engine. The tests run in a
// copy of the module whose RunAll calls the engine first; PRIVKERN_TEST_BACKEND=cuda takes a device.
func TestGorgoniasOwnTests(t *testing.T) {
	tier.Gate(t, "gorgonia is compiled anew with its tests")
	log := filepath.Join(t.TempDir(), "verdicts")
	test := exec.Command("go", "test", "-modfile", edited(t), "-vet=off", "-count=1", "-timeout=20m",
		"gorgonia.org/gorgonia")
	// Example_linearRegression depends on rand.Seed as it was before Go 1.24.
	test.Env = append(os.Environ(), "PRIVKERN_BESIDE="+log, "GODEBUG=randseednop=0")
	if out, err := test.CombinedOutput(); err != nil {
		t.Errorf("%v: %q", err, failed.FindAll(out, 20))
	}
	raw, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	counts, refused := map[string]int{}, map[string]bool{}
	for line := range bytes.Lines(raw) {
		var v verdict
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatal(err)
		}
		counts[v.Verdict]++
		switch v.Verdict {
		case "same", "draws", "both fail", "only the engine runs":
		case "refused":
			operation, _, _ := strings.Cut(strings.TrimPrefix(v.Detail, "graph of gorgonia: "), " is refused: ")
			operation, _, _ = strings.Cut(operation, "{")
			refused[operation] = true
			if refusals[operation] == "" {
				t.Errorf("%s: refused: %s", v.Test, v.Detail)
			}
		default:
			if os.Getenv("PRIVKERN_TEST_BACKEND") == "cuda" && onDevice[v.Test] != "" {
				break
			}
			t.Errorf("%s: %s: %s", v.Test, v.Verdict, v.Detail)
		}
	}
	t.Logf("runs: %v", counts)
	if counts["same"] < fewest {
		t.Errorf("%d runs agree, want at least %d", counts["same"], fewest)
	}
	for operation := range refusals {
		if !refused[operation] {
			t.Errorf("no test meets the listed refusal of %s", operation)
		}
	}
}

// edited returns a go.mod in which gorgonia is a copy with the files of testdata.
func edited(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	list, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "gorgonia.org/gorgonia").Output()
	if err != nil {
		t.Fatal(err)
	}
	from, to := strings.TrimSpace(string(list)), filepath.Join(folder, "gorgonia")
	entries, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(to, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, e := range entries { // folders are read alone
		if e.IsDir() {
			if err := os.Symlink(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
				t.Fatal(err)
			}
			continue
		}
		write(t, filepath.Join(to, e.Name()), read(t, filepath.Join(from, e.Name())))
	}
	for _, name := range []string{"beside.go", "beside_test.go"} {
		write(t, filepath.Join(to, name), read(t, filepath.Join("testdata", name)))
	}
	const run = "func (m *tapeMachine) RunAll() (err error) {\n"
	machine := filepath.Join(to, "vm_tape.go")
	before, after, ok := strings.Cut(read(t, machine), run)
	if !ok {
		t.Fatalf("vm_tape.go has no %q: this is another version of gorgonia", run)
	}
	write(t, machine, before+run+"\tdefer func(after func(error)) { after(err) }(beforeRun(m))\n"+after)
	file := filepath.Join(folder, "go.mod")
	write(t, file, read(t, "../../go.mod")+"\nreplace gorgonia.org/gorgonia => "+to+"\n")
	write(t, filepath.Join(folder, "go.sum"), read(t, "../../go.sum"))
	return file
}

func read(t *testing.T, file string) string {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
