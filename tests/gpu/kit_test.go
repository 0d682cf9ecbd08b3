package gpu

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"privkern/experiments"
	"privkern/tests/program"
)

// kitProgram stands for the program of a kit: MOON names the device, LACKING is set where a
// library is missing, BROKEN names a benchmark that fails, SLOW one that does not end,
// LOUD one that prints a megabyte; GPU is the result on the device, where the CPU
// has 2.
const kitProgram = `#!/bin/sh
for word; do last=$word; done
case $1 in
version) echo "privkern 0.1" ;;
doctor)
  [ -n "$MOON" ] || { echo '!!  CUDA  there is no moon'; exit 1; }
  [ -z "$LACKING" ] || printf '    "text": "%s; without it there is less"\n' "$LACKING"
  printf '    "text": "device 0: %s"\n' "$MOON"
  ;;
bench)
  [ "$last" != "$BROKEN" ] || { echo "it is broken"; exit 1; }
  [ "$last" != "$SLOW" ] || sleep 100
  [ "$2" != calibrate ] || echo '{}' >"$last"
  [ "$last" != "$LOUD" ] || { head -c 1000000 /dev/zero; exit 0; }
  echo "  $*  1 GFLOP/s"
  ;;
sweep)
  case "$*" in *"--backend cpu"*) mean=2 ;; *) mean=${GPU:-2.00000001} ;; esac
  mkdir -p "$last/tables" && echo "# table" >"$last/tables/a.md"
  {
    echo experiment,params,metric,mean,a,b,c,d,e,f
    printf 'x,"{""p"":1,""q"":2}",m,%s,,1,0,0,0,z\n' "$mean"
    printf 'x,"{""p"":1,""q"":2}",build_s,%s,,1,0,0,0,z\n' "$$"
    [ -z "$MORE" ] || [ "$mean" = 2 ] || echo 'x,{},more,1,,1,0,0,0,z'
  } >"$last/tables/summary.csv"
  ;;
esac
`

// kitTests stands for a test binary; BITS is added to a digest.
const kitTests = `#!/bin/sh
echo "=== RUN   TestA
=== RUN   TestA/one
    a_test.go:4: bits: 12$([ -z "$BITS" ] || echo $$) of it
=== RUN   TestA/two
    a_test.go:3: too little of it
--- PASS: TestA (0.00s)
    --- PASS: TestA/one (0.00s)
    --- SKIP: TestA/two (0.00s)"
[ "$TESTS" != fail ] || { echo "=== RUN   TestB
--- FAIL: TestB (0.00s)"; exit 1; }
[ "$TESTS" != hang ] || { echo "=== RUN   TestC"; sleep 100; }
`

// kitSanitizer stands for compute-sanitizer: REFUSED is set where it knows no such device.
const kitSanitizer = `#!/bin/sh
[ -z "$REFUSED" ] || { echo "Error: Device not supported"; exit 1; }
[ "$2" != racecheck ] || exit 9
`

