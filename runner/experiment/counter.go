package experiment

import "sync"

// Counter reports the steps of a trial as they are done, in any order and by several
// goroutines.
type Counter struct {
	report func(done, total int, what string)
	total  int
	what   string

	mu   sync.Mutex
	done int
}

// NewCounter returns a counter of total steps, named by a word in the plural. The
// report is called for one step at a time; it is [Trial.Progress], as a rule.
func NewCounter(report func(done, total int, what string), total int, what string) *Counter {
	return &Counter{report: report, total: total, what: what}
}

// Step reports that one more step is done.
func (c *Counter) Step() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done++
	c.report(c.done, c.total, c.what)
}
