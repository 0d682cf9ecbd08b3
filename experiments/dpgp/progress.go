package dpgp

import "sync"

// counter reports repeats that end on several goroutines.
type counter struct {
	mu     sync.Mutex
	n, all int
	report func(done, total int, what string)
}

func newCounter(all int, progress func(done, total int, what string)) *counter {
	return &counter{all: all, report: progress}
}

func (c *counter) done() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	c.report(c.n, c.all, "repeats")
}