// makeKit returns the folder of a kit of small scripts.
func makeKit(t *testing.T, revision string) string {
	t.Helper()
	kit := t.TempDir()
	manifest := "# revision " + revision + "\n# built by hand\n"
	for name, text := range map[string]string{"run": kitProgram, "tests/graphs-a.test": kitTests,
		"tests/graphs-cuda.test": kitTests} {
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
	cmd := exec.CommandContext(ctx, "bash", append([]string{"run"}, args...)...)
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
	t.Parallel()
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
	moon, tools := "MOON=a moon", t.TempDir()
	sanitizer := "PATH=" + tools + ":" + os.Getenv("PATH")
	if err := os.WriteFile(filepath.Join(tools, "compute-sanitizer"), []byte(kitSanitizer), 0o700); err != nil {
		t.Fatal(err)
	}
	simulated := "MOON=Simulated moon"
	for _, row := range []struct {
		name  string
		calls []call
	}{
		{"no stage", []call{{args: []string{"OUT"}, status: 2, says: []string{"usage:"}}}},
		{"an unknown stage", []call{{args: []string{"dance", "OUT"}, status: 2, says: []string{`unknown stage "dance"`}}}},
		{"an unknown flag", []call{{args: []string{"--fast", "bench", "OUT"}, status: 2, says: []string{"--fast"}}}},
		{"no folder", []call{{args: []string{"doctor", "bench"}, status: 2, says: []string{"folder of the results"}}}},
		{"no limit", []call{{args: []string{"--limit", "0", "bench", "OUT"}, status: 2, says: []string{`"0"`}}}},
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
				"3 passed, 0 failed, 3 skipped, 0 not finished", "skipped: graphs/a TestA/two: too little of it",
				"ok        bits: three processes", "ok        calibrate: calibration",
				"bench --backend cuda device/kahm  1 GFLOP/s",
				"1 numbers compared, 0 equal to the last bit, 0 differ", "above 1e-9) 5.00e-09", " 0 failed, 0 not"}},
			{env: []string{moon}, args: []string{"--kit", kit, "bench", "OUT"}, says: []string{"device/hull, before"}},
			{env: []string{moon}, args: []string{"--kit", other, "bench", "OUT"}, status: 2,
				says: []string{"revision abc, the kit is of def"}},
			{env: []string{"MOON=Io"}, args: []string{"--kit", kit, "bench", "OUT"}, status: 2,
				says: []string{"another device"}},
			{env: []string{moon}, args: []string{"--kit", kit, "--small", "bench", "OUT"}, status: 2,
				says: []string{"results of full sizes, these are small"}},
		}},
		{"a library that is missing", []call{{env: []string{moon, "LACKING=libmoon.so"},
			args: []string{"--kit", kit, "all", "OUT"}, status: 1,
			says: []string{"a library of CUDA is missing; nothing was run", "libmoon.so; without it there is less"}}}},
		{"numbers that differ", []call{{env: []string{moon, "GPU=2.00001"},
			args: []string{"--kit", kit, "trials", "OUT"}, status: 1,
			says: []string{"1 differ by more than 1e-6", "failed: trials: trials: the same numbers"}}}},
		{"a sanitizer that refuses the device", []call{{env: []string{moon, sanitizer, "REFUSED=1"},
			args: []string{"--kit", kit, "sanitizer", "OUT"},
			says: []string{"skipped: sanitizer: programs: compute-sanitizer may not be used: Error: Device not supported"}}}},
		{"a sanitizer that finds something", []call{{env: []string{moon, sanitizer},
			args: []string{"--kit", kit, "sanitizer", "OUT"}, status: 1,
			says: []string{"ok        sanitizer: memcheck", "failed: sanitizer: racecheck"}}}},
		{"digests that differ", []call{{env: []string{moon, "BITS=1"},
			args: []string{"--kit", kit, "bits", "OUT"}, status: 1, says: []string{"failed: bits: three processes"}}}},
		{"a number that only one has", []call{{env: []string{moon, "MORE=1"},
			args: []string{"--kit", kit, "quick", "OUT"}, status: 1,
			says: []string{"failed: quick: kahm-quick: the same numbers"}}}},
		{"small sizes", []call{
			{env: []string{moon}, args: []string{"--kit", kit, "--small", "bench", "quick", "table5", "OUT"},
				says: []string{"bench --backend cuda --small device/kahm  1", "0 trials of Table 5", " 0 failed, 0 not"}},
			{env: []string{moon}, args: []string{"--kit", kit, "--small", "bench", "OUT/results/gpu/moon"}, status: 2,
				says: []string{"small sizes do not belong in results/gpu"}},
		}},
		{"a benchmark that fails, and is mended", []call{
			{env: []string{moon, "BROKEN=device/hull"}, args: []string{"--kit", kit, "bench", "OUT"}, status: 1,
				says: []string{"failed: bench: device/hull", "it is broken", "9 steps passed, 1 failed"}},
			{env: []string{moon}, args: []string{"--kit", kit, "bench", "OUT"}, says: []string{"10 steps passed, 0 failed"}},
		}},
		{"a benchmark that is cut off", []call{
			{env: []string{moon, "SLOW=device/kahm"}, args: []string{"--kit", kit, "--seconds", "6", "bench", "OUT"}, status: 75,
				says: []string{"cut off: bench: device/kahm"}, not: []string{"failed: ", "arguments"}},
		}},
		{"tests that fail", []call{{env: []string{moon, "TESTS=fail"}, args: []string{"--kit", kit, "parity", "OUT"},
			status: 1, says: []string{"FAILED: graphs/a TestB", "3 passed, 3 failed, 3 skipped"}}}},
		{"tests that are cut off", []call{{env: []string{moon, "TESTS=hang"},
			args: []string{"--kit", kit, "--seconds", "6", "parity", "OUT"}, status: 75,
			says: []string{"not finished: 1 of graphs/cuda-parity TestC, begun last graphs/cuda-parity TestC",
				"cut off: parity: graphs-cuda-parity", "not run: parity: graphs-a"}}}},
		{"a limit that cuts off the call", []call{
			{env: []string{moon, "SLOW=device/kahm"}, args: []string{"--kit", kit, "--limit", "9", "bench", "quick", "OUT"},
				status: 75, says: []string{"cut off: bench: device/kahm", "not run: bench: device/search",
					"not run: quick: kahm-quick on cuda"}},
			{env: []string{moon}, args: []string{"--kit", kit, "bench", "quick", "OUT"},
				says: []string{"device/hull, before", "13 steps passed, 0 failed, 0 not finished"}},
		}},
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

