package engine

import (
	"context"
	"fmt"
	"sync"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/cost"
	"privkern/graphs/internal/pages"
	"privkern/graphs/op"
	"privkern/graphs/parallel"
)

// hostDevice computes with the operations' CPU kernels, directly on values in the
// process's memory: neither upload nor download copies. The results of package op's
// operations go into memory that later runs use again. It computes at once: Launch returns
// when the result is there, and Sync has nothing to do.
type hostDevice struct {
	pool  *parallel.Pool
	spare *spares
	// apart: steps run at the same time, so that each has headers of its own.
	apart bool
	views sync.Mutex // of the operands' buffers, which Launch changes for views
}

var _ Device = (*hostDevice)(nil)

// newHostDevice returns a device for one executor; the pool and the spare memory are its
// engine's.
func newHostDevice(pool *parallel.Pool, spare *spares) *hostDevice {
	return &hostDevice{pool: pool, spare: spare}
}

// spares is the memory that all devices of an engine use again.
type spares struct {
	float64 pages.Spare[float64]
	float32 pages.Spare[float32]
}

// hostBuf is the host's buffer: a value, once there is one.
type hostBuf struct {
	value gorgonia.Value
	// borrowed: the memory, or some of it, belongs to the caller's input.
	borrowed bool
	// reusable: nobody but this buffer refers to the memory.
	reusable bool
	// shared: another value of the run is a view of this one, or the other way around.
	shared bool
}

// Alloc allocates nothing yet, because an operation outside package op allocates its own
// result.
func (d *hostDevice) Alloc(int) (Buf, error) { return &hostBuf{}, nil }

// Free keeps memory that nobody else refers to for later results of the same length.
func (d *hostDevice) Free(b Buf) {
	buf := b.(*hostBuf)
	if buf.reusable {
		switch data := Data(buf.value).(type) {
		case []float64:
			d.spare.float64.Put(data)
		case []float32:
			d.spare.float32.Put(data)
		}
	}
	*buf = hostBuf{}
}

// Upload keeps the value. A tensor gets a header of its own: some of
// gorgonia's operations transpose the header of an input for a moment, which
// other goroutines must not see.
func (d *hostDevice) Upload(dst DTensor, v gorgonia.Value) error {
	*dst.Buf.(*hostBuf) = hostBuf{value: header(v), borrowed: true}
	return nil
}

// header returns the value with a header of its own.
func header(v gorgonia.Value) gorgonia.Value {
	if t, ok := v.(*tensor.Dense); ok {
		return t.ShallowClone()
	}
	return v
}

// Download hands over the result itself. It copies an output that shares the memory of the
// caller's input.
func (d *hostDevice) Download(src DTensor) (gorgonia.Value, error) {
	buf := src.Buf.(*hostBuf)
	if buf.value == nil {
		return nil, fmt.Errorf("a value was read before it was computed")
	}
	if buf.borrowed {
		return gorgonia.CloneValue(buf.value)
	}
	buf.reusable = false
	return buf.value, nil
}

// within implements interruptible.
func (d *hostDevice) within(ctx context.Context) { d.pool = d.pool.Within(ctx) }

// around implements pooled.
func (d *hostDevice) around(begin func() (stop func())) { d.pool = d.pool.Around(begin) }

// Launch computes an operation: one of package op, or of gorgonia's with a kernel there, into
// spare memory and with the pool's workers, any other of gorgonia's into memory of its own on
// one goroutine.
func (d *hostDevice) Launch(o gorgonia.Op, out DTensor, in []DTensor) (err error) {
	values := make([]gorgonia.Value, len(in))
	for i, t := range in {
		values[i] = t.Buf.(*hostBuf).value
		if d.apart {
			values[i] = header(values[i])
		}
	}
	buf := out.Buf.(*hostBuf)
	if ours, ok := o.(op.Op); ok {
		var prealloc gorgonia.Value
		if !out.Shape.IsScalar() {
			prealloc = d.newTensor(out)
			*buf = hostBuf{value: prealloc, reusable: true}
		}
		if buf.value, err = ours.Compute(d.pool, prealloc, values...); buf.value == nil {
			*buf = hostBuf{}
		}
		return err // that of some members comes with a value
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%v: %w", o, err)
		}
	}()
	defer parallel.Catch(&err)
	if kernel := op.OnHost(o, values...); kernel != nil {
		result := d.newTensor(out)
		*buf = hostBuf{value: result, reusable: true}
		return kernel(d.pool, result)
	}
	v, err := op.Do(o, values...)
	if err != nil {
		return err
	}
	if v, err = shaped(v, out); err != nil {
		return fmt.Errorf("the result: %w", err)
	}
	*buf = hostBuf{value: v}
	// The result may be a view of an operand, which must then not be written
	// over while the result lives.
	for i, t := range in {
		if overlap(v, values[i]) {
			d.view(buf, t.Buf.(*hostBuf))
		}
	}
	return nil
}

