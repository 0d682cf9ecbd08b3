//go:build linux && (amd64 || arm64)

// Package library finds and loads NVIDIA's libraries, and calls them without cgo: neither
// headers nor libraries are needed to build a program, and only their absence on a machine
// matters.
package library

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
)

// A Library is loaded, with the functions that its user asked for.
type Library struct {
	Name   string // as NVIDIA calls it
	Path   string // of its file
	handle uintptr
	calls  map[string]uintptr
}

// Open loads the first file of this soname that can be loaded from the folders, in their
// order, and looks the functions up. The folder "" is wherever the dynamic loader looks.
// The error wraps [fs.ErrNotExist] where there is no such file, and has the loader's
// reason for each file that is there and cannot be loaded.
func Open(name, soname string, folders []string, functions ...string) (*Library, error) {
	var reasons []string
	for _, folder := range folders {
		path := filepath.Join(folder, soname)
		if folder != "" {
			if _, err := os.Stat(path); err != nil {
				continue
			}
		}
		handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_GLOBAL)
		if err != nil {
			if folder != "" || !strings.Contains(err.Error(), "No such file") || !strings.Contains(err.Error(), soname+":") {
				reasons = append(reasons, err.Error())
			}
			continue
		}
		if folder == "" {
			path = mapped(soname)
		}
		l := &Library{Name: name, Path: path, handle: handle, calls: map[string]uintptr{}}
		for _, f := range functions {
			if l.calls[f], err = purego.Dlsym(handle, f); err != nil {
				return nil, fmt.Errorf("%s (%s) has no function %s: version 12 or 13 of CUDA is required", name, l.Path, f)
			}
		}
		return l, nil
	}
	if len(reasons) == 0 {
		return nil, fmt.Errorf("%s (%s): %w", name, soname, fs.ErrNotExist)
	}
	return nil, fmt.Errorf("%s cannot be loaded: %s", name, strings.Join(reasons, "\n  "))
}

// Missing says whether an error of [Open] is that there is no such file.
func Missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// Has says whether the library has a function, and makes it known to [Library.Call].
func (l *Library) Has(function string) bool {
	if l.calls[function] != 0 {
		return true
	}
	address, err := purego.Dlsym(l.handle, function)
	if err != nil {
		return false
	}
	l.calls[function] = address
	return true
}

// Call calls a function that was looked up and returns its status. Pointers to Go memory
// must be converted to uintptr in the call's own arguments.
//
//go:uintptrescapes
func (l *Library) Call(function string, args ...uintptr) int {
	r, _, _ := purego.SyscallN(l.calls[function], args...)
	return int(int32(r))
}

// Version asks a library for its version by a function like cublasGetProperty; it is
// empty where it does not say.
func (l *Library) Version(function string) string {
	if !l.Has(function) {
		return ""
	}
	var property [3]int32 // major, minor, patch
	for k := range property {
		if l.Call(function, uintptr(k), uintptr(unsafe.Pointer(&property[k]))) != 0 {
			return ""
		}
	}
	return fmt.Sprintf("%d.%d.%d", property[0], property[1], property[2])
}

// mapped is the path of the file that the loader chose for a soname, which is the soname
// itself where the kernel does not say.
func mapped(soname string) string {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return soname
	}
	for line := range strings.Lines(string(maps)) {
		// The file of libcublas.so.12 is libcublas.so.12.6.4.1, say.
		if at := strings.IndexByte(line, '/'); at >= 0 {
			path := strings.TrimSpace(line[at:])
			if base := filepath.Base(path); base == soname || strings.HasPrefix(base, soname+".") {
				return path
			}
		}
	}
	return soname
}
