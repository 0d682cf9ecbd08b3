package descent

import "sync"

// newCounter returns a progress function for descents that run at the same
// time. It reports their iterations together, from one goroutine at a time.
func newCounter(progress func(done, total int), total int) func(done, total int) {
	if progress == nil {
		return nil
	}
	var mu sync.Mutex
	sum := 0
	return func(int, int) {
		mu.Lock()
		defer mu.Unlock()
		sum++
		progress(sum, total)
	}
}
