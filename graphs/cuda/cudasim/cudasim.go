// Package cudasim builds a simulated CUDA for tests: shared libraries with the names and the C
// interfaces of the driver, NVRTC, cuBLAS and cuSOLVER that compute on the CPU. A program linked
// against CUDA, or one that loads it at run time, runs on them unchanged; only g++ is needed, no
// CUDA header and no GPU.
//
// # Simulated parts
//
//   - Memory. Device addresses come from a table of live allocations. Copies
//     that leave one fail with CUDA_ERROR_INVALID_VALUE, as does a second free.
//     New memory holds NaN bytes, so that reading before writing shows; freed
//     memory cannot be touched any more; a kernel that writes outside an
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
//     as by NVRTC, unless --fmad=false; __dmul_rn and its like never are.
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
//     each other by atomic operations and fences are not understood: their exchange is
//     reported.
//   - Errors. Those of a kernel stick to its context: every later call returns
//     them. Calls without a current context, stale handles, launches beyond the
//     limits of a device, and PTX newer than the driver fail as they do there.
//   - Libraries. Those of CUDA 13 refuse devices before compute capability 7.5. cuBLAS and
//     cuSOLVER have the functions for real matrices that
//     this project uses, on the handle's stream, with the documented info values.
//     Eigen-decompositions of batches are in CUDA 13's cuSOLVER alone; NVIDIA's has them
//     from CUDA 12.6 on.
//     All other symbols that gorgonia.org/cu links are there and report
//     "not supported".
//
// # Limits
//
// Speed; divergence inside a warp beyond its exchanges; coalescing and bank conflicts; register
// pressure; the rounding of NVIDIA's libraries and of fast-math functions; all that the real
// compiler contracts (2*(a*b), which becomes a*b + a*b, and products that are used more than once),
// and whether it takes the source (g++ differs in corners). Programs that pass here still have to
// pass on a device.
//
// # Settings and faults
//
// They are environment variables, read by cuInit unless stated otherwise:
//
//	CUDASIM_DEVICES=n       number of devices (1); with 0, cuInit returns CUDA_ERROR_NO_DEVICE
//	CUDA_VISIBLE_DEVICES    as for the real driver; empty hides all
//	CUDASIM_MEMORY=bytes    memory of each device (4 GiB); beyond it, CUDA_ERROR_OUT_OF_MEMORY
//	CUDASIM_CC=9.0          compute capability
//	CUDASIM_DRIVER=12080    version of the driver
//	CUDASIM_NVRTC=12080     version of NVRTC, cuBLAS and cuSOLVER, read at each call (12080 for
//	                        those of CUDA 12, 13000 for those of CUDA 13)
//	CUDASIM_LOST_AFTER=n    after n launches the device is lost: CUDA_ERROR_LAUNCH_FAILED for good
//	CUDASIM_FAIL=f=e@n,...  function f of the driver, as libcuda exports it, fails with error e,
//	                        after n calls that do not (0)
//	CUDASIM_SHARED=file     processes with the same file have the same devices: their memory
//	                        together is bounded by CUDASIM_MEMORY
//	CUDASIM_COMPUTE_MODE=m  default; exclusive, where one process of those with the same
//	                        CUDASIM_SHARED can have a context; prohibited
//	CUDASIM_MIG=1g.10gb     the devices are such slices of GPUs in MIG mode
//	CUDASIM_PTX=dir         PTX of the real compiler, which is not understood, is replaced: a
//	                        module that equals dir/NAME.ptx by dir/NAME.sim
//	CUDASIM_ORDER=order     forward; reverse; random:SEED, where every launch, block and stretch
//	                        between barriers has an order of its own; random takes a seed from the
//	                        clock, and prints it
//	CUDASIM_CHECK=races     look for races; read whenever a kernel is compiled or launched
//	CUDASIM_LOG=1           errors in words on standard error
//	CUDASIM_CACHE=dir       keep compiled kernels there, by hash of their source (cache, beside
//	                        the libraries)
//	CUDASIM_CXX=g++         compiler for kernels
//
// libcuda exports two functions in addition to the driver's:
//
//	size_t cudasim_report(char *text, size_t size)      counts, "name value" a line
//	size_t cudasim_last_error(char *text, size_t size)  the last error in words
//
// The names that cudasim_report gives are live_allocations, live_bytes, live_contexts,
// live_streams, live_events, live_modules, pending (operations that nothing has waited for),
// allocations, leaked_allocations (alive when their context ended), launches, library_calls,
// copies_to_device, copies_to_host, graph_launches, graph_nodes (of which launches has none),
// live_graphs, copies_on_device, bytes_to_device, bytes_to_host,
// synchronisations, bad_frees, guard_violations, modules and checked_accesses (looked at for
// races).
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

// ErrNoCompiler reports that the libraries cannot be built on this machine.
var ErrNoCompiler = errors.New("the CUDA simulator needs g++ on Linux, to compile its libraries and the kernels")

