package schedule

import (
	"context"
	"slices"
	"sync"
)

// request is a trial that waits to be run, with its demands on the machine.
type request struct {
	index  int   // of the trial in the plan
	memory int64 // bytes that it is estimated to take, at least 0
	alone  bool  // no other trial of this runner runs at the same time
	// overtaken counts the trials behind it that were started while there was no
	// room for it.
	overtaken int
}

// queue hands out requests to the workers of a run. Its invariants, at any time:
//
//   - The running requests take no more than the memory together, by the estimates; a
//     single request runs with any estimate.
//   - A request that asks to be alone runs alone.
//   - Where something waits and nothing runs, take returns at once.
//
// Requests are handed out in their order, but one for which there is no room may be
// overtaken by later ones, at most patience times; then nothing starts before it does.
// So a large trial neither waits forever behind small ones nor leaves workers idle from
// the start. Largest first would pack a little better, but would reverse the order of
// the plan, in which people expect results.
//
// Requests that another runner holds are tried when no others are left.
type queue struct {
	memory   int64 // 0: no limit
	patience int

	mu      sync.Mutex
	changed *sync.Cond
	waiting []*request
	held    []*request
	running int
	used    int64
	closed  bool // the request that runs is alone
}

// newQueue returns a queue for the given number of workers. Each gives its place away once
// before a request that has no room stops the others.
func newQueue(requests []*request, memory int64, workers int) *queue {
	q := &queue{waiting: requests, memory: memory, patience: workers}
	q.changed = sync.NewCond(&q.mu)
	return q
}

// take waits until a request may start and returns it; nil where none is left or
// ctx has ended. held is 0, or how many are held by other runners where nothing
// else is left: the request is one of these. The caller ends with done or hold.
func (q *queue) take(ctx context.Context) (next *request, held int) {
	wake := context.AfterFunc(ctx, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.changed.Broadcast()
	})
	defer wake()
	q.mu.Lock()
	defer q.mu.Unlock()
	for ctx.Err() == nil && len(q.waiting)+len(q.held) > 0 {
		if next, held = q.next(); next != nil {
			return next, held
		}
		q.changed.Wait()
	}
	// A running trial that turns out to be another runner's is taken again by its
	// worker.
	return nil, 0
}

// next starts a request if one may start.
func (q *queue) next() (next *request, held int) {
	from := &q.waiting
	if len(q.waiting) == 0 {
		from, held = &q.held, len(q.held)
	}
	i := q.first(*from)
	if i < 0 {
		return nil, 0
	}
	next = (*from)[i]
	*from = slices.Delete(*from, i, i+1)
	q.running++
	q.used += next.memory
	q.closed = next.alone
	return next, held
}

// first returns the position of the first request that may start now, and counts the
// requests that it overtakes; -1 where none may.
func (q *queue) first(requests []*request) int {
	for i, r := range requests {
		switch {
		case q.room(r):
			for _, passed := range requests[:i] {
				passed.overtaken++
			}
			return i
		case r.overtaken >= q.patience:
			return -1
		}
	}
	return -1
}

// room reports whether a request may start now.
func (q *queue) room(r *request) bool {
	switch {
	case q.running == 0:
		return true
	case q.closed || r.alone:
		return false
	}
	return q.memory == 0 || r.memory <= q.memory-q.used
}

// done returns the resources of a request.
func (q *queue) done(r *request) { q.giveBack(r, false) }

// hold gives it back for a request that another runner holds, to be looked at
// again.
func (q *queue) hold(r *request) { q.giveBack(r, true) }

func (q *queue) giveBack(r *request, held bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.running--
	q.used -= r.memory
	q.closed = false
	if held {
		r.overtaken = 0
		q.held = append(q.held, r)
	}
	q.changed.Broadcast()
}
