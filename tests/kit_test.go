package tests

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"privkern/experiments"
)

// kitProgram stands for the program of a kit: MOON names the device, BROKEN a benchmark
// that fails, SLOW one that does not end.
const kitProgram = `#!/bin/sh
case $1 in
version) echo "privkern 0.1" ;;
doctor)
  [ -n "$MOON" ] || { echo '!!  CUDA  there is no moon'; exit 1; }
  printf '    "text": "device 0: %s"\n' "$MOON"
  ;;
bench)
  [ "$4" != "$BROKEN" ] || { echo "it is broken"; exit 1; }
  [ "$4" != "$SLOW" ] || sleep 100
  echo "  cuda  1 GFLOP/s"
  ;;
sweep)
  out=; for word; do out=$word; done
  mkdir -p "$out/tables" && echo "# table" >"$out/tables/a.md"
  { [ "$4" = cpu ] && echo 2 || echo 2.5; } | {
    read -r mean
    printf 'experiment,params,metric,mean,a,b,c,d,e,f\nx,"{""p"":1,""q"":2}",m,%s,,1,0,0,0,z\n' "$mean"
  } >"$out/tables/summary.csv"
  ;;
esac
`

// kitTests stands for a test binary.
const kitTests = `#!/bin/sh
echo "=== RUN   TestA
=== RUN   TestA/one
=== RUN   TestA/two
    a_test.go:3: too little of it
--- PASS: TestA (0.00s)
    --- PASS: TestA/one (0.00s)
    --- SKIP: TestA/two (0.00s)"
[ "$TESTS" != fail ] || { echo "=== RUN   TestB
--- FAIL: TestB (0.00s)"; exit 1; }
[ "$TESTS" != hang ] || { echo "=== RUN   TestC"; sleep 100; }
`

