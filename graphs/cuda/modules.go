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
	"privkern/graphs/cuda/library"
	"privkern/graphs/engine"
	"privkern/graphs/kernels"
)

// checkKernels refuses a program whose launches do not agree with the kernels'
// source.
func checkKernels() error {
	var all strings.Builder
	for _, u := range kernels.Units() {
		source, err := kernels.Source(u)
		if err != nil {
			return err
		}
		all.WriteString(source)
	}
	return kernels.Check(all.String(), kernels.All())
}

// part is a unit of the kernels in one precision.
type part struct {
	unit  kernels.Unit
	dtype tensor.Dtype
}

// module is a part of the kernels, or why there is none.
type module struct {
	building sync.Mutex // who holds it compiles; others that need this part wait
	built    bool
	err      error
	handle   driver.Module

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

// module loads a part of the kernels once. Who needs another part does not wait for it.
func (g *gpu) module(p part) (*module, error) {
	g.building.Lock()
	m := g.modules[p]
	if m == nil {
		m = &module{functions: map[string]driver.Function{}}
		g.modules[p] = m
	}
	g.building.Unlock()
	m.building.Lock()
	defer m.building.Unlock()
	if m.built {
		return m, m.err
	}
	handle, err := g.load(p)
	if gone := g.gone(); gone != nil {
		return nil, gone
	}
	if errors.Is(err, engine.ErrOutOfDeviceMemory) { // there may be room later
		return nil, err
	}
	m.handle, m.err, m.built = handle, err, true
	return m, m.err
}

// load loads a part of the kernels: of the program, else of the user's cache folder, and compiles
// those that neither has.
func (g *gpu) load(p part) (none driver.Module, err error) {
	source, err := kernels.Source(p.unit)
	if err != nil {
		return none, err
	}
	loaded, found, why := g.loadHeld(p, source)
	if found {
		return loaded, nil
	}
	if g.gone() != nil || errors.Is(why, engine.ErrOutOfDeviceMemory) {
		return none, why
	}
	if g.libs.nvrtc == nil {
		return none, fmt.Errorf("%w; %w", why, g.libs.missing[compiler.name])
	}
	g.origins.add("compiled by NVRTC "+g.info.Compiler, why)
	c, err := g.compilation(source, p)
	if err != nil {
		return none, err
	}
	if loaded, found := g.loadCached(c); found {
		return loaded, nil
	}
	return g.compile(c)
}

// compilation is a source with its options, and the file of the user's cache folder that keeps the
// result, or the reason why there is none.
type compilation struct {
	source     string
	options    []string
	binary     bool
	file       string
	unwritable error
}

// compilation of a source: NVRTC compiles to machine code of the device (SASS) where it
// knows the architecture, and to PTX, which the driver finishes, where the device is
// newer.
func (g *gpu) compilation(source string, p part) (*compilation, error) {
	c := &compilation{source: source, options: compileOptions(p), binary: true}
	arch := g.info.Major*10 + g.info.Minor
	supported, err := compilerOf{g.libs.nvrtc}.architectures()
	if err != nil {
		return nil, err
	}
	if slices.Contains(supported, arch) {
		c.options = append(c.options, fmt.Sprintf("--gpu-architecture=sm_%d", arch))
	} else {
		// A newer device than the compiler knows: the driver compiles the rest.
		newest := 0
		for _, a := range supported {
			if a <= arch {
				newest = max(newest, a)
			}
		}
		if newest == 0 {
			return nil, fmt.Errorf("NVRTC %s does not support compute capability %d.%d of %s: install CUDA 12",
				g.info.Compiler, g.info.Major, g.info.Minor, g.info.Name)
		}
		c.options, c.binary = append(c.options, fmt.Sprintf("--gpu-architecture=compute_%d", newest)), false
	}
	c.file, c.unwritable = cacheFile(source, c.options, g.info)
	return c, nil
}

// loadCached loads a cached result, and reports whether there was one.
func (g *gpu) loadCached(c *compilation) (driver.Module, bool) { return c.cached(g.api.Load) }

// compile compiles, loads and keeps the result.
func (g *gpu) compile(c *compilation) (driver.Module, error) {
	defer g.announce()()
	return c.alone(func() ([]byte, error) {
		return compilerOf{g.libs.nvrtc}.compile(c.source, c.options, c.binary)
	}, func(image []byte) (driver.Module, error) {
		loaded, err := g.api.Load(image)
		return loaded, g.failed("loading the kernels", err)
	})
}

// compileOptions chooses the element type of the kernels. None relaxes arithmetic:
// division and square root are those of IEEE, by NVRTC's defaults. Functions of single
// elements are not contracted either, so that a chain of them in one kernel has the bits
// of the same functions in a kernel each.
func compileOptions(p part) []string {
	options := []string{"-DREAL=double", "-DSINGLE=0"}
	if p.dtype == tensor.Float32 {
		options = []string{"-DREAL=float", "-DSINGLE=1"}
	}
	if p.unit == kernels.Elements {
		options = append(options, "--fmad=false")
	}
	return options
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

// compileLogged also returns the compiler's log of a valid source.
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

// fetch returns a result of the compiler, whose size a second function returns.
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
	folder, err := cacheFolder()
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n%s", i.Compiler, strings.Join(options, " "), source)
	return filepath.Join(folder, fmt.Sprintf("sm%d%d-%s.bin", i.Major, i.Minor, hex.EncodeToString(h.Sum(nil))[:24])), nil
}

// cacheFolder is the folder of compiled kernels.
func cacheFolder() (string, error) {
	folder, err := os.UserCacheDir()
	return filepath.Join(folder, "privkern", "cuda"), err
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

// A cached file begins with the SHA-256 of the rest. readCache returns the rest, nil where there is
// none or the file is damaged.
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
