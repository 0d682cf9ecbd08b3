//go:build linux && (amd64 || arm64)

package library

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Variable is the environment variable with a folder in which NVIDIA's libraries are
// looked for first: a toolkit, a Python environment, or the folder of the files.
const Variable = "PRIVKERN_CUDA"

// DriverFolders returns the folders in which the driver's library is looked for: those of
// [Variable], those of the dynamic loader, and those that distributions and containers use.
func DriverFolders() []string {
	return append(chosen(), "", "/usr/lib/wsl/lib", "/usr/local/nvidia/lib64", "/run/opengl-driver/lib",
		"/usr/lib/x86_64-linux-gnu/nvidia/current", "/usr/lib/aarch64-linux-gnu/nvidia/current")
}

// ToolkitFolders returns the folders in which libraries of the toolkit are looked for, of one major
// version of CUDA before the others: those of [Variable], those of the dynamic loader, the roots
// that CUDA_HOME and CUDA_PATH name, conda's environment, NVIDIA's wheels of Python's environments,
// and the usual folders, with the newest version first and the wheels of the python3 of the PATH
// after the toolkits.
func ToolkitFolders(major int) []string {
	folders := append(chosen(), "")
	for _, variable := range []string{"CUDA_HOME", "CUDA_PATH"} {
		folders = append(folders, roots(os.Getenv(variable))...)
	}
	if conda := os.Getenv("CONDA_PREFIX"); conda != "" {
		folders = append(folders, roots(conda)...)
		folders = append(folders, wheels(filepath.Join(conda, "lib", "python3*", "site-packages"))...)
	}
	if environment := os.Getenv("VIRTUAL_ENV"); environment != "" {
		folders = append(folders, wheels(filepath.Join(environment, "lib", "python3*", "site-packages"))...)
	}
	installed := glob("/usr/local/cuda-*")
	slices.SortStableFunc(installed, func(a, b string) int {
		// Of the major version first, then the newest.
		va, vb := version(a), version(b)
		if ma, mb := va/1000 == major, vb/1000 == major; ma != mb {
			if ma {
				return -1
			}
			return 1
		}
		return cmp.Compare(vb, va)
	})
	for _, root := range append(append([]string{"/usr/local/cuda"}, installed...), "/opt/cuda") {
		folders = append(folders, roots(root)...)
	}
	folders = append(folders, interpreter()...)
	if home, err := os.UserHomeDir(); err == nil {
		folders = append(folders, wheels(filepath.Join(home, ".local", "lib", "python3*", "site-packages"))...)
	}
	for _, packages := range []string{"/usr/local/lib/python3*/dist-packages", "/usr/local/lib/python3*/site-packages",
		"/usr/lib/python3*/site-packages", "/usr/lib/python3/dist-packages"} {
		folders = append(folders, wheels(packages)...)
	}
	return unique(folders)
}

// Near returns the folders in which to look for the dependencies of a library, in order: the folder
// of the library first, then its neighbours, as wheels have them. The libraries of two versions of
// CUDA share names.
func Near(soname string, folders []string) []string {
	for _, folder := range folders {
		if _, err := os.Stat(filepath.Join(folder, soname)); folder != "" && err == nil {
			beside := existing(glob(filepath.Join(filepath.Dir(filepath.Dir(folder)), "*", "lib")))
			return unique(append(append([]string{folder}, beside...), folders...))
		}
	}
	return folders
}

// chosen are the folders that [Variable] names.
func chosen() []string {
	path := os.Getenv(Variable)
	if path == "" {
		return nil
	}
	folders := append([]string{path}, roots(path)...)
	folders = append(folders, wheels(path)...)
	folders = append(folders, wheels(filepath.Join(path, "lib", "python3*", "site-packages"))...)
	return unique(folders)
}

// roots are the folders of libraries below the root of a toolkit that are there.
func roots(root string) []string {
	if root == "" {
		return nil
	}
	return existing(append([]string{filepath.Join(root, "lib64"), filepath.Join(root, "lib")},
		glob(filepath.Join(root, "targets", "*", "lib"))...))
}

// wheels are the folders of NVIDIA's wheels below folders of packages: a folder for each
// library for CUDA 12, and nvidia/cu13 for CUDA 13.
func wheels(packages string) []string {
	return existing(glob(filepath.Join(packages, "nvidia", "*", "lib")))
}

// glob is [filepath.Glob] without its error, which is about the pattern: one with a
// bracket of a user's folder names no folder.
func glob(pattern string) []string {
	found, err := filepath.Glob(pattern)
	if err != nil {
		return nil
	}
	return found
}

func existing(folders []string) []string {
	return slices.DeleteFunc(folders, func(folder string) bool {
		info, err := os.Stat(folder)
		return err != nil || !info.IsDir()
	})
}

// unique keeps the first of equal folders.
func unique(folders []string) []string {
	var out []string
	for _, folder := range folders {
		if !slices.Contains(out, folder) {
			out = append(out, folder)
		}
	}
	return out
}

// version reads that of a folder such as /usr/local/cuda-12.6: 12006, or 0.
func version(folder string) int {
	_, text, _ := strings.Cut(filepath.Base(folder), "-")
	major, minor, _ := strings.Cut(text, ".")
	m, err := strconv.Atoi(major)
	if err != nil {
		return 0
	}
	n, err := strconv.Atoi(cmp.Or(minor, "0"))
	if err != nil {
		return 0
	}
	return 1000*m + n
}
