package engine

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
)

// ErrNoCUDA is returned for the backend "cuda" by a program for a system without CUDA.
var ErrNoCUDA = errors.New("CUDA needs Linux on amd64 or arm64, and an NVIDIA GPU; `--backend cpu` works everywhere")

// ErrNoDriver says that the machine has no library of the NVIDIA driver, as most
// machines have not.
var ErrNoDriver = errors.New("the NVIDIA driver cannot be loaded")

// Accelerator is a backend beside the CPU: one device of the machine, shared by
// the executors of an engine.
type Accelerator interface {
	// Device returns the device as one executor uses it.
	Device() Device
	// String names the device, its driver and its libraries.
	String() string
	// Close gives the device back. Executors must be closed before.
	Close() error
}

var accelerators struct {
	sync.Mutex
	open map[string]func() (Accelerator, error)
}

// Register makes a backend known to Open. Packages that bring one call it when
// they are initialised.
func Register(backend string, open func() (Accelerator, error)) {
	accelerators.Lock()
	defer accelerators.Unlock()
	if accelerators.open == nil {
		accelerators.open = map[string]func() (Accelerator, error){}
	}
	accelerators.open[backend] = open
}

// Known returns an error where the build has no such backend; the machine may
// still lack the device.
func Known(backend string) error {
	accelerators.Lock()
	defer accelerators.Unlock()
	switch {
	case backend == "cpu", accelerators.open[backend] != nil:
		return nil
	case backend == "cuda":
		return fmt.Errorf("backend cuda: %w", ErrNoCUDA)
	}
	return fmt.Errorf("unknown backend %q: it must be cpu or cuda", backend)
}

// openAccelerator opens a registered backend.
func openAccelerator(backend string) (Accelerator, error) {
	accelerators.Lock()
	open := accelerators.open[backend]
	accelerators.Unlock()
	if open == nil {
		return nil, ErrNoCUDA
	}
	return open()
}

// deviceError is what a device did to a computation, whose doing it is not.
type deviceError struct{ text, advice string }

// Error implements error.
func (e *deviceError) Error() string { return e.text }

// MachineAdvice says what to do. A runner that knows nothing of devices sees by it that
// the error is no result of a trial, which can run again.
func (e *deviceError) MachineAdvice() string { return e.advice }

// ErrDeviceLost says that a device does not answer any more; the process has to
// end before it can be used again.
var ErrDeviceLost error = &deviceError{"the device is lost", "see whether nvidia-smi and `run doctor` find the device"}

// ErrOutOfDeviceMemory says that a device has too little memory.
var ErrOutOfDeviceMemory error = &deviceError{"out of device memory",
	"let other programs on the device end, or run fewer trials at a time on it (--jobs)"}

var deviceFailed atomic.Bool

// DeviceFailed says that a device of this process was lost or ran out of memory
// during a run. A process that has other work should leave it to a new one.
func DeviceFailed() bool { return deviceFailed.Load() }

// noteFailure remembers errors after which the process should not go on.
func noteFailure(err error) {
	if errors.Is(err, ErrDeviceLost) || errors.Is(err, ErrOutOfDeviceMemory) {
		deviceFailed.Store(true)
	}
}

// DeviceVariable is the environment variable with the number of the device that
// the process uses, counted from 0 among the visible ones.
const DeviceVariable = "PRIVKERN_DEVICE"
