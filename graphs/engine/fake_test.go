package engine

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// fakeDevice is a device with memory of its own and a queue, as a GPU has. It
// computes with the host's kernels, only later, and reports a buffer that is
// freed twice, used after it was freed, read before it was written, or never
// freed. Downloaded values are NaN until something waits, and so are the results of a failure.
//
// A run that nobody waited for is a queue of its own, which is worked off as late as can be:
// a read of its results without [Device.After] finds nothing.
type fakeDevice struct {
	t          *testing.T
	hasKernel  func(op string) bool
	failAfter  int // launches until one fails; 0 for never
	outOfAfter int // allocations until one fails; 0 for never
	most       int // buffers that there is room for; 0 for any number

	memory   map[int]gorgonia.Value // nil for one that is not written yet
	next     int
	queue    []queued
	follows  []*fakeTail // of the queue
	detached []*fakeTail
	waits    int // Sync and Wait with something to do
	launches []string
	uploads  int
	// Buffers that are allocated and not yet freed, now and at most, counted
	// when the executor asks.
	held, peak int
}

func newFake(t *testing.T) *fakeDevice {
	return &fakeDevice{t: t, memory: map[int]gorgonia.Value{}, hasKernel: func(string) bool { return true }}
}

func (f *fakeDevice) Alloc(bytes int) (Buf, error) {
	if f.outOfAfter--; f.outOfAfter == 0 {
		return nil, errors.New("out of memory")
	}
	if f.most > 0 && f.held >= f.most {
		return nil, ErrOutOfDeviceMemory
	}
	if bytes <= 0 {
		f.t.Errorf("an allocation of %d bytes", bytes)
	}
	f.next++
	f.memory[f.next] = nil
	f.held++
	f.peak = max(f.peak, f.held)
	return f.next, nil
}

// queued is work that has been handed to the device but not been done.
type queued struct{ do func() error }

func (f *fakeDevice) enqueue(do func() error) { f.queue = append(f.queue, queued{do}) }

// Free takes effect in the order of the queue.
func (f *fakeDevice) Free(b Buf) {
	f.held--
	f.enqueue(func() error {
		if _, ok := f.memory[b.(int)]; !ok {
			f.t.Errorf("buffer %v was freed twice", b)
		}
		delete(f.memory, b.(int))
		return nil
	})
}

func (f *fakeDevice) Upload(dst DTensor, v gorgonia.Value) error {
	f.uploads++
	copied, err := gorgonia.CloneValue(v)
	if err != nil {
		return err
	}
	f.enqueue(func() error { return f.write(dst, copied) })
	return nil
}

// Download returns a value of NaN, which Sync fills.
func (f *fakeDevice) Download(src DTensor) (gorgonia.Value, error) {
	v := notYet(src)
	f.enqueue(func() error {
		now, err := f.read(src)
		if err != nil {
			return err
		}
		switch to := v.(type) {
		case *gorgonia.F64:
			*to = *now.(*gorgonia.F64)
		case *tensor.Dense:
			if d := now.(*tensor.Dense); d.RequiresIterator() || d.DataOrder().IsTransposed() {
				now = d.Materialize().(gorgonia.Value)
			}
			if bools, ok := Data(to).([]bool); ok {
				copy(bools, Data(now).([]bool))
			} else {
				copy(Data(to).([]float64), Data(now).([]float64))
			}
		}
		return nil
	})
	return v, nil
}

func notYet(t DTensor) gorgonia.Value {
	if t.DType == tensor.Bool {
		return TensorOf(make([]bool, t.Shape.TotalSize()), t.Shape...)
	}
	if t.Shape.IsScalar() {
		return gorgonia.NewF64(math.NaN())
	}
	data := make([]float64, t.Shape.TotalSize())
	for i := range data {
		data[i] = math.NaN()
	}
	return TensorOf(data, t.Shape...)
}

func (f *fakeDevice) Launch(op gorgonia.Op, out DTensor, in []DTensor) error {
	if !f.hasKernel(op.String()) {
		return ErrNoKernel
	}
	f.launches = append(f.launches, op.String())
	if f.failAfter--; f.failAfter == 0 {
		return errors.New("launch failure")
	}
	f.enqueue(func() error {
		values := make([]gorgonia.Value, len(in))
		for i, t := range in {
			v, err := f.read(t)
			if err != nil {
				return err
			}
			values[i] = v
		}
		v, err := op.Do(values...)
		if err != nil {
			return errors.Join(err, f.write(out, notYet(out)))
		}
		return f.write(out, v)
	})
	return nil
}

// Sync works off the queue, after the runs that it follows.
func (f *fakeDevice) Sync() error {
	if len(f.queue) > 0 {
		f.waits++
	}
	now := f.end()
	now.do()
	return now.err
}

// end ends a run without doing anything of it.
func (f *fakeDevice) end() *fakeTail {
	t := &fakeTail{f: f, queue: f.queue, follows: f.follows}
	f.queue, f.follows = nil, nil
	return t
}

// fakeTail is the end of a run of a fakeDevice.
type fakeTail struct {
	f       *fakeDevice
	queue   []queued
	follows []*fakeTail
	done    bool
	waited  bool
	err     error
}

// do works a run off. As on a GPU, operations after a failure are computed all the same.
func (t *fakeTail) do() {
	if t.done {
		return
	}
	t.done = true
	for _, other := range t.follows {
		other.do()
	}
	for _, work := range t.queue {
		if err := work.do(); t.err == nil {
			t.err = err
		}
	}
}

func (t *fakeTail) Done() bool { return t.done }

func (t *fakeTail) Wait() error {
	if t.waited {
		t.f.t.Error("a run was waited for twice")
	}
	if !t.done {
		t.f.waits++
	}
	t.waited = true
	t.do()
	return t.err
}

func (f *fakeDevice) Detach() (Tail, error) {
	if len(f.queue) == 0 {
		return nil, nil
	}
	t := f.end()
	f.detached = append(f.detached, t)
	return t, nil
}

func (f *fakeDevice) After(t Tail) error {
	f.follows = append(f.follows, t.(*fakeTail))
	return nil
}

func (f *fakeDevice) Take(t DTensor) (Buf, error) { return t.Buf, nil }

func (f *fakeDevice) Lend(kept, _ DTensor) (Buf, error) { return kept.Buf, nil }

func (f *fakeDevice) read(t DTensor) (gorgonia.Value, error) {
	v, ok := f.memory[t.Buf.(int)]
	switch {
	case !ok:
		f.t.Errorf("buffer %v was read after it was freed", t.Buf)
		return nil, fmt.Errorf("buffer %v is freed", t.Buf)
	case v == nil:
		f.t.Errorf("buffer %v was read before it was written", t.Buf)
		return nil, fmt.Errorf("buffer %v is empty", t.Buf)
	}
	return shaped(v, t)
}

func (f *fakeDevice) write(t DTensor, v gorgonia.Value) error {
	if _, ok := f.memory[t.Buf.(int)]; !ok {
		f.t.Errorf("buffer %v was written after it was freed", t.Buf)
	}
	if v.Shape().TotalSize()*int(v.Dtype().Size()) != t.Bytes() {
		f.t.Errorf("%v was written to %d bytes", v.Shape(), t.Bytes())
	}
	f.memory[t.Buf.(int)] = v
	return nil
}

// live is the number of buffers after all that is queued.
func (f *fakeDevice) live() int {
	for _, t := range f.detached {
		t.do()
	}
	if err := f.Sync(); err != nil {
		f.t.Errorf("work was left behind, and fails: %v", err)
	}
	return len(f.memory)
}

var _ Device = (*fakeDevice)(nil)
