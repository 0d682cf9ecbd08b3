//go:build gpu && linux

package cuda

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
	"gorgonia.org/cu"
)

// NVIDIA's libraries are loaded when the first device is opened, and called
// through purego: neither their headers nor the libraries are needed to build,
// and only their absence at run time matters. cu/blas and cu/nvrtc of
// gorgonia.org/cu link them, which would keep the program from starting without
// them; cu/blas also takes device memory as Go slices, has no streams, and
// keeps its first error for ever.

// library is one of them, with the functions that are used.
type library struct {
	name    string   // as NVIDIA calls it
	sonames []string // in the order in which they are tried
	handle  uintptr
	path    string
	calls   map[string]uintptr
}

// libraryFolders is where libraries are looked for beside the places that the
// dynamic loader knows.
func libraryFolders() []string {
	folders := []string{""}
	for _, variable := range []string{"CUDA_HOME", "CUDA_PATH"} {
		if root := os.Getenv(variable); root != "" {
			folders = append(folders, filepath.Join(root, "lib64"))
		}
	}
	return append(folders, "/usr/local/cuda/lib64", "/opt/cuda/lib64")
}

// sonames are a library's names, by its versions for CUDA 13 and 12: the newer one
// first, unless the driver knows CUDA 12 at most. Without a driver its version is
// not positive.
func sonames(name string, in13, in12, driver int) []string {
	newer, older := fmt.Sprintf("%s.%d", name, in13), fmt.Sprintf("%s.%d", name, in12)
	if driver > 0 && driver < 13000 {
		return []string{older, newer, name}
	}
	return []string{newer, older, name}
}

// load loads the first file of its names that can be loaded, and looks the functions up.
// The error has the loader's reason for each that could not.
func (l *library) load(functions ...string) error {
	var reasons []string
	for _, soname := range l.sonames {
		for _, folder := range libraryFolders() {
			path := filepath.Join(folder, soname)
			if folder != "" {
				if _, err := os.Stat(path); err != nil {
					continue
				}
			}
			handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_GLOBAL)
			if err != nil {
				reasons = append(reasons, err.Error())
				continue
			}
			l.handle, l.path, l.calls = handle, path, map[string]uintptr{}
			for _, name := range functions {
				if l.calls[name], err = purego.Dlsym(handle, name); err != nil {
					return fmt.Errorf("%s (%s) has no function %s: version 12 or 13 of CUDA is required", l.name, path, name)
				}
			}
			return nil
		}
	}
	return fmt.Errorf("%s cannot be loaded; install the CUDA toolkit 12 or 13, or add the folder of %s to "+
		"LD_LIBRARY_PATH:\n  %s",
		l.name, l.sonames[0], strings.Join(reasons, "\n  "))
}

// call calls a function. Pointers to Go memory must be converted to uintptr in
// the call's own arguments.
//
//go:uintptrescapes
func (l *library) call(function string, args ...uintptr) int {
	r, _, _ := purego.SyscallN(l.calls[function], args...)
	return int(int32(r))
}

// libraries are the three that are needed.
type libraries struct {
	nvrtc, cublas, cusolver *library
}

// loadLibraries loads them once in a process.
var loadLibraries = sync.OnceValues(func() (*libraries, error) {
	nvrtc, err := loadNVRTC()
	if err != nil {
		return nil, err
	}
	l := &libraries{
		nvrtc:    nvrtc,
		cublas:   &library{name: "cuBLAS", sonames: sonames("libcublas.so", 13, 12, cu.Version())},
		cusolver: &library{name: "cuSOLVER", sonames: sonames("libcusolver.so", 12, 11, cu.Version())},
	}
	for _, load := range []struct {
		l         *library
		functions []string
	}{
		{l.cublas, []string{"cublasCreate_v2", "cublasDestroy_v2", "cublasSetStream_v2", "cublasSetMathMode",
			"cublasDgemm_v2", "cublasSgemm_v2", "cublasDsyrk_v2", "cublasSsyrk_v2", "cublasDtrsm_v2", "cublasStrsm_v2",
			"cublasDtrsv_v2", "cublasStrsv_v2"}},
		{l.cusolver, []string{"cusolverDnCreate", "cusolverDnDestroy", "cusolverDnSetStream",
			"cusolverDnDpotrf_bufferSize", "cusolverDnSpotrf_bufferSize", "cusolverDnDpotrf", "cusolverDnSpotrf",
			"cusolverDnDsyevd_bufferSize", "cusolverDnDsyevd"}},
	} {
		if err := load.l.load(load.functions...); err != nil {
			return nil, err
		}
	}
	return l, nil
})

// loadNVRTC loads the compiler, which works without a device.
func loadNVRTC() (*library, error) {
	l := &library{name: "NVRTC", sonames: sonames("libnvrtc.so", 13, 12, cu.Version())}
	if err := l.load("nvrtcVersion", "nvrtcCreateProgram", "nvrtcCompileProgram", "nvrtcDestroyProgram",
		"nvrtcGetProgramLogSize", "nvrtcGetProgramLog", "nvrtcGetCUBINSize", "nvrtcGetCUBIN", "nvrtcGetPTXSize",
		"nvrtcGetPTX", "nvrtcGetNumSupportedArchs", "nvrtcGetSupportedArchs"); err != nil {
		return nil, err
	}
	if folder := filepath.Dir(l.path); folder != "." {
		// NVRTC opens its built-in functions by name when it compiles, and that of
		// CUDA 13 does not look beside itself. Where this fails, it says so then.
		var major, minor int32
		l.call("nvrtcVersion", uintptr(unsafe.Pointer(&major)), uintptr(unsafe.Pointer(&minor)))
		_, _ = purego.Dlopen(filepath.Join(folder, fmt.Sprintf("libnvrtc-builtins.so.%d.%d", major, minor)),
			purego.RTLD_NOW|purego.RTLD_GLOBAL)
	}
	return l, nil
}
