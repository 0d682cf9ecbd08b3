package engine

import (
	"cmp"
	"errors"
	"slices"

	"gorgonia.org/tensor"

	"privkern/graphs/kernels"
	"privkern/graphs/op"
)

// chain is steps that one kernel may compute. Only values that others read get memory.
type chain struct {
	kernel  Fused
	source  *kernels.Chain
	dtype   tensor.Dtype
	in, out []int // slots in the order of the kernel's parameters
	dead    []int // slots that nothing reads after the chain
}

// run computes a chain by its kernel, if that is ready.
func (h *slots) run(c *chain) (done bool, err error) {
	if h.ready != nil {
		done = h.ready[c]
	} else {
		done, err = c.kernel.Ready()
	}
	if err != nil || !done {
		return false, err
	}
	in, out := at(h.values, c.in), make([]DTensor, len(c.out))
	for i, slot := range c.out {
		if out[i], err = h.alloc(slot, c.kernel); err != nil {
			return false, err
		}
	}
	if err := c.kernel.Launch(out, in); err != nil {
		return false, err
	}
	h.x.device.countChain(c.source, c.dtype, out, in)
	for _, slot := range c.dead {
		h.free(slot)
	}
	return true, nil
}

// at returns the values of slots.
func at(values []DTensor, slots []int) []DTensor {
	t := make([]DTensor, len(slots))
	for i, slot := range slots {
		t[i] = values[slot]
	}
	return t
}

// maxChain bounds the steps of one kernel: with them grow the compiler's time and the registers
// that a thread takes.
const maxChain = 48

// planUnits decides which steps one kernel may compute, and when slots are freed.
func (x *Executor) planUnits() error {
	f, ok := x.device.Device.(Fuser)
	limit := 0
	if ok {
		limit = f.FusedWords()
	}
	if limit == 0 {
		x.units = make([]unit, len(x.steps))
		for i := range x.steps {
			x.units[i] = unit{from: i, to: i + 1}
		}
		x.planFrees()
		return nil
	}
	elements := x.elements()
	readers := x.readers()
	groups, err := x.frugal(x.within(limit, x.group(elements), elements, readers), func(groups [][]int) ([][]int, error) {
		return x.inOrder(groups, elements)
	})
	if err != nil {
		return err
	}
	var steps []step
	var members []*kernels.Element
	for _, g := range groups {
		x.units = append(x.units, unit{from: len(steps), to: len(steps) + len(g)})
		for _, i := range g {
			steps, members = append(steps, x.steps[i]), append(members, elements[i])
		}
	}
	x.steps = steps
	x.planFrees()
	for i := range x.units {
		u := &x.units[i]
		if u.to == u.from+1 {
			continue
		}
		c := x.describe(steps[u.from:u.to], members[u.from:u.to], readers)
		if c.kernel, err = f.Fuse(c.source, c.dtype); err != nil {
			return err
		}
		u.chain = c
	}
	return nil
}

// readers returns the number of operands that each slot is, the host's outputs among them.
func (x *Executor) readers() []int {
	readers := make([]int, len(x.shapes))
	for _, s := range x.steps {
		for _, slot := range s.in {
			readers[slot]++
		}
	}
	for _, slot := range x.output {
		readers[slot]++
	}
	return readers
}

// within cuts groups between steps, so that the kernel of each part has at most limit arguments.
// A step alone has a kernel of its own.
func (x *Executor) within(limit int, groups [][]int, elements []*kernels.Element, readers []int) (parts [][]int) {
	for _, g := range groups {
		for len(g) > 0 {
			n := len(g)
			for n > 1 && x.words(g[:n], elements, readers) > limit {
				n--
			}
			parts, g = append(parts, g[:n]), g[n:]
		}
	}
	return parts
}

// words is the number of arguments of a group's kernel.
func (x *Executor) words(group []int, elements []*kernels.Element, readers []int) int {
	steps, members := make([]step, len(group)), make([]*kernels.Element, len(group))
	for i, at := range group {
		steps[i], members[i] = x.steps[at], elements[at]
	}
	return len(x.describe(steps, members, readers).source.Words())
}

// elements returns the functions of the steps on single elements, nil for the other steps. No
// operand is larger than the result, because the length of an axis is a constant (see
// [constant]).
func (x *Executor) elements() []*kernels.Element {
	elements := make([]*kernels.Element, len(x.steps))
	for i, s := range x.steps {
		var types []tensor.Dtype
		var shapes []tensor.Shape
		for _, slot := range append(slices.Clone(s.in), s.out) {
			types, shapes = append(types, x.dtypes[slot]), append(shapes, x.shapes[slot])
		}
		if e, ok := op.Elementwise(s.op, types, shapes); ok {
			elements[i] = &e
		}
	}
	return elements
}

// size returns the number of elements of a slot.
func (x *Executor) size(slot int) int { return x.shapes[slot].TotalSize() }

