//go:build linux && (amd64 || arm64)

package cuda

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"privkern/graphs/cuda/driver"
	"privkern/graphs/engine"
)

// Built reports whether the program can use CUDA on this system.
const Built = true

func init() {
	engine.Register("cuda", func() (engine.Accelerator, error) { return open() })
}

// binding is the driver; it is loaded when it is first called.
var binding = sync.OnceValue(driver.New)

// gpu is one device with its context. All engines of the process share it.
// Its lock guards everything but what open sets once.
type gpu struct {
	api     driver.API
	info    Info
	device  driver.Device
	context driver.Context
	libs    *libraries
	fusion  string // fuseWhenItPays, fuseAlways or fuseNever
	replays bool
	origins origins

	mu      sync.Mutex
	modules map[part]*module          // guarded by building
	chains  map[chainKey]*chainKernel // guarded by building
	pool    pool
	idle    []*lane
	events  []driver.Event // that nobody uses
	pinned  []*chunk       // page-locked memory that nobody uses
	users   int
	// recordings hold memory that others may need more.
	recordings map[*recording]bool

	building sync.Mutex            // of the maps of modules and chains
	lost     atomic.Pointer[error] // set once the device does not answer any more
}

// The device that the process uses, once one is opened.
var shared struct {
	sync.Mutex
	gpu *gpu
}

// minimum is the oldest compute capability that is supported, and oldest the oldest
// version of CUDA that the driver has to know.
const (
	minimum = 70
	oldest  = 12000
)

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
	if err := g.gone(); err != nil {
		return nil, err
	}
	g.users++
	return g, nil
}

// openDevice checks the device, the kernels, the libraries and the driver in the order
// in which their absence is easiest to explain. Without a driver it costs next to nothing.
func openDevice() (*gpu, error) {
	g, err := lookUp()
	if err != nil {
		return nil, err
	}
	index := g.info.Index
	if g.context, err = g.api.RetainContext(g.device); err != nil {
		return nil, fmt.Errorf("device %d, %s, cannot be used: %w%s", index, g.info.Name, err, advice(err))
	}
	if err := g.call(g.setUp); err != nil {
		_ = g.api.ReleaseContext(g.device) // with all that was set up
		return nil, fmt.Errorf("device %d, %s, cannot be used: %w%s", index, g.info.Name, err, advice(err))
	}
	return g, nil
}

// lookUp is openDevice without a context: nothing of the device is taken.
func lookUp() (*gpu, error) {
	count, err := countDevices()
	if err != nil {
		return nil, err
	}
	if err := errors.Join(checkKernels(), checkEnvironment()); err != nil {
		return nil, err
	}
	index := 0
	if set := os.Getenv(engine.DeviceVariable); set != "" {
		index, err = strconv.Atoi(set)
		if err != nil || index < 0 || index >= count {
			return nil, fmt.Errorf("%s is %q: it must be the number of a visible device, of which there are %d, counted "+
				"from 0", engine.DeviceVariable, set, count)
		}
	}
	g := &gpu{api: binding(), modules: map[part]*module{},
		chains: map[chainKey]*chainKernel{}, pool: newPool(), recordings: map[*recording]bool{}}
	if g.fusion, err = fusionMode(); err != nil {
		return nil, err
	}
	if g.replays, err = replayMode(); err != nil {
		return nil, err
	}
	if g.device, g.info, err = describe(index); err != nil {
		return nil, err
	}
	if g.info.Major*10+g.info.Minor < minimum {
		return nil, fmt.Errorf("device %d, %s, has compute capability %d.%d; %d.%d or newer is required",
			index, g.info.Name, g.info.Major, g.info.Minor, minimum/10, minimum%10)
	}
	if g.info.Version < oldest {
		return nil, fmt.Errorf("the NVIDIA driver knows %s; %s or newer is required: update the driver",
			cudaVersion(g.info.Version), cudaVersion(oldest))
	}
	g.libs = loadLibraries(g.info.Version)
	g.info.libraries(g.libs)
	return g, nil
}

// setUp makes the first lane, with the libraries' handles, so that their faults appear when the
// device is opened.
func (g *gpu) setUp() error {
	l, err := g.lane(nil)
	if err == nil && g.libs.blas != nil {
		_, err = l.blasHandle()
	}
	if err == nil && g.libs.solver != nil {
		_, err = l.solverHandle()
	}
	if err != nil {
		return err
	}
	g.putBack(l)
	return nil
}

