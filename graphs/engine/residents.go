package engine

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"gorgonia.org/gorgonia"

	"privkern/graphs/engine/counts"
	"privkern/graphs/op"
)

// residents are the values that stay in the memory of an engine's backend, and the runs
// that nobody has waited for.
type residents struct {
	// device returns a device that counts for a program.
	device func(key counts.Key) *countedDevice

	mu     sync.Mutex
	open   map[*Resident]bool
	queued []*unfinished // oldest first
	closed bool
}

// newResidents returns an empty set.
func newResidents(device func(counts.Key) *countedDevice) *residents {
	return &residents{device: device, open: map[*Resident]bool{}}
}

// memory is a tensor that outlives a run. It is freed when its last user lets go of it: an
// owner, or a run that reads it and that the device may not have finished.
type memory struct {
	home   *residents
	tensor DTensor
	key    counts.Key // of the program that it comes from
	// maker is the run that writes it, nil where the host has waited for that. It is set
	// before others see the memory.
	maker *unfinished
	users int // guarded by home.mu
}

// retain adds a user to memory that has one.
func (m *memory) retain() *memory {
	m.home.mu.Lock()
	defer m.home.mu.Unlock()
	m.users++
	return m
}

// release takes a user away.
func (m *memory) release() {
	m.home.mu.Lock()
	m.users--
	last := m.users == 0
	m.home.mu.Unlock()
	if last {
		m.home.device(m.key).Free(m.tensor.Buf)
	}
}

// settle waits for the run that writes the memory and returns why it failed.
func (m *memory) settle() error {
	if m.maker == nil {
		return nil
	}
	return m.maker.settle()
}

// unfinished is a run, or an upload, that the host has not waited for. Until then it keeps its
// inputs, for the device and for the message of a failure.
type unfinished struct {
	home    *residents
	program string
	tail    Tail

	settling sync.Mutex // of the rest
	reads    []*memory
	err      error
	done     atomic.Bool // written last
}

// settle waits for the run, once, and returns its error: the first failure of its inputs, or
// its own, with the name of the program that failed. Where members of batches failed and
// nothing else did, it is an [op.MembersError].
func (u *unfinished) settle() error {
	u.settling.Lock()
	defer u.settling.Unlock()
	if u.done.Load() {
		return u.err
	}
	var failed op.Failures
	for _, m := range u.reads {
		if m.maker != u && u.err == nil {
			u.err = failed.Keep(m.settle())
		}
	}
	if err := failed.Keep(u.tail.Wait()); err != nil && u.err == nil {
		noteFailure(err)
		u.err = fmt.Errorf("%s: %w", u.program, err)
	}
	if u.err == nil {
		u.err = failed.Err()
	}
	u.done.Store(true)
	h := u.home
	h.mu.Lock()
	h.queued = slices.DeleteFunc(h.queued, func(other *unfinished) bool { return other == u })
	h.mu.Unlock()
	for _, m := range u.reads {
		m.release()
	}
	u.reads = nil
	return u.err
}

// maxUnfinished bounds the runs that an engine has queued, because they hold their inputs.
const maxUnfinished = 32

// depart lets a run go on by itself. It keeps the memory that the run reads until the run has
// ended, and notes the run in the memory that it leaves. A device that has nothing left to do
// gives no tail.
func (h *residents) depart(program string, tail Tail, reads, leaves []*memory) {
	if tail == nil {
		for _, m := range reads {
			m.release()
		}
		return
	}
	u := &unfinished{home: h, program: program, tail: tail, reads: reads}
	for _, m := range leaves {
		m.maker = u
	}
	h.mu.Lock()
	h.queued = append(h.queued, u)
	h.mu.Unlock()
	h.sweep()
}

// sweep settles the oldest runs that have ended. Where there are too many, or where the engine
// is closed, it waits for the oldest.
func (h *residents) sweep() {
	for {
		h.mu.Lock()
		if len(h.queued) == 0 {
			h.mu.Unlock()
			return
		}
		u, wait := h.queued[0], h.closed || len(h.queued) > maxUnfinished
		h.mu.Unlock()
		if !wait && !u.tail.Done() {
			return
		}
		_ = u.settle() // a use of its outputs returns the error
	}
}

// settle waits for all runs. It reports whether there was one.
func (h *residents) settle() bool {
	h.mu.Lock()
	all := slices.Clone(h.queued)
	h.mu.Unlock()
	for _, u := range all {
		_ = u.settle() // as above
	}
	return len(all) > 0
}

// alloc returns memory of a device. Where that is full, runs that hold some end first.
func (h *residents) alloc(d Device, bytes int) (Buf, error) {
	b, err := d.Alloc(bytes)
	if errors.Is(err, ErrOutOfDeviceMemory) && h.settle() {
		b, err = d.Alloc(bytes)
	}
	return b, err
}

// upload copies a value to memory of a device, in the shape that a graph has for it.
func (h *residents) upload(d Device, as DTensor, v gorgonia.Value) (DTensor, error) {
	v, err := shaped(v, as)
	if err != nil {
		return as, err
	}
	if as.Buf, err = h.alloc(d, as.Bytes()); err != nil {
		return as, err
	}
	if err := d.Upload(as, v); err != nil {
		d.Free(as.Buf)
		return as, err
	}
	return as, nil
}

// keep uploads a value that stays, and does not wait for that.
func (h *residents) keep(d Device, key counts.Key, as DTensor, v gorgonia.Value) (*memory, error) {
	t, err := h.upload(d, as, v)
	if err != nil {
		return nil, errors.Join(err, d.Sync())
	}
	m := &memory{home: h, tensor: t, key: key, users: 1}
	tail, err := d.Detach()
	if err != nil {
		m.release()
		return nil, err
	}
	h.depart(key.Program, tail, []*memory{m.retain()}, []*memory{m})
	return m, nil
}

// own remembers values that the caller closes, or the engine.
func (h *residents) own(all ...*Resident) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed && len(all) > 0 {
		return ErrClosed
	}
	for _, r := range all {
		h.open[r] = true
	}
	return nil
}

// isClosed reports whether the engine is closed.
func (h *residents) isClosed() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.closed
}

// close waits for all runs and frees all values.
func (h *residents) close() {
	h.mu.Lock()
	h.closed = true
	var all []*Resident
	for r := range h.open {
		all = append(all, r)
	}
	h.mu.Unlock()
	for _, r := range all {
		r.Close()
	}
	h.settle()
}
