// Package cpublas selects the BLAS and LAPACK of the CPU.
//
// There are three: the kernels of package matrix, whose results have the same bits on every
// processor; a library, OpenBLAS or MKL; and gonum's pure Go routines. The first and the last use
// the symmetric eigen-decomposition of package spectral.
//
// [Setup] registers one of them with gonum (blas64, blas32, lapack64) and gorgonia, for matrix
// products, symmetric rank-k updates, triangular solves, Cholesky factors and symmetric
// eigen-decompositions; gonum computes everything else. Arguments are checked as in gonum. A
// library is loaded at run time, without cgo; small problems, for which a call costs more than it
// gains, are computed in Go.
//
// All of them compute on the calling goroutine. The engine parallelises over tiles and batches,
// so that results do not depend on the number of threads of a library, and no more cores compute
// than a pool has workers. Package dense divides single large products and factors.
//
// The environment variable PRIVKERN_BLAS selects "privkern" (the default, also "auto") for the
// kernels of package matrix, "gonum", "openblas" or "mkl" for a library under its usual names, or
// the path or soname of a library. It is an error if a named library cannot be loaded.
package cpublas

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"

	"golang.org/x/sys/cpu"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gorgonia.org/gorgonia"

	"privkern/graphs/simd"
)

// EnvVar is the environment variable that selects the BLAS.
const EnvVar = "PRIVKERN_BLAS"

// kernelsName is the name of the kernels of package matrix.
const kernelsName = "privkern"

// Info describes the BLAS in use.
type Info struct {
	Name     string // "OpenBLAS", "MKL", "BLAS" for another library, "privkern" or "gonum"
	Version  string // reported by the library; may be empty
	CoreType string // the processor kernels in use; may be empty
	Path     string // of the library; empty for kernels in Go
	// NoFMA is set for an amd64 processor without fused multiply-add, because Go's exponential then
	// rounds differently with every BLAS.
	NoFMA bool
	// Note is an obstacle to a library's speed; may be empty.
	Note string
	// Err is the error of a BLAS in PRIVKERN_BLAS that cannot be loaded; empty for none. gonum is
	// then registered, but no engine opens.
	Err string
}

// String returns the name of the BLAS in records, such as "OpenBLAS 0.3.21 (SKYLAKEX,
// libopenblas.so.0)", "privkern (avx512)" or "gonum (pure Go)". The runner's package record
// parses it.
func (i Info) String() string {
	s := "gonum (pure Go)"
	if i.Name == kernelsName {
		s = fmt.Sprintf("%s (%s)", i.Name, i.CoreType)
	}
	if i.Path != "" {
		s = i.Name
		if i.Version != "" {
			s += " " + i.Version
		}
		in := []string{i.Path}
		if i.CoreType != "" {
			in = []string{i.CoreType, i.Path}
		}
		s += " (" + strings.Join(in, ", ") + ")"
	}
	if i.NoFMA {
		s += " without FMA"
	}
	return s
}

// provider is the implementation of the matrix-matrix routines: a loaded library, the kernels of
// package matrix, or gonum.
type provider struct {
	lib     *library
	kernels bool
}

var active provider

var setup = sync.OnceValue(func() Info {
	p, info := choose(os.Getenv(EnvVar))
	register(p)
	// The condition under which math.Exp uses FMA.
	info.NoFMA = runtime.GOARCH == "amd64" && (!cpu.X86.HasAVX || !cpu.X86.HasFMA)
	return info
})

// Setup selects and registers the BLAS on its first call, and describes it on every call. It is
// safe for concurrent use, but gonum's and gorgonia's routines must not run during the first
// call.
func Setup() Info { return setup() }

// Force registers the BLAS of another setting until restore is called, for tests and benchmarks
// that compare libraries. Nothing may compute during either call.
func Force(setting string) (info Info, restore func()) {
	Setup()
	before := active
	p, info := choose(setting)
	register(p)
	return info, func() { register(before) }
}

// choose returns the provider of a setting, or gonum with an error in its Info.
func choose(setting string) (provider, Info) {
	// Every setting uses package vector, and with it the level.
	if err := simd.Setup(); err != nil {
		return provider{}, Info{Name: "gonum", Err: err.Error()}
	}
	switch setting {
	case "", "auto", kernelsName:
		return provider{kernels: true}, Info{Name: kernelsName, CoreType: simd.Active().String()}
	case "gonum":
		return provider{}, Info{Name: "gonum"}
	case "openblas":
		return named(setting, openBLASNames)
	case "mkl":
		return named(setting, mklNames)
	}
	lib, err := load(setting)
	if err != nil {
		return refused(setting, err.Error())
	}
	return provider{lib: lib}, lib.info
}

// named loads a library under one of its usual names. Its error is that of the first library that
// is installed but cannot be used, if there is one.
func named(setting string, names []string) (provider, Info) {
	reason := "none of " + strings.Join(names, ", ") + " is installed"
	there := false
	for _, name := range names {
		lib, err := load(name)
		if err == nil {
			return provider{lib: lib}, lib.info
		}
		if !there && !isMissing(err) {
			there, reason = true, fmt.Sprintf("%s is installed but cannot be used: %v", name, err)
		}
	}
	return refused(setting, reason)
}

func refused(setting, reason string) (provider, Info) {
	return provider{}, Info{Name: "gonum", Err: fmt.Sprintf("%s=%s: cannot use this BLAS library: %s; set %s to "+
		"privkern, gonum, openblas or mkl, or to the path of OpenBLAS or MKL", EnvVar, setting, reason, EnvVar)}
}

// register registers a provider with gonum and gorgonia.
func register(p provider) {
	active = p
	takeTurns(p.lib)
	var level3 gorgonia.BLAS = serial{}
	var factors lapack.Float64 = spectralLAPACK{}
	switch {
	case p.kernels:
		level3, factors = kernelBLAS{}, kernelLAPACK{}
	case p.lib != nil:
		level3, factors = libraryBLAS{lib: p.lib}, libraryLAPACK{lib: p.lib}
	}
	blas64.Use(level3)
	blas32.Use(level3)
	lapack64.Use(factors)
	gorgonia.Use(level3)
}

// instructionSet returns the widest vector instructions of the processor, for libraries that do
// not report their kernels; empty if unknown.
func instructionSet() string {
	switch {
	case avx512():
		return "AVX512"
	case cpu.X86.HasAVX2:
		return "AVX2"
	case cpu.X86.HasSSE2:
		return "SSE2"
	}
	return ""
}

// avx512 reports whether the processor has the instructions of OpenBLAS's core type SKYLAKEX.
func avx512() bool {
	x := &cpu.X86
	return x.HasAVX512F && x.HasAVX512BW && x.HasAVX512CD && x.HasAVX512DQ && x.HasAVX512VL
}
