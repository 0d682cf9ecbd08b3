// Package cpublas chooses the BLAS and LAPACK that compute on the CPU.
//
// There are three: the kernels of package matrix, whose results have the same bits on every
// processor; a library, OpenBLAS or MKL; and gonum's pure Go routines. The first and the last
// take the symmetric eigen-decomposition of package spectral.
//
// [Setup] registers one with gonum (blas64, blas32, lapack64) and gorgonia: matrix products,
// symmetric rank-k updates, triangular solves, Cholesky factors and symmetric
// eigen-decompositions run there, everything else stays with gonum. Arguments are checked as
// gonum checks them. A library is loaded at run time, without cgo; small problems, where the
// call costs more than it gains, stay in Go.
//
// The library runs on one thread, and so do the products of the others: parallelism is the
// engine's, over tiles and batches, so that results do not depend on how many threads a
// library likes, and no more cores compute than a pool has workers. Package dense divides
// single large products and factors.
//
// The environment variable PRIVKERN_BLAS chooses: "privkern" (the default, also as "auto")
// takes the kernels of package matrix, "gonum" stays with gonum, "openblas" and "mkl" look for
// that library under its usual names, anything else is the path or soname of the library to
// load. It is an error when a library that is named cannot be loaded.
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

// EnvVar is the environment variable that chooses the library.
const EnvVar = "PRIVKERN_BLAS"

// kernelsName is the name of the kernels of package matrix.
const kernelsName = "privkern"

// Info says which BLAS is in use.
type Info struct {
	Name     string // "OpenBLAS", "MKL", "BLAS" for another library, "privkern" or "gonum"
	Version  string // as the library reports it; empty when it does not
	CoreType string // the processor kernels that were chosen; may be empty
	Path     string // what was loaded; empty for kernels in Go
	// NoFMA says that an amd64 processor has no fused multiply-add, or that it is
	// off: Go's exponential then rounds differently, whatever the library.
	NoFMA bool
	// Note says what keeps a library from being used well. Empty when there is nothing to say.
	Note string
	// Err is not empty when what PRIVKERN_BLAS asks for cannot be had. gonum
	// is then registered, but no engine opens.
	Err string
}

// String describes the BLAS in a line, such as
// "OpenBLAS 0.3.21 (SKYLAKEX, libopenblas.so.0)", "privkern (avx512)" or "gonum (pure Go)".
// Records hold it, and the class of their kernels is read off it: the runner's package
// record knows the form.
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

// provider is who computes the matrix-matrix routines: a loaded library, the kernels of
// package matrix, or gonum.
type provider struct {
	lib     *library
	kernels bool
}

var active provider

var setup = sync.OnceValue(func() Info {
	p, info := choose(os.Getenv(EnvVar))
	register(p)
	// The condition of math.Exp.
	info.NoFMA = runtime.GOARCH == "amd64" && (!cpu.X86.HasAVX || !cpu.X86.HasFMA)
	return info
})

// Setup chooses and registers the BLAS on its first call, and says on every
// call which one it is. It is safe for concurrent use; gonum's and gorgonia's
// routines must not run at the same time as the first call.
func Setup() Info { return setup() }

// Force registers the BLAS of another setting than Setup's, for tests and
// benchmarks that compare libraries, until restore is called. Nothing may
// compute during either call.
func Force(setting string) (info Info, restore func()) {
	Setup()
	before := active
	p, info := choose(setting)
	register(p)
	return info, func() { register(before) }
}

// choose finds the provider that the setting asks for, and gonum where it cannot be had.
func choose(setting string) (provider, Info) {
	// The level is that of package vector too, which every setting uses.
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

// named is a library under one of its usual names, or an error, about the first one that is
// there but cannot be used if there is one.
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

// register makes a provider the one that gonum and gorgonia call.
func register(p provider) {
	active = p
	takeTurns(p.lib)
	var level3 gorgonia.BLAS = serial{}
	var factors lapack.Float64 = Spectral{}
	switch {
	case p.kernels:
		level3, factors = Kernels{}, KernelsLapack{}
	case p.lib != nil:
		level3, factors = Implementation{lib: p.lib}, Lapack{lib: p.lib}
	}
	blas64.Use(level3)
	blas32.Use(level3)
	lapack64.Use(factors)
	gorgonia.Use(level3)
}

// instructionSet names the widest vectors of the processor, by which a library
// that does not say so chooses its kernels; empty where that is not known.
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

// avx512 reports whether the processor has what OpenBLAS calls SKYLAKEX.
func avx512() bool {
	x := &cpu.X86
	return x.HasAVX512F && x.HasAVX512BW && x.HasAVX512CD && x.HasAVX512DQ && x.HasAVX512VL
}
