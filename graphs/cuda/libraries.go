//go:build linux && (amd64 || arm64)

package cuda

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"privkern/graphs/cuda/driver"
	"privkern/graphs/cuda/library"
	"privkern/graphs/engine"
)

// NVIDIA's libraries are loaded when the first device is opened: only their absence at run
// time matters. cu/blas and cu/nvrtc of gorgonia.org/cu link them, which would keep the
// program from starting without them; cu/blas also takes device memory as Go slices, has
// no streams, and keeps its first error for ever.

// component is one of the libraries as the toolkit has it.
type component struct {
	name      string
	soname    map[int]string // by CUDA's major version
	packages  map[int]string // of NVIDIA's wheels
	property  string         // the function that returns its version
	without   string         // the consequence where it is missing
	functions []string
}

// The components, in the order in which each may need the ones before.
var (
	compiler = component{"NVRTC", map[int]string{12: "libnvrtc.so.12", 13: "libnvrtc.so.13"},
		map[int]string{12: "nvidia-cuda-nvrtc-cu12", 13: "nvidia-cuda-nvrtc"}, "",
		"element-wise operations are not fused",
		[]string{"nvrtcVersion", "nvrtcCreateProgram", "nvrtcCompileProgram", "nvrtcDestroyProgram",
			"nvrtcGetProgramLogSize", "nvrtcGetProgramLog", "nvrtcGetCUBINSize", "nvrtcGetCUBIN", "nvrtcGetPTXSize",
			"nvrtcGetPTX", "nvrtcGetNumSupportedArchs", "nvrtcGetSupportedArchs"}}
	products = component{"cuBLAS", map[int]string{12: "libcublas.so.12", 13: "libcublas.so.13"},
		map[int]string{12: "nvidia-cublas-cu12", 13: "nvidia-cublas"}, "cublasGetProperty",
		"kernel matrices, Gram matrices and triangular solves are computed on the host",
		[]string{"cublasCreate_v2", "cublasDestroy_v2", "cublasSetStream_v2", "cublasSetMathMode",
			"cublasDgemm_v2", "cublasSgemm_v2", "cublasDgemmStridedBatched", "cublasSgemmStridedBatched",
			"cublasDsyrk_v2", "cublasSsyrk_v2", "cublasDtrsm_v2", "cublasStrsm_v2", "cublasDtrsv_v2", "cublasStrsv_v2"}}
	solvers = component{"cuSOLVER", map[int]string{12: "libcusolver.so.11", 13: "libcusolver.so.12"},
		map[int]string{12: "nvidia-cusolver-cu12", 13: "nvidia-cusolver"}, "cusolverGetProperty",
		"Cholesky factors and eigenvalues are computed on the host",
		[]string{"cusolverDnCreate", "cusolverDnDestroy", "cusolverDnSetStream",
			"cusolverDnDpotrf_bufferSize", "cusolverDnSpotrf_bufferSize", "cusolverDnDpotrf", "cusolverDnSpotrf",
			"cusolverDnDsyevd_bufferSize", "cusolverDnDsyevd"}}
)

// components are all of them.
var components = []component{compiler, products, solvers}

// support are libraries that cuBLAS and cuSOLVER load themselves. Those of NVIDIA's older
// wheels do not look for them in the folders of the other wheels.
var support = map[int][]string{
	12: {"libnvJitLink.so.12", "libcublasLt.so.12", "libcusparse.so.12"},
	13: {"libnvJitLink.so.13", "libcublasLt.so.13", "libcusparse.so.12"},
}

// libraries are those of one major version of CUDA. One that is missing is nil.
type libraries struct {
	major               int
	nvrtc, blas, solver *library.Library
	eigenBatch          bool             // cuSOLVER has the functions of that name
	missing             map[string]error // by the component's name
	loaded              []*library.Library
}

// complete reports whether all libraries are loaded.
func (l *libraries) complete() bool { return l.nvrtc != nil && l.blas != nil && l.solver != nil }

// count is how many are there.
func (l *libraries) count() int {
	n := 0
	for _, lib := range []*library.Library{l.nvrtc, l.blas, l.solver} {
		if lib != nil {
			n++
		}
	}
	return n
}

// oldest13 is the oldest compute capability of which CUDA 13 has code.
const oldest13 = 75

// majors are the versions of CUDA that the program can use, the preferred one first: the
// newest that the driver and the device know. Without a driver, or a device, either is 0.
func majors(driverVersion, capability int) []int {
	if driverVersion > 0 && driverVersion < 13000 || capability > 0 && capability < oldest13 {
		return []int{12}
	}
	return []int{13, 12}
}

// capability is the compute capability of the device that the process opens, such as 90 for 9.0, or
// 0 where there is none.
func capability() int {
	index, err := strconv.Atoi(cmp.Or(os.Getenv(engine.DeviceVariable), "0"))
	if err != nil || binding().Init() != nil {
		return 0
	}
	_, i, err := describe(index)
	if err != nil {
		return 0
	}
	return 10*i.Major + i.Minor
}

// loadedLibraries are those of the process.
var loadedLibraries struct {
	sync.Mutex
	libs *libraries
}

