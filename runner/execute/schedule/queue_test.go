package schedule

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

// simulation runs the requests of a queue on workers, each for a given number of steps,
// and keeps the running ones of each step.
type simulation struct {
	queue   *queue
	workers int
	steps   map[*request]int
	running map[*request]int // to the step in which it ends
	step    int
}

func simulate(requests []*request, steps []int, memory int64, workers int) *simulation {
	s := &simulation{
		queue: newQueue(slices.Clone(requests), memory, workers), workers: workers,
		steps: map[*request]int{}, running: map[*request]int{},
	}
	for i, r := range requests {
		s.steps[r] = steps[i]
	}
	return s
}

// next fills the workers and returns the running requests of this step; nil at the end.
func (s *simulation) next() []*request {
	for r, end := range s.running {
		if end == s.step {
			s.queue.done(r)
			delete(s.running, r)
		}
	}
	for len(s.running) < s.workers {
		r, _ := s.queue.next()
		if r == nil {
			break
		}
		s.running[r] = s.step + s.steps[r]
	}
	s.step++
	var now []*request
	for r := range s.running {
		now = append(now, r)
	}
	return now
}

// The requests that run at a time, by position, for mixes with a known best order: a
// step is in brackets.
func TestQueuePacks(t *testing.T) {
	type mix struct {
		memory int64
		alone  bool
		steps  int
	}
	small, large, timed := mix{1, false, 1}, mix{8, false, 1}, mix{1, true, 1}
	for name, c := range map[string]struct {
		memory  int64
		workers int
		mix     []mix
		want    string
	}{
		"all fit, in order":                {10, 3, []mix{small, small, small, small}, "[0 1 2][3]"},
		"no limit":                         {0, 2, []mix{large, large, large}, "[0 1][2]"},
		"larger than all memory runs once": {5, 2, []mix{large, small, small}, "[0][1 2]"},
		// Counted as eight each, the small ones would run one by one.
		"small ones run beside a large one": {10, 4, []mix{large, small, small, small, small, small}, "[0 1 2][3 4 5]"},
		"a large one is overtaken":          {10, 3, []mix{small, {4, false, 2}, large, small, small}, "[0 1 3][1 4][2]"},
		"but not longer than each worker once": {10, 2, []mix{{4, false, 4}, large, small, small, small, small},
			"[0 2][0 3][0][0][1 4][5]"},
		"timed ones are alone":              {10, 3, []mix{small, small, timed, timed}, "[0 1][2][3]"},
		"nothing starts beside a timed one": {10, 3, []mix{{1, true, 2}, small, small}, "[0][0][1 2]"},
	} {
		t.Run(name, func(t *testing.T) {
			var requests []*request
			var steps []int
			for i, m := range c.mix {
				requests = append(requests, &request{index: i, memory: m.memory, alone: m.alone})
				steps = append(steps, m.steps)
			}
			var got strings.Builder
			for s := simulate(requests, steps, c.memory, c.workers); ; {
				now := s.next()
				if len(now) == 0 {
					break
				}
				var indices []int
				for _, r := range now {
					indices = append(indices, r.index)
				}
				slices.Sort(indices)
				fmt.Fprint(&got, indices)
			}
			if got.String() != c.want {
				t.Errorf("%s, want %s", &got, c.want)
			}
		})
	}
}

// For any mix the memory holds the running requests, a timed request is alone,
// everything runs once, and none is overtaken by more than the workers.
func TestQueueInvariants(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 0))
		var requests []*request
		var steps []int
		for i := range 40 {
			requests = append(requests, &request{index: i, memory: rng.Int64N(12), alone: rng.IntN(8) == 0})
			steps = append(steps, 1+rng.IntN(5))
		}
		const memory = 10
		workers := 1 + rng.IntN(5)
		seen := map[*request]int{}
		for s := simulate(requests, steps, memory, workers); ; {
			now := s.next()
			if len(now) == 0 {
				break
			}
			var used int64
			for _, r := range now {
				used += r.memory
				seen[r]++
				if r.alone && len(now) > 1 {
					t.Fatalf("seed %d: a timed request is one of %d", seed, len(now))
				}
				if r.overtaken > workers {
					t.Fatalf("seed %d: overtaken %d times by %d workers", seed, r.overtaken, workers)
				}
			}
			if len(now) > 1 && used > memory {
				t.Fatalf("seed %d: %d of %d are used", seed, used, memory)
			}
		}
		for i, r := range requests {
			if seen[r] != steps[i] {
				t.Fatalf("seed %d: request %d ran in %d steps of %d", seed, i, seen[r], steps[i])
			}
		}
	}
}

// Requests of another runner come last, and are not waited for before the rest.
func TestQueueHeld(t *testing.T) {
	a, b, c := &request{index: 0}, &request{index: 1, alone: true}, &request{index: 2}
	q := newQueue([]*request{a, b, c}, 0, 1)
	ctx := context.Background()
	take := func(want *request, wantHeld int) {
		t.Helper()
		if got, held := q.take(ctx); got != want || held != wantHeld {
			t.Fatalf("%+v, %d held", got, held)
		}
	}
	take(a, 0)
	q.hold(a)
	take(b, 0)
	q.hold(b)
	take(c, 0)
	q.done(c)
	take(a, 2)
	q.hold(a)
	take(b, 2)
	q.done(b)
	take(a, 1)
	q.done(a)
	take(nil, 0)
}

// Who waits for room goes on when there is some, or when the run ends.
func TestQueueWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second, third := &request{memory: 6}, &request{memory: 6}, &request{memory: 6}
		q := newQueue([]*request{first, second, third}, 10, 2)
		ctx, cancel := context.WithCancel(t.Context())
		var taken []*request
		take := func() {
			go func() {
				r, _ := q.take(ctx)
				taken = append(taken, r)
			}()
			synctest.Wait()
		}
		expect := func(when string, want ...*request) {
			t.Helper()
			synctest.Wait()
			if !slices.Equal(taken, want) {
				t.Errorf("%s: %d are taken, not %d", when, len(taken), len(want))
			}
		}
		take()
		take()
		expect("while there is no room", first)
		q.done(first)
		expect("when there is room", first, second)
		take()
		expect("while there is no room again", first, second)
		cancel()
		expect("after the end", first, second, nil)
	})
}
