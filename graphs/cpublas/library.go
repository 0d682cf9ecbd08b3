package cpublas

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// library is a loaded BLAS and LAPACK with 32-bit integers.
type library struct {
	info             Info
	float64, float32 routines
}

// routines holds the entry points of one precision, in the Fortran calling convention. Every
// argument is a pointer, so that calls are the same on all platforms.
type routines struct {
	gemm, syrk, trsm, potrf, syevd uintptr
}

// errMissing is the error of a library that is not installed.
var errMissing = errors.New("not found")

func isMissing(err error) bool { return errors.Is(err, errMissing) }

// load opens a library and looks up its routines.
func load(name string) (*library, error) {
	restore := prepareEnvironment()
	h, err := dlopen(name)
	restore()
	if err != nil {
		return nil, err
	}
	lib := &library{info: Info{Name: "BLAS", Path: name}}
	for _, s := range []struct {
		prefix string
		to     *routines
	}{{"d", &lib.float64}, {"s", &lib.float32}} {
		for _, f := range []struct {
			name string
			to   *uintptr
		}{
			{"gemm_", &s.to.gemm}, {"syrk_", &s.to.syrk}, {"trsm_", &s.to.trsm},
			{"potrf_", &s.to.potrf}, {"syevd_", &s.to.syevd},
		} {
			if *f.to = dlsym(h, s.prefix+f.name); *f.to == 0 {
				return nil, fmt.Errorf("it has no %s%s (is it a BLAS with LAPACK?)", s.prefix, f.name)
			}
		}
	}
	if err := lib.identify(h); err != nil {
		return nil, err
	}
	if lib.info.CoreType == "" {
		lib.info.CoreType = instructionSet()
	}
	if err := lib.selfTest(); err != nil {
		return nil, err
	}
	return lib, nil
}

// identify reads the name and version of the library, and sets it to one thread.
func (l *library) identify(h uintptr) error {
	if f := dlsym(h, "openblas_get_config"); f != 0 {
		l.info.Name = "OpenBLAS"
		config := callString(f)
		if strings.Contains(config, "USE64BITINT") {
			return errors.New("it is built with 64-bit integers; the build with 32-bit integers is needed")
		}
		if words := strings.Fields(config); len(words) > 1 && words[0] == "OpenBLAS" {
			l.info.Version = words[1]
		}
		if f := dlsym(h, "openblas_get_corename"); f != 0 {
			l.info.CoreType = strings.ToUpper(callString(f))
		}
		if f := dlsym(h, "openblas_set_num_threads"); f != 0 {
			callInt(f, 1)
		}
		if avx512() && os.Getenv("OPENBLAS_CORETYPE") == "" && l.info.CoreType != "SKYLAKEX" {
			l.info.Note = "the processor has AVX-512 but the library does not use it"
		}
		return nil
	}
	if f := dlsym(h, "MKL_Set_Num_Threads"); f != 0 {
		l.info.Name = "MKL"
		callInt(f, 1)
		if f := dlsym(h, "mkl_get_version_string"); f != 0 {
			l.info.Version = mklVersion(callBuffer(f, 256))
		}
	}
	return nil
}

// mklVersion extracts "2024.2" from "Intel(R) oneAPI Math Kernel Library Version
// 2024.2-Product Build ... for Intel(R) 64 architecture applications".
func mklVersion(s string) string {
	_, after, ok := strings.Cut(s, "Version ")
	if !ok {
		return ""
	}
	v, _, _ := strings.Cut(after, "-")
	v, _, _ = strings.Cut(v, " ")
	return v
}

// selfTest multiplies two small matrices, because a library may have another integer size or
// calling convention.
func (l *library) selfTest() error {
	a, b, c := []float64{1, 2, 3, 4, 5, 6}, []float64{1, -1, 2, 0, 1, 3}, make([]float64, 4)
	callGemm(l.float64.gemm, 'N', 'N', 2, 2, 3, 1, a, 3, b, 2, 0, c, 2)
	for i, want := range []float64{8, 8, 20, 14} {
		if c[i] != want {
			return fmt.Errorf("a 2×3 by 3×2 product came out as %v", c)
		}
	}
	return nil
}

// prepareEnvironment sets the variables that a library reads when it is loaded, unless the user
// has set them: one thread, so that it creates no pool of idle threads, and OpenBLAS's AVX-512
// kernels where the processor has AVX-512, because releases older than the processor use much
// slower ones. restore resets the environment for child processes.
func prepareEnvironment() (restore func()) {
	want := map[string]string{
		"OPENBLAS_NUM_THREADS": "1",
		"MKL_NUM_THREADS":      "1",
		"MKL_THREADING_LAYER":  "SEQUENTIAL",
		"MKL_INTERFACE_LAYER":  "LP64",
	}
	if avx512() {
		want["OPENBLAS_CORETYPE"] = "SKYLAKEX"
	}
	var added []string
	for name, value := range want {
		if _, set := os.LookupEnv(name); set {
			continue
		}
		// This sets the C library's environment as well: without cgo, by purego's hook into the
		// runtime.
		if os.Setenv(name, value) == nil {
			added = append(added, name)
		}
	}
	return func() {
		for _, name := range added {
			_ = os.Unsetenv(name) // set above, so that it does not fail
		}
	}
}

// missingError marks the error of a library that is not installed, as opposed to one that does
// not load.
func missingError(name string, err error) error {
	if filepath.IsAbs(name) {
		if _, statErr := os.Stat(name); statErr == nil {
			return err
		}
		return fmt.Errorf("%w: %w", errMissing, err)
	}
	msg := err.Error()
	if strings.Contains(msg, "No such file") || strings.Contains(msg, "not found") ||
		strings.Contains(msg, "no such file") {
		return fmt.Errorf("%w: %w", errMissing, err)
	}
	return err
}
