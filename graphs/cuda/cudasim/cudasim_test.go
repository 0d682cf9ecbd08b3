package cudasim_test

import (
	"bytes"
	"debug/elf"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ebitengine/purego"

	"privkern/graphs/cuda/cudasim"
	"privkern/tests/tier"
)

var built struct {
	dir string
	err error
}

func TestMain(m *testing.M) {
	if !tier.AtNight() {
		os.Exit(m.Run())
	}
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
	tier.Night(t, "the simulator is built, which takes half a minute of processor time")
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

// TestSymbols compares the libraries with the list of symbols that gorgonia.org/cu v0.9.6 links:
// its undefined symbols when it is compiled with CUDA 12 headers.
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

// The libraries of CUDA 12 and of CUDA 13 lie side by side, under sonames and with versions
// of their own.
func TestVersionsSideBySide(t *testing.T) {
	dir := libraries(t)
	for soname, want := range map[string]int32{"libcublas.so.12": 12, "libcublas.so.13": 13, "libcusolver.so.11": 12,
		"libcusolver.so.12": 13} {
		f, err := elf.Open(filepath.Join(dir, soname))
		if err != nil {
			t.Fatal(err)
		}
		if names, err := f.DynString(elf.DT_SONAME); err != nil || len(names) != 1 || names[0] != soname {
			t.Errorf("%s calls itself %q (%v)", soname, names, err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		h, err := purego.Dlopen(filepath.Join(dir, soname), purego.RTLD_NOW|purego.RTLD_LOCAL)
		if err != nil {
			t.Fatal(err)
		}
		var property func(kind int32, out *int32) int32
		name, _, _ := strings.Cut(strings.TrimPrefix(soname, "lib"), ".")
		purego.RegisterLibFunc(&property, h, name+"GetProperty")
		var major int32
		if status := property(0, &major); status != 0 || major != want {
			t.Errorf("%s is of version %d (status %d), want %d", soname, major, status, want)
		}
	}
}

// A folder that holds the result of the sources is left alone.
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
		"ordered": {"CUDASIM_FAIL=cuMemAlloc_v2=810@1,cuCtxSynchronize=719"},
		"slices": {"CUDASIM_MIG=1g.10gb CUDASIM_DEVICES=2 " +
			"CUDA_VISIBLE_DEVICES=MIG-00000000-0000-0000-0000-000000000002"},
		"unreachable": {"CUDASIM_FAIL=cuInit=805"},
		"shared":      {"CUDASIM_MEMORY=1e6 CUDASIM_SHARED=" + filepath.Join(t.TempDir(), "shared")},
		"exclusive":   {"CUDASIM_COMPUTE_MODE=exclusive CUDASIM_SHARED=" + filepath.Join(t.TempDir(), "shared")},
		"prohibited":  {"CUDASIM_COMPUTE_MODE=prohibited"},
		"stand_in":    {"CUDASIM_PTX=" + t.TempDir()},
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