// enter locks the goroutine to a thread and makes the context current there. Where it
// succeeds, the caller unlocks the thread.
func (g *gpu) enter() error {
	runtime.LockOSThread()
	err := g.failed("making the device's context current", g.api.SetContext(g.context))
	if err != nil {
		runtime.UnlockOSThread()
	}
	return err
}

// call runs f on a thread with the context.
func (g *gpu) call(f func() error) error {
	if err := g.enter(); err != nil {
		return err
	}
	defer runtime.UnlockOSThread()
	return f()
}

// failed translates an error of the driver. Errors other than of arguments or memory leave a
// context that cannot be used any more.
func (g *gpu) failed(what string, err error) error {
	if err == nil {
		return nil
	}
	if code, ok := errors.AsType[driver.Error](err); ok {
		if code.Capturing() {
			return fmt.Errorf("device %d, %s: %s: %w", g.info.Index, g.info.Name, what, err)
		}
		switch code {
		case driver.OutOfMemory:
			return fmt.Errorf("device %d, %s: %s: %w", g.info.Index, g.info.Name, what, engine.ErrOutOfDeviceMemory)
		case driver.InvalidValue, driver.NotReady, driver.NoBinaryForDevice, driver.UnsupportedPTX,
			driver.InvalidImage, driver.NotFound:
		default:
			return g.lose(fmt.Errorf("device %d, %s: %s: %w: %w%s", g.info.Index, g.info.Name, what, engine.ErrDeviceLost, err,
				cmp.Or(advice(err), "; see dmesg for messages (Xid) of the NVIDIA driver")))
		}
	}
	return fmt.Errorf("device %d, %s: %s: %w", g.info.Index, g.info.Name, what, err)
}

// lose ends the device's use in this process, and returns the first reason for that.
func (g *gpu) lose(reason error) error {
	g.lost.CompareAndSwap(nil, &reason)
	return g.gone()
}

// gone is why the device cannot be used any more, or nil.
func (g *gpu) gone() error {
	if reason := g.lost.Load(); reason != nil {
		return *reason
	}
	return nil
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
	if g.users > 0 || g.gone() != nil {
		return nil
	}
	return g.call(func() error { return errors.Join(g.settleIdle(), g.trim()) })
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
	if err := g.gone(); err != nil {
		return err
	}
	if g.users > 0 {
		return fmt.Errorf("device %d, %s, is given back while %d engines are open", g.info.Index, g.info.Name, g.users)
	}
	err := g.call(func() error {
		err := errors.Join(g.settleIdle(), g.trim())
		for _, e := range g.events {
			err = errors.Join(err, g.api.DestroyEvent(e))
		}
		for _, c := range g.pinned {
			err = errors.Join(err, g.api.FreeHost(c.start))
		}
		for _, m := range g.modules {
			if m.err == nil {
				err = errors.Join(err, g.api.Unload(m.handle))
			}
		}
		for _, k := range g.chains {
			if k.ready {
				err = errors.Join(err, g.api.Unload(k.module))
			}
		}
		for _, l := range g.idle {
			err = errors.Join(err, l.destroy())
		}
		return err
	})
	shared.gpu = nil
	if err = errors.Join(err, g.api.ReleaseContext(g.device)); err != nil {
		return fmt.Errorf("device %d, %s, cannot be given back: %w", g.info.Index, g.info.Name, err)
	}
	return nil
}

// advice returns the remedy for an error when a device is opened.
func advice(err error) string {
	var code driver.Error
	if !errors.As(err, &code) {
		return ""
	}
	switch code {
	case driver.NoDevice, driver.InvalidDevice:
		if set, ok := os.LookupEnv("CUDA_VISIBLE_DEVICES"); ok {
			return fmt.Sprintf("; CUDA_VISIBLE_DEVICES is %q: unset it, or give it the number or the UUID of a device, as "+
				"`nvidia-smi -L` lists them", set)
		}
		return "; see nvidia-smi (a GPU in MIG mode needs an instance: `nvidia-smi mig -lgi` lists them)"
	case driver.OutOfMemory:
		return "; other programs use its memory, see nvidia-smi"
	case driver.Unavailable:
		return "; another process has it to itself (compute mode EXCLUSIVE_PROCESS) or nobody may use it (PROHIBITED): " +
			"wait for that process, which nvidia-smi lists; use one job for each device (--jobs); or allow several with " +
			"`nvidia-smi -c DEFAULT`"
	case driver.StubLibrary:
		return fmt.Sprintf("; %s is the stub of a CUDA toolkit, for linking only: take its folder out of LD_LIBRARY_PATH",
			driver.Path())
	case driver.DriverMismatch, driver.SystemNotReady:
		return "; the NVIDIA driver was updated while it was loaded, or is not fully started: restart the machine"
	case driver.Incompatible:
		return fmt.Sprintf("; %s is of a forward-compatibility package (cuda-compat), which this GPU does not take: "+
			"remove its folder from LD_LIBRARY_PATH, or update the driver", driver.Path())
	case driver.MPSUnreachable, driver.MPSFailed, driver.MPSNotReady, driver.MPSTerminated:
		return fmt.Sprintf("; the server of MPS does not answer (CUDA_MPS_PIPE_DIRECTORY is %q): start it with "+
			"`nvidia-cuda-mps-control -d`, or stop it (`echo quit | nvidia-cuda-mps-control`) to go without",
			os.Getenv("CUDA_MPS_PIPE_DIRECTORY"))
	case driver.MPSFullOfClients, driver.MPSFull:
		return "; the server of MPS has as many clients as it takes: use fewer jobs (--jobs), or wait for others to end"
	case driver.Unknown:
		return "; the driver's kernel modules may not be loaded (`nvidia-modprobe -u -c 0`), or a suspension may have " +
			"broken them: restart the machine"
	}
	return ""
}

