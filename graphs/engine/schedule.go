package engine

import (
	"context"
	"slices"
	"sync"

	"privkern/graphs/op"
	"privkern/graphs/parallel"
)

// concurrent is a device that may run independent steps at the same time. Allocations and
// frees still come one at a time.
type concurrent interface {
	// workers returns the pool that the steps share with the loops inside them.
	workers() *parallel.Pool
	// heavy reports whether a step takes far longer than it takes to start a goroutine.
	heavy(s step, out DTensor, in []DTensor) bool
	// share prepares the device for concurrent launches in all later runs.
	share()
	// divisible reports whether several steps may read a value at the same time.
	divisible(DTensor) bool
}

// schedule is the plan of steps that run at the same time. A step is ready when its operands
// are computed. A goroutine that is free takes the first ready step in the order of the graph.
// The result of a step does not depend on when it runs.
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

// planSchedule returns nil where steps run in order: on other devices, on one worker, where no
// two heavy steps are independent, and where an operation may have a state.
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

// heavySteps returns the steps that are worth a goroutine, and whether two of them are
// independent: otherwise one path goes through all.
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

// minimalRoom is the memory, in bytes, that steps may hold ahead of the graph's order in any
// case.
const minimalRoom = 256 << 20

// takes reports whether a run with these inputs and constants may have its steps at the same
// time.
func (s *schedule) takes(values []DTensor) bool {
	for _, t := range values {
		if t.Buf != nil && !s.device.divisible(t) {
			return false
		}
	}
	return true
}

// scheduled is one run of a schedule.
type scheduled struct {
	*schedule
	ctx  context.Context
	pool *parallel.Pool
	wg   sync.WaitGroup // of goroutines other than the caller's

	mu      sync.Mutex // of the rest
	held    slots
	waits   []int
	uses    []int
	ready   []int // steps whose operands are computed, in order
	done    []bool
	errs    []error
	first   int // the first step that is not done
	failed  int // the first step that failed, or the number of steps
	working int // goroutines; the pool counts all but one of them
	// The memory of steps after the first one, by slot and in bytes.
	isAhead []bool
	ahead   int
}

// run launches all steps. As in a run in order the error is that of the first step that
// fails, and failures of members are kept in the order of the steps. The slots' elements are
// the caller's.
func (s *schedule) run(ctx context.Context, held slots, failed *op.Failures) error {
	n := len(s.x.steps)
	r := &scheduled{schedule: s, ctx: ctx, pool: s.device.workers(), held: held, waits: slices.Clone(s.waits),
		uses: slices.Clone(s.uses), done: make([]bool, n), errs: make([]error, n), failed: n, working: 1,
		isAhead: make([]bool, len(s.uses))}
	for i, waits := range r.waits {
		if waits == 0 {
			r.ready = append(r.ready, i)
		}
	}
	r.work()
	r.wg.Wait()
	for _, err := range r.errs {
		if err := failed.Keep(err); err != nil {
			return err
		}
	}
	return nil
}

// work runs steps until none is ready. A goroutine that ends frees its worker for the loops of
// the others.
func (r *scheduled) work() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		at := slices.IndexFunc(r.ready, r.may)
		if at < 0 {
			break
		}
		r.step(at)
	}
	if r.working--; r.working > 0 {
		r.pool.Release()
	}
}

// may reports whether a ready step may start: before a step that failed, and ahead of the
// graph's order within bounds.
func (r *scheduled) may(i int) bool {
	return i < r.failed && (i == r.first || r.ahead+r.bytes(r.x.steps[i].out) <= r.room)
}

func (r *scheduled) bytes(slot int) int { return r.x.slot(slot).Bytes() }

// step runs the ready step with this index in r.ready, without the lock while it computes.
func (r *scheduled) step(index int) {
	i := r.ready[index]
	r.ready = slices.Delete(r.ready, index, index+1)
	s := r.x.steps[i]
	err := r.ctx.Err()
	var out DTensor
	if err == nil {
		out, err = r.held.alloc(s.out, s.op)
	}
	if err == nil {
		if i > r.first {
			r.isAhead[s.out] = true
			r.ahead += r.bytes(s.out)
		}
		in := at(r.held.values, s.in)
		r.invite(i)
		r.mu.Unlock()
		err = protect(func() error { return r.x.device.Launch(s.op, out, in) })
		r.mu.Lock()
	}
	r.errs[i] = err
	if failure := new(op.Failures).Keep(err); failure != nil {
		r.failed = min(r.failed, i)
		return
	}
	r.finish(i)
}

// invite lets another goroutine of the pool, if one is free, take part for the time that a
// step computes: while that is a heavy one, or for a heavy one.
func (r *scheduled) invite(i int) {
	for _, j := range r.ready {
		if r.may(j) && (r.heavy[j] || r.heavy[i] && r.towards[j]) {
			if r.pool.Acquire() {
				r.working++
				r.pool.Go(&r.wg, r.work)
			}
			return
		}
	}
}

// finish adds the steps that waited for a step alone to the ready ones, and frees the slots
// without a further reader.
func (r *scheduled) finish(i int) {
	s := r.x.steps[i]
	for _, j := range r.next[i] {
		if r.waits[j]--; r.waits[j] == 0 {
			at, _ := slices.BinarySearch(r.ready, j)
			r.ready = slices.Insert(r.ready, at, j)
		}
	}
	for _, slot := range s.in {
		if r.uses[slot]--; r.uses[slot] == 0 {
			r.free(slot)
		}
	}
	if r.uses[s.out] == 0 {
		r.free(s.out)
	}
	r.done[i] = true
	for r.first < len(r.done) && r.done[r.first] {
		r.first++
		if r.first < len(r.done) {
			r.inOrder(r.x.steps[r.first].out)
		}
	}
}

// free frees a slot.
func (r *scheduled) free(slot int) {
	r.inOrder(slot)
	r.held.free(slot)
}

// inOrder takes a slot out of the memory held ahead of the order.
func (r *scheduled) inOrder(slot int) {
	if r.isAhead[slot] {
		r.isAhead[slot] = false
		r.ahead -= r.bytes(slot)
	}
}
