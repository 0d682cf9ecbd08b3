//go:build linux && (amd64 || arm64)

package cuda

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/cuda/driver"
	"privkern/graphs/engine"
	"privkern/graphs/op"
)

// device is the view that one executor has of a gpu, with the work that the current run defers to
// its end. It belongs to one executor and is used by one goroutine at a time.
type device struct {
	gpu *gpu
	run run
	// like is the lane of a run that the next one follows: in it nothing has to wait.
	like *lane
	// own is the lane in which a recording was made, where its replays are queued.
	own *lane
	// The element type of the last operation that had one. Operations that only move integers or
	// truth values use the kernels of that module, so that the other one is not compiled for it.
	element tensor.Dtype
}

var _ engine.Device = (*device)(nil)

// buffer is a piece of device memory.
type buffer struct {
	block driver.Pointer
	arena *arena // that the block is a part of, or nil
	// The rest is guarded by the device's lock. holds counts the operations that may still need
	// their input to explain a failure.
	freed bool
	holds int
}

// run holds the work that a run has queued. It is empty after Sync.
type run struct {
	lane      *lane // nil where nothing is queued
	downloads []download
	chunks    []*chunk // page-locked memory in use
	// Operations that can fail, and one number for each, which is not zero after a failure:
	// cuSOLVER's devInfo, or a kernel's own.
	fallible []fallible
	infos    driver.Pointer
	room     int // numbers at infos
	failures int // of them in use
	held     []*buffer
	failed   op.Failures // members of batches, as far as they are known
	err      error
	replayed *recording // has the operations and their numbers, which it keeps
}

// maxInfos bounds the operations of a run that can fail, or their members; the run waits
// for the device when they are used up. Only the members of one operation may be more.
const maxInfos = 256

// A fallible operation keeps its operands for the explanation.
type fallible struct {
	op        gorgonia.Op
	in        []engine.DTensor
	at, count int  // its numbers at infos
	members   bool // of a batch
}

// A download waits in page-locked memory until the run ends, and is copied to its value
// then.
type download struct {
	from unsafe.Pointer // page-locked
	to   []byte         // of the value
	keep gorgonia.Value
	// deliver is called once the numbers are there; nil for a value.
	deliver func()
}

// chunk is page-locked memory.
type chunk struct {
	start unsafe.Pointer
	used  int
}

// A run has at most maxChunks of page-locked memory, and waits for the device where it
// would need more.
const (
	chunkBytes = 1 << 20
	maxChunks  = 32
)

// enter is [gpu.enter] for work in the run's lane, which it returns.
func (d *device) enter() (*lane, error) {
	g := d.gpu
	if err := g.gone(); err != nil {
		return nil, err
	}
	if err := g.enter(); err != nil {
		return nil, err
	}
	if d.run.lane == nil {
		l, err := g.lane(d)
		if err != nil {
			runtime.UnlockOSThread()
			return nil, err
		}
		d.run.lane, d.like = l, nil
	}
	return d.run.lane, nil
}

// on runs f on a thread with the device's context and the run's lane.
func (d *device) on(f func(l *lane) error) error {
	l, err := d.enter()
	if err != nil {
		return err
	}
	defer runtime.UnlockOSThread()
	return f(l)
}