// driverProblem returns the reason why the driver offers no device, and the remedy.
func driverProblem(err error) string {
	switch {
	case errors.Is(err, driver.ErrNoDriver):
		return fmt.Sprintf("%v; install it (https://www.nvidia.com/drivers, or the package nvidia-driver of the "+
			"distribution), in a container start it with --gpus all; `--backend cpu` works without", err)
	case errors.Is(err, driver.ErrUnusable):
		return fmt.Sprintf("%v; install or update the driver, which has to know CUDA 12 or newer "+
			"(https://www.nvidia.com/drivers, or the package nvidia-driver of the distribution); `--backend cpu` works "+
			"without", err)
	}
	return fmt.Sprintf("no CUDA device can be used: %v%s", err, advice(err))
}

// countDevices is the number of visible devices, at least one.
func countDevices() (int, error) {
	api := binding()
	if err := api.Init(); err != nil {
		return 0, problem{driverProblem(err), err}
	}
	count, err := api.Devices()
	if err == nil && count == 0 {
		err = driver.NoDevice
	}
	if err != nil {
		return 0, problem{driverProblem(err), err}
	}
	return count, nil
}

// problem is an error with other words.
type problem struct {
	text  string
	cause error
}

// Error implements error.
func (p problem) Error() string { return p.text }

// Unwrap returns the cause.
func (p problem) Unwrap() error { return p.cause }

// Count is the number of visible devices, 0 where none can be used.
func Count() int {
	n, err := countDevices()
	if err != nil {
		return 0
	}
	return n
}

// Devices describes the visible devices. Where libraries are missing that computations
// need it returns the devices and the reason.
func Devices() ([]Info, error) {
	n, err := countDevices()
	if err != nil {
		return nil, err
	}
	libs := loadLibraries(binding().Version())
	devices := make([]Info, n)
	for i := range devices {
		if _, devices[i], err = describe(i); err != nil {
			return nil, err
		}
		devices[i].libraries(libs)
	}
	for _, c := range components {
		err = errors.Join(err, libs.missing[c.name])
	}
	return devices, err
}

// describe returns the driver's description of a visible device.
func describe(index int) (driver.Device, Info, error) {
	api := binding()
	i := Info{Index: index, Version: api.Version(), Driver: driverVersion()}
	d, err := api.Device(index)
	if err == nil {
		i.Name, err = api.DeviceName(d)
	}
	if err == nil {
		i.Major, err = api.Attribute(d, driver.CapabilityMajor)
	}
	if err == nil {
		i.Minor, err = api.Attribute(d, driver.CapabilityMinor)
	}
	if err == nil {
		i.Processors, err = api.Attribute(d, driver.Multiprocessors)
	}
	if err == nil {
		i.Memory, err = api.TotalMemory(d)
	}
	if err != nil {
		return 0, i, fmt.Errorf("device %d: %w", index, err)
	}
	return d, i, nil
}

// driverVersion is the version of the kernel module.
func driverVersion() string {
	text, err := os.ReadFile("/sys/module/nvidia/version")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// libraries adds the versions of the libraries that are there.
func (i *Info) libraries(l *libraries) {
	if l.nvrtc != nil {
		i.Compiler = orUnknown(nvrtcVersion(l.nvrtc))
	}
	if l.blas != nil {
		i.Products = orUnknown(l.blas.Version(products.property))
	}
	if l.solver != nil {
		i.Solver = orUnknown(l.solver.Version(solvers.property))
	}
}
