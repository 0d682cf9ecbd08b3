//go:build linux && (amd64 || arm64)

package cuda

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"gorgonia.org/tensor"

	"privkern/graphs/cuda/driver"
	"privkern/graphs/cuda/kernels"
	"privkern/graphs/cuda/library"
)

// checkKernels refuses a program whose launches do not agree with the kernels'
// source.
func checkKernels() error {
	source, err := kernels.Source()
	if err != nil {
		return err
	}
	return kernels.Check(source, kernels.All())
}

// module is the kernels in one precision, or why there are none.
type module struct {
	err    error
	handle driver.Module

	mu        sync.Mutex
	functions map[string]driver.Function
}

// function looks a kernel up, once.
func (m *module) function(api driver.API, name string) (driver.Function, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if f, ok := m.functions[name]; ok {
		return f, nil
	}
	f, err := api.Function(m.handle, name)
	if err != nil {
		return f, fmt.Errorf("there is no kernel %s: %w", name, err)
	}
	m.functions[name] = f
	return f, nil
}

// module compiles the kernels for an element type once, or takes them from the
// cache.
func (g *gpu) module(dtype tensor.Dtype) (*module, error) {
	g.building.Lock()
	defer g.building.Unlock()
	m := g.modules[dtype]
	if m == nil {
		m = &module{functions: map[string]driver.Function{}}
		if m.handle, m.err = g.load(dtype); g.gone() != nil {
			return nil, g.gone()
		}
		g.modules[dtype] = m
	}
	return m, m.err
}

// load compiles the kernels and loads them. NVRTC compiles to machine code of the device
// (SASS) where it knows the architecture, and to PTX, which the driver finishes, where the
// device is newer. The result is cached in the user's cache folder. Without NVRTC the
// driver compiles the PTX that the program holds, and caches it itself.
func (g *gpu) load(dtype tensor.Dtype) (none driver.Module, err error) {
	if g.libs.nvrtc == nil {
		image, err := precompiled(dtype == tensor.Float32)
		if err != nil {
			return none, err
		}
		loaded, err := g.api.Load(image)
		return loaded, g.failed("loading the kernels", err)
	}
	source, err := kernels.Source()
	if err != nil {
		return none, err
	}
	options, binary := compileOptions(dtype), true
	arch := g.info.Major*10 + g.info.Minor
	nvrtc := compilerOf{g.libs.nvrtc}
	supported, err := nvrtc.architectures()
	if err != nil {
		return none, err
	}
	if slices.Contains(supported, arch) {
		options = append(options, fmt.Sprintf("--gpu-architecture=sm_%d", arch))
	} else {
		// A newer device than the compiler knows: the driver compiles the rest.
		newest := 0
		for _, a := range supported {
			if a <= arch {
				newest = max(newest, a)
			}
		}
		if newest == 0 {
			return none, fmt.Errorf("NVRTC %s does not support compute capability %d.%d of %s: install CUDA 12",
				g.info.Compiler, g.info.Major, g.info.Minor, g.info.Name)
		}
		options, binary = append(options, fmt.Sprintf("--gpu-architecture=compute_%d", newest)), false
	}
	file, unwritable := cacheFile(source, options, g.info)
	image := readCache(file)
	cached := image != nil
	if !cached {
		if image, err = nvrtc.compile(source, options, binary); err != nil {
			return none, err
		}
	}
	loaded, err := g.api.Load(image)
	if err != nil && cached { // a damaged file, say
		if image, err = nvrtc.compile(source, options, binary); err != nil {
			return none, err
		}
		cached = false
		loaded, err = g.api.Load(image)
	}
	if err != nil {
		return none, g.failed("loading the kernels", err)
	}
	if !cached {
		if unwritable == nil {
			unwritable = writeCache(file, image)
		}
		noteCache(unwritable)
	}
	return loaded, nil
}

// precompiled is the PTX that the program holds; tests on a simulated device, which runs
// none, set another.
var precompiled = kernels.Precompiled

// PTX compiles all kernels with the machine's NVRTC for devices of a compute capability,
// such as 70 for 7.0, and newer ones. It needs no device.
func PTX(single bool, capability int) ([]byte, error) {
	libs := loadLibraries(binding().Version())
	if libs.nvrtc == nil {
		return nil, libs.missing[compiler.name]
	}
	source, err := kernels.Source()
	if err != nil {
		return nil, err
	}
	dtype := tensor.Float64
	if single {
		dtype = tensor.Float32
	}
	options := append(compileOptions(dtype), fmt.Sprintf("--gpu-architecture=compute_%d", capability))
	return compilerOf{libs.nvrtc}.compile(source, options, false)
}

// compileOptions chooses the element type of all kernels. None relaxes arithmetic:
// division and square root are those of IEEE, by NVRTC's defaults.
func compileOptions(dtype tensor.Dtype) []string {
	if dtype == tensor.Float32 {
		return []string{"-DREAL=float", "-DSINGLE=1"}
	}
	return []string{"-DREAL=double", "-DSINGLE=0"}
}

// compilerOf is NVRTC.
type compilerOf struct{ *library.Library }

// architectures are the compute capabilities that NVRTC compiles for, such as
// 90 for 9.0.
func (c compilerOf) architectures() ([]int, error) {
	var n int32
	if status := c.Call("nvrtcGetNumSupportedArchs", uintptr(unsafe.Pointer(&n))); status != 0 || n <= 0 {
		return nil, fmt.Errorf("NVRTC (%s) does not say what it compiles for: status %d", c.Path, status)
	}
	raw := make([]int32, n)
	if status := c.Call("nvrtcGetSupportedArchs", uintptr(unsafe.Pointer(&raw[0]))); status != 0 {
		return nil, fmt.Errorf("NVRTC (%s) does not say what it compiles for: status %d", c.Path, status)
	}
	archs := make([]int, n)
	for i, a := range raw {
		archs[i] = int(a)
	}
	return archs, nil
}

