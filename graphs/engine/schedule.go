package engine

import (
	"privkern/graphs/op"
	"privkern/graphs/parallel"
)

// concurrent is a device that may run independent steps at the same time. Allocations and
// frees still come one at a time.
type concurrent interface {
	// workers are those that the steps share with the loops inside them.
	workers() *parallel.Pool
	// heavy says whether a step takes far longer than it takes to start a goroutine.
	heavy(s step, out DTensor, in []DTensor) bool
	// share gets the device ready for launches at the same time, in all runs from now on.
	share()
	// divisible says whether several steps may read a value at the same time.
	divisible(DTensor) bool
}

// schedule is the plan of steps that run at the same time. A step runs when its operands
// are there, on the first goroutine that is free, and of several such steps the first one in
// the order of the graph. What a step computes does not depend on when it does.
type schedule struct {
	x       *Executor
	device  concurrent
	next    [][]int // the steps that wait for a step, once for each operand
	waits   []int   // how many operands a step waits for
	heavy   []bool
	towards []bool // is heavy, or some heavy step waits for it
	uses    []int  // how often a slot is read; once more for an output
	room    int    // bytes that steps may hold ahead of the graph's order
}

// planSchedule is nil where steps run in order: on other devices, on one worker, where no two
// heavy steps are independent, and where an operation may have a state.
func (x *Executor) planSchedule() *schedule {
	d, ok := x.device.Device.(concurrent)
	if !ok || d.workers().Workers() < 2 {
		return nil
	}
	heavy, ok := x.heavySteps(d)
	if !ok {
		return nil
	}
	for _, s := range x.steps {
		if !op.Stateless(s.op) {
			return nil
		}
	}
	s := &schedule{x: x, device: d, next: make([][]int, len(x.steps)), waits: make([]int, len(x.steps)),
		heavy: heavy, towards: make([]bool, len(x.steps)), uses: make([]int, len(x.shapes)),
		room: minimalRoom}
	writer := map[int]int{}
	var order [][]int
	for i, step := range x.steps {
		order = append(order, []int{i})
		writer[step.out] = i
		for _, slot := range step.in {
			s.uses[slot]++
			if j, ok := writer[slot]; ok {
				s.next[j] = append(s.next[j], i)
				s.waits[i]++
			}
		}
	}
	s.room = max(s.room, x.peak(order, false))
	for _, slot := range x.output {
		s.uses[slot]++
	}
	for i := len(x.steps) - 1; i >= 0; i-- {
		s.towards[i] = heavy[i]
		for _, j := range s.next[i] {
			s.towards[i] = s.towards[i] || s.towards[j]
		}
	}
	d.share()
	return s
}

// heavySteps are the steps that are worth a goroutine, and whether two of them are
// independent: if none are, one path goes through all.
func (x *Executor) heavySteps(d concurrent) (heavy []bool, independent bool) {
	heavy = make([]bool, len(x.steps))
	before := make([]int, len(x.shapes)) // the heavy steps on a path to a slot, at most
	all, longest := 0, 0
	for i, s := range x.steps {
		in := make([]DTensor, len(s.in))
		for j, slot := range s.in {
			in[j] = x.slot(slot)
			before[s.out] = max(before[s.out], before[slot])
		}
		if heavy[i] = d.heavy(s, x.slot(s.out), in); heavy[i] {
			before[s.out]++
			all++
		}
		longest = max(longest, before[s.out])
	}
	return heavy, longest < all
}

// minimalRoom is what steps may hold ahead of the graph's order in any case, in bytes.
const minimalRoom = 256 << 20

// takes says whether a run with these inputs and constants may have its steps at the same
// time.
func (s *schedule) takes(values []DTensor) bool {
	for _, t := range values {
		if t.Buf != nil && !s.device.divisible(t) {
			return false
		}
	}
	return true
}
