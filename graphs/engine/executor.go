package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/engine/counts"
	"privkern/graphs/op"
)

// Executor runs one graph on one device, over and over. It is not safe for
// concurrent use: gorgonia's nodes and a device's buffers belong to one
// goroutine at a time.
//
// The invariant between runs: only constants, pinned inputs and resident values hold device
// memory. Every other buffer of a run is freed after its last reader or at the end, after
// errors as well.
type Executor struct {
	graph  *Graph
	device *countedDevice
	steps  []step
	units  []unit // of the steps, in their order
	// schedule is nil where steps run one after another.
	schedule *schedule
	inputs   map[string]int // slot of each input
	output   map[string]int // slot of each output
	shapes   []tensor.Shape // of each slot
	dtypes   []tensor.Dtype
	home     *residents
	// kept are the values that stay on the device between runs, by slot: constants and
	// pinned inputs.
	kept   map[int]*memory
	pinned map[string]bool
	tape   tape
}

// step is one operation: it reads and writes slots.
type step struct {
	op   gorgonia.Op
	in   []int
	out  int
	dead []int // slots that nothing reads after this step
}

// unit is steps [from, to), which are one, or several that one kernel may compute.
type unit struct {
	from, to int
	chain    *chain // nil where the steps run one by one
}

// NewExecutor plans the run of a graph on a device and uploads its constants. It calls
// fellBack, unless that is nil, for each operation that the host computes because the
// device has no kernel for it.
func NewExecutor(g *Graph, d Device, fellBack func(op string)) (*Executor, error) {
	return newResidents(func(key counts.Key) *countedDevice {
		return &countedDevice{Device: d, counts: counts.For(new(counts.Counter), key), fellBack: fellBack}
	}).executor(g)
}

// executor is NewExecutor among the resident values of an engine, on a device of its own.
func (h *residents) executor(g *Graph) (*Executor, error) {
	x := &Executor{graph: g, device: h.device(counts.Key{Program: g.Program, DType: g.DType.String()}), home: h,
		inputs: map[string]int{}, output: map[string]int{}, kept: map[int]*memory{}, pinned: map[string]bool{}}
	x.tape.x = x
	err := x.plan()
	if err == nil {
		err = x.leaveConstants()
	}
	if err != nil {
		noteFailure(err)
		x.Close()
		return nil, fmt.Errorf("%s: %w", g.Program, err)
	}
	return x, nil
}

// leaveConstants ends the upload of constants without waiting for their copies.
func (x *Executor) leaveConstants() error {
	tail, err := x.device.Detach()
	if err != nil {
		return err
	}
	var all, uses []*memory
	for _, m := range x.kept {
		all, uses = append(all, m), append(uses, m.retain())
	}
	x.home.depart(x.graph.Program, tail, uses, all)
	return nil
}

// plan assigns a slot to every needed node, in topological order. Slots number the values
// of the graph; the order of steps, and with it the order in which memory is taken and
// freed, is the same in every run. Nodes that no output needs, which derivatives leave
// behind, get no slot.
func (x *Executor) plan() error {
	sorted, err := gorgonia.Sort(x.graph.needed) // outputs first
	if err != nil {
		return err
	}
	names := make(map[*gorgonia.Node]string, len(x.graph.Inputs))
	for name, n := range x.graph.Inputs {
		names[n] = name
	}
	slots := map[*gorgonia.Node]int{}
	computed := x.graph.computed()
	for i := len(sorted) - 1; i >= 0; i-- {
		n := sorted[i]
		if !computed[n] {
			continue
		}
		slot := len(x.shapes)
		slots[n] = slot
		x.shapes, x.dtypes = append(x.shapes, n.Shape().Clone()), append(x.dtypes, n.Dtype())
		operands := children(x.graph.needed, n)
		switch {
		case n.Op() == nil:
			name, ok := names[n]
			if !ok {
				return fmt.Errorf("the node %q is a variable but no declared input", n.Name())
			}
			x.inputs[name] = slot
		case isLength(n) || len(operands) == 0 && !op.Random(n.Op()):
			v, err := constant(n, operands)
			if err != nil {
				return fmt.Errorf("constant %q: %w", n.Name(), err)
			}
			t, err := x.home.upload(x.device, x.slot(slot), v)
			if err != nil {
				return fmt.Errorf("constant %q: %w", n.Name(), err)
			}
			x.kept[slot] = &memory{home: x.home, tensor: t, key: x.device.counts.Key(), users: 1}
		default:
			s := step{op: n.Op(), out: slot}
			for _, c := range operands {
				s.in = append(s.in, slots[c])
			}
			x.steps = append(x.steps, s)
		}
	}
	for name, n := range x.graph.Outputs {
		x.output[name] = slots[n]
	}
	if err := x.planUnits(); err != nil {
		return err
	}
	x.schedule = x.planSchedule()
	return nil
}

