//go:build !((linux || darwin || freebsd) && (amd64 || arm64))

package cpublas

import (
	"fmt"
	"runtime"

	"gonum.org/v1/gonum/blas"
)

// On these platforms no library is loaded at run time: dlopen always fails, and nothing below it
// is reached.

var openBLASNames, mklNames []string

func dlopen(string) (uintptr, error) {
	return 0, fmt.Errorf("loading a BLAS library is not supported on %s/%s", runtime.GOOS, runtime.GOARCH)
}

func dlsym(uintptr, string) uintptr { return 0 }

func callInt(uintptr, int)           {}
func callString(uintptr) string      { return "" }
func callBuffer(uintptr, int) string { return "" }

func unreachable() { panic("cpublas: no library is loaded on this platform") }

func callGemm[T Float](uintptr, byte, byte, int, int, int, T, []T, int, []T, int, T, []T, int) {
	unreachable()
}

func callSyrk[T Float](uintptr, byte, byte, int, int, T, []T, int, T, []T, int) { unreachable() }

func callTrsm[T Float](uintptr, blas.Side, byte, byte, byte, int, int, T, []T, int, []T, int) {
	unreachable()
}

func callPotrf[T Float](uintptr, byte, int, []T, int) int { unreachable(); return -1 }

func callSyevd[T Float](uintptr, byte, byte, int, []T, int, []T) int { unreachable(); return -1 }