// Alloc returns memory of the pool.
func (d *device) Alloc(bytes int) (engine.Buf, error) {
	b := new(buffer)
	err := d.on(func(l *lane) (err error) {
		b.block, err = d.gpu.alloc(l, bytes)
		if errors.Is(err, engine.ErrOutOfDeviceMemory) && len(d.run.held) > 0 {
			// Inputs that are only kept for error messages make room.
			if err := d.settle(); err != nil {
				return err
			}
			b.block, err = d.gpu.alloc(l, bytes)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return b, nil
}

// Free returns the memory, in the order of the run's stream. Work that was launched before may
// still use it, because the next owner of the block works later in the same stream.
func (d *device) Free(b engine.Buf) {
	buf := b.(*buffer)
	if d.gpu.isHeld(buf) {
		return
	}
	block, whole := d.gpu.whole(buf)
	if !whole {
		return
	}
	if err := d.gpu.release(d.run.lane, block); err != nil {
		d.run.err = errors.Join(d.run.err, err)
	}
}

// stage returns page-locked memory, of at most chunkBytes, that is in use until the end
// of the run or the next drain.
func (d *device) stage(bytes int) (unsafe.Pointer, error) {
	if err := d.refused("a copy between host and device"); err != nil {
		return nil, err
	}
	bytes = (bytes + 15) &^ 15
	r := &d.run
	if n := len(r.chunks); n == 0 || r.chunks[n-1].used+bytes > chunkBytes {
		if n == maxChunks {
			if err := d.drain(); err != nil {
				return nil, err
			}
		}
		c, err := d.gpu.chunk()
		if err != nil {
			return nil, err
		}
		r.chunks = append(r.chunks, c)
	}
	c := r.chunks[len(r.chunks)-1]
	p := unsafe.Add(c.start, c.used)
	c.used += bytes
	return p, nil
}

// chunk returns page-locked memory that nobody uses.
func (g *gpu) chunk() (*chunk, error) {
	g.mu.Lock()
	if n := len(g.pinned); n > 0 {
		c := g.pinned[n-1]
		g.pinned = g.pinned[:n-1]
		g.mu.Unlock()
		c.used = 0
		return c, nil
	}
	g.mu.Unlock()
	start, err := g.api.AllocHost(chunkBytes)
	if err != nil {
		return nil, g.failed("allocating page-locked memory of the host", err)
	}
	return &chunk{start: start}, nil
}

// drain waits for the device, delivers downloads, and has page-locked memory again.
func (d *device) drain() error {
	if err := d.run.lane.wait(); err != nil {
		return err
	}
	d.deliver()
	return nil
}

// deliver copies downloads that have arrived to their values, and gives page-locked
// memory up.
func (d *device) deliver() {
	r, g := &d.run, d.gpu
	for _, c := range r.downloads {
		copy(c.to, unsafe.Slice((*byte)(c.from), len(c.to)))
		if c.deliver != nil {
			c.deliver()
		}
	}
	r.downloads = nil
	g.mu.Lock()
	g.pinned = append(g.pinned, r.chunks...)
	g.mu.Unlock()
	r.chunks = nil
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
	return d.on(func(l *lane) error { return d.send(l, dst.Buf.(*buffer).block, data) })
}

// send queues a copy of the host's bytes, which are free when it returns.
func (d *device) send(l *lane, to driver.Pointer, data []byte) error {
	for piece := range slices.Chunk(data, chunkBytes) {
		from, err := d.stage(len(piece))
		if err != nil {
			return err
		}
		copy(unsafe.Slice((*byte)(from), len(piece)), piece)
		if err := d.gpu.api.Upload(to, from, len(piece), l.stream); err != nil {
			return d.gpu.failed("copying to the device", err)
		}
		to += driver.Pointer(len(piece))
	}
	return nil
}

// bytesOf returns a value's elements in row-major order.
func bytesOf(v gorgonia.Value) ([]byte, error) {
	switch data := engine.Data(op.RowMajor(v)).(type) {
	case []float64:
		return asBytes(data), nil
	case []float32:
		return asBytes(data), nil
	case []bool:
		return asBytes(data), nil
	case []int:
		return asBytes(data), nil
	case float64:
		return asBytes([]float64{data}), nil
	case float32:
		return asBytes([]float32{data}), nil
	case bool:
		return asBytes([]bool{data}), nil
	case int:
		return asBytes([]int{data}), nil
	default:
		return nil, fmt.Errorf("a value holds %T, want numbers or truth values", data)
	}
}

// asBytes shares the memory of a.
func asBytes[T float32 | float64 | int | bool](a []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(a))), len(a)*int(unsafe.Sizeof(a[0])))
}

// Download queues a copy, which is there after the next Sync.
func (d *device) Download(src engine.DTensor) (gorgonia.Value, error) {
	v, data := newValue(src)
	if err := d.on(func(l *lane) error { return d.download(l, v, data, src.Buf.(*buffer).block) }); err != nil {
		return nil, err
	}
	return v, nil
}

