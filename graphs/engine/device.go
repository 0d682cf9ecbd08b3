package engine

import (
	"errors"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/cuda/kernels"
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

// Device is where an executor's values live and its operations run. An
// executor calls its device from one goroutine at a time.
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
	// Download queues a copy to the host behind what was launched before. The
	// value's elements are there after the next Sync; from then on the device
	// does not touch it. The buffer may be freed before.
	Download(src DTensor) (gorgonia.Value, error)
	// Launch computes an operation, or queues it behind what was launched
	// before. It returns ErrNoKernel for one that it cannot do.
	Launch(op gorgonia.Op, out DTensor, in []DTensor) error
	// Sync waits for all work and returns its first error. An executor calls it
	// once at the end of every run, failed ones included, and where the host
	// has to compute an operation.
	Sync() error
}

// Fuser is a device that may compute several operations on single elements by one kernel.
type Fuser interface {
	Device
	// Fuses says whether it does.
	Fuses() bool
	// Fuse prepares the kernel of a chain on numbers of one element type, beside which
	// there may be truth values.
	Fuse(c *kernels.Chain, dtype tensor.Dtype) (Fused, error)
}

// Fused is a chain's kernel on the device of one executor. Its results have the bits of
// the operations one by one, so that the executor may change between the two from run to
// run.
type Fused interface {
	// Ready says whether the kernel is to be used this time. It is asked once for each
	// time that the chain is computed.
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
