//go:build linux && (amd64 || arm64)

package library_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"privkern/graphs/cuda/library"
)

// folder makes a folder below the root.
func folder(t *testing.T, elements ...string) string {
	t.Helper()
	path := filepath.Join(elements...)
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// Libraries are looked for in the usual places, and first where the user points.
func TestToolkitFolders(t *testing.T) {
	for _, c := range []struct {
		name string
		lay  func(t *testing.T, root string) (want string)

		first bool
	}{
		{"PRIVKERN_CUDA is a folder of files", func(t *testing.T, root string) string {
			t.Setenv("PRIVKERN_CUDA", root)
			return root
		}, true},
		{"PRIVKERN_CUDA is a toolkit", func(t *testing.T, root string) string {
			t.Setenv("PRIVKERN_CUDA", root)
			return folder(t, root, "lib64")
		}, true},
		{"PRIVKERN_CUDA is a Python environment", func(t *testing.T, root string) string {
			t.Setenv("PRIVKERN_CUDA", root)
			return folder(t, root, "lib", "python3.12", "site-packages", "nvidia", "cublas", "lib")
		}, true},
		{"CUDA_HOME", func(t *testing.T, root string) string {
			t.Setenv("CUDA_HOME", root)
			return folder(t, root, "lib64")
		}, false},
		{"CUDA_PATH of a cross-compiling toolkit", func(t *testing.T, root string) string {
			t.Setenv("CUDA_PATH", root)
			return folder(t, root, "targets", "x86_64-linux", "lib")
		}, false},
		{"conda", func(t *testing.T, root string) string {
			t.Setenv("CONDA_PREFIX", root)
			return folder(t, root, "lib")
		}, false},
		{"a virtual environment with wheels of CUDA 13", func(t *testing.T, root string) string {
			t.Setenv("VIRTUAL_ENV", root)
			return folder(t, root, "lib", "python3.13", "site-packages", "nvidia", "cu13", "lib")
		}, false},
		{"the user's packages", func(t *testing.T, root string) string {
			t.Setenv("HOME", root)
			return folder(t, root, ".local", "lib", "python3.11", "site-packages", "nvidia", "cusolver", "lib")
		}, false},
		{"an environment of the PATH", func(t *testing.T, root string) string {
			interpreter(t, root, "")
			return folder(t, root, "venv", "lib", "python3.12", "site-packages", "nvidia", "cu13", "lib")
		}, false},
		{"an environment of the PATH with the packages of the system", func(t *testing.T, root string) string {
			interpreter(t, root, "Include-System-Site-Packages = true\n")
			return folder(t, root, "base", "lib", "python3.12", "site-packages", "nvidia", "cublas", "lib")
		}, false},
		{"Debian's python3", func(t *testing.T, root string) string {
			interpreter(t, root, "")
			t.Setenv("PATH", filepath.Join(root, "base", "bin"))
			return folder(t, root, "base", "lib", "python3", "dist-packages", "nvidia", "cublas", "lib")
		}, false},
		{"a version manager's python3", func(t *testing.T, root string) string {
			interpreter(t, root, "")
			write(t, "#!/bin/sh\necho "+filepath.Join(root, "base", "bin", "python3")+"\n", folder(t, root, "shims"), "python3")
			t.Setenv("PATH", filepath.Join(root, "shims"))
			return folder(t, root, "base", "lib64", "python3.12", "site-packages", "nvidia", "cublas", "lib")
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, variable := range []string{"PRIVKERN_CUDA", "CUDA_HOME", "CUDA_PATH", "CONDA_PREFIX", "VIRTUAL_ENV"} {
				t.Setenv(variable, "")
			}
			want := c.lay(t, t.TempDir())
			got := library.ToolkitFolders(12)
			at, loader := slices.Index(got, want), slices.Index(got, "")
			if at < 0 || loader < 0 || (at < loader) != c.first {
				t.Errorf("%s is number %d and the loader's folders number %d of %q", want, at, loader, got)
			}
		})
	}
}

// write makes an executable file.
func write(t *testing.T, content string, elements ...string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(elements...), []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
}

// interpreter makes python3 of a virtual environment and of the base below a root, and sets the PATH
// to the first.
func interpreter(t *testing.T, root, settings string) {
	t.Helper()
	bin, base := folder(t, root, "venv", "bin"), folder(t, root, "base", "bin")
	write(t, "", base, "python3.12")
	write(t, "home = "+base+"\n"+settings, root, "venv", "pyvenv.cfg")
	if err := errors.Join(os.Symlink("../../base/bin/python3", filepath.Join(bin, "python3")),
		os.Symlink("python3.12", filepath.Join(base, "python3"))); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
}

// A virtual environment hides the packages of the system, and scripts that lead in circles, or
// nowhere, end.
func TestInterpretersWithout(t *testing.T) {
	for _, c := range []struct{ settings, script string }{
		{"include-system-site-packages = false\n", ""},
		{"", "#!/bin/sh\nexit 1\n"}, {"", "#!/bin/sh\necho $0\n"}, {"", "#!/nowhere\n"},
	} {
		root := t.TempDir()
		interpreter(t, root, c.settings)
		hidden := folder(t, root, "base", "lib", "python3.12", "site-packages", "nvidia", "cublas", "lib")
		if c.script != "" {
			write(t, c.script, folder(t, root, "shims"), "python3")
			t.Setenv("PATH", filepath.Join(root, "shims"))
		}
		if got := library.ToolkitFolders(12); slices.Contains(got, hidden) {
			t.Errorf("%q: %s is among %q", c, hidden, got)
		}
	}
}

// A library of the system is loaded and called, and its path is found.
func TestOpen(t *testing.T) {
	l, err := library.Open("the C library", "libc.so.6", []string{t.TempDir(), ""}, "abs", "getpid")
	if err != nil {
		t.Fatal(err)
	}
	if got := l.Call("getpid"); got != os.Getpid() {
		t.Errorf("getpid returns %d, want %d", got, os.Getpid())
	}
	if !filepath.IsAbs(l.Path) {
		t.Errorf("it lies in %q", l.Path)
	}
	if l.Has("no_such_function") || !l.Has("strlen") {
		t.Error("functions are not known by their names")
	}
}

// An unusable library is an error with its reason; one that is truncated or for another processor
// is not given to the dynamic loader.
func TestOpenErrors(t *testing.T) {
	system, err := library.Open("the C library", "libc.so.6", []string{""}, "abs")
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(system.Path)
	if err != nil {
		t.Fatal(err)
	}
	foreign := slices.Clone(whole)
	foreign[18], foreign[19] = 0x15, 0 // e_machine: 64-bit PowerPC
	bare := slices.Clone(whole[:len(whole)/2])
	clear(bare[40:48]) // e_shoff
	clear(bare[60:64]) // e_shnum, e_shstrndx
	for _, c := range []struct {
		name     string
		content  []byte // of the file; nil where there is none
		function string
		want     string
	}{
		{"it is nowhere", nil, "f", "there is no libit.so.1 (It)"},
		{"the file is no library", []byte("not a library, but words of some length"), "f",
			"It cannot be loaded: FILE is not a shared library"},
		{"the file is empty", []byte{}, "f", "It cannot be loaded: FILE is cut off"},
		{"the file begins as a library", whole[:5000], "f", "It cannot be loaded: FILE is cut off"},
		{"the end is missing", whole[:len(whole)/2], "f", "It cannot be loaded: FILE is cut off"},
		{"the end is missing, and there are no sections", bare, "f", "It cannot be loaded: FILE is cut off"},
		{"another processor", foreign, "f",
			"It cannot be loaded: FILE is for ppc64le, and this program for " + runtime.GOARCH},
		{"a function is missing", whole, "no_such_function", "It cannot be loaded: FILE has no function no_such_function"},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "libit.so.1")
			if c.content != nil {
				if err := os.WriteFile(file, c.content, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want := strings.ReplaceAll(c.want, "FILE", file)
			_, err := library.Open("It", "libit.so.1", []string{"", filepath.Dir(file)}, c.function)
			if err == nil || library.Missing(err) != (c.content == nil) || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
			// A good one in the next folder serves.
			good := filepath.Join(t.TempDir(), "libit.so.1")
			if err := os.Symlink(system.Path, good); err != nil {
				t.Fatal(err)
			}
			l, err := library.Open("It", "libit.so.1", []string{filepath.Dir(file), filepath.Dir(good)}, "abs")
			if err != nil {
				t.Fatal(err)
			}
			if c.name != "a function is missing" && l.Path != good {
				t.Errorf("loaded %s, want %s", l.Path, good)
			}
			// Where the dynamic loader looks first.
			t.Setenv("LD_LIBRARY_PATH", filepath.Dir(file))
			_, err = library.Open("It", "libit.so.1", []string{""}, c.function)
			if err == nil || c.content != nil && c.function == "f" && !strings.HasPrefix(err.Error(), want) {
				t.Errorf("of LD_LIBRARY_PATH: got %v, want %s", err, want)
			}
		})
	}
}

// Dependencies are looked for in the library's own folder first: libraries of two versions of CUDA
// share names.
func TestNear(t *testing.T) {
	root := t.TempDir()
	other, solver := folder(t, root, "conda", "lib"), folder(t, root, "nvidia", "cusolver", "lib")
	sparse := folder(t, root, "nvidia", "cusparse", "lib")
	if err := os.WriteFile(filepath.Join(solver, "libcusolver.so.11"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	folders := []string{"", other, solver, sparse}
	want := []string{solver, sparse, "", other}
	if got := library.Near("libcusolver.so.11", folders); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := library.Near("libcusolver.so.12", folders); !slices.Equal(got, folders) {
		t.Errorf("%q for a library that is not there, want %q", got, folders)
	}
}
