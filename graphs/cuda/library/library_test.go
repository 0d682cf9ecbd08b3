//go:build linux && (amd64 || arm64)

package library_test

import (
	"os"
	"path/filepath"
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

// Libraries are looked for where people have them, and first where they say.
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

// A library of the system is loaded, called, and says where it lies.
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

// Why a library cannot be used is said.
func TestOpenErrors(t *testing.T) {
	broken := t.TempDir()
	if err := os.WriteFile(filepath.Join(broken, "libbroken.so.1"), []byte("not a library"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, soname string
		folders      []string
		function     string
		missing      bool
		want         string
	}{
		{"it is nowhere", "libnowhere.so.7", []string{"", broken}, "f", true, "Nowhere (libnowhere.so.7)"},
		{"the file is no library", "libbroken.so.1", []string{"", broken}, "f", false,
			filepath.Join(broken, "libbroken.so.1")},
		{"a function is missing", "libc.so.6", []string{""}, "no_such_function", false, "has no function no_such_function"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := library.Open("Nowhere", c.soname, c.folders, c.function)
			if err == nil || library.Missing(err) != c.missing || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, missing: %v", err, library.Missing(err))
			}
		})
	}
}
