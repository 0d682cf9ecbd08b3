//go:build gpu && linux

package cuda

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
	"gorgonia.org/cu"
	"gorgonia.org/tensor"

	"privkern/graphs/cuda/driver"
	"privkern/graphs/engine"
)

// Built says whether the program was built with CUDA.
const Built = true

func init() {
	engine.Register("cuda", func() (engine.Accelerator, error) { return open() })
}

// gpu is one device with its context. All engines of the process share it.
// Its lock guards everything but what open sets once.
type gpu struct {
	info    Info
	context cu.CUContext
	stream  cu.Stream
	libs    *libraries
	blas    uintptr // cuBLAS's handle
	solver  uintptr // cuSOLVER's handle

	mu      sync.Mutex
	modules map[tensor.Dtype]*module
	pool    pool
	pinned  []*chunk // page-locked memory that nobody uses
	users   int
	lost    error // set once the device does not answer any more
}

// The device that the process uses, once one is opened.
var shared struct {
	sync.Mutex
	gpu *gpu
}

// minimum is the oldest compute capability that is supported.
const minimum = 70

// open opens the device that PRIVKERN_DEVICE numbers, by default the first.
func open() (*gpu, error) {
	shared.Lock()
	defer shared.Unlock()
	if shared.gpu == nil {
		g, err := openDevice()
		if err != nil {
			return nil, err
		}
		shared.gpu = g
	}
	g := shared.gpu
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.lost != nil {
		return nil, g.lost
	}
	g.users++
	return g, nil
}

// openDevice checks the kernels, the device, the libraries and the driver in the order
// in which their absence is easiest to explain.
func openDevice() (*gpu, error) {
	if err := checkKernels(); err != nil {
		return nil, err
	}
	count, err := countDevices()
	if err != nil {
		return nil, err
	}
	index := 0
	if set := os.Getenv(engine.DeviceVariable); set != "" {
		index, err = strconv.Atoi(set)
		if err != nil || index < 0 || index >= count {
			return nil, fmt.Errorf("%s is %q: it must be the number of a device, 0 to %d", engine.DeviceVariable, set, count-1)
		}
	}
	g := &gpu{modules: map[tensor.Dtype]*module{}}
	if g.info, err = describe(index); err != nil {
		return nil, err
	}
	if g.info.Major*10+g.info.Minor < minimum {
		return nil, fmt.Errorf("device %d, %s, has compute capability %d.%d; %d.%d or newer is required",
			index, g.info.Name, g.info.Major, g.info.Minor, minimum/10, minimum%10)
	}
	if g.libs, err = loadLibraries(); err != nil {
		return nil, err
	}
	g.info.libraries(g.libs)
	if toolkit := g.libs.nvrtcMajor(); toolkit > g.info.Version/1000 {
		older := ""
		if g.info.Version >= 12000 {
			older = fmt.Sprintf(", or install the CUDA toolkit %d", g.info.Version/1000)
		}
		return nil, fmt.Errorf("the NVIDIA driver knows CUDA %d.%d, the libraries are of CUDA %s: update the driver%s",
			g.info.Version/1000, g.info.Version%1000/10, g.info.Compiler, older)
	}
	d, err := cu.GetDevice(index)
	if err != nil {
		return nil, fmt.Errorf("device %d: %w", index, resultOf(err))
	}
	if g.context, err = d.RetainPrimaryCtx(); err != nil {
		return nil, fmt.Errorf("device %d, %s, cannot be used: %w%s", index, g.info.Name, resultOf(err), advice(err))
	}
	if err := g.call(g.setUp); err != nil {
		_ = d.ReleasePrimaryCtx() // with all that was set up
		return nil, fmt.Errorf("device %d, %s, cannot be used: %w", index, g.info.Name, err)
	}
	return g, nil
}