// download queues a copy to the memory of a value.
func (d *device) download(l *lane, v gorgonia.Value, data []byte, from driver.Pointer) error {
	for piece := range slices.Chunk(data, chunkBytes) {
		to, err := d.stage(len(piece))
		if err != nil {
			return err
		}
		if err := d.gpu.api.Download(to, from, len(piece), l.stream); err != nil {
			return d.gpu.failed("copying from the device", err)
		}
		d.run.downloads = append(d.run.downloads, download{from: to, to: piece, keep: v})
		from += driver.Pointer(len(piece))
	}
	return nil
}

// newValue returns a value of a tensor's shape, and its memory.
func newValue(t engine.DTensor) (gorgonia.Value, []byte) {
	n := t.Shape.TotalSize()
	switch {
	case t.Shape.IsScalar() && t.DType == tensor.Float32:
		v := gorgonia.NewF32(0)
		return v, unsafe.Slice((*byte)(unsafe.Pointer(v)), 4)
	case t.Shape.IsScalar() && t.DType == tensor.Int:
		v := gorgonia.NewI(0)
		return v, unsafe.Slice((*byte)(unsafe.Pointer(v)), 8)
	case t.Shape.IsScalar() && t.DType == tensor.Bool:
		v := gorgonia.NewB(false)
		return v, unsafe.Slice((*byte)(unsafe.Pointer(v)), 1)
	case t.Shape.IsScalar():
		v := gorgonia.NewF64(0)
		return v, unsafe.Slice((*byte)(unsafe.Pointer(v)), 8)
	case t.DType == tensor.Float32:
		data := make([]float32, n)
		return engine.TensorOf(data, t.Shape...), asBytes(data)
	case t.DType == tensor.Int:
		data := make([]int, n)
		return engine.TensorOf(data, t.Shape...), asBytes(data)
	case t.DType == tensor.Bool:
		data := make([]bool, n)
		return engine.TensorOf(data, t.Shape...), asBytes(data)
	}
	data := make([]float64, n)
	return engine.TensorOf(data, t.Shape...), asBytes(data)
}

// Launch queues an operation.
func (d *device) Launch(o gorgonia.Op, out engine.DTensor, in []engine.DTensor) error {
	types := make([]tensor.Dtype, 0, len(in)+1)
	for _, t := range append(in[:len(in):len(in)], out) {
		types = append(types, t.DType)
	}
	launch := op.Launch(o, types...)
	if launch == nil {
		return engine.ErrNoKernel
	}
	if op.HasElementType(types...) || d.element == (tensor.Dtype{}) {
		d.element = op.ElementType(types...)
	}
	l, err := d.enter()
	if err != nil {
		return err
	}
	defer runtime.UnlockOSThread()
	t := &task{d: d, gpu: d.gpu, lane: l, op: o, dtype: d.element, out: out, in: in}
	launch(t)
	t.giveBack()
	if t.err != nil {
		return fmt.Errorf("%v: %w", o, t.err)
	}
	return nil
}

// Sync waits for the run's work. Its error is that of the first operation that failed,
// in the order of launch, or, where there is no other, an [op.MembersError].
func (d *device) Sync() error {
	r, g := &d.run, d.gpu
	if r.lane == nil && r.err == nil {
		return nil
	}
	err := g.gone()
	if err == nil && r.lane != nil {
		err = g.call(func() error {
			err := d.settle()
			if err != nil && g.gone() == nil {
				// Whoever has the lane next finds nothing queued.
				_ = g.failed("waiting for the device", g.api.Synchronize(r.lane.stream))
			}
			return err
		})
	}
	members := r.failed.Err()
	if err = errors.Join(err, d.forget()); err != nil {
		return err
	}
	return members
}

// forget ends the run. Of a device that is lost nothing is used again.
func (d *device) forget() error {
	r, g := &d.run, d.gpu
	err := errors.Join(r.err, d.release())
	if r.lane != nil && g.gone() == nil {
		r.downloads = nil
		d.deliver()
		g.putBack(r.lane)
	}
	d.run, d.like = run{}, nil
	return err
}
