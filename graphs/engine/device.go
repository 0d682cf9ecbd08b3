package engine

import (
	"errors"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
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

// ErrNoKernel is returned by Device.Launch for an operation that the device has
// no kernel for. The executor then computes it on the host.
var ErrNoKernel = errors.New("the device has no kernel for this operation")
