// Package cudasim builds a simulated CUDA for tests: shared libraries with the
// names and the C interfaces of the driver, NVRTC, cuBLAS and cuSOLVER that
// compute on the CPU. A program linked against CUDA, or one that loads it at
// run time, runs on them unchanged; only g++ is needed, no CUDA header and no
// GPU.
//
// # What is simulated
//
//   - Memory. Device addresses come from a table of live allocations. Copies
//     that leave one fail with CUDA_ERROR_INVALID_VALUE, as does a second free.
//     New memory holds NaN bytes, so that reading before writing shows; freed
//     memory cannot be touched any more; a kernel that writes beside an
//     allocation, or uses a host address, ends with CUDA_ERROR_ILLEGAL_ADDRESS.
//     Work areas of libraries and shared memory hold NaN bytes at first too.
//   - Order. A stream is a queue whose work runs only when something waits for
//     it: a synchronisation of stream, event or context, or a synchronous copy,
//     which waits for the legacy default stream and the blocking streams. A
//     missing wait therefore shows as stale or NaN data, every time. Asynchronous
//     copies read pinned host memory and write all host memory when they run.
//   - Kernels. NVRTC programs are compiled by g++ behind a prelude that makes
//     CUDA C++ host-compilable; compiler errors come from nvrtcCompileProgram.
//     Threads of a block have stacks of their own where they meet at
//     __syncthreads or in a warp's exchange; a barrier that some threads of the
//     block do not reach, or reach elsewhere, ends the kernel with
//     CUDA_ERROR_ILLEGAL_INSTRUCTION. Indices outside of arrays of known size,
//     and integer divisions by zero, end it with CUDA_ERROR_LAUNCH_FAILED.
//   - Arithmetic. That of IEEE, with products and sums contracted to fused multiply-adds
//     as by NVRTC, unless --fmad=false says otherwise; __dmul_rn and its like never are.
//     A result that depends on which product is fused shows here: a*a + b*b is not
//     symmetric. On a processor without the instruction nothing is contracted.
//   - Schedule. Blocks run one after another, and so do the threads of a block between two
//     barriers: the first first, the last first, or in a random order (CUDASIM_ORDER).
//     Results of a kernel without races do not depend on it.
//   - Races. With CUDASIM_CHECK=races every access of a kernel is looked at. Two threads of
//     a block that access a byte without a barrier between them, one of them writing, end
//     the kernel with CUDA_ERROR_LAUNCH_FAILED; so do two blocks of a launch. The message
//     has the kernel, the array or the address, the threads, the barrier before, and the
//     source line. Lanes of a warp are ordered by __syncwarp, not by shuffles or by running
//     in step. Atomic operations do not race with each other, and threads may write
//     what is there already to memory of the device, such as a flag. Blocks that wait for
//     each other by atomic operations and fences are not understood: what they exchange is
//     reported.
//   - Errors. Those of a kernel stick to its context: every later call returns
//     them. Calls without a current context, stale handles, launches beyond the
//     limits of a device, and PTX newer than the driver fail as they do there.
//   - Libraries. cuBLAS and cuSOLVER have the functions for real matrices that
//     this project uses, on the handle's stream, with the documented info values.
//     All other symbols that gorgonia.org/cu links are there and report
//     "not supported".
//
// # What it cannot show
//
// Speed; divergence inside a warp beyond its exchanges; coalescing and bank
// conflicts; register pressure; the rounding of NVIDIA's libraries and of
// fast-math functions; all that the real compiler contracts (2*(a*b), which
// becomes a*b + a*b, and products that are used more than once), and whether it
// takes the source (g++ differs in corners). What passes here still has to pass on
// a device.
//
// # Settings and faults
//
// They are environment variables, read by cuInit unless said otherwise:
//
//	CUDASIM_DEVICES=n       number of devices (1); with 0, cuInit says CUDA_ERROR_NO_DEVICE
//	CUDA_VISIBLE_DEVICES    as for the real driver; empty hides all
//	CUDASIM_MEMORY=bytes    memory of each device (4 GiB); beyond it, CUDA_ERROR_OUT_OF_MEMORY
//	CUDASIM_CC=9.0          compute capability
//	CUDASIM_DRIVER=12080    version of the driver
//	CUDASIM_NVRTC=12080     version of NVRTC and cuBLAS, read at each call
//	CUDASIM_LOST_AFTER=n    after n launches the device is lost: CUDA_ERROR_LAUNCH_FAILED for good
//	CUDASIM_ORDER=order     forward; reverse; random:SEED, where every launch, block and stretch
//	                        between barriers has an order of its own; random takes a seed from the
//	                        clock, and prints it
//	CUDASIM_CHECK=races     look for races; read whenever a kernel is compiled or launched
//	CUDASIM_LOG=1           errors in words on standard error
//	CUDASIM_CACHE=dir       keep compiled kernels there, by hash of their source (cache, beside
//	                        the libraries)
//	CUDASIM_CXX=g++         compiler for kernels
//
// libcuda exports two functions beside the driver's:
//
//	size_t cudasim_report(char *text, size_t size)      counts, "name value" a line
//	size_t cudasim_last_error(char *text, size_t size)  the last error in words
//
// The names that cudasim_report gives are live_allocations, live_bytes,
// live_contexts, live_streams, live_events, live_modules, pending (operations
// that nothing has waited for), allocations, leaked_allocations (alive when their
// context ended), launches, library_calls, copies_to_device, copies_to_host,
// copies_on_device, bytes_to_device, bytes_to_host, synchronisations, bad_frees,
// guard_violations, modules and checked_accesses (looked at for races).
package cudasim

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

