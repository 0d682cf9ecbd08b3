package descent

import "sync"

// newCounter returns what batches that run at the same time report their steps to. It passes
// them on together, from one goroutine at a time.
func newCounter(progress func(done, total int), total int) func(steps int) {
	if progress == nil {
		return func(int) {}
	}
	var mu sync.Mutex
	sum := 0
	return func(steps int) {
		mu.Lock()
		defer mu.Unlock()
		sum += steps
		progress(sum, total)
	}
}
