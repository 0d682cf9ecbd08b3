//go:build (linux || darwin || freebsd) && (amd64 || arm64)

// Package dynamic loads libraries of C.
package dynamic

import (
	"runtime"

	"github.com/ebitengine/purego"
)

// Open loads a library with names of its own, so that two can be loaded side by side. Its
// error is the loader's.
//
// The loader keeps the reason of a failure for the thread that failed: a goroutine that
// moves to another thread before it asks for the reason gets none.
func Open(path string) (uintptr, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
}
