//go:build gpu && linux

package cuda

import (
	"errors"
	"fmt"
	"unsafe"

	"gorgonia.org/cu"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/cuda/driver"
	"privkern/graphs/engine"
	"privkern/graphs/op"
)

// device is a gpu as one executor uses it, with what the current run has left to do at
// its end. It belongs to one executor and is used by one goroutine at a time; the gpu
// behind it has a lock.
type device struct {
	gpu *gpu
	run run
}

var _ engine.Device = (*device)(nil)

// buffer is a piece of device memory.
type buffer struct {
	block cu.DevicePtr
	freed bool
	// held: an operation may still need its input to say why it failed.
	held bool
}

// run is what a run has queued. It is empty after Sync.
type run struct {
	launched  bool // something waits for Sync
	downloads []download
	chunks    []*chunk // page-locked memory in use
	// Operations that can fail, and one number for each, which is not zero
	// after a failure: cuSOLVER's devInfo, or what a kernel says.
	fallible []fallible
	infos    cu.DevicePtr
	held     []*buffer
	err      error
}

// maxInfos bounds the operations of a run that can fail; the run waits for the
// device when they are used up.
const maxInfos = 256

// A fallible operation keeps its operands for the explanation.
type fallible struct {
	op gorgonia.Op
	in []engine.DTensor
}

// A download waits in page-locked memory until the run ends, and is copied to its value
// then.
type download struct {
	from unsafe.Pointer // page-locked
	to   []byte         // of the value
	keep gorgonia.Value
}

// chunk is page-locked memory.
type chunk struct {
	start unsafe.Pointer
	used  int
}

// Values of up to stagedBytes go through page-locked memory, so that neither
// side waits; larger ones are copied directly.
const (
	chunkBytes  = 1 << 20
	stagedBytes = 1 << 18
)

// locked runs f with the gpu for itself. Queueing takes microseconds; waiting for the
// device happens without the lock, so that other executors queue meanwhile.
func (d *device) locked(f func() error) error {
	g := d.gpu
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.lost != nil {
		return g.lost
	}
	return g.call(f)
}

// Alloc returns memory of the pool.
func (d *device) Alloc(bytes int) (engine.Buf, error) {
	b := new(buffer)
	err := d.locked(func() (err error) {
		b.block, err = d.gpu.alloc(bytes)
		if errors.Is(err, engine.ErrOutOfDeviceMemory) && len(d.run.held) > 0 {
			// Inputs that are only kept for error messages make room.
			if err := d.settle(); err != nil {
				return err
			}
			b.block, err = d.gpu.alloc(bytes)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return b, nil
}

// Free gives the memory back, in the order of the stream. What was launched before may
// still use it: whoever gets the block next works later in the same stream.
func (d *device) Free(b engine.Buf) {
	d.gpu.mu.Lock()
	defer d.gpu.mu.Unlock()
	buf := b.(*buffer)
	if buf.held && !buf.freed {
		buf.freed = true // the end of the run releases it
		return
	}
	if err := d.gpu.pool.release(buf.block); err != nil {
		d.run.err = errors.Join(d.run.err, err)
	}
}

// stage returns page-locked memory that is in use until the end of the run.
func (d *device) stage(bytes int) (unsafe.Pointer, error) {
	bytes = (bytes + 15) &^ 15
	r, g := &d.run, d.gpu
	if n := len(r.chunks); n == 0 || r.chunks[n-1].used+bytes > chunkBytes {
		var c *chunk
		if n := len(g.pinned); n > 0 {
			c, g.pinned = g.pinned[n-1], g.pinned[:n-1]
		} else {
			start, err := driver.HostMemory(chunkBytes)
			if err != nil {
				return nil, g.failed("allocating page-locked memory of the host", err)
			}
			c = &chunk{start: start}
		}
		c.used = 0
		r.chunks = append(r.chunks, c)
	}
	c := r.chunks[len(r.chunks)-1]
	p := unsafe.Add(c.start, c.used)
	c.used += bytes
	return p, nil
}

// Upload copies a value; the caller may change it afterwards.
func (d *device) Upload(dst engine.DTensor, v gorgonia.Value) error {
	data, err := bytesOf(v)
	if err != nil {
		return err
	}
	if len(data) != dst.Bytes() {
		return fmt.Errorf("a value of %d bytes for %d bytes of device memory", len(data), dst.Bytes())
	}
	return d.locked(func() error {
		to := dst.Buf.(*buffer).block
		if len(data) > stagedBytes {
			return d.gpu.failed("copying to the device", cu.MemcpyHtoD(to, unsafe.Pointer(&data[0]), int64(len(data))))
		}
		from, err := d.stage(len(data))
		if err != nil {
			return err
		}
		copy(unsafe.Slice((*byte)(from), len(data)), data)
		d.run.launched = true
		return d.gpu.failed("copying to the device", cu.MemcpyHtoDAsync(to, from, int64(len(data)), d.gpu.stream))
	})
}

// bytesOf returns a value's elements in row-major order.
func bytesOf(v gorgonia.Value) ([]byte, error) {
	if t, ok := v.(*tensor.Dense); ok && (t.RequiresIterator() || t.DataOrder().IsTransposed() ||
		t.DataOrder().IsColMajor()) {
		v = t.Materialize()
	}
	switch data := engine.Data(v).(type) {
	case []float64:
		return asBytes(data), nil
	case []float32:
		return asBytes(data), nil
	case float64:
		return asBytes([]float64{data}), nil
	case float32:
		return asBytes([]float32{data}), nil
	default:
		return nil, fmt.Errorf("a value holds %T, want floating-point numbers", data)
	}
}

// asBytes shares the memory of a.
func asBytes[T float32 | float64](a []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(a))), len(a)*int(unsafe.Sizeof(a[0])))
}