// view notes that a result is a view of an operand, which several steps may read.
func (d *hostDevice) view(result, operand *hostBuf) {
	d.views.Lock()
	defer d.views.Unlock()
	operand.reusable, operand.shared, result.shared = false, true, true
	result.borrowed = result.borrowed || operand.borrowed
}

// Sync has nothing to wait for.
func (d *hostDevice) Sync() error { return nil }

// newTensor has undefined elements: operations write all of them.
func (d *hostDevice) newTensor(t DTensor) *tensor.Dense {
	n := t.Shape.TotalSize()
	var backing any
	if t.DType == tensor.Float32 {
		backing = d.spare.float32.Get(n)
	} else {
		backing = d.spare.float64.Get(n)
	}
	return TensorOf(backing, t.Shape...)
}

// overlap reports whether two values share memory.
func overlap(a, b gorgonia.Value) bool {
	ta, ok := a.(tensor.Tensor)
	if !ok {
		return false
	}
	tb, ok := b.(tensor.Tensor)
	if !ok {
		return false
	}
	return ta.Uintptr() < tb.Uintptr()+tb.MemSize() && tb.Uintptr() < ta.Uintptr()+ta.MemSize()
}

// Detach has nothing to wait for, because the host computes at once.
func (d *hostDevice) Detach() (Tail, error) { return nil, nil }

// After has nothing to follow.
func (d *hostDevice) After(Tail) error { return nil }

// maxSpareResident bounds the resident values, in bytes, whose memory is used again once they
// are closed, such as the state of a loop. Larger values belong to one phase of the work, and
// would add up because the next phase has other sizes.
const maxSpareResident = 1 << 20

// Take hands over the result itself, or a copy where something else refers to its memory. The
// run's buffer is borrowed from then on.
func (d *hostDevice) Take(t DTensor) (Buf, error) {
	buf := t.Buf.(*hostBuf)
	if buf.value == nil {
		return nil, fmt.Errorf("a value stays that was never computed")
	}
	if buf.borrowed || buf.shared {
		v, err := gorgonia.CloneValue(buf.value)
		return &hostBuf{value: v}, err
	}
	kept := *buf
	kept.reusable = t.Bytes() <= maxSpareResident
	buf.borrowed, buf.reusable = true, false
	return &kept, nil
}

// Lend gives a tensor a header of its own, as Upload does. Nothing is copied.
func (d *hostDevice) Lend(kept, as DTensor) (Buf, error) {
	v, err := shaped(kept.Buf.(*hostBuf).value, as)
	if err != nil {
		return nil, err
	}
	return &hostBuf{value: header(v), borrowed: true}, nil
}

// give implements giver. It hands over the value itself, whose memory later runs do not use
// again, unless that is the caller's input.
func (d *hostDevice) give(kept, as DTensor) (gorgonia.Value, error) {
	buf := kept.Buf.(*hostBuf)
	if buf.value == nil || buf.borrowed {
		return nil, nil
	}
	buf.reusable = false
	v, err := shaped(buf.value, as)
	if err != nil {
		return nil, err
	}
	return header(v), nil
}

// Bounds from which on a step of the host is worth a goroutine, some tenths of a millisecond.
const (
	heavyOperations = 1 << 23
	heavyTraffic    = 16 << 20 // bytes of operands and results
	// heavyElements is a lower bound of the elements of a heavy step's operands and result:
	// fewer make fewer than heavyOperations in any product or factor.
	heavyElements = 1 << 14
)

func (d *hostDevice) workers() *parallel.Pool { return d.pool }

// share gives the steps headers of their own.
func (d *hostDevice) share() { d.apart = true }

// heavy compares the step's work on a CUDA device, which has the host's operations, with the
// bounds.
func (d *hostDevice) heavy(s step, out DTensor, in []DTensor) bool {
	elements := out.Shape.TotalSize()
	for _, t := range in {
		elements += t.Shape.TotalSize()
	}
	if elements < heavyElements {
		return false
	}
	work, ok := cost.Of(s.op, operandsOf([]DTensor{out})[0], operandsOf(in))
	return ok && (work.Operations >= heavyOperations || work.Traffic >= heavyTraffic)
}

// divisible returns false for views and for lazily transposed matrices, because package tensor
// would share memory between headers that each return it to a pool.
func (d *hostDevice) divisible(t DTensor) bool {
	v, ok := t.Buf.(*hostBuf).value.(*tensor.Dense)
	return !ok || !v.IsMaterializable()
}
