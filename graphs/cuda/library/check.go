//go:build linux && (amd64 || arm64)

package library

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// errTruncated reports a file that ends before its loaded part.
var errTruncated = errors.New("is cut off")

// machines are the processors of libraries, as Go names them.
var machines = map[elf.Machine]string{elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64", elf.EM_386: "386",
	elf.EM_ARM: "arm", elf.EM_PPC64: "ppc64le"}

// check refuses a file that the dynamic loader must not see, or one with a dependency of that kind
// where the loader finds it. The loader accepts a truncated file, and the process ends with SIGBUS;
// for a file of another processor it reports that the file does not exist. The error wraps
// [fs.ErrNotExist] where that is so of the file itself.
func check(path string) error { return checkAll(path, map[string]bool{}) }

// checkAll checks a file and its dependencies, except those that were checked before.
func checkAll(path string, checked map[string]bool) error {
	checked[path] = true
	needed, folders, err := checkFile(path)
	if err != nil {
		return err
	}
	for _, soname := range needed {
		for _, folder := range folders {
			dependency := filepath.Join(folder, soname)
			if checked[dependency] {
				break
			}
			err := checkAll(dependency, checked)
			if err == nil {
				break // the loader's rule
			}
			if !Missing(err) {
				return fmt.Errorf("%s needs %s: %w", path, soname, err)
			}
		}
	}
	return nil
}

// checkFile checks one file, and returns the sonames of its dependencies and the folders in which
// it has the loader look for them.
func checkFile(path string) (needed, folders []string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s is not a file", path)
	}
	e, err := elf.NewFile(f)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, nil, fmt.Errorf("%s %w", path, errTruncated)
	case err != nil:
		return nil, nil, fmt.Errorf("%s is not a shared library: %w", path, err)
	}
	if on := machines[e.Machine]; on != runtime.GOARCH {
		if on == "" {
			on = e.Machine.String()
		}
		return nil, nil, fmt.Errorf("%s is for %s, and this program for %s", path, on, runtime.GOARCH)
	}
	for _, segment := range e.Progs {
		if segment.Type == elf.PT_LOAD && segment.Off+segment.Filesz > uint64(info.Size()) {
			return nil, nil, fmt.Errorf("%s %w", path, errTruncated)
		}
	}
	if needed, err = e.ImportedLibraries(); err != nil {
		return nil, nil, fmt.Errorf("%s is damaged: %w", path, err)
	}
	folders = filepath.SplitList(os.Getenv("LD_LIBRARY_PATH"))
	for _, tag := range []elf.DynTag{elf.DT_RPATH, elf.DT_RUNPATH} {
		lists, err := e.DynString(tag)
		if err != nil {
			return nil, nil, fmt.Errorf("%s is damaged: %w", path, err)
		}
		for _, list := range lists {
			for _, folder := range filepath.SplitList(list) {
				folder = strings.NewReplacer("$ORIGIN", filepath.Dir(path), "${ORIGIN}", filepath.Dir(path)).Replace(folder)
				folders = append(folders, folder)
			}
		}
	}
	return needed, folders, nil
}

// checkLoader checks the files among which the dynamic loader chooses one by its soname:
// those of LD_LIBRARY_PATH and of the system's folders. It passes over files of other
// processors itself, and these are returned as reasons; a file that is cut off is an error.
func checkLoader(soname string) (reasons []error, err error) {
	triplet := map[string]string{"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}[runtime.GOARCH]
	named := filepath.SplitList(os.Getenv("LD_LIBRARY_PATH"))
	system := []string{"/lib/" + triplet, "/usr/lib/" + triplet, "/lib64", "/usr/lib64", "/lib", "/usr/lib"}
	for i, folder := range append(named, system...) {
		switch err := check(filepath.Join(folder, soname)); {
		case err == nil:
			return reasons, nil // the loader's rule
		case errors.Is(err, errTruncated):
			return reasons, err
		case i < len(named) && !Missing(err):
			reasons = append(reasons, err)
		}
	}
	return reasons, nil
}
