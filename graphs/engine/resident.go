package engine

import (
	"context"
	"errors"
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/engine/counts"
	"privkern/graphs/op"
)

// Resident is a value in the memory of an engine's backend: a constant that [Engine.Keep]
// copied there once, or an output that stays where a run computed it, see [Stay]. It is an
// input of any program on the same engine, in the element type that it has, and may be one
// of many runs at the same time. On the CPU it is the tensor itself.
//
// A run all of whose outputs stay does not wait for the device. Runs that read them follow
// on the device, in any stream. An error of such a run, such as a matrix that is not positive
// definite, is reported later, at the latest when a run that waits has used one of its
// outputs, directly or through other runs, or when one is copied to the host. The error names
// the program that failed, and is returned each time that an output of it is used; that of
// outputs that nobody uses is lost.
//
// Only the shape and the element type are on the host: Data is nil. [Resident.Value] and
// [Host] bring the elements.
type Resident struct {
	memory *memory
	tensor DTensor
	closed bool // guarded by the lock of the memory's home
}

var _ gorgonia.Value = (*Resident)(nil)

// ErrResidentClosed is returned where a resident value is used after Close, or after its
// engine was closed.
var ErrResidentClosed = errors.New("the resident value is closed")

// Shape implements [gorgonia.Value].
func (r *Resident) Shape() tensor.Shape { return r.tensor.Shape }

// Size implements [gorgonia.Value]: the number of elements.
func (r *Resident) Size() int { return r.tensor.Shape.TotalSize() }

// Dtype implements [gorgonia.Value].
func (r *Resident) Dtype() tensor.Dtype { return r.tensor.DType }

// Data implements [gorgonia.Value]: nil, since the host has no elements.
func (r *Resident) Data() any { return nil }

// Uintptr implements [gorgonia.Value]: 0, an address that the host cannot read.
func (r *Resident) Uintptr() uintptr { return 0 }

// MemSize implements [gorgonia.Value]: the bytes of the elements.
func (r *Resident) MemSize() uintptr { return uintptr(r.tensor.Bytes()) }

// Format implements [fmt.Formatter]: shape and element type.
func (r *Resident) Format(s fmt.State, _ rune) {
	_, _ = fmt.Fprintf(s, "resident %v %v", r.tensor.DType, r.tensor.Shape)
}

// errForeign is returned for a resident value of another engine.
var errForeign = errors.New("it is a resident value of another engine; Host copies it")

// errNotHere is returned where the host reads the elements of a resident value.
var errNotHere = errors.New("the value is resident: Host copies its elements to the host")

// use adds a user to the value's memory.
func (r *Resident) use() (*memory, error) {
	h := r.memory.home
	h.mu.Lock()
	defer h.mu.Unlock()
	if r.closed {
		return nil, ErrResidentClosed
	}
	r.memory.users++
	return r.memory, nil
}

// Close frees the value's memory, once the runs that have begun to read it have ended; it
// does not wait for them. Closing again does nothing.
func (r *Resident) Close() {
	h := r.memory.home
	h.mu.Lock()
	closed := r.closed
	r.closed = true
	delete(h.open, r)
	h.mu.Unlock()
	if !closed {
		r.memory.release()
	}
}

// Value copies the elements to the host, and waits for that and for the run that computes
// them. Its error is that of this run, if it failed, or [ErrResidentClosed].
func (r *Resident) Value(ctx context.Context) (gorgonia.Value, error) {
	out, err := Host(ctx, Values{"": r})
	return out[""], err
}

// Host returns values whose elements are on the host: those of resident values are copied,
// all in one go and with one wait for each program that they come from, others are
// returned as they are. The error is the first that [Resident.Value] would give; one of
// members of batches comes with the values, as in [Engine.Run].
func Host(ctx context.Context, values Values) (Values, error) { return onHost(ctx, values, false) }

// Fetch is [Host] for resident values that nothing uses afterwards: it closes them. On the CPU
// the memory of a value that nobody else uses is handed over instead of copied.
func Fetch(ctx context.Context, values Values) (Values, error) {
	defer values.Close()
	return onHost(ctx, values, true)
}