// loadLibraries loads them once in a process, for the device that it opens: all of the first
// version of CUDA of which all are there, or else of that of which most are.
func loadLibraries(driverVersion int) *libraries {
	loadedLibraries.Lock()
	defer loadedLibraries.Unlock()
	if loadedLibraries.libs != nil {
		return loadedLibraries.libs
	}
	best, most := 0, -1
	for _, major := range majors(driverVersion, capability()) {
		l := loadMajor(major)
		if l.complete() {
			loadedLibraries.libs = l
			return l
		}
		if n := l.count(); n > most {
			best, most = major, n
		}
		l.close() // before the other version: both have a libcusparse.so.12
	}
	loadedLibraries.libs = loadMajor(best)
	return loadedLibraries.libs
}

// loadMajor loads the available libraries of one major version of CUDA.
func loadMajor(major int) *libraries {
	folders := library.ToolkitFolders(major)
	l := &libraries{major: major, missing: map[string]error{}}
	open := func(c component) *library.Library {
		lib, err := c.open(major, folders)
		if err != nil && !library.Missing(err) && l.loadSupport(library.Near(c.soname[major], folders)) {
			lib, err = c.open(major, folders) // its dependency was in a folder that it does not search
		}
		if err != nil {
			l.missing[c.name] = err
			return nil
		}
		l.loaded = append(l.loaded, lib)
		return lib
	}
	if l.nvrtc = open(compiler); l.nvrtc != nil {
		if err := l.loadBuiltins(); err != nil {
			l.nvrtc, l.missing[compiler.name] = nil, err
		}
	}
	l.blas, l.solver = open(products), open(solvers)
	l.eigenBatch = l.solver != nil && !slices.ContainsFunc(eigenBatch, func(f string) bool { return !l.solver.Has(f) })
	var packages []string
	for _, c := range components {
		if l.missing[c.name] != nil {
			packages = append(packages, c.packages[major])
		}
	}
	for _, c := range components {
		if err := l.missing[c.name]; err != nil {
			l.missing[c.name] = fmt.Errorf("%w; without it %s; install what is missing with `pip install %s`, or the CUDA "+
				"toolkit %d, or give its folder to %s", err, c.without, strings.Join(packages, " "), major, library.Variable)
		}
	}
	return l
}

// loadSupport loads the dependencies of cuBLAS and cuSOLVER, and reports whether any was new.
func (l *libraries) loadSupport(folders []string) bool {
	before := len(l.loaded)
	for _, soname := range support[l.major] {
		if slices.ContainsFunc(l.loaded, func(lib *library.Library) bool { return lib.Name == soname }) {
			continue
		}
		// Failures appear in the error of the dependent library.
		if lib, err := library.Open(soname, soname, folders); err == nil {
			l.loaded = append(l.loaded, lib)
		}
	}
	return len(l.loaded) > before
}

// close gives up all that was loaded.
func (l *libraries) close() {
	for _, lib := range slices.Backward(l.loaded) {
		lib.Close()
	}
}

// open loads a component.
func (c component) open(major int, folders []string) (*library.Library, error) {
	return library.Open(c.name, c.soname[major], folders, c.functions...)
}

// loadBuiltins loads the library that NVRTC opens by name when it compiles, because that of CUDA 13
// does not search its own folder. Where there is none NVRTC reports it.
func (l *libraries) loadBuiltins() error {
	soname := "libnvrtc-builtins.so." + nvrtcVersion(l.nvrtc)
	lib, err := library.Open("NVRTC", soname, []string{filepath.Dir(l.nvrtc.Path)})
	if err != nil {
		if library.Missing(err) {
			return nil
		}
		return err
	}
	l.loaded = append(l.loaded, lib)
	return nil
}

// nvrtcVersion is such as "12.6".
func nvrtcVersion(l *library.Library) string {
	var major, minor int32
	if l.Call("nvrtcVersion", uintptr(unsafe.Pointer(&major)), uintptr(unsafe.Pointer(&minor))) != 0 {
		return ""
	}
	return fmt.Sprintf("%d.%d", major, minor)
}

// Libraries returns the libraries that were found on this machine, without opening a device: the
// driver first, then NVIDIA's.
func Libraries() []Found {
	api := binding()
	err := api.Init()
	found := Found{Name: "driver", Path: driver.Path()}
	if found.Path != "" {
		found.Version = cudaVersion(api.Version())
	}
	if err != nil {
		found.Problem, found.Absent = driverProblem(err), absent(err)
	}
	out := []Found{found}
	l := loadLibraries(api.Version())
	for _, c := range []struct {
		component
		lib *library.Library
	}{{compiler, l.nvrtc}, {products, l.blas}, {solvers, l.solver}} {
		switch {
		case c.lib == nil:
			out = append(out, Found{Name: c.name, Problem: l.missing[c.name].Error()})
		case c.property == "":
			out = append(out, Found{Name: c.name, Path: c.lib.Path, Version: nvrtcVersion(c.lib)})
		default:
			out = append(out, Found{Name: c.name, Path: c.lib.Path, Version: orUnknown(c.lib.Version(c.property))})
		}
	}
	return out
}

// absent is [Found.Absent] of an error of the driver.
func absent(err error) bool {
	visible := os.Getenv("CUDA_VISIBLE_DEVICES")
	return errors.Is(err, driver.ErrNoDriver) || errors.Is(err, driver.NoDevice) && (visible == "" || visible == "-1")
}

// cudaVersion writes a version such as 12040.
func cudaVersion(v int) string { return fmt.Sprintf("CUDA %d.%d", v/1000, v%1000/10) }
