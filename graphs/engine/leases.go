package engine

import (
	"fmt"
	"slices"

	"gorgonia.org/gorgonia"

	"privkern/graphs/op"
)

// leases are the memory that one run reads or leaves and that outlives it.
type leases struct {
	x     *Executor
	stay  []string // the outputs that do not go to the host
	reads []*memory
	left  []*memory       // new in this run
	at    map[int]*memory // by slot: both
	made  []*Resident
}

// leases returns the leases of a run whose outputs with these names stay.
func (x *Executor) leases(stay []string) *leases {
	return &leases{x: x, stay: stay, at: map[int]*memory{}}
}

// lend assigns memory, of which the run is a user, to a slot.
func (l *leases) lend(slot int, m *memory) (DTensor, error) {
	l.reads = append(l.reads, m)
	l.at[slot] = m
	return m.lend(l.x.device, l.x.slot(slot))
}

// input assigns the value of an input to a slot. The memory is the run's own unless the value
// is resident.
func (l *leases) input(slot int, value gorgonia.Value) (t DTensor, own bool, err error) {
	r, ok := value.(*Resident)
	if !ok {
		t, err = l.x.home.upload(l.x.device, l.x.slot(slot), value)
		return t, err == nil, err
	}
	m, err := l.x.resident(r, slot)
	if err != nil {
		return t, false, err
	}
	t, err = l.lend(slot, m)
	return t, false, err
}

// resident returns the memory of a resident value for a slot, with one user more.
func (x *Executor) resident(r *Resident, slot int) (*memory, error) {
	if r.memory.home != x.home {
		return nil, errForeign
	}
	if err := fits(r, x.slot(slot)); err != nil {
		return nil, err
	}
	return r.use()
}

// slot returns a slot's tensor without memory.
func (x *Executor) slot(slot int) DTensor {
	return DTensor{Shape: x.shapes[slot], DType: x.dtypes[slot]}
}

// stays reports whether an output stays on the device.
func (l *leases) stays(name string) bool { return slices.Contains(l.stay, name) }

// waits reports whether any output goes to the host.
func (l *leases) waits() bool {
	for name := range l.x.output {
		if !l.stays(name) {
			return true
		}
	}
	return false
}

// outputs returns the values of a run. Outputs that stay come first, so that the host gets a
// copy of memory that others share with them.
func (l *leases) outputs(values []DTensor, live []bool) (outputs Values, err error) {
	x := l.x
	outputs = make(Values, len(x.output))
	for _, staying := range []bool{true, false} {
		for _, name := range x.graph.OutputNames {
			slot := x.output[name]
			switch {
			case l.stays(name) != staying:
			case staying:
				outputs[name], err = l.leave(slot, values[slot])
				live[slot] = live[slot] && err != nil
			default:
				outputs[name], err = x.device.Download(values[slot])
			}
			if err != nil {
				return nil, fmt.Errorf("output %q: %w", name, err)
			}
		}
	}
	return outputs, nil
}

// leave makes a slot's value resident. No other run sees it before this one has succeeded.
func (l *leases) leave(slot int, t DTensor) (*Resident, error) {
	m := l.at[slot]
	if m == nil {
		buf, err := l.x.device.Take(t)
		if err != nil {
			return nil, err
		}
		kept := t
		kept.Buf = buf
		m = &memory{home: l.x.home, tensor: kept, key: l.x.device.counts.Key(), users: 1}
		l.at[slot] = m
		// A run is a user of its results, too: a value may be closed before the run has ended.
		l.left, l.reads = append(l.left, m), append(l.reads, m.retain())
	} else {
		m.retain()
	}
	r := &Resident{memory: m, tensor: t}
	l.made = append(l.made, r)
	return r, nil
}

// end ends a run: without waiting for it where nothing goes to the host. After a failure it
// waits, because queued work must not outlive the run. A failed operation on the device, and
// before it a failed run whose outputs were read, explains a later error, such as one of an
// allocation, better than that error does. Failed members of batches leave the others' outputs.
func (l *leases) end(outputs Values, err error, failed *op.Failures) (Values, error) {
	x := l.x
	var tail Tail
	if err == nil && !l.waits() {
		tail, err = x.device.Detach()
		err = failed.Keep(err)
	} else if failure := failed.Keep(x.device.Sync()); failure != nil {
		err = failure
	}
	if tail == nil {
		// The device has ended all that comes before, so that this waits for nothing.
		for _, m := range l.reads {
			if failure := failed.Keep(m.settle()); failure != nil {
				err = failure
			}
		}
	}
	x.home.depart(x.graph.Program, tail, l.reads, l.left)
	if err == nil {
		err = x.home.own(l.made...)
	}
	if err != nil {
		for _, r := range l.made {
			r.Close()
		}
		if members := failed.Err(); members != nil {
			// It is not wrapped, because a wrapped one would promise outputs.
			err = fmt.Errorf("%s; then %w", members.Error(), err)
		}
		return nil, err
	}
	return outputs, failed.Err()
}
