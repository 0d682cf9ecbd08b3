package tests

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"privkern/tests/program"
	"privkern/tests/tier"
)

// exampleTests are the tests of the steps of TestSteps.
const exampleTests = `package example

import (
	"os"
	"testing"
)

func TestPasses(*testing.T) {}

func TestSkips(t *testing.T) { t.Skip("there is no moon") }

func TestSkipsOnce(t *testing.T) {
	if os.Getenv("MOON") == "" {
		t.Skip("there is no moon yet")
	}
}

func TestWithSubtests(t *testing.T) {
	t.Run("one", func(*testing.T) {})
}

func TestOnlySkippedSubtests(t *testing.T) {
	t.Run("one", func(t *testing.T) { t.Skip("not the first") })
	t.Run("two", func(t *testing.T) { t.Skip("not the second") })
}

func TestFails(t *testing.T) { t.Error("two and two are five") }
`

// TestSteps runs steps as .ci/run does, and checks their counts.
func TestSteps(t *testing.T) {
	tier.Gate(t, "it is about the gate, and waits")
	t.Parallel() // most of it waits
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash: the steps of the checks are not tried")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example\n\ngo 1.26\n", "example_test.go": exampleTests} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		})
	}
	tally := filepath.Join(dir, "tally")
	if out, err := exec.Command("go", "run", "-exec", "cp", "privkern/tests/tally", tally).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, row := range []struct {
		name, script string
		strict       string
		status       int
		end          string   // of the output
		says         []string // on the way
		not          []string
	}{
		{
			name: "pass and fail", script: "step good true; step bad false", status: 1,
			end: "\nFailed:\n  bad\n\n1 passed, 1 failed\n", says: []string{"--- ok: good", "--- FAILED: bad"},
			not: []string{"Not checked"},
		},
		{
			name: "nothing to do", end: "\n0 passed, 0 failed\n", not: []string{"Not checked"},
		},
		{
			name: "tests that pass", script: "step t tests -run TestPasses .", end: "\n1 passed, 0 failed\n",
			says: []string{"1 tests passed, 0 were skipped"},
		},
		{
			name: "a test that fails", script: "step t tests -run 'TestPasses|TestFails' .", status: 1,
			end:  "\nFailed:\n  t\n    example TestFails\n\n0 passed, 1 failed\n",
			says: []string{"FAILED: example TestFails", "two and two are five"},
		},
		{
			name: "code that does not compile", script: "echo 'package example; var x int = true' >wrong_test.go; step t " +
				"tests .; rm wrong_test.go",
			status: 1, end: "\n0 passed, 1 failed\n", says: []string{"wrong_test.go:1"},
		},
		{
			name: "a package that is not there", script: "step t tests ./nowhere", status: 1, end: "\n0 passed, 1 failed\n",
			says: []string{"nowhere"},
		},
		{
			name: "all tests skipped", script: "step t tests -run TestSkips$ .", status: 1,
			end:  "\nNot checked:\n  example TestSkips: there is no moon\n\nFailed:\n  t\n\n0 passed, 1 failed\n",
			says: []string{"all tests were skipped: nothing was checked", "--- FAILED: t"},
		},
		{
			name: "all subtests skipped", script: "step t tests -run TestOnlySkippedSubtests .", status: 1,
			end: "\n0 passed, 1 failed\n",
			says: []string{
				"all tests were skipped", "  example TestOnlySkippedSubtests/one: not the first\n",
				"  example TestOnlySkippedSubtests/two: not the second\n",
			},
		},
		{
			name: "some tests skipped", script: "step t tests -run 'TestPasses|TestSkips$' .",
			end: "\nNot checked:\n  example TestSkips: there is no moon\n\n1 passed, 0 failed\n",
		},
		{
			name: "some tests skipped, strict", script: "step t tests -run 'TestPasses|TestSkips$' .", strict: "1", status: 1,
			end: "\n\n1 passed, 1 failed\n",
		},
		{
			name:   "skipped in one step, passed in another",
			script: "step t tests -run 'TestPasses|TestSkipsOnce' .; MOON=1 step u tests -run TestSkipsOnce .",
			strict: "1", end: "\n2 passed, 0 failed\n", says: []string{"skipped: example TestSkipsOnce: there is no moon yet"},
			not: []string{"Not checked"},
		},
		{
			name: "an unknown name", script: "step t tests -run 'TestPasses|TestPasess' .", status: 1,
			end:  "\n0 passed, 1 failed\n",
			says: []string{"no test is named TestPasess"},
		},
		{
			name: "a subtest", script: "step t tests -run 'TestWithSubtests$/one' .", end: "\n1 passed, 0 failed\n",
		},
		{
			name: "an unknown subtest", script: "step t tests -run 'TestWithSubtests$/three' .", status: 1,
			end: "\n0 passed, 1 failed\n", says: []string{"no test is named TestWithSubtests$/three"},
		},
		{
			name: "only unknown names", script: "step t tests -run TestPasess .", status: 1, end: "\n0 passed, 1 failed\n",
			says: []string{"no test is named TestPasess"},
		},
		{
			name: "beside each other",
			script: `more() { step slow sleep 1; step wrong false; missing moon "it is day"; }; aside more; step good true; ` +
				`join; step last true`,
			status: 1, end: "\nNot checked:\n  moon: it is day\n\nFailed:\n  wrong\n\n3 passed, 1 failed\n",
			says: []string{"--- ok: good", "--- ok: slow", "--- FAILED: wrong", "--- ok: last"},
		},
		{
			name: "tests that were skipped, again",
			script: "step t tests -run 'TestPasses|TestSkips|TestOnlySkipped' .; MOON=1 step u again 'no moon yet'; " +
				"step v again 'no sun'",
			status: 1, end: "\n2 passed, 1 failed\n",
			says: []string{"--- ok: u", "1 tests passed, 0 were skipped", "no test was skipped because no sun", "--- FAILED: v"},
		},
		{
			name: "beside each other, without an end", script: `more() { step good true; exit 1; }; aside more; join`,
			status: 1, end: "\n1 passed, 1 failed\n", says: []string{"--- ok: good"},
		},
		{
			name: "seconds of a step that waits", script: "step idle sleep 1", end: "\n1 passed, 0 failed\n",
			says: []string{" s, of the processors 0 s)\n", "\nSteps, of ", " s  idle\n"},
		},
		{
			name: "seconds of a step that computes", script: "step busy bash -c 'for ((i = 0; i < 1000000; i++)); do :; done'",
			end: "\n1 passed, 0 failed\n", says: []string{"--- ok: busy ("}, not: []string{"of the processors 0 s"},
		},
		{
			name: "something is missing", script: "step good true; missing moon 'it is day'",
			end: "\nNot checked:\n  moon: it is day\n\n1 passed, 0 failed\n",
		},
		{
			name: "something is missing, strict", script: "step good true; missing moon 'it is day'", strict: "1", status: 1,
			end: "\nNot checked:\n  moon: it is day\n\n1 passed, 1 failed\n",
		},
		{
			name: "nothing is missing, strict", script: "step good true", strict: "1", end: "\n1 passed, 0 failed\n",
		},
		{
			name: "a step that cannot", script: "look() { cannot 'no telescope'; }; step stars look",
			end:  "\nNot checked:\n  stars: no telescope\n\n0 passed, 0 failed\n",
			says: []string{"--- not checked: stars"},
		},
		{
			name: "a step that does not say why", script: "step stars bash -c 'exit 75'",
			end: "\nNot checked:\n  stars: no reason given\n\n0 passed, 0 failed\n",
		},
		{
			name: "a script of its own",
			script: `printf '. "%s"\nmissing "far side" "it is dark"\ncannot "no rocket"; exit $?\n' "$LIB" >own; step ` +
				`rocket bash own`,
			end: "\nNot checked:\n  far side: it is dark\n  rocket: no rocket\n\n0 passed, 0 failed\n",
		},
		{
			name: "neither strict nor not", strict: "yes", status: 2,
			end: "CI_STRICT is \"yes\"; 1 makes a failure of each check that cannot be made, 0 does not\n",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			const begin = "set -uo pipefail\n. \"$LIB\" && cp \"$TALLY\" \"$CI_WORK\" || exit 2\n"
			cmd := exec.Command(bash, "-c", begin+row.script+"\nfinish")
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "LIB="+filepath.Join(program.Root(t), ".ci", "lib.sh"), "CI_WORK=",
				"CI_STRICT="+row.strict,
				"TALLY="+tally)
			raw, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			printed := string(raw)
			if got := cmd.ProcessState.ExitCode(); got != row.status {
				t.Errorf("status %d, not %d", got, row.status)
			}
			if !strings.HasSuffix(printed, row.end) {
				t.Errorf("it does not end with %q", row.end)
			}
			for _, s := range row.says {
				if !strings.Contains(printed, s) {
					t.Errorf("it does not say %q", s)
				}
			}
			for _, s := range row.not {
				if strings.Contains(printed, s) {
					t.Errorf("it says %q", s)
				}
			}
			if t.Failed() {
				t.Logf("printed:\n%s", printed)
			}
		})
	}
}

// Each name by which tier.Main chooses the tests for the race detector is that of a test.
func TestChosenForRaces(t *testing.T) {
	chosen := regexp.MustCompile(`tier\.Main\(m, "([^"]+)"\)`)
	found := 0
	goFiles(t, layeredFolders, func(_, path string) {
		if filepath.Base(path) != "main_test.go" {
			return
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		match := chosen.FindSubmatch(raw)
		if match == nil {
			return
		}
		found++
		tests, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		var all []byte
		for _, file := range tests {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, text...)
		}
		for name := range strings.SplitSeq(string(match[1]), "|") {
			if !regexp.MustCompile(`(?m)^func Test\w*` + name).Match(all) {
				t.Errorf("%s: no test is named %s", path, name)
			}
		}
	})
	if found == 0 {
		t.Error("no package chooses its tests")
	}
}
