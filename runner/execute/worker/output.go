package worker

import (
	"bytes"
	"fmt"
	"sync"
)

// output keeps the beginning and the end of a process's output. The reason of a crash
// is at its beginning, where a runtime prints stacks, or at its end.
type output struct {
	mu         sync.Mutex
	head, tail []byte
	left       int // bytes between the two that are not kept
}

// half is how much of the beginning, and of the end, is kept at most.
const half = 512 << 10

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := min(len(b), half-len(o.head))
	o.head = append(o.head, b[:n]...)
	o.tail = append(o.tail, b[n:]...)
	if len(o.tail) > 2*half { // not at every write
		o.cut()
	}
	return len(b), nil
}

// cut shortens the tail to its limit.
func (o *output) cut() {
	if over := len(o.tail) - half; over > 0 {
		o.left += over
		o.tail = append(o.tail[:0], o.tail[over:]...)
	}
}

func (o *output) reset() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.head, o.tail, o.left = nil, nil, 0
}

// String returns the kept output, with the number of bytes that are left out between.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.cut()
	text := o.head
	if o.left > 0 {
		text = fmt.Appendf(bytes.Clone(text), "\n[%d bytes are left out]\n", o.left)
	}
	return string(text) + string(o.tail)
}
