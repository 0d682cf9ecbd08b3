package engine

import (
	"context"
	"slices"
	"sync"

	"privkern/graphs/op"
	"privkern/graphs/parallel"
)

// scheduled is one run of a schedule.
type scheduled struct {
	*schedule
	ctx  context.Context
	pool *parallel.Pool
	wg   sync.WaitGroup // of goroutines beside the caller's

	mu      sync.Mutex // of the rest
	held    slots
	waits   []int
	uses    []int
	ready   []int // steps that nothing is missing for, in order
	done    []bool
	errs    []error
	first   int // the first step that is not done
	failed  int // the first step that failed, or the number of steps
	working int // goroutines; the pool counts all but one of them
	// What steps after the first one hold, by slot and in bytes.
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

// work runs steps until none is ready. A goroutine that ends leaves its place in the pool to
// the loops of the others.
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

// may says whether a step that is ready may start: before one that failed, and ahead of the
// graph's order within bounds.
func (r *scheduled) may(i int) bool {
	return i < r.failed && (i == r.first || r.ahead+r.bytes(r.x.steps[i].out) <= r.room)
}

func (r *scheduled) bytes(slot int) int { return r.x.slot(slot).Bytes() }

// step runs a step that is ready, without the lock while it computes.
func (r *scheduled) step(place int) {
	i := r.ready[place]
	r.ready = slices.Delete(r.ready, place, place+1)
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

// finish lets the steps begin that waited for a step, and frees what nothing reads any more.
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

// inOrder counts a slot among what a run in order holds, or holds no more.
func (r *scheduled) inOrder(slot int) {
	if r.isAhead[slot] {
		r.isAhead[slot] = false
		r.ahead -= r.bytes(slot)
	}
}
