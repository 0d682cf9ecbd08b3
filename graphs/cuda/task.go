//go:build linux && (amd64 || arm64)

package cuda

import (
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/cuda/driver"
	"privkern/graphs/engine"
	"privkern/graphs/kernels"
	"privkern/graphs/op"
)

// task is one operation that is being queued: the [op.Stream] of a device. After
// an error its methods do nothing.
type task struct {
	d        *device
	gpu      *gpu
	lane     *lane
	op       gorgonia.Op
	dtype    tensor.Dtype
	out      engine.DTensor
	in       []engine.DTensor
	borrowed []driver.Pointer
	err      error
	// In a batch: how many members are queued at the same time, the first one's number, the
	// strides by address, and how often the launch asked for the place of its failure.
	batch   *memberBatch
	members int
	first   int
	strides map[uintptr]int
	asked   int
	// inverted are the inverses that solutions of a batch have made, by the matrix.
	inverted map[uintptr]inverses
}

var _ op.Stream = (*task)(nil)

// Operands implements [op.Stream].
func (t *task) Operands() int { return len(t.in) }

// In implements [op.Stream].
func (t *task) In(i int) kernels.Matrix { return matrixOf(t.in[i]) }

// Shape implements [op.Stream].
func (t *task) Shape(i int) tensor.Shape { return t.in[i].Shape }

// Out implements [op.Stream].
func (t *task) Out() kernels.Matrix { return matrixOf(t.out) }

// OutShape implements [op.Stream].
func (t *task) OutShape() tensor.Shape { return t.out.Shape }

// Single implements [op.Stream].
func (t *task) Single() bool { return t.dtype == tensor.Float32 }

// Fail implements [op.Stream].
func (t *task) Fail(err error) {
	if t.err == nil {
		t.err = err
	}
}

// matrixOf is a tensor as kernels see it.
func matrixOf(t engine.DTensor) kernels.Matrix {
	return kernels.MatrixOf(uintptr(t.Buf.(*buffer).block), t.Shape...)
}

// Part implements [op.Stream].
func (t *task) Part(a kernels.Matrix, from, rows, cols int) kernels.Matrix {
	part := kernels.Matrix{At: a.At + uintptr(from*t.elem()), Rows: rows, Cols: cols}
	if t.members > 0 {
		t.strides[part.At] = t.stride(a.At)
	}
	return part
}

// elem is the size of an element.
func (t *task) elem() int { return int(t.dtype.Size()) }

// scratch returns memory that is free again after the operation.
func (t *task) scratch(bytes int) driver.Pointer {
	if t.err != nil {
		return 0
	}
	block, err := t.gpu.alloc(t.lane, max(bytes, 1))
	if err != nil {
		t.err = err
		return 0
	}
	t.borrowed = append(t.borrowed, block)
	return block
}

// scratchEach is scratch for n elements of a size for each member of a batch.
func (t *task) scratchEach(n, size int) uintptr {
	if t.members == 0 {
		return uintptr(t.scratch(n * size))
	}
	at := uintptr(t.scratch(t.members * n * size))
	t.strides[at] = n
	return at
}

// Scratch implements [op.Stream].
func (t *task) Scratch(rows, cols int) kernels.Matrix {
	return kernels.Matrix{At: t.scratchEach(rows*cols, t.elem()), Rows: rows, Cols: cols}
}

// Doubles implements [op.Stream].
func (t *task) Doubles(n int) kernels.Doubles { return kernels.Doubles(t.scratchEach(n, 8)) }

// Numbers implements [op.Stream].
func (t *task) Numbers(v []float64) kernels.Doubles { return kernels.Doubles(t.given(asBytes(v))) }

// Truths implements [op.Stream].
func (t *task) Truths(_ int, of func() ([]bool, error)) kernels.Truth {
	if !t.noBatch("copy of truth values") {
		return 0
	}
	v, err := of()
	if t.err = err; err != nil {
		return 0
	}
	return kernels.Truth(t.given(asBytes(v)))
}

// given are bytes of the host in scratch memory.
func (t *task) given(data []byte) driver.Pointer {
	t.noBatch("copy of numbers")
	to := t.scratch(len(data))
	if t.err == nil {
		t.err = t.d.send(t.lane, to, data)
	}
	return to
}

// Send implements [op.Stream].
func (t *task) Send(to kernels.Matrix, of func() (gorgonia.Value, error)) {
	if !t.noBatch("copy of elements") {
		return
	}
	var data []byte
	v, err := of()
	if err == nil {
		data, err = bytesOf(v)
	}
	if err == nil {
		err = t.d.send(t.lane, driver.Pointer(to.At), data)
	}
	t.err = err
}

// Deliver implements [op.Stream].
func (t *task) Deliver(d kernels.Doubles, n int, to func([]float64)) {
	if 8*n > chunkBytes {
		t.Fail(fmt.Errorf("%d numbers for the host from one operation: at most %d", n, chunkBytes/8))
	}
	if !t.noBatch("delivery") {
		return
	}
	from, err := t.d.stage(8 * n)
	if err == nil {
		v := make([]float64, n)
		t.d.run.downloads = append(t.d.run.downloads, download{from: from, to: asBytes(v), deliver: func() { to(v) }})
		err = t.gpu.failed("copying from the device", t.gpu.api.Download(from, driver.Pointer(d), 8*n, t.lane.stream))
	}
	t.err = err
}

// giveBack gives scratch memory back.
func (t *task) giveBack() {
	for _, block := range t.borrowed {
		if err := t.gpu.release(t.lane, block); err != nil && t.err == nil {
			t.err = err
		}
	}
	t.borrowed = nil
}

// Launch implements [op.Stream].
func (t *task) Launch(k kernels.Kernel) {
	g := k.Grid()
	if t.err != nil || g.Blocks == 0 {
		return
	}
	unit := kernels.UnitOf(k)
	module, err := t.gpu.module(part{unit, t.dtype})
	if err != nil {
		t.err = err
		return
	}
	if unit == kernels.Elements && !t.noBatch("kernel of single elements") {
		return
	}
	name, words := kernels.PackBatch(t.lane.words[:0], k, t.stride)
	t.lane.words = words
	if t.err != nil {
		return
	}
	f, err := module.function(t.gpu.api, name)
	if err != nil {
		t.err = err
		return
	}
	if err := t.gpu.api.Launch(f, g.Blocks, max(1, t.members), g.X, g.Y, t.lane.stream, words); err != nil {
		t.err = t.gpu.failed("kernel "+name, err)
	}
}

// Copy implements [op.Stream].
func (t *task) Copy(to, from kernels.Matrix) {
	if t.members > 0 {
		n := from.Size()
		t.Launch(kernels.CopyBlock{In: from, LdIn: n, Out: to, LdOut: n, Rows: 1, Cols: n})
		return
	}
	if t.err == nil {
		t.err = t.gpu.failed("copying on the device",
			t.gpu.api.Copy(driver.Pointer(to.At), driver.Pointer(from.At), from.Size()*t.elem(), t.lane.stream))
	}
}
