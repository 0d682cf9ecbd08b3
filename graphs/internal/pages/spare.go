package pages

import (
	"sync"
	"unsafe"
)

// spareBytes bounds the memory that a Spare keeps.
const spareBytes = 256 << 20

// Spare keeps slices for later use, by length. It is safe for concurrent use.
//
// Graphs use the same few shapes over and over, so that lengths match exactly; garbage
// collection of large matrices would otherwise be a large share of short runs.
type Spare[T float32 | float64] struct {
	mu     sync.Mutex
	slices map[int][][]T
	bytes  int
}

// Get returns n elements with undefined contents.
func (s *Spare[T]) Get(n int) []T {
	if a := s.take(n); a != nil {
		return a
	}
	return Make[T](n) // others do not wait for it
}

// take returns a slice that is kept, nil if there is none.
func (s *Spare[T]) take(n int) []T {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.slices[n]
	if len(list) == 0 {
		return nil
	}
	a := list[len(list)-1]
	list[len(list)-1] = nil
	s.slices[n] = list[:len(list)-1]
	s.bytes -= n * int(unsafe.Sizeof(a[0]))
	return a
}

// Put keeps a slice. Where there is no room left, the slices kept so far are dropped:
// the lengths in use change as a program goes on.
func (s *Spare[T]) Put(a []T) {
	if len(a) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	bytes := len(a) * int(unsafe.Sizeof(a[0]))
	if bytes > spareBytes {
		return
	}
	if s.slices == nil || s.bytes+bytes > spareBytes {
		s.slices, s.bytes = map[int][][]T{}, 0
	}
	s.slices[len(a)] = append(s.slices[len(a)], a)
	s.bytes += bytes
}