// Download queues a copy; a large value is copied at once.
func (d *device) Download(src engine.DTensor) (gorgonia.Value, error) {
	v, data := newValue(src)
	err := d.locked(func() error {
		from := src.Buf.(*buffer).block
		if len(data) > stagedBytes {
			return d.gpu.failed("copying from the device", cu.MemcpyDtoH(unsafe.Pointer(&data[0]), from, int64(len(data))))
		}
		to, err := d.stage(len(data))
		if err != nil {
			return err
		}
		d.run.launched = true
		d.run.downloads = append(d.run.downloads, download{from: to, to: data, keep: v})
		return d.gpu.failed("copying from the device", cu.MemcpyDtoHAsync(to, from, int64(len(data)), d.gpu.stream))
	})
	if err != nil {
		return nil, err
	}
	return v, nil
}

// newValue returns a value of a tensor's shape, and its memory.
func newValue(t engine.DTensor) (gorgonia.Value, []byte) {
	n := t.Shape.TotalSize()
	switch {
	case t.Shape.IsScalar() && t.DType == tensor.Float32:
		v := gorgonia.NewF32(0)
		return v, unsafe.Slice((*byte)(unsafe.Pointer(v)), 4)
	case t.Shape.IsScalar():
		v := gorgonia.NewF64(0)
		return v, unsafe.Slice((*byte)(unsafe.Pointer(v)), 8)
	case t.DType == tensor.Float32:
		data := make([]float32, n)
		return engine.TensorOf(data, t.Shape...), asBytes(data)
	}
	data := make([]float64, n)
	return engine.TensorOf(data, t.Shape...), asBytes(data)
}

// Launch queues an operation.
func (d *device) Launch(o gorgonia.Op, out engine.DTensor, in []engine.DTensor) error {
	launch := op.Launch(o)
	if launch == nil {
		return engine.ErrNoKernel
	}
	return d.locked(func() error {
		t := &task{d: d, gpu: d.gpu, op: o, dtype: out.DType, out: out, in: in}
		if t.module, t.err = d.gpu.module(t.dtype); t.err == nil {
			launch(t)
		}
		t.giveBack()
		d.run.launched = true
		if t.err != nil {
			return fmt.Errorf("%v: %w", o, t.err)
		}
		return nil
	})
}

// Sync waits for the run's work. Its error is that of the first operation that failed,
// in the order of launch.
func (d *device) Sync() error {
	r := &d.run
	if !r.launched && r.err == nil {
		return nil
	}
	g := d.gpu
	g.mu.Lock()
	defer g.mu.Unlock()
	err := g.lost
	if err == nil {
		err = g.call(d.settle)
	}
	return errors.Join(err, d.forget())
}

// settle waits for the device, delivers downloads, and finds the first operation that
// failed. It gives up what was held for that. It also runs in the middle of a run,
// when memory or places for failures are used up.
func (d *device) settle() error {
	r, g := &d.run, d.gpu
	var infos unsafe.Pointer
	if len(r.fallible) > 0 {
		var err error
		if infos, err = d.stage(4 * maxInfos); err != nil {
			return err
		}
		if err := cu.MemcpyDtoHAsync(infos, r.infos, int64(4*len(r.fallible)), g.stream); err != nil {
			return g.failed("copying from the device", err)
		}
	}
	event, err := cu.MakeEvent(cu.DisableTiming)
	if err != nil {
		return g.failed("making an event", err)
	}
	defer func() { _ = cu.DestroyEvent(&event) }()
	if err := event.Record(g.stream); err != nil {
		return g.failed("recording an event", err)
	}
	// Other executors queue their work meanwhile.
	g.mu.Unlock()
	err = event.Synchronize()
	g.mu.Lock()
	if err := g.failed("waiting for the device", err); err != nil {
		return err
	}
	for _, c := range r.downloads {
		copy(c.to, unsafe.Slice((*byte)(c.from), len(c.to)))
	}
	r.downloads = nil
	if infos != nil {
		for i, info := range unsafe.Slice((*int32)(infos), len(r.fallible)) {
			if info != 0 {
				err = d.explain(r.fallible[i], int(info))
				break
			}
		}
	}
	return errors.Join(err, d.release())
}

// explain lets the host fail on the same inputs, which gives the same error.
// That the host does not fail is possible, where rounding decides.
func (d *device) explain(f fallible, info int) error {
	values := make([]gorgonia.Value, len(f.in))
	for i, t := range f.in {
		v, data := newValue(t)
		if err := cu.MemcpyDtoH(unsafe.Pointer(&data[0]), t.Buf.(*buffer).block, int64(len(data))); err != nil {
			return d.gpu.failed("copying from the device", err)
		}
		values[i] = v
	}
	if _, err := f.op.Do(values...); err != nil {
		return err
	}
	name := f.op.String()
	if ours, ok := f.op.(op.Op); ok {
		name = ours.Name()
	}
	return fmt.Errorf("%s failed on the device (code %d), though not on the host: the matrix is at the edge of what the "+
		"precision resolves; add jitter to its diagonal, or compute in float64", name, info)
}

// release gives up the inputs that were held for errors.
func (d *device) release() error {
	r := &d.run
	var err error
	for _, b := range r.held {
		b.held = false
		if b.freed {
			err = errors.Join(err, d.gpu.pool.release(b.block))
		}
	}
	r.held, r.fallible = nil, nil
	if r.infos != 0 {
		err = errors.Join(err, d.gpu.pool.release(r.infos))
		r.infos = 0
	}
	return err
}

// forget ends the run.
func (d *device) forget() error {
	err := errors.Join(d.run.err, d.release())
	d.gpu.pinned = append(d.gpu.pinned, d.run.chunks...)
	d.run = run{}
	return err
}
