package hull

import (
	"errors"
	"os"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
)

// testDevice is the backend "cuda" of these tests: a device with its own, limited memory that
// computes synchronously with the host's kernels, or not at all. It reports double frees and uses
// after a free.
type testDevice struct {
	t       *testing.T
	idle    bool // counts launches without computing
	room    int  // bytes; 0 for any number
	fails   int  // launches until one fails; 0 for never
	memory  map[int]gorgonia.Value
	size    map[int]int
	used    int
	next    int
	refused int // allocations
	after   func(launches int)
	all     int // launches
}

var _ engine.Accelerator = (*testDevice)(nil)

// onDevice opens an engine on a test device, which must hold nothing once it is closed.
func onDevice(t *testing.T, dtype string) (*engine.Engine, *testDevice) {
	t.Helper()
	if os.Getenv("PRIVKERN_TEST_BACKEND") == "cuda" {
		t.Skip("the backend cuda is another one")
	}
	d := &testDevice{t: t, memory: map[int]gorgonia.Value{}, size: map[int]int{}}
	engine.Register("cuda", func() (engine.Accelerator, error) { return d, nil })
	e, err := engine.Open("cuda", dtype, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if len(d.size) != 0 {
			t.Errorf("%d buffers leak", len(d.size))
		}
		if w := e.Warnings(); len(w) != 0 {
			t.Errorf("warnings: %q", w)
		}
	})
	return e, d
}

func (d *testDevice) Device() engine.Device { return d }
func (d *testDevice) String() string        { return "a device for tests" }
func (d *testDevice) Close() error          { return nil }

func (d *testDevice) Alloc(bytes int) (engine.Buf, error) {
	if d.room > 0 && d.used+bytes > d.room {
		d.refused++
		return nil, engine.ErrOutOfDeviceMemory
	}
	d.next++
	d.size[d.next] = bytes
	d.used += bytes
	return d.next, nil
}

func (d *testDevice) Free(b engine.Buf) {
	if _, ok := d.size[b.(int)]; !ok {
		d.t.Errorf("buffer %v is freed twice", b)
	}
	d.used -= d.size[b.(int)]
	delete(d.size, b.(int))
	delete(d.memory, b.(int))
}

func (d *testDevice) Upload(dst engine.DTensor, v gorgonia.Value) (err error) {
	if !d.idle {
		d.memory[dst.Buf.(int)], err = gorgonia.CloneValue(v)
	}
	return err
}

func (d *testDevice) Download(src engine.DTensor) (gorgonia.Value, error) {
	if d.idle {
		return tensor.New(tensor.Of(src.DType), tensor.WithShape(src.Shape.Clone()...)), nil
	}
	v, err := d.value(src)
	if err != nil {
		return nil, err
	}
	return gorgonia.CloneValue(v)
}

// value returns the value of a tensor's buffer, in the shape of the tensor.
func (d *testDevice) value(t engine.DTensor) (gorgonia.Value, error) {
	v, ok := d.memory[t.Buf.(int)]
	if !ok {
		d.t.Errorf("buffer %v is read, and is empty or freed", t.Buf)
		return nil, errors.New("no value")
	}
	if dense, ok := v.(*tensor.Dense); ok && !v.Shape().Eq(t.Shape) {
		dense = dense.ShallowClone()
		return dense, dense.Reshape(t.Shape...)
	}
	return v, nil
}

func (d *testDevice) Launch(op gorgonia.Op, out engine.DTensor, in []engine.DTensor) (err error) {
	d.all++
	if d.after != nil {
		d.after(d.all)
	}
	if d.fails--; d.fails == 0 {
		return errors.New("launch failure")
	}
	if d.idle {
		return nil
	}
	values := make([]gorgonia.Value, len(in))
	for i, t := range in {
		if values[i], err = d.value(t); err != nil {
			return err
		}
	}
	d.memory[out.Buf.(int)], err = op.Do(values...)
	return err
}

func (d *testDevice) Sync() error                                     { return nil }
func (d *testDevice) Detach() (engine.Tail, error)                    { return nil, nil }
func (d *testDevice) After(engine.Tail) error                         { return nil }
func (d *testDevice) Take(t engine.DTensor) (engine.Buf, error)       { return t.Buf, nil }
func (d *testDevice) Lend(kept, _ engine.DTensor) (engine.Buf, error) { return kept.Buf, nil }
