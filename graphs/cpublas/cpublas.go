// Package cpublas chooses the BLAS and LAPACK that compute on the CPU.
//
// gonum's pure Go routines always work. Where OpenBLAS or MKL is installed,
// [Setup] loads it at run time, without cgo, and registers it with gonum
// (blas64, blas32, lapack64) and gorgonia: matrix products, symmetric rank-k
// updates, triangular solves, Cholesky factors and symmetric
// eigen-decompositions then run in the library, everything else stays with
// gonum. Arguments are checked as gonum checks them, and small problems, where
// the call costs more than it gains, stay in Go.
//
// The library runs on one thread, and so do gonum's products: parallelism is the
// engine's, over tiles and batches, so that results do not depend on how many threads a
// library likes, and no more cores compute than a pool has workers. Package dense divides
// single large products and factors.
//
// The environment variable PRIVKERN_BLAS chooses: "auto" (the default) looks
// for a library under its usual names, "gonum" stays with pure Go, anything
// else is the path or soname of the library to load, and it is an error when
// that fails.
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
	gonumlapack "gonum.org/v1/gonum/lapack/gonum"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gorgonia.org/gorgonia"
)

// EnvVar is the environment variable that chooses the library.
const EnvVar = "PRIVKERN_BLAS"

// Info says which BLAS is in use.
type Info struct {
	Name     string // "OpenBLAS", "MKL", "BLAS" for another library, or "gonum"
	Version  string // as the library reports it; empty when it does not
	CoreType string // the processor kernels that the library chose; may be empty
	Path     string // what was loaded; empty for gonum
	// NoFMA says that an amd64 processor has no fused multiply-add, or that it is
	// off: Go's exponential then rounds differently, whatever the library.
	NoFMA bool
	// Note says why a library that is there is not in use, or what was
	// changed to use it well. Empty when there is nothing to say.
	Note string
	// Err is not empty when what PRIVKERN_BLAS asks for cannot be had. gonum
	// is then registered, but no engine opens.
	Err string
}

// String describes the BLAS in a line, such as
// "OpenBLAS 0.3.21 (SKYLAKEX, libopenblas.so.0)" or "gonum (pure Go)". Records
// hold it, and the class of their kernels is read off it: the runner's package
// record knows the form.
func (i Info) String() string {
	s := "gonum (pure Go)"
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

// active is the loaded library, or nil while gonum computes.
var active *library

var setup = sync.OnceValue(func() Info {
	lib, info := choose(os.Getenv(EnvVar))
	register(lib)
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
	lib, info := choose(setting)
	register(lib)
	return info, func() { register(before) }
}

// choose loads the library that the setting asks for; nil stands for gonum.
func choose(setting string) (*library, Info) {
	gonum := Info{Name: "gonum"}
	switch setting {
	case "gonum":
		return nil, gonum
	case "", "auto":
		for _, name := range candidates {
			lib, err := load(name)
			if err == nil {
				return lib, lib.info
			}
			// A library that is simply not there is no news.
			if !isMissing(err) && gonum.Note == "" {
				gonum.Note = fmt.Sprintf("%s is installed but cannot be used: %v", name, err)
			}
		}
		return nil, gonum
	}
	lib, err := load(setting)
	if err != nil {
		gonum.Err = fmt.Sprintf("%s=%s: cannot use this BLAS library: %v; set %s to auto, to gonum, or to the path of "+
			"OpenBLAS or MKL",
			EnvVar, setting, err, EnvVar)
		return nil, gonum
	}
	return lib, lib.info
}

// register makes a library the one that gonum and gorgonia call; nil stands
// for gonum's own routines.
func register(lib *library) {
	active = lib
	takeTurns(lib)
	if lib == nil {
		blas64.Use(serial{})
		blas32.Use(serial{})
		lapack64.Use(gonumlapack.Implementation{})
		gorgonia.Use(serial{})
		return
	}
	b := Implementation{lib: lib}
	blas64.Use(b)
	blas32.Use(b)
	lapack64.Use(Lapack{lib: lib})
	gorgonia.Use(b)
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