// setUp makes the stream and the libraries' handles.
func (g *gpu) setUp() (err error) {
	// A stream that keeps the order with synchronous copies.
	if g.stream, err = cu.MakeStream(cu.DefaultStream); err != nil {
		return fmt.Errorf("making a stream: %w%s", resultOf(err), advice(err))
	}
	if status := g.libs.cublas.call("cublasCreate_v2", uintptr(unsafe.Pointer(&g.blas))); status != 0 {
		return fmt.Errorf("cuBLAS cannot be set up: status %d", status)
	}
	stream := uintptr(unsafe.Pointer(g.stream.C()))
	// The default mode: no TF32 in float32 products.
	if status := g.libs.cublas.call("cublasSetMathMode", g.blas, 0); status != 0 {
		return fmt.Errorf("cuBLAS: TF32 cannot be turned off: status %d", status)
	}
	if status := g.libs.cublas.call("cublasSetStream_v2", g.blas, stream); status != 0 {
		return fmt.Errorf("cuBLAS: the stream cannot be set: status %d", status)
	}
	if status := g.libs.cusolver.call("cusolverDnCreate", uintptr(unsafe.Pointer(&g.solver))); status != 0 {
		return fmt.Errorf("cuSOLVER cannot be set up: status %d", status)
	}
	if status := g.libs.cusolver.call("cusolverDnSetStream", g.solver, stream); status != 0 {
		return fmt.Errorf("cuSOLVER: the stream cannot be set: status %d", status)
	}
	return nil
}

// call runs f on a thread with the context. The caller holds the lock, or is
// alone.
func (g *gpu) call(f func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cu.SetCurrentContext(g.context); err != nil {
		return g.failed("making the device's context current", err)
	}
	return f()
}

// failed turns an error of the driver into one of ours. What is not a matter of
// arguments or memory leaves a context that cannot be used any more.
func (g *gpu) failed(what string, err error) error {
	if err == nil {
		return nil
	}
	result := resultOf(err)
	var code driver.Error
	if errors.As(result, &code) {
		switch code {
		case driver.OutOfMemory, driver.InvalidValue, driver.NotReady, driver.NoBinaryForDevice, driver.UnsupportedPTX,
			driver.InvalidImage, driver.NotFound:
		default:
			if g.lost == nil {
				g.lost = fmt.Errorf("device %d, %s: %s: %w: %w; see dmesg for messages (Xid) of the NVIDIA driver", g.info.Index,
					g.info.Name, what, engine.ErrDeviceLost, result)
			}
			return g.lost
		}
	}
	return fmt.Errorf("device %d, %s: %s: %w", g.info.Index, g.info.Name, what, result)
}

// Device returns the device as one executor uses it.
func (g *gpu) Device() engine.Device { return &device{gpu: g} }

// String names device, driver and libraries.
func (g *gpu) String() string { return g.info.String() }

// Close gives free memory back to the driver once no engine uses the device. The
// context stays: it takes long to make, and the next engine is not far.
func (g *gpu) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.users--
	if g.users > 0 || g.lost != nil {
		return nil
	}
	return g.call(func() error { return g.pool.trim() })
}

// Release gives the device back to the machine, with the memory that a context
// takes by itself; the next engine opens it anew. Processes that only looked at
// the device call it before they start others that compute there: a device may be
// set to serve one process at a time. All engines must be closed.
func Release() error {
	shared.Lock()
	defer shared.Unlock()
	g := shared.gpu
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.lost != nil:
		return g.lost
	case g.users > 0:
		return fmt.Errorf("device %d, %s, is given back while %d engines are open", g.info.Index, g.info.Name, g.users)
	}
	err := g.call(func() error {
		err := errors.Join(g.pool.trim(), g.stream.Synchronize())
		for _, c := range g.pinned {
			err = errors.Join(err, cu.MemFreeHost(c.start))
		}
		for _, m := range g.modules {
			if m.err == nil {
				err = errors.Join(err, m.cu.Unload())
			}
		}
		g.libs.cusolver.call("cusolverDnDestroy", g.solver)
		g.libs.cublas.call("cublasDestroy_v2", g.blas)
		return errors.Join(err, g.stream.Destroy())
	})
	shared.gpu = nil
	d, deviceErr := cu.GetDevice(g.info.Index)
	if deviceErr == nil {
		deviceErr = d.ReleasePrimaryCtx()
	}
	if err = errors.Join(err, deviceErr); err != nil {
		return fmt.Errorf("device %d, %s, cannot be given back: %w", g.info.Index, g.info.Name, err)
	}
	return nil
}

// resultOf returns the driver's result in an error of package cu.
func resultOf(err error) error {
	if v := reflect.ValueOf(err); v.IsValid() && v.CanInt() {
		return driver.Error(v.Int())
	}
	return err
}

