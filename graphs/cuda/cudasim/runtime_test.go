package cudasim_test

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"
)

// TestInsideGo loads the libraries into a Go process, where kernels and their
// faults must not disturb the runtime, which has signal handlers of its own
// and preempts threads with signals.
func TestInsideGo(t *testing.T) {
	dir := libraries(t)
	load := func(name string) uintptr {
		h, err := purego.Dlopen(filepath.Join(dir, name), purego.RTLD_NOW|purego.RTLD_GLOBAL)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	cuda, nvrtc := load("libcuda.so"), load("libnvrtc.so")
	var (
		initialise  func(uint32) int32
		create      func(*uintptr, uint32, int32) int32
		destroy     func(uintptr) int32
		synchronise func() int32
		alloc       func(*uintptr, uintptr) int32
		moduleLoad  func(*uintptr, *byte) int32
		function    func(*uintptr, uintptr, string) int32
		lastError   func(*byte, uintptr) uintptr
		program     func(*uintptr, string, string, int32, uintptr, uintptr) int32
		compile     func(uintptr, int32, uintptr) int32
		size        func(uintptr, *uintptr) int32
		ptx         func(uintptr, *byte) int32
	)
	for name, f := range map[string]any{"cuInit": &initialise, "cuCtxCreate_v2": &create, "cuCtxDestroy_v2": &destroy,
		"cuCtxSynchronize": &synchronise, "cuMemAlloc_v2": &alloc, "cuModuleLoadData": &moduleLoad,
		"cuModuleGetFunction": &function, "cudasim_last_error": &lastError} {
		purego.RegisterLibFunc(f, cuda, name)
	}
	for name, f := range map[string]any{"nvrtcCreateProgram": &program, "nvrtcCompileProgram": &compile,
		"nvrtcGetPTXSize": &size, "nvrtcGetPTX": &ptx} {
		purego.RegisterLibFunc(f, nvrtc, name)
	}
	launch, err := purego.Dlsym(cuda, "cuLaunchKernel")
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string, status int32) {
		t.Helper()
		if status != 0 {
			t.Fatalf("%s: status %d", what, status)
		}
	}

	// A context is current on one thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	check("cuInit", initialise(0))
	var p, length uintptr
	check("nvrtcCreateProgram", program(&p, `
extern "C" __global__ void f(double *x, int at) {
  __shared__ double s[64];
  s[threadIdx.x] = threadIdx.x;
  for (int i = 0; i < 1000; i++) __syncthreads();
  x[threadIdx.x + at] = s[63 - threadIdx.x];
}`, "f.cu", 0, 0, 0))
	check("nvrtcCompileProgram", compile(p, 0, 0))
	check("nvrtcGetPTXSize", size(p, &length))
	image := make([]byte, length)
	check("nvrtcGetPTX", ptx(p, &image[0]))

	// Meanwhile other goroutines keep the collector and the scheduler busy.
	stop := make(chan struct{})
	var others sync.WaitGroup
	for range 2 {
		others.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					runtime.GC()
				}
			}
		})
	}
	run := func(at int32) (int32, string) {
		var c, m, f, x uintptr
		check("cuCtxCreate", create(&c, 0, 0))
		defer destroy(c)
		check("cuModuleLoadData", moduleLoad(&m, &image[0]))
		check("cuModuleGetFunction", function(&f, m, "f"))
		check("cuMemAlloc", alloc(&x, 64*8))
		params := []unsafe.Pointer{unsafe.Pointer(&x), unsafe.Pointer(&at)}
		var pin runtime.Pinner
		defer pin.Unpin()
		pin.Pin(&x)
		pin.Pin(&at)
		status, _, _ := purego.SyscallN(launch, f, 20, 1, 1, 64, 1, 1, 0, 0, uintptr(unsafe.Pointer(&params[0])), 0)
		check("cuLaunchKernel", int32(status))
		result := synchronise()
		text := make([]byte, 512)
		n := lastError(&text[0], uintptr(len(text)))
		return result, string(text[:n])
	}
	for range 3 {
		if status, text := run(0); status != 0 {
			t.Errorf("status %d: %s", status, text)
		}
		if status, text := run(1 << 12); status != 700 || !strings.Contains(text, "touches") {
			t.Errorf("an illegal address gives status %d: %s", status, text)
		}
	}
	close(stop)
	others.Wait()

	// The runtime still turns its own faults into panics.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if recover() == nil {
			t.Error("a nil dereference did not panic")
		}
	}()
	var none *int
	*none = os.Getpid()
}