//go:embed src
var sources embed.FS

// ErrNoCompiler says that the libraries cannot be built on this machine.
var ErrNoCompiler = errors.New("the CUDA simulator needs g++ on Linux, to compile its libraries and the kernels")

// library is one shared object: its soname, other names it is found by, and
// what it is made of.
type library struct {
	soname  string
	names   []string
	sources []string
	links   []string
}

// The driver comes first: the others link it, since devices live there.
var libraries = []library{
	{"libcuda.so.1", []string{"libcuda.so"},
		[]string{"driver.cpp", "fiber.cpp", "races.cpp", "compile.cpp", "errors.cpp", "unsupported_cuda.cpp"},
		[]string{"-ldl", "-lpthread"}},
	{"libnvrtc.so.12", []string{"libnvrtc.so.13", "libnvrtc.so"},
		[]string{"nvrtc.cpp", "compile.cpp"}, []string{"-ldl", "-lpthread"}},
	{"libcublas.so.12", []string{"libcublas.so.13", "libcublas.so"},
		[]string{"cublas.cpp", "unsupported_cublas.cpp"}, []string{"-l:libcuda.so.1"}},
	{"libcusolver.so.11", []string{"libcusolver.so.12", "libcusolver.so"},
		[]string{"cusolver.cpp"}, []string{"-l:libcuda.so.1"}},
}

// Build compiles the libraries into dir, which it makes, under the sonames
// libcuda.so.1, libnvrtc.so.12, libcublas.so.12 and libcusolver.so.11, with
// symbolic links for the names that linkers and CUDA 13 use. It takes some fifteen
// seconds of processor time; a dir that holds what the same sources gave is left as it is. The
// error is ErrNoCompiler where there is no g++.
func Build(dir string) error {
	if runtime.GOOS != "linux" {
		return fmt.Errorf("%w (this is %s)", ErrNoCompiler, runtime.GOOS)
	}
	compiler, err := exec.LookPath("g++")
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoCompiler, err)
	}
	dir, err = filepath.Abs(dir)
	if err != nil {
		return err
	}
	sum, err := digest(compiler)
	if err != nil {
		return err
	}
	stamp := filepath.Join(dir, "sources.sha256")
	if was, err := os.ReadFile(stamp); err == nil && string(was) == sum {
		return nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	src, err := os.MkdirTemp("", "cudasim-src-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(src)
	embedded, err := fs.Sub(sources, "src")
	if err != nil {
		return err
	}
	if err := os.CopyFS(src, embedded); err != nil {
		return err
	}
	// The libraries compile kernels behind these, and look for them beside themselves.
	for _, header := range []string{"prelude.h", "kernel.h"} {
		text, err := fs.ReadFile(embedded, header)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, header), text, 0o666); err != nil {
			return err
		}
	}
	if err := libraries[0].build(compiler, src, dir); err != nil {
		return err
	}
	errs := make([]error, len(libraries))
	var wait sync.WaitGroup
	for i := 1; i < len(libraries); i++ {
		wait.Go(func() { errs[i] = libraries[i].build(compiler, src, dir) })
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return os.WriteFile(stamp, []byte(sum), 0o666)
}

func (l library) build(compiler, src, dir string) error {
	args := []string{"-std=c++17", "-O1", "-fPIC", "-shared", "-U_FORTIFY_SOURCE", "-Wl,-soname," + l.soname,
		"-Wl,-rpath,$ORIGIN"}
	if strings.HasPrefix(l.soname, "libcu") && l.soname != libraries[0].soname {
		args = append(args, "-march=native") // the libraries of linear algebra
	}
	partial := filepath.Join(dir, l.soname+".partial")
	args = append(args, "-o", partial)
	for _, s := range l.sources {
		args = append(args, filepath.Join(src, s))
	}
	args = append(append(args, "-L"+dir), l.links...)
	out, err := exec.Command(compiler, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("cudasim: compiling %s: %w\n%s", l.soname, err, bytes.TrimSpace(out))
	}
	if err := os.Rename(partial, filepath.Join(dir, l.soname)); err != nil {
		return err
	}
	for _, name := range l.names {
		link := filepath.Join(dir, name)
		if err := os.Remove(link); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := os.Symlink(l.soname, link); err != nil {
			return err
		}
	}
	return nil
}

// digest is the SHA-256 of all sources and of what the compiler calls itself.
func digest(compiler string) (string, error) {
	h := sha256.New()
	version, err := exec.Command(compiler, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("cudasim: asking %s for its version: %w", compiler, err)
	}
	fmt.Fprintf(h, "%s\n%v\n", version, libraries)
	err = fs.WalkDir(sources, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := sources.ReadFile(path)
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%s %d\n", path, len(text))
		h.Write(text)
		return nil
	})
	return hex.EncodeToString(h.Sum(nil)), err
}
