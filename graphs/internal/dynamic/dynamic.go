//go:build (linux || darwin || freebsd) && (amd64 || arm64)

// Package dynamic loads C libraries.
package dynamic

import (
	"runtime"

	"github.com/ebitengine/purego"
)

// Open loads a library with local symbols, so that several can be loaded at the same time. Its
// error is the loader's.
//
// It locks the goroutine to its thread, because the loader keeps the reason of a failure per thread.
func Open(path string) (uintptr, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
}
