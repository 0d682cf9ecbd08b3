package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/kernels"
)

// Buf is a device's handle for a piece of its memory. Only the device that
// gave it out looks inside.
type Buf any

// DTensor is a tensor in a device's memory.
type DTensor struct {
	Buf   Buf
	Shape tensor.Shape // empty for a scalar
	DType tensor.Dtype
}

// Bytes is the size of the tensor's elements.
func (t DTensor) Bytes() int { return t.Shape.TotalSize() * int(t.DType.Size()) }

// Device holds an executor's values and runs its operations. An
// executor calls its device from one goroutine at a time; only the host launches steps from
// several.
type Device interface {
	// Alloc returns memory that no other live buffer shares. Its contents are
	// undefined.
	Alloc(bytes int) (Buf, error)
	// Free takes back a buffer. Work that was launched before may still use
	// it.
	Free(Buf)
	// Upload copies a value of the tensor's shape and type to the device. A
	// device that shares the host's memory may keep a reference instead, which
	// is dropped when the buffer is freed; it never writes to it.
	Upload(dst DTensor, v gorgonia.Value) error
	// Download queues a copy to the host behind all launches before it. The
	// value's elements are there after the next Sync; from then on the device
	// does not touch it. The buffer may be freed before.
	Download(src DTensor) (gorgonia.Value, error)
	// Launch computes an operation, or queues it behind all launches before it. It
	// returns ErrNoKernel for an operation that it cannot compute.
	Launch(op gorgonia.Op, out DTensor, in []DTensor) error
	// Sync waits for all work and returns its first error. An executor calls it
	// at the end of every run that the host waits for, failed ones included, and where the
	// host has to compute an operation.
	Sync() error
	// Detach ends a run in place of Sync, and does not wait for it. It returns no tail where
	// nothing is left to do; its error is that of a Sync.
	Detach() (Tail, error)
	// After orders all later launches after the end of another run, without the host.
	After(Tail) error
	// Take returns the memory of a run's value as it stays after the run, in place of the
	// buffer, which need not be freed.
	Take(DTensor) (Buf, error)
	// Lend returns memory that was taken, or uploaded, as this device reads it during one
	// run, in another shape of as many elements perhaps. It is neither written to nor freed.
	// Several devices may have it at the same time.
	Lend(kept, as DTensor) (Buf, error)
}

// Tail is the end of a run that nobody has waited for. It is safe for concurrent use.
type Tail interface {
	// Done reports, without waiting, whether the run has ended.
	Done() bool
	// Wait waits for the run and returns the error of its first operation that failed. It is
	// called once; until then the run keeps the device memory that it uses.
	Wait() error
}

// interruptible is a device whose operations end early with the context of a run.
type interruptible interface{ within(ctx context.Context) }

// giver is a device whose memory is the host's: it may hand over a resident value in place of
// a copy. It returns nil where it does not.
type giver interface {
	give(kept, as DTensor) (gorgonia.Value, error)
}

// Fuser is a device that may compute several operations on single elements by one kernel.
type Fuser interface {
	Device
	// FusedWords is the largest number of arguments of 64 bits of a kernel; it is 0 where the
	// device does not fuse operations.
	FusedWords() int
	// Fuse prepares the kernel of a chain on numbers of one element type, and on truth
	// values.
	Fuse(c *kernels.Chain, dtype tensor.Dtype) (Fused, error)
}

// Fused is a chain's kernel on the device of one executor. Its results have the bits of
// the operations one by one, so that the executor may change between the two from run to
// run.
type Fused interface {
	// Ready reports whether this computation of the chain is to use the kernel. It is
	// called once for each computation.
	Ready() (bool, error)
	// Launch queues the kernel, which must be ready, for the chain's inputs and outputs
	// in their order.
	Launch(out, in []DTensor) error
	// String names the operations.
	String() string
}

// ErrNoKernel is returned by Device.Launch for an operation that the device has
// no kernel for. The executor then computes it on the host.
var ErrNoKernel = errors.New("the device has no kernel for this operation")

// ErrNoCUDA is returned for the backend "cuda" by a program for a system without CUDA.
var ErrNoCUDA = errors.New("CUDA needs Linux on amd64 or arm64, and an NVIDIA GPU; `--backend cpu` works everywhere")

// ErrNoDriver is returned where the machine has no library of the NVIDIA driver.
var ErrNoDriver = errors.New("the NVIDIA driver cannot be loaded")

// Accelerator is a backend other than the CPU: one device of the machine, shared by
// the executors of an engine.
type Accelerator interface {
	// Device returns the device for one executor.
	Device() Device
	// String names the device, its driver and its libraries.
	String() string
	// Close releases the device. Executors must be closed before.
	Close() error
}

var accelerators struct {
	sync.Mutex
	open map[string]func() (Accelerator, error)
}

// Register makes a backend known to Open. A package that implements a backend calls it from
// init.
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

// deviceError is a failure of the device, not of the computation.
type deviceError struct{ text, advice string }

// Error implements error.
func (e *deviceError) Error() string { return e.text }

// MachineAdvice returns the remedy. A runner, which does not import graphs, recognises by this
// method that the error is no result of the trial, and that the trial can run again.
func (e *deviceError) MachineAdvice() string { return e.advice }

// ErrDeviceLost is returned where a device does not answer any more; the process has to
// end before the device can be used again.
var ErrDeviceLost error = &deviceError{"the device is lost", "see whether nvidia-smi and `run doctor` find the device"}

// ErrOutOfDeviceMemory is returned where a device has too little memory.
var ErrOutOfDeviceMemory error = &deviceError{"out of device memory",
	"let other programs on the device end, or run fewer trials at a time on it (--jobs)"}

var deviceFailed atomic.Bool

// DeviceFailed reports whether a device of this process was lost or ran out of memory
// during a run. A process with further work should leave it to a new one.
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