// children are the operands of a node in order, repeated ones included. The graph must
// be one that nothing is removed from.
func children(g *gorgonia.ExprGraph, n *gorgonia.Node) []*gorgonia.Node {
	var cs []*gorgonia.Node
	for it := g.From(n.ID()); it.Next(); {
		cs = append(cs, it.Node().(*gorgonia.Node))
	}
	return cs
}

// planFrees frees every slot after its last reader, or where it is written if nobody reads
// it, except outputs and resident values.
func (x *Executor) planFrees() {
	last := map[int]int{}
	for i, s := range x.steps {
		last[s.out] = i
		for _, in := range s.in {
			last[in] = i
		}
	}
	for _, slot := range x.output {
		delete(last, slot)
	}
	for slot := range x.shapes {
		if i, ok := last[slot]; ok {
			x.steps[i].dead = append(x.steps[i].dead, slot)
		}
	}
}

// Pin uploads an input once for all following runs, which must not be given it
// again; a resident value is there already, and may be closed. A second Pin replaces the
// first.
func (x *Executor) Pin(name string, v gorgonia.Value) error {
	slot, ok := x.inputs[name]
	if !ok {
		return fmt.Errorf("%s: there is no input %q to pin", x.graph.Program, name)
	}
	x.unpin(name)
	var m *memory
	var err error
	if r, ok := v.(*Resident); ok {
		m, err = x.resident(r, slot)
	} else {
		m, err = x.home.keep(x.device, x.device.counts.Key(), x.slot(slot), v)
	}
	if err != nil {
		noteFailure(err)
		return fmt.Errorf("%s: input %q: %w", x.graph.Program, name, err)
	}
	x.kept[slot], x.pinned[name] = m, true
	return nil
}

// unpin frees a pinned input, and does nothing for another one.
func (x *Executor) unpin(name string) {
	if x.pinned[name] {
		slot := x.inputs[name]
		x.kept[slot].release()
		delete(x.kept, slot)
		delete(x.pinned, name)
	}
}

// Unpin frees all pinned inputs.
func (x *Executor) Unpin() {
	for name := range x.inputs {
		x.unpin(name)
	}
}

// Close frees constants and pinned inputs. The executor cannot run again.
func (x *Executor) Close() {
	x.tape.drop()
	_ = x.device.Sync() // uploads that no run waited for
	for slot, m := range x.kept {
		m.release()
		delete(x.kept, slot)
	}
	clear(x.pinned)
}

// Run computes the outputs. Inputs must have the declared shapes and the
// graph's element type; they are never written to. Outputs belong to the
// caller; those that are named stay on the device, as [Resident] values.
//
// Where an operation fails for some members of a batch, the run goes on for the others:
// the outputs, NaN for those members, come together with a [op.MembersError]. Every other
// error comes without outputs. The run stops between operations when the context ends, and
// within those that the host divides.
func (x *Executor) Run(ctx context.Context, inputs Values, stay ...string) (outputs Values, err error) {
	defer x.device.counts.Ran(time.Now(), x.device.counts.Clock())
	if d, ok := x.device.Device.(interruptible); ok {
		d.within(ctx)
	}
	leases := x.leases(stay)
	held := newSlots(x)
	var failed op.Failures // of members of batches
	defer func() {
		for slot := range held.live {
			held.free(slot)
		}
		if outputs, err = leases.end(outputs, err, &failed); err != nil {
			noteFailure(err)
			err = fmt.Errorf("%s: %w", x.graph.Program, err)
		}
	}()
	if err := x.checkNames(inputs, stay); err != nil {
		return nil, err
	}
	x.tape.look(inputs)
	if err := x.load(leases, held, inputs); err != nil {
		return nil, err
	}
	done, err := x.tape.run(ctx, leases, held, &failed)
	if err == nil && !done {
		err = x.compute(ctx, held, &failed)
	}
	if err != nil {
		return nil, err
	}
	return leases.outputs(held.values, held.live)
}

