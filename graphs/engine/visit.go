package engine

import (
	"fmt"
	"slices"

	"gorgonia.org/gorgonia"

	"privkern/graphs/op"
)

// visit is what one run has to do with memory that outlives it.
type visit struct {
	x     *Executor
	stay  []string // the outputs that do not go to the host
	reads []*memory
	left  []*memory       // is new
	at    map[int]*memory // by slot: both
	made  []*Resident
}

// visit starts the visit of a run, of whose outputs some stay.
func (x *Executor) visit(stay []string) *visit {
	return &visit{x: x, stay: stay, at: map[int]*memory{}}
}

// lend lets a slot be memory that the visit has become a user of.
func (v *visit) lend(slot int, m *memory) (DTensor, error) {
	v.reads = append(v.reads, m)
	v.at[slot] = m
	return m.lend(v.x.device, v.x.slot(slot))
}

// input gives a slot the value of an input, which is the run's own unless it is resident.
func (v *visit) input(slot int, value gorgonia.Value) (t DTensor, own bool, err error) {
	r, ok := value.(*Resident)
	if !ok {
		t, err = v.x.home.upload(v.x.device, v.x.slot(slot), value)
		return t, err == nil, err
	}
	m, err := v.x.resident(r, slot)
	if err != nil {
		return t, false, err
	}
	t, err = v.lend(slot, m)
	return t, false, err
}

// resident is the memory of a resident value for a slot, with one user more.
func (x *Executor) resident(r *Resident, slot int) (*memory, error) {
	if r.memory.home != x.home {
		return nil, errForeign
	}
	if err := fits(r, x.slot(slot)); err != nil {
		return nil, err
	}
	return r.use()
}

// slot is a slot's tensor without memory.
func (x *Executor) slot(slot int) DTensor {
	return DTensor{Shape: x.shapes[slot], DType: x.dtypes[slot]}
}

// stays says whether an output does not go to the host.
func (v *visit) stays(name string) bool { return slices.Contains(v.stay, name) }

// waits says whether an output goes to the host.
func (v *visit) waits() bool {
	for name := range v.x.output {
		if !v.stays(name) {
			return true
		}
	}
	return false
}

// outputs are the values of a run. Those that stay come first: what they share with others
// the host then gets a copy of.
func (v *visit) outputs(values []DTensor, live []bool) (outputs Values, err error) {
	x := v.x
	outputs = make(Values, len(x.output))
	for _, staying := range []bool{true, false} {
		for _, name := range x.graph.OutputNames {
			slot := x.output[name]
			switch {
			case v.stays(name) != staying:
			case staying:
				outputs[name], err = v.leave(slot, values[slot])
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

// leave makes a slot's value resident. Nobody has it before the run has succeeded.
func (v *visit) leave(slot int, t DTensor) (*Resident, error) {
	m := v.at[slot]
	if m == nil {
		buf, err := v.x.device.Take(t)
		if err != nil {
			return nil, err
		}
		kept := t
		kept.Buf = buf
		m = &memory{home: v.x.home, tensor: kept, key: v.x.device.counts.Key(), users: 1}
		v.at[slot] = m
		// A run uses what it writes, too: the value may be closed before it has ended.
		v.left, v.reads = append(v.left, m), append(v.reads, m.retain())
	} else {
		m.retain()
	}
	r := &Resident{memory: m, tensor: t}
	v.made = append(v.made, r)
	return r, nil
}

// end ends a run: without waiting for it where nothing goes to the host. After a failure,
// too, what was queued must not outlive a run. An operation that failed on the device, and
// before it a run whose outputs were read, explains a later error, of an allocation say,
// better than that error does. Members of batches that have failed leave the others' outputs.
func (v *visit) end(outputs Values, err error, failed *op.Failures) (Values, error) {
	x := v.x
	var tail Tail
	if err == nil && !v.waits() {
		tail, err = x.device.Detach()
		err = failed.Keep(err)
	} else if failure := failed.Keep(x.device.Sync()); failure != nil {
		err = failure
	}
	if tail == nil {
		// The device has ended all that comes before, so that this waits for nothing.
		for _, m := range v.reads {
			if failure := failed.Keep(m.settle()); failure != nil {
				err = failure
			}
		}
	}
	x.home.depart(x.graph.Program, tail, v.reads, v.left)
	if err == nil {
		err = x.home.own(v.made...)
	}
	if err != nil {
		for _, r := range v.made {
			r.Close()
		}
		if members := failed.Err(); members != nil {
			// It is not wrapped, for there are no outputs, as there would be beside it alone.
			err = fmt.Errorf("%s; then %w", members.Error(), err)
		}
		return nil, err
	}
	return outputs, failed.Err()
}