// TestKitFullDisk fills the disk of the results: no step passes whose output is lost, and
// with room the same command goes on.
func TestKitFullDisk(t *testing.T) {
	disk, resize := program.SmallDisk(t, "20k")
	out := filepath.Join(disk, "out")
	args := []string{"--kit", makeKit(t, "abc"), "bench", out}
	for _, row := range []struct {
		size   string
		status int
		says   string
	}{
		{"20k", 1, "cannot be written: "},
		{"300k", 1, "cannot be written any more"},
		{"2m", 0, "ok        bench: device/product, before"},
	} {
		resize(row.size)
		status, printed := runKit(t, []string{"MOON=a moon", "LOUD=device/hull"}, args...)
		if status != row.status || !strings.Contains(printed, row.says) {
			t.Errorf("with %s the status is %d, want %d and %q:\n%s", row.size, status, row.status, row.says, printed)
		}
		steps, err := os.ReadFile(filepath.Join(out, "steps.tsv"))
		if row.status != 0 && err == nil && strings.Contains(string(steps), "device/hull\tok") {
			t.Errorf("with %s the step whose output is lost is noted:\n%s", row.size, steps)
		}
	}
}

// TestKitKnowsWhatIsNoResult looks at the names by which the kit leaves out metrics: every
// metric that is a time has such a name; it also leaves out the share of distances that
// a search has computed, which on a GPU are all, and the figures of a solver listed here.
func TestKitKnowsWhatIsNoResult(t *testing.T) {
	script, err := os.ReadFile("run")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(script), "key ~ /")
	pattern, _, _ := strings.Cut(rest, "/ ")
	leftOut, err := regexp.Compile(pattern)
	if err != nil {
		t.Fatal(err)
	}
	solvers := []string{"draw_error", "evaluated_fraction", "gap", "gap_diagonal", "gap_weak",
		"growth", "iterations", "operations", "steps"}
	var found []string
	for _, p := range experiments.Papers() {
		for _, e := range p.Experiments {
			for _, m := range e.Metrics {
				switch out := leftOut.MatchString("," + m.Name); {
				case m.Timing && !out:
					t.Errorf("%s of %s is a time, and compared", m.Name, e.Name)
				case out && !m.Timing:
					found = append(found, m.Name)
				}
			}
		}
	}
	slices.Sort(found)
	if found = slices.Compact(found); !slices.Equal(found, solvers) {
		t.Errorf("beside times the kit leaves out %q, want %q", found, solvers)
	}
}

// The kit runs every benchmark of a device.
func TestKitRunsEveryBenchmark(t *testing.T) {
	script, err := os.ReadFile("run")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(script), "benchmarks=(")
	list, _, _ := strings.Cut(rest, ")")
	var names []string
	for _, b := range experiments.DeviceBenchmarks("cuda", false) {
		names = append(names, b.Name)
	}
	if want := strings.Join(names, " "); list != want {
		t.Errorf("the kit runs %q, want %q", list, want)
	}
}
