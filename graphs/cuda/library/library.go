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
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"

	"privkern/graphs/internal/dynamic"
)

// A Library is loaded, with the functions that its user asked for.
type Library struct {
	Name   string // as NVIDIA calls it
	Path   string // of its file
	handle uintptr
	calls  map[string]uintptr
}

// Open loads the first file of this soname from the folders, in their order, that can be
// loaded and has the functions. The folder "" is wherever the dynamic loader looks. Its
// symbols serve no other library, so that two versions of one do not mix. The error wraps
// [fs.ErrNotExist] where there is no such file, and has the reason for each file that is
// there and cannot be used.
func Open(name, soname string, folders []string, functions ...string) (*Library, error) {
	var reasons []string
	for _, folder := range folders {
		l, errs := open(name, soname, folder, functions)
		if l != nil {
			return l, nil
		}
		for _, err := range errs {
			reasons = append(reasons, err.Error())
		}
	}
	if len(reasons) == 0 {
		return nil, missingError{name, soname}
	}
	return nil, fmt.Errorf("%s cannot be loaded: %s", name, strings.Join(reasons, "\n  "))
}

// open loads a library from one folder. Without a library and without errors there is no
// such file.
func open(name, soname, folder string, functions []string) (*Library, []error) {
	path := filepath.Join(folder, soname)
	var reasons []error
	var err error
	if folder == "" {
		reasons, err = checkLoader(soname)
	} else if err = check(path); Missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, append(reasons, err)
	}
	handle, err := dynamic.Open(path)
	if err != nil {
		absent := folder == "" && strings.Contains(err.Error(), "No such file") &&
			strings.Contains(err.Error(), soname+":")
		if !absent {
			reasons = append(reasons, err)
		}
		return nil, reasons
	}
	l := &Library{Name: name, Path: path, handle: handle, calls: map[string]uintptr{}}
	for _, f := range functions {
		if l.calls[f], err = purego.Dlsym(handle, f); err != nil {
			l.Close()
			return nil, append(reasons, fmt.Errorf("%s has no function %s: it is of another version than CUDA 12 or 13, or "+
				"not NVIDIA's", path, f))
		}
	}
	if folder == "" && len(functions) > 0 {
		l.Path = mapped(l.calls[functions[0]], soname)
	}
	return l, nil
}

// missingError reports that there is no file of a library.
type missingError struct{ name, soname string }

// Error implements error.
func (e missingError) Error() string { return fmt.Sprintf("there is no %s (%s)", e.soname, e.name) }

// Is makes it an [fs.ErrNotExist].
func (e missingError) Is(target error) bool { return target == fs.ErrNotExist }

// Close gives the library up. Nothing of it may be called any more.
func (l *Library) Close() { _ = purego.Dlclose(l.handle) }

// Missing reports whether an error of [Open] is a missing file.
func Missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// Has reports whether the library has a function, and registers it for [Library.Call].
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
func (l *Library) Call(function string, args ...uintptr) int { return l.Do(function, args...) }

// Do is Call for arguments without pointers to Go memory, or to such that stays where it is. It
// allocates nothing.
func (l *Library) Do(function string, args ...uintptr) int {
	p := arguments.Get().(*[32]uintptr)
	r, _, _ := purego.SyscallN(l.calls[function], append(p[:0], args...)...)
	arguments.Put(p)
	return int(int32(r))
}

// arguments keeps memory for those of calls, which purego has on the heap.
var arguments = sync.Pool{New: func() any { return new([32]uintptr) }}

// Version asks a library for its version by a function like cublasGetProperty; it is empty where
// the library has none.
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

// mapped returns the path of the file that holds a function, or the soname where the kernel does
// not give it. The driver's file has another name, such as libcuda.so.550.54.14.
func mapped(function uintptr, soname string) string {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return soname
	}
	for line := range strings.Lines(string(maps)) {
		var from, to uintptr
		if n, _ := fmt.Sscanf(line, "%x-%x", &from, &to); n == 2 && from <= function && function < to {
			if at := strings.IndexByte(line, '/'); at >= 0 {
				return strings.TrimSpace(line[at:])
			}
		}
	}
	return soname
}