// library is a library with one source, as one shared object for each version of CUDA.
type library struct {
	name    string
	sonames map[int]string // by CUDA's major version; the driver has one for all
	sources []string
	links   map[int][]string
	newer   string // a source with functions of CUDA 13's alone
}

// majors are the versions of CUDA of the libraries.
var majors = []int{12, 13}

// The driver comes first: the others link it, since devices live there. cuSOLVER links
// cuBLAS, as the real one does.
var libraries = []library{
	{"libcuda.so", map[int]string{12: "libcuda.so.1"},
		[]string{"driver.cpp", "faults.cpp", "fiber.cpp", "races.cpp", "compile.cpp", "errors.cpp", "unsupported_cuda.cpp"},
		map[int][]string{12: {"-ldl", "-lpthread"}}, ""},
	{"libnvrtc.so", map[int]string{12: "libnvrtc.so.12", 13: "libnvrtc.so.13"},
		[]string{"nvrtc.cpp", "compile.cpp"},
		map[int][]string{12: {"-ldl", "-lpthread"}, 13: {"-ldl", "-lpthread"}}, ""},
	{"libcublas.so", map[int]string{12: "libcublas.so.12", 13: "libcublas.so.13"},
		[]string{"cublas.cpp", "unsupported_cublas.cpp"},
		map[int][]string{12: {"-l:libcuda.so.1"}, 13: {"-l:libcuda.so.1"}}, ""},
	{"libcusolver.so", map[int]string{12: "libcusolver.so.11", 13: "libcusolver.so.12"},
		[]string{"cusolver.cpp"},
		map[int][]string{12: {"-l:libcuda.so.1", "-l:libcublas.so.12"}, 13: {"-l:libcuda.so.1", "-l:libcublas.so.13"}},
		"cusolver_batched.cpp"},
}

// Build compiles the libraries into dir, which it makes: the driver, and those of CUDA 12 and of
// CUDA 13 under their sonames, with symbolic links for the names that linkers use, to those of CUDA
// 12. It takes some fifteen seconds of processor time; a dir that holds the result of the same
// sources is left as it is. The error is ErrNoCompiler where there is no g++.
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
	// The libraries compile kernels with these headers, and look for them in their own folder.
	for _, header := range []string{"prelude.h", "kernel.h"} {
		text, err := fs.ReadFile(embedded, header)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, header), text, 0o666); err != nil {
			return err
		}
	}
	errs := make([]error, len(libraries))
	var wait sync.WaitGroup
	for i, l := range libraries {
		wait.Go(func() { errs[i] = l.compile(compiler, src) })
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for _, l := range libraries {
		for _, major := range majors {
			if l.sonames[major] == "" {
				continue
			}
			if err := l.link(compiler, src, dir, major); err != nil {
				return err
			}
		}
	}
	return os.WriteFile(stamp, []byte(sum), 0o666)
}

// folder is where the objects of a library are compiled: libraries share sources.
func (l library) folder(src string) string {
	return filepath.Join(src, strings.TrimSuffix(l.name, ".so"))
}

// compile compiles the sources.
func (l library) compile(compiler, src string) error {
	if err := os.Mkdir(l.folder(src), 0o777); err != nil {
		return err
	}
	args := []string{"-std=c++17", "-O1", "-fPIC", "-U_FORTIFY_SOURCE", "-c"}
	if l.name == "libcublas.so" || l.name == "libcusolver.so" {
		args = append(args, "-march=native")
	}
	for _, s := range l.sources {
		args = append(args, filepath.Join(src, s))
	}
	return l.run(l.folder(src), compiler, args...)
}

// link makes the shared object for a version of CUDA.
func (l library) link(compiler, src, dir string, major int) error {
	soname := l.sonames[major]
	partial := filepath.Join(dir, soname+".partial")
	args := []string{"-std=c++17", "-O1", "-fPIC", "-shared", "-Wl,-soname," + soname, "-Wl,-rpath,$ORIGIN", "-o", partial,
		fmt.Sprintf("-DCUDASIM_MAJOR=%d", major), filepath.Join(src, "version.cpp")}
	for _, s := range l.sources {
		args = append(args, filepath.Join(l.folder(src), strings.TrimSuffix(s, ".cpp")+".o"))
	}
	if l.newer != "" && major == 13 {
		args = append(args, filepath.Join(src, l.newer))
	}
	if err := l.run(dir, compiler, append(append(args, "-L"+dir), l.links[major]...)...); err != nil {
		return err
	}
	if err := os.Rename(partial, filepath.Join(dir, soname)); err != nil || major != majors[0] {
		return err
	}
	link := filepath.Join(dir, l.name)
	if err := os.Remove(link); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Symlink(soname, link)
}

// run runs the compiler in a folder.
func (l library) run(dir, compiler string, args ...string) error {
	cmd := exec.Command(compiler, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("cudasim: compiling %s: %w\n%s", l.name, err, bytes.TrimSpace(out))
	}
	return nil
}

// digest is the SHA-256 of all sources and of the compiler's version.
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