// group collects, connected or not, the steps on single elements whose results have one size
// and that follow the same other steps. Every step is in one group, and the steps of a group
// keep their order.
//
// A step whose result is read by one later group of the same size alone joins that group: its
// operand is kept longer then instead of its result. A step with two operands of that size does
// not, because both would be kept.
func (x *Executor) group(elements []*kernels.Element) (groups [][]int) {
	rank := make([]int, len(x.steps))   // the number of other steps before
	after := make([]int, len(x.shapes)) // the rank at which a slot is there
	readers := make([][]int, len(x.shapes))
	others := 0
	for i, s := range x.steps {
		for _, slot := range s.in {
			rank[i] = max(rank[i], after[slot])
			readers[slot] = append(readers[slot], i)
		}
		if elements[i] == nil {
			rank[i] = others
			others++
			after[s.out] = others
		} else {
			after[s.out] = rank[i]
		}
	}
	for i := len(x.steps) - 1; i >= 0; i-- {
		s := x.steps[i]
		if elements[i] == nil || len(readers[s.out]) == 0 {
			continue
		}
		to := rank[readers[s.out][0]]
		joins := !slices.ContainsFunc(readers[s.out], func(j int) bool {
			return elements[j] == nil || rank[j] != to || x.size(x.steps[j].out) != x.size(s.out)
		})
		full := map[int]bool{}
		for _, slot := range s.in {
			if x.size(slot) == x.size(s.out) {
				full[slot] = true
			}
		}
		if joins && len(full) < 2 {
			rank[i] = to
		}
	}
	type key struct{ rank, size int }
	open := map[key]int{} // the group that steps join
	for i, s := range x.steps {
		k := key{rank[i], x.size(s.out)}
		g, ok := open[k]
		switch {
		case elements[i] == nil:
			groups = append(groups, []int{i})
		case ok && len(groups[g]) < maxChain:
			groups[g] = append(groups[g], i)
		default:
			open[k] = len(groups)
			groups = append(groups, []int{i})
		}
	}
	return groups
}

// inOrder sorts groups so that operands precede their readers. A group takes the place of
// its last step, and steps that are not on single elements keep their order, because the first
// error and the numbers that the host's generator draws depend on it.
func (x *Executor) inOrder(groups [][]int, elements []*kernels.Element) ([][]int, error) {
	writer := make([]int, len(x.shapes)) // the group that makes a slot, or −1
	for slot := range writer {
		writer[slot] = -1
	}
	for g, steps := range groups {
		for _, i := range steps {
			writer[x.steps[i].out] = g
		}
	}
	next := make([][]int, len(groups))
	waits := make([]int, len(groups)) // the number of edges from groups that must come before
	before := func(a, b int) {
		if a >= 0 && a != b {
			next[a] = append(next[a], b)
			waits[b]++
		}
	}
	other := -1 // the last group of another step
	for i, s := range x.steps {
		g := writer[s.out]
		for _, slot := range s.in {
			before(writer[slot], g)
		}
		if elements[i] == nil {
			before(other, g)
			other = g
		}
	}
	last := func(g int) int { return groups[g][len(groups[g])-1] }
	var ready []int // the one that is next at the end
	add := func(g int) {
		at, _ := slices.BinarySearchFunc(ready, g, func(a, b int) int { return cmp.Compare(last(b), last(a)) })
		ready = slices.Insert(ready, at, g)
	}
	for g := range groups {
		if waits[g] == 0 {
			add(g)
		}
	}
	ordered := make([][]int, 0, len(groups))
	for len(ready) > 0 {
		g := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		ordered = append(ordered, groups[g])
		for _, b := range next[g] {
			if waits[b]--; waits[b] == 0 {
				add(b)
			}
		}
	}
	if len(ordered) < len(groups) {
		return nil, errors.New("groups of steps wait for each other; this is a defect of the program")
	}
	return ordered, nil
}

// describe returns the chain of some steps, without its kernel. readers are those of all steps.
func (x *Executor) describe(steps []step, elements []*kernels.Element, readers []int) *chain {
	c := new(chain)
	k := &kernels.Chain{N: x.size(steps[0].out)}
	made := map[int]int{} // the step that makes a slot
	taken := map[int]int{}
	inside := map[int]int{} // the number of operands that a slot is
	var types []tensor.Dtype
	for i, s := range steps {
		made[s.out] = i
		types = append(types, x.dtypes[s.out])
		e := *elements[i]
		from := make([]int, len(e.Operands))
		for j, o := range e.Operands {
			slot := s.in[o.At-1]
			types = append(types, x.dtypes[slot])
			if step, ok := made[slot]; ok {
				from[j] = step
				continue
			}
			if _, ok := taken[slot]; !ok {
				taken[slot] = len(c.in)
				c.in = append(c.in, slot)
			}
			from[j] = -1 - taken[slot]
		}
		for _, slot := range s.in {
			inside[slot]++
		}
		k.Steps = append(k.Steps, kernels.Step{Element: e, From: from})
		c.dead = append(c.dead, s.dead...)
	}
	k.Inputs = len(c.in)
	for i, s := range steps {
		if readers[s.out] > inside[s.out] {
			c.out, k.Out = append(c.out, s.out), append(k.Out, i)
		}
	}
	c.source, c.dtype = k, op.ElementType(types...)
	return c
}
