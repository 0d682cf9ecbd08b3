// Package commands tests the command line from outside: transcripts, the commands of the
// documentation, and files that other programs read.
package commands

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"privkern/tests/program"
	"privkern/tests/tier"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) { program.Main(m) }

// TestTranscripts runs testdata/script/*.txtar: command lines with their output
// and their exit statuses.
func TestTranscripts(t *testing.T) {
	t.Parallel()
	transcripts(t, "script", nil)
}

// TestTranscriptsOnData runs testdata/data/*.txtar, which need the real data sets.
func TestTranscriptsOnData(t *testing.T) {
	tier.Gate(t, "the commands take minutes")
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
	first, _, _ := strings.Cut(program.Devices, ",")
	transcripts(t, "cuda", func(e *testscript.Env) {
		e.Setenv("CUDA_VISIBLE_DEVICES", cmp.Or(first, "0"))
		for _, name := range []string{"LD_LIBRARY_PATH", "PRIVKERN_CUDA", "CUDASIM_CACHE", "CUDASIM_PTX"} {
			e.Setenv(name, os.Getenv(name))
		}
	})
}

// transcripts runs testdata/scripts/*.txtar; setUp, which may be nil, changes their
// environment. Lines for the simulated device only, such as its faults, have the
// condition simulated; lines that need a replacement of the kernels that the program
// holds as PTX, which that device does not run, replaced; long audits gate.
func transcripts(t *testing.T, scripts string, setUp func(*testscript.Env)) {
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", scripts),
		Setup: func(e *testscript.Env) error {
			e.Setenv("PATH", filepath.Dir(program.Path(t))+string(os.PathListSeparator)+os.Getenv("PATH"))
			e.Setenv("ROOT", program.Root(t))
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
			variable, ok := map[string]string{"simulated": "CUDASIM_CACHE", "replaced": "CUDASIM_PTX"}[name]
			if name == "gate" {
				return tier.AtGate(), nil
			}
			if !ok {
				return false, fmt.Errorf("unknown condition %q", name)
			}
			return os.Getenv(variable) != "", nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": func(ts *testscript.TestScript, neg bool, args []string) { status(ts, program.Path(t), neg, args) },
		},
		RequireExplicitExec: true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
	})
}

// status N PROGRAM ARG... runs a program and expects exit status N. Its output
// is in the files stdout and stderr, for grep and cmp.
func status(ts *testscript.TestScript, run string, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N PROGRAM ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	name := args[1]
	if name == "run" {
		name = run
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
	for _, k := range []string{"PATH", "HOME", "NO_COLOR", "COLUMNS", "PRIVKERN_DATA", "XDG_CACHE_HOME", "XDG_CONFIG_HOME",
		"PRIVKERN_BLAS", "TMPDIR", "LD_LIBRARY_PATH", "PRIVKERN_CUDA", "PRIVKERN_CALIBRATION", "CUDASIM_CACHE",
		"CUDASIM_PTX"} {
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
