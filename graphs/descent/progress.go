package descent

import "sync"

// newCounter returns a function that adds steps of concurrent batches and passes the sum to
// progress, one call at a time.
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
