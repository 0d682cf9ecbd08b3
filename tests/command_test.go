// Package tests holds what is tested from outside: transcripts of the command
// line, crashes, and cross-checks. The program is built once and run as a user
// runs it.
package tests

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// program is the path of the command: PRIVKERN_TEST_PROGRAM, or one that is built.
var program string

// buildFlags build it; with the race detector where the tests themselves are.
var buildFlags = []string{"build"}

func TestMain(m *testing.M) {
	os.Exit(func() int {
		if err := hideDevices(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		if program = os.Getenv("PRIVKERN_TEST_PROGRAM"); program != "" {
			return m.Run()
		}
		dir, err := os.MkdirTemp("", "privkern-tests-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer func() { _ = os.RemoveAll(dir) }()
		program = filepath.Join(dir, "run")
		build := exec.Command("go", append(buildFlags, "-o", program, "privkern/cmd/run")...)
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			fmt.Fprintln(os.Stderr, "the command cannot be built:", err)
			return 1
		}
		return m.Run()
	}())
}

// device is the one that the tests of CUDA use: the first that is visible.
var device = "0"

// hideDevices leaves the CPU to the tests, whatever the machine has.
func hideDevices() error {
	const variable = "CUDA_VISIBLE_DEVICES"
	if first, _, _ := strings.Cut(os.Getenv(variable), ","); first != "" {
		device = first
	}
	return os.Setenv(variable, "")
}

// root is the folder of the module.
func root(t testing.TB) string {
	t.Helper()
	dir, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestTranscripts runs testdata/script/*.txtar: command lines with what they
// print and their exit statuses.
func TestTranscripts(t *testing.T) {
	t.Parallel()
	transcripts(t, "script", nil)
}

// TestTranscriptsOnData runs testdata/data/*.txtar, which need the real data sets.
func TestTranscriptsOnData(t *testing.T) {
	folder := os.Getenv("PRIVKERN_DATA")
	if folder == "" {
		t.Skip("no data folder: PRIVKERN_DATA is not set")
	}
	folder, err := filepath.Abs(folder)
	if err != nil {
		t.Fatal(err)
	}
	transcripts(t, "data", func(e *testscript.Env) { e.Setenv("PRIVKERN_DATA", folder) })
}

// TestTranscriptsOnCUDA runs testdata/cuda/*.txtar, which need a device.
func TestTranscriptsOnCUDA(t *testing.T) {
	if os.Getenv("PRIVKERN_TEST_BACKEND") != "cuda" {
		t.Skip("no device: PRIVKERN_TEST_BACKEND is not cuda")
	}
	transcripts(t, "cuda", func(e *testscript.Env) {
		e.Setenv("CUDA_VISIBLE_DEVICES", device)
		for _, name := range []string{"LD_LIBRARY_PATH", "PRIVKERN_CUDA", "CUDASIM_CACHE", "CUDASIM_PTX"} {
			e.Setenv(name, os.Getenv(name))
		}
	})
}

// transcripts runs testdata/scripts/*.txtar; setUp, which may be nil, changes their
// environment. What holds on the simulated device only, such as its faults, stands
// behind the condition simulated; what needs a replacement of the kernels that the program
// holds as PTX, which that device does not run, behind replaced; what audits for long,
// behind audits.
func transcripts(t *testing.T, scripts string, setUp func(*testscript.Env)) {
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", scripts),
		Setup: func(e *testscript.Env) error {
			e.Setenv("PATH", filepath.Dir(program)+string(os.PathListSeparator)+os.Getenv("PATH"))
			e.Setenv("ROOT", root(t))
			e.Setenv("NO_COLOR", "1")
			e.Setenv("PRIVKERN_DATA", "")
			e.Setenv("CUDA_VISIBLE_DEVICES", "")
			e.Setenv("XDG_CACHE_HOME", filepath.Join(e.WorkDir, "cache"))
			e.Setenv("XDG_CONFIG_HOME", filepath.Join(e.WorkDir, "config"))
			e.Setenv("GOOS", runtime.GOOS)
			if setUp != nil {
				setUp(e)
			}
			return nil
		},
		Condition: func(name string) (bool, error) {
			variable, ok := map[string]string{"simulated": "CUDASIM_CACHE", "replaced": "CUDASIM_PTX",
				"audits": "PRIVKERN_AUDITS"}[name]
			if !ok {
				return false, fmt.Errorf("unknown condition %q", name)
			}
			return os.Getenv(variable) != "", nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": status,
		},
		RequireExplicitExec: true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
	})
}

// status N PROGRAM ARG... runs a program and expects exit status N. What it
// printed is in the files stdout and stderr, for grep and cmp.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N PROGRAM ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	name := args[1]
	if name == "run" {
		name = program
	}
	out, err := os.Create(ts.MkAbs("stdout"))
	ts.Check(err)
	defer func() { _ = out.Close() }()
	errOut, err := os.Create(ts.MkAbs("stderr"))
	ts.Check(err)
	defer func() { _ = errOut.Close() }()
	cmd := exec.Command(name, args[2:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = ts.MkAbs("."), out, errOut
	cmd.Env = []string{"CUDA_VISIBLE_DEVICES=" + ts.Getenv("CUDA_VISIBLE_DEVICES")} // empty hides all
	for _, k := range []string{"PATH", "HOME", "NO_COLOR", "PRIVKERN_DATA", "XDG_CACHE_HOME", "XDG_CONFIG_HOME",
		"PRIVKERN_BLAS", "TMPDIR", "LD_LIBRARY_PATH", "PRIVKERN_CUDA", "CUDASIM_CACHE", "CUDASIM_PTX"} {
		if v := ts.Getenv(k); v != "" {
			cmd.Env = append(cmd.Env, k+"="+v)
		}
	}
	err = cmd.Run()
	got := cmd.ProcessState.ExitCode()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		ts.Fatalf("%v", err)
	}
	if got != want {
		raw, _ := os.ReadFile(ts.MkAbs("stderr"))
		ts.Fatalf("exit status %d, not %d; standard error:\n%s", got, want, raw)
	}
}
