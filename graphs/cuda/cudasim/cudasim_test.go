package cudasim_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ebitengine/purego"

	"privkern/graphs/cuda/cudasim"
)

var built struct {
	dir string
	err error
}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "cudasim-test-")
	if err != nil {
		panic(err)
	}
	built.dir = filepath.Join(dir, "lib")
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
				cmd.Env = append(os.Environ(), strings.Fields(setting)...)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%v\n%s", err, bytes.TrimSpace(out))
				}
			})
		}
	}
}

// TestSymbols holds the libraries to what gorgonia.org/cu v0.9.6 links; the list
// is that of its undefined symbols when it is compiled with CUDA 12 headers.
func TestSymbols(t *testing.T) {
	dir := libraries(t)
	list, err := os.ReadFile(filepath.Join("testdata", "symbols.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var handles []uintptr
	for _, name := range []string{"libcuda.so", "libnvrtc.so.13", "libcublas.so.13", "libcusolver.so.12"} {
		h, err := purego.Dlopen(filepath.Join(dir, name), purego.RTLD_NOW|purego.RTLD_LOCAL)
		if err != nil {
			t.Fatal(err)
		}
		handles = append(handles, h)
	}
	for symbol := range strings.FieldsSeq(string(list)) {
		found := false
		for _, h := range handles {
			if _, err := purego.Dlsym(h, symbol); err == nil {
				found = true
			}
		}
		if !found {
			t.Errorf("%s is missing", symbol)
		}
	}
}

// A folder that holds what the sources give is left alone.
func TestBuildAgain(t *testing.T) {
	dir := libraries(t)
	before, err := os.Stat(filepath.Join(dir, "libcuda.so.1"))
	if err != nil {
		t.Fatal(err)
	}
	if err := cudasim.Build(dir); err != nil {
		t.Fatal(err)
	}
	if after, err := os.Stat(filepath.Join(dir, "libcuda.so.1")); err != nil || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("the library was built again (%v)", err)
	}
}

func TestNoCompiler(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if err := cudasim.Build(t.TempDir()); !errors.Is(err, cudasim.ErrNoCompiler) {
		t.Errorf("error is %v", err)
	}
}

func TestDriver(t *testing.T) {
	checkProgram(t, "driver", map[string][]string{
		"devices": {"CUDASIM_DEVICES=2 CUDASIM_CC=8.6 CUDASIM_DRIVER=12040 CUDASIM_MEMORY=1e6"},
		"hidden":  {"CUDASIM_DEVICES=0", "CUDA_VISIBLE_DEVICES="},
		"visible": {"CUDASIM_DEVICES=3 CUDA_VISIBLE_DEVICES=2,0,7,1"},
	})
}

func TestLinearAlgebra(t *testing.T) { checkProgram(t, "linear", nil) }

func TestKernels(t *testing.T) {
	checkProgram(t, "kernels", map[string][]string{
		"order": {"", "CUDASIM_ORDER=reverse"},
		"barriers": {"", "CUDASIM_ORDER=reverse", "CUDASIM_ORDER=random:1", "CUDASIM_ORDER=random:2",
			"CUDASIM_CHECK=races CUDASIM_ORDER=random:3"},
		"lost":          {"CUDASIM_LOST_AFTER=2"},
		"races":         {"CUDASIM_CHECK=races", "CUDASIM_CHECK=races CUDASIM_ORDER=random:1"},
		"sums_in_a_row": {"CUDASIM_CHECK=races", "CUDASIM_CHECK=races CUDASIM_ORDER=random:1"},
		"random_order":  {"CUDASIM_ORDER=random:1", "CUDASIM_ORDER=random:2"},
	})
}
