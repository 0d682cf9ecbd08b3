package cudasim_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"privkern/graphs/cuda/cudasim"
)

var built struct {
	dir   string
	err   error
	cache string // of compiled kernels
}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "cudasim-test-")
	if err != nil {
		panic(err)
	}
	built.dir, built.cache = filepath.Join(dir, "lib"), filepath.Join(dir, "cache")
	built.err = cudasim.Build(built.dir)
	status := m.Run()
	os.RemoveAll(dir)
	os.Exit(status)
}

// libraries gives the folder with the simulator; the test is skipped where it
// cannot be built.
func libraries(t *testing.T) string {
	t.Helper()
	if errors.Is(built.err, cudasim.ErrNoCompiler) {
		t.Skip(built.err)
	}
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.dir
}

// checkProgram compiles a program of testdata, which is linked as any user of
// CUDA is, without its headers, and runs each of its checks in a process of
// its own. env holds settings for some of them.
func checkProgram(t *testing.T, name string, env map[string][]string) {
	dir := libraries(t)
	program := filepath.Join(t.TempDir(), name)
	compile := exec.Command("g++", "-std=c++17", "-O1", "-o", program, filepath.Join("testdata", name+".cpp"),
		"-L"+dir, "-Wl,-rpath,"+dir, "-lcuda", "-lnvrtc", "-lcublas", "-lcusolver")
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("compiling %s: %v\n%s", name, err, out)
	}
	list, err := exec.Command(program).Output()
	if err != nil {
		t.Fatal(err)
	}
	for check := range strings.FieldsSeq(string(list)) {
		settings := env[check]
		if settings == nil {
			settings = []string{""}
		}
		for _, setting := range settings {
			t.Run(check+"/"+setting, func(t *testing.T) {
				cmd := exec.Command(program, check)
				cmd.Env = append(os.Environ(), "CUDASIM_CACHE="+built.cache)
				cmd.Env = append(cmd.Env, strings.Fields(setting)...)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%v\n%s", err, bytes.TrimSpace(out))
				}
			})
		}
	}
}

func TestKernels(t *testing.T) {
	checkProgram(t, "kernels", map[string][]string{
		"order":    {"", "CUDASIM_ORDER=reverse"},
		"barriers": {"", "CUDASIM_ORDER=reverse"},
		"lost":     {"CUDASIM_LOST_AFTER=2"},
	})
}