// compute launches all steps.
func (x *Executor) compute(ctx context.Context, held *slots, failed *op.Failures) error {
	if x.schedule != nil && x.schedule.takes(held.values) {
		return x.schedule.run(ctx, *held, failed)
	}
	return x.oneByOne(ctx, held, failed)
}

// load gives slots the values that a run begins with: constants, pinned inputs, and the
// run's own inputs, which are uploaded.
func (x *Executor) load(leases *leases, held *slots, inputs Values) (err error) {
	for slot, m := range x.kept {
		if held.values[slot], err = leases.lend(slot, m.retain()); err != nil {
			return err
		}
	}
	names := x.together(inputs)
	if err := x.fill(held, names, inputs); err != nil {
		return err
	}
	for _, name := range x.graph.InputNames {
		slot, used := x.inputs[name]
		if !used || x.pinned[name] || slices.Contains(names, name) {
			continue
		}
		if held.values[slot], held.live[slot], err = leases.input(slot, inputs[name]); err != nil {
			return fmt.Errorf("input %q: %w", name, err)
		}
	}
	return nil
}

// oneByOne launches one step after another.
func (x *Executor) oneByOne(ctx context.Context, held *slots, failed *op.Failures) error {
	for _, u := range x.units {
		if err := ctx.Err(); err != nil {
			return err
		}
		if u.chain != nil {
			done, err := held.run(u.chain)
			if err != nil {
				return err
			}
			if done {
				continue
			}
		}
		for _, s := range x.steps[u.from:u.to] {
			if err := ctx.Err(); err != nil {
				return err
			}
			out, err := held.alloc(s.out, s.op)
			if err != nil {
				return err
			}
			if err := failed.Keep(x.device.Launch(s.op, out, at(held.values, s.in))); err != nil {
				return err
			}
			for _, slot := range s.dead {
				held.free(slot)
			}
		}
	}
	return nil
}

// slots are the values of one run.
type slots struct {
	x      *Executor
	values []DTensor
	live   []bool // is the run's own memory
	// ready are the chains whose kernels a recording has; nil outside of recordings.
	ready map[*chain]bool
}

func newSlots(x *Executor) *slots {
	return &slots{x: x, values: make([]DTensor, len(x.shapes)), live: make([]bool, len(x.shapes))}
}

// alloc allocates a slot's memory for the result of an operation.
func (h *slots) alloc(slot int, what any) (t DTensor, err error) {
	t = h.x.slot(slot)
	if t.Buf, err = h.x.home.alloc(h.x.device, t.Bytes()); err != nil {
		return t, fmt.Errorf("%v: %w", what, err)
	}
	h.values[slot], h.live[slot] = t, true
	return t, nil
}

// free frees a slot's memory where that is the run's own.
func (h *slots) free(slot int) {
	if h.live[slot] {
		h.x.device.Free(h.values[slot].Buf)
		h.live[slot] = false
	}
}

// checkNames fails for missing, unknown and pinned inputs, and for unknown outputs.
func (x *Executor) checkNames(inputs Values, stay []string) error {
	for _, name := range stay {
		if _, ok := x.output[name]; !ok {
			return fmt.Errorf("there is no output %q to stay", name)
		}
	}
	for _, name := range x.graph.InputNames {
		if _, used := x.inputs[name]; used && inputs[name] == nil && !x.pinned[name] {
			return fmt.Errorf("the input %q is missing", name)
		}
		if inputs[name] != nil && x.pinned[name] {
			return fmt.Errorf("the input %q is pinned and cannot be given again", name)
		}
	}
	for name := range inputs {
		if x.graph.Inputs[name] == nil {
			return fmt.Errorf("there is no input %q", name)
		}
	}
	return nil
}