// makeKit returns the folder of a kit of small scripts.
func makeKit(t *testing.T, revision string) string {
	t.Helper()
	kit := t.TempDir()
	manifest := "# revision " + revision + "\n# built by hand\n"
	for name, text := range map[string]string{"run": kitProgram, "tests/graphs-a.test": kitTests} {
		path := filepath.Join(kit, name)
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if err == nil {
			err = os.WriteFile(path, []byte(text), 0o700)
		}
		if err != nil {
			t.Fatal(err)
		}
		manifest += fmt.Sprintf("%x  %s\n", sha256.Sum256([]byte(text)), name)
	}
	if err := os.WriteFile(filepath.Join(kit, "manifest.txt"), []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	return kit
}

// runKit runs tests/gpu/run, and returns its exit status and all that it prints.
func runKit(t *testing.T, env []string, args ...string) (int, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", append([]string{"gpu/run"}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	printed, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(printed)
}

// TestKit runs stages of the kit for a machine with a GPU, one call after another with
// the same folder of results where there are several.
func TestKit(t *testing.T) {
	for _, tool := range []string{"bash", "awk", "timeout", "sha256sum"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no %s: the kit is not tried", tool)
		}
	}
	kit, other := makeKit(t, "abc"), makeKit(t, "def")
	broken := makeKit(t, "abc")
	if err := os.WriteFile(filepath.Join(broken, "run"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	type call struct {
		env    []string
		args   []string // OUT is the folder of the results
		status int
		says   []string
		not    []string
	}
	moon := "MOON=a moon"
	simulated := "MOON=Simulated moon"
	for _, row := range []struct {
		name  string
		calls []call
	}{
		{"no stage", []call{{args: []string{"OUT"}, status: 2, says: []string{"usage:"}}}},
		{"an unknown stage", []call{{args: []string{"dance", "OUT"}, status: 2, says: []string{`unknown stage "dance"`}}}},
		{"an unknown flag", []call{{args: []string{"--fast", "bench", "OUT"}, status: 2, says: []string{"--fast"}}}},
		{"no folder", []call{{args: []string{"doctor", "bench"}, status: 2, says: []string{"folder of the results"}}}},
		{"no time", []call{{args: []string{"--seconds", "soon", "bench", "OUT"}, status: 2, says: []string{`"soon"`}}}},
		{"no archive", []call{{args: []string{"--kit", "/nowhere/kit.tar.xz", "bench", "OUT"}, status: 2,
			says: []string{"/nowhere/kit.tar.xz is not there"}}}},
		{"a file that is no archive", []call{{args: []string{"--kit", "kit_test.go", "bench", "OUT"}, status: 1,
			says: []string{"cannot be unpacked"}}}},
		{"a kit that was changed", []call{{args: []string{"--kit", broken, "bench", "OUT"}, status: 1,
			says: []string{"differ from its manifest"}}}},
		{"no device", []call{{args: []string{"--kit", kit, "all", "OUT"}, status: 1,
			says: []string{"there is no moon", "no GPU can be used"}}}},
		{"a folder that cannot be made", []call{{env: []string{moon}, args: []string{"--kit", kit, "bench", "/dev/null/out"},
			status: 1, says: []string{"cannot be made"}}}},
		{"a folder of something else", []call{{env: []string{moon}, args: []string{"--kit", kit, "bench", kit}, status: 2,
			says: []string{"is not empty"}}}},
		{"all", []call{
			{env: []string{moon}, args: []string{"--kit", kit, "all", "OUT"}, says: []string{
				"1 passed, 0 failed, 1 skipped, 0 not finished", "skipped: graphs/a TestA/two: too little of it",
				"cuda  1 GFLOP/s", "1 numbers compared, 0 equal to the last bit", "above 1e-12) 2.00e-01",
				" 0 failed, 0 not"}},
			{env: []string{moon}, args: []string{"--kit", kit, "bench", "OUT"}, says: []string{"device/hull, before"}},
			{env: []string{moon}, args: []string{"--kit", other, "bench", "OUT"}, status: 2,
				says: []string{"revision abc, the kit is of def"}},
			{env: []string{"MOON=Io"}, args: []string{"--kit", kit, "bench", "OUT"}, status: 2,
				says: []string{"another device"}},
		}},
		{"a benchmark that fails, and is mended", []call{
			{env: []string{moon, "BROKEN=device/hull"}, args: []string{"--kit", kit, "bench", "OUT"}, status: 1,
				says: []string{"failed: bench: device/hull", "it is broken", "6 steps passed, 1 failed"}},
			{env: []string{moon}, args: []string{"--kit", kit, "bench", "OUT"}, says: []string{"7 steps passed, 0 failed"}},
		}},
		{"a benchmark that is cut off", []call{
			{env: []string{moon, "SLOW=device/kahm"}, args: []string{"--kit", kit, "--seconds", "3", "bench", "OUT"}, status: 75,
				says: []string{"cut off: bench: device/kahm"}, not: []string{"failed: ", "arguments"}},
		}},
		{"tests that fail", []call{{env: []string{moon, "TESTS=fail"}, args: []string{"--kit", kit, "doctor", "OUT"},
			status: 1, says: []string{"FAILED: graphs/a TestB", "1 passed, 1 failed, 1 skipped"}}}},
		{"tests that are cut off", []call{{env: []string{moon, "TESTS=hang"},
			args: []string{"--kit", kit, "--seconds", "3", "doctor", "OUT"}, status: 75,
			says: []string{"not finished: graphs/a TestC", "cut off: doctor: graphs-a"}}}},
		{"a simulated device", []call{
			{env: []string{simulated}, args: []string{"--kit", kit, "bench", "OUT/results/gpu/moon"}, status: 2,
				says: []string{"do not belong in results/gpu"}},
			{env: []string{simulated}, args: []string{"--kit", kit, "--force", "bench", "OUT/results/gpu/moon"}},
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			out := filepath.Join(t.TempDir(), "out")
			for i, c := range row.calls {
				args := make([]string, len(c.args))
				for j, arg := range c.args {
					args[j] = strings.Replace(arg, "OUT", out, 1)
				}
				status, printed := runKit(t, c.env, args...)
				if status != c.status {
					t.Errorf("call %d: status %d, want %d\n%s", i, status, c.status, printed)
				}
				for _, text := range c.says {
					if !strings.Contains(printed, text) {
						t.Errorf("call %d does not say %q:\n%s", i, text, printed)
					}
				}
				for _, text := range c.not {
					if strings.Contains(printed, text) {
						t.Errorf("call %d says %q:\n%s", i, text, printed)
					}
				}
			}
		})
	}
}

// Every benchmark of a device is among those that the kit runs.
func TestKitRunsEveryBenchmark(t *testing.T) {
	script, err := os.ReadFile("gpu/run")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(script), "benchmarks=(")
	list, _, _ := strings.Cut(rest, ")")
	var names []string
	for _, b := range experiments.DeviceBenchmarks("cuda") {
		names = append(names, b.Name)
	}
	if want := strings.Join(names, " "); list != want {
		t.Errorf("the kit runs %q, want %q", list, want)
	}
}