// compile compiles CUDA C to device code, or to PTX.
func (c compilerOf) compile(source string, options []string, binary bool) ([]byte, error) {
	image, _, err := c.compileLogged(source, options, binary)
	return image, err
}

// compileLogged also returns what the compiler says about a source that it takes.
func (c compilerOf) compileLogged(source string, options []string, binary bool) (image []byte, said string, err error) {
	text, name := cString(source), cString("kernels.cu")
	var program uintptr
	if status := c.Call("nvrtcCreateProgram", uintptr(unsafe.Pointer(&program)), uintptr(unsafe.Pointer(&text[0])),
		uintptr(unsafe.Pointer(&name[0])), 0, 0, 0); status != 0 {
		return nil, "", fmt.Errorf("NVRTC: the kernels cannot be read: status %d", status)
	}
	defer func() { c.Call("nvrtcDestroyProgram", uintptr(unsafe.Pointer(&program))) }()
	status, err := c.compileProgram(program, options)
	if err != nil {
		return nil, "", err
	}
	log, _ := c.fetch(program, "nvrtcGetProgramLogSize", "nvrtcGetProgramLog")
	said = string(bytes.TrimRight(log, "\x00\n"))
	if status != 0 {
		return nil, said, fmt.Errorf("NVRTC (%s) cannot compile the kernels with %s: status %d\n%s", c.Path,
			strings.Join(options, " "), status, said)
	}
	if binary {
		image, err = c.fetch(program, "nvrtcGetCUBINSize", "nvrtcGetCUBIN")
	} else {
		image, err = c.fetch(program, "nvrtcGetPTXSize", "nvrtcGetPTX")
	}
	return image, said, err
}

// compileProgram passes the options as an array of C strings, which must stay
// where it is during the call.
func (c compilerOf) compileProgram(program uintptr, options []string) (int, error) {
	texts := make([][]byte, len(options))
	addresses := make([]*byte, len(options))
	for i, o := range options {
		texts[i] = cString(o)
		addresses[i] = &texts[i][0]
	}
	if len(options) == 0 {
		return 0, errors.New("no compiler options")
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	for _, a := range addresses {
		pin.Pin(a)
	}
	return c.Call("nvrtcCompileProgram", program, uintptr(len(options)), uintptr(unsafe.Pointer(&addresses[0]))), nil
}

// fetch returns a result of the compiler whose size one function says.
func (c compilerOf) fetch(program uintptr, size, content string) ([]byte, error) {
	var n uint64
	if status := c.Call(size, program, uintptr(unsafe.Pointer(&n))); status != 0 || n == 0 {
		return nil, fmt.Errorf("NVRTC: %s: status %d", size, status)
	}
	data := make([]byte, n)
	if status := c.Call(content, program, uintptr(unsafe.Pointer(&data[0]))); status != 0 {
		return nil, fmt.Errorf("NVRTC: %s: status %d", content, status)
	}
	return data, nil
}

// cString is s with the zero byte that ends a string of C.
func cString(s string) []byte { return append([]byte(s), 0) }

// cacheFile is where the compiled kernels are kept, or why nowhere. The name has the
// device's architecture and a digest of compiler, options and source, so that another
// program version never finds it.
func cacheFile(source string, options []string, i Info) (string, error) {
	folder, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n%s", i.Compiler, strings.Join(options, " "), source)
	return filepath.Join(folder, "privkern", "cuda",
		fmt.Sprintf("sm%d%d-%s.bin", i.Major, i.Minor, hex.EncodeToString(h.Sum(nil))[:24])), nil
}

// unkept is why compiled kernels of this process are not kept.
var unkept atomic.Pointer[error]

func noteCache(err error) {
	if err != nil {
		err = fmt.Errorf("compiled kernels cannot be kept (%w): every process compiles them again, for some seconds; set "+
			"XDG_CACHE_HOME to a folder that can be written", err)
		unkept.CompareAndSwap(nil, &err)
	}
}

// CacheProblem is why the kernels that this process compiled could not be kept for the
// next one, nil where they were kept or found.
func CacheProblem() error {
	if err := unkept.Load(); err != nil {
		return *err
	}
	return nil
}

// A cached file begins with the SHA-256 of the rest. readCache returns what was kept,
// nil where there is nothing or a damaged file.
func readCache(file string) []byte {
	if file == "" {
		return nil
	}
	data, err := os.ReadFile(file)
	if err != nil || len(data) <= sha256.Size {
		return nil
	}
	if sum := sha256.Sum256(data[sha256.Size:]); !bytes.Equal(sum[:], data[:sha256.Size]) {
		return nil
	}
	return data[sha256.Size:]
}

// writeCache keeps compiled kernels. It writes a temporary file and renames it: another
// process reads all of it or none.
func writeCache(file string, image []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	temporary, err := os.CreateTemp(filepath.Dir(file), "kernels-*")
	if err != nil {
		return err
	}
	sum := sha256.Sum256(image)
	_, err = temporary.Write(append(sum[:], image...))
	if err = errors.Join(err, temporary.Close()); err == nil {
		err = os.Rename(temporary.Name(), file)
	}
	if err != nil {
		_ = os.Remove(temporary.Name()) // the first error counts
	}
	return err
}