// advice says what to do about an error when a device is opened.
func advice(err error) string {
	var code driver.Error
	if !errors.As(resultOf(err), &code) {
		return ""
	}
	switch code {
	case driver.NoDevice:
		if set, ok := os.LookupEnv("CUDA_VISIBLE_DEVICES"); ok {
			return fmt.Sprintf("; CUDA_VISIBLE_DEVICES is %q: unset it, or give it the number of a device", set)
		}
		return "; see nvidia-smi"
	case driver.OutOfMemory:
		return "; other programs use its memory, see nvidia-smi"
	case driver.DriverMismatch, driver.SystemNotReady:
		return "; the NVIDIA driver was updated while it was loaded, or is not fully started: restart the machine"
	}
	return ""
}

// countDevices is the number of visible devices, at least one.
func countDevices() (int, error) {
	if err := driver.Init(); err != nil {
		if errors.Is(err, driver.ErrNoDriver) {
			return 0, fmt.Errorf("%w; install it (https://www.nvidia.com/drivers, or the package nvidia-driver of the "+
				"distribution), in a container start it with --gpus all; `--backend cpu` works without", err)
		}
		return 0, fmt.Errorf("no CUDA device can be used: %w%s", err, advice(err))
	}
	count, err := cu.NumDevices()
	if err == nil && count == 0 {
		err = driver.NoDevice
	}
	if err != nil {
		return 0, fmt.Errorf("no CUDA device can be used: %w%s", resultOf(err), advice(err))
	}
	return count, nil
}

// Count is the number of visible devices, 0 where none can be used.
func Count() int {
	n, err := countDevices()
	if err != nil {
		return 0
	}
	return n
}

// Devices describes the visible devices. Where the libraries cannot be loaded
// it returns the devices and the reason.
func Devices() ([]Info, error) {
	n, err := countDevices()
	if err != nil {
		return nil, err
	}
	libs, missing := loadLibraries()
	devices := make([]Info, n)
	for i := range devices {
		if devices[i], err = describe(i); err != nil {
			return nil, err
		}
		if missing == nil {
			devices[i].libraries(libs)
		}
	}
	return devices, missing
}

// describe is what the driver knows of a visible device.
func describe(index int) (Info, error) {
	i := Info{Index: index, Version: cu.Version(), Driver: driverVersion()}
	d, err := cu.GetDevice(index)
	if err == nil {
		i.Name, err = d.Name()
	}
	if err == nil {
		i.Major, err = d.Attribute(cu.ComputeCapabilityMajor)
	}
	if err == nil {
		i.Minor, err = d.Attribute(cu.ComputeCapabilityMinor)
	}
	if err == nil {
		i.Memory, err = d.TotalMem()
	}
	if err != nil {
		return i, fmt.Errorf("device %d: %w", index, resultOf(err))
	}
	i.Name = strings.TrimRight(i.Name, "\x00")
	return i, nil
}

// driverVersion is the version of the kernel module.
func driverVersion() string {
	text, err := os.ReadFile("/sys/module/nvidia/version")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// libraries adds the versions of the libraries.
func (i *Info) libraries(l *libraries) {
	var major, minor int32
	if l.nvrtc.call("nvrtcVersion", uintptr(unsafe.Pointer(&major)), uintptr(unsafe.Pointer(&minor))) == 0 {
		i.Compiler = fmt.Sprintf("%d.%d", major, minor)
	}
	i.Products, i.Solver = l.cublas.version("cublasGetProperty"), l.cusolver.version("cusolverGetProperty")
}

// version asks a library for its version; it is empty where it does not say.
func (l *library) version(function string) string {
	address, err := purego.Dlsym(l.handle, function)
	if err != nil {
		return ""
	}
	var property [3]int32 // major, minor, patch
	for k := range property {
		if r, _, _ := purego.SyscallN(address, uintptr(k), uintptr(unsafe.Pointer(&property[k]))); int32(r) != 0 {
			return ""
		}
	}
	return fmt.Sprintf("%d.%d.%d", property[0], property[1], property[2])
}

// nvrtcMajor is the CUDA version of the compiler, such as 12.
func (l *libraries) nvrtcMajor() int {
	var major, minor int32
	l.nvrtc.call("nvrtcVersion", uintptr(unsafe.Pointer(&major)), uintptr(unsafe.Pointer(&minor)))
	return int(major)
}