// onHost is Host, or with last Fetch.
func onHost(ctx context.Context, values Values, last bool) (Values, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	type source struct {
		home *residents
		key  counts.Key
	}
	groups := map[source]map[string]*Resident{}
	all := make(Values, len(values))
	for name, v := range values {
		r, ok := v.(*Resident)
		if !ok {
			all[name] = v
			continue
		}
		from := source{r.memory.home, r.memory.key}
		if groups[from] == nil {
			groups[from] = map[string]*Resident{}
		}
		groups[from][name] = r
	}
	var failed op.Failures
	for from, group := range groups {
		if err := failed.Keep(from.home.download(from.key, group, all, last)); err != nil {
			noteFailure(err)
			return nil, err
		}
	}
	return all, failed.Err()
}

// download copies values to the host, or with last may hand their memory over.
func (h *residents) download(key counts.Key, group map[string]*Resident, to Values, last bool) (err error) {
	d := h.device(key)
	var reads []*memory
	defer func() {
		// Also after a failure, because queued copies must not outlive the memory. A value
		// that was never computed explains a later error better than that error does.
		var failed op.Failures
		failure := failed.Keep(d.Sync())
		for _, m := range reads {
			if e := failed.Keep(m.settle()); e != nil {
				failure = e
			}
			m.release()
		}
		switch {
		case failure != nil:
			err = failure
		case err == nil:
			err = failed.Err()
		}
	}()
	for name, r := range group {
		m, err := r.use()
		if err != nil {
			return err
		}
		reads = append(reads, m)
		if last && m.sole() {
			if v, err := d.give(m.tensor, r.tensor); v != nil || err != nil {
				to[name] = v
				if err != nil {
					return err
				}
				continue
			}
		}
		lent, err := m.lend(d, r.tensor)
		if err != nil {
			return err
		}
		if to[name], err = d.Download(lent); err != nil {
			return err
		}
	}
	return nil
}

// sole reports whether a resident value and the caller are the only users of the memory.
func (m *memory) sole() bool {
	m.home.mu.Lock()
	defer m.home.mu.Unlock()
	return m.users <= 2
}

// lend returns the memory for work on a device, ordered after the run that writes it.
func (m *memory) lend(d Device, as DTensor) (DTensor, error) {
	if m.maker != nil && !m.maker.done.Load() {
		if err := d.After(m.maker.tail); err != nil {
			return as, err
		}
	}
	var err error
	as.Buf, err = d.Lend(m.tensor, as)
	return as, err
}

// Close closes the resident values among these, such as the outputs of a run.
func (v Values) Close() {
	for _, value := range v {
		if r, ok := value.(*Resident); ok {
			r.Close()
		}
	}
}

// keptValues stands in counts for the program of the copies of [Engine.Keep].
const keptValues = "kept values"

// Keep copies a value that many runs read, such as a matrix of a model, to the memory of the
// backend, where it stays until it or the engine is closed. It does not wait for the copy. On
// the CPU nothing is copied, and the value must not change before Close.
// A resident value gets one more owner. Keep fails with [ErrOutOfDeviceMemory] where there is
// no room, and with [ErrClosed].
func (e *Engine) Keep(v gorgonia.Value) (*Resident, error) {
	r, err := e.keep(v)
	if err == nil {
		if err = e.residents.own(r); err != nil {
			r.Close()
		}
	}
	if err != nil {
		noteFailure(err)
		return nil, fmt.Errorf("keeping a value of shape %v: %w", v.Shape(), err)
	}
	return r, nil
}

// keep is Keep without adding the value to the engine's list.
func (e *Engine) keep(v gorgonia.Value) (*Resident, error) {
	h := e.residents
	if r, ok := v.(*Resident); ok {
		if r.memory.home != h {
			return nil, errForeign
		}
		m, err := r.use()
		return &Resident{memory: m, tensor: r.tensor}, err
	}
	if h.isClosed() {
		return nil, ErrClosed
	}
	as := DTensor{Shape: v.Shape().Clone(), DType: v.Dtype()}
	key := counts.Key{Program: keptValues, DType: as.DType.String()}
	m, err := h.keep(e.counting(key), key, as, v)
	if err != nil {
		return nil, err
	}
	return &Resident{memory: m, tensor: m.tensor}, nil
}

// RunOption is how a run differs from others of its program.
type RunOption func(*runOptions)

type runOptions struct{ stay []string }

// Stay lets outputs stay where they are computed: they are returned as [Resident] values,
// which the caller closes. A run all of whose outputs stay does not wait for the device.
func Stay(outputs ...string) RunOption {
	return func(o *runOptions) { o.stay = append(o.stay, outputs...) }
}

// staying returns the names of the outputs that stay.
func staying(options []RunOption) []string {
	var o runOptions
	for _, option := range options {
		option(&o)
	}
	return o.stay
}
