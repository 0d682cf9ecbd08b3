package op

import (
	"sync"

	"privkern/graphs/cpublas"
)

// Scratch memory is used again: loops outside of the graph run the same
// operation thousands of times.
var scratch64, scratch32 sync.Pool

func scratchPool[T cpublas.Float]() *sync.Pool {
	if isSingle[T]() {
		return &scratch32
	}
	return &scratch64
}

// borrow returns n elements with undefined contents. The pointer goes back to
// release once nothing refers to them.
func borrow[T cpublas.Float](n int) *[]T {
	if s, ok := scratchPool[T]().Get().(*[]T); ok && cap(*s) >= n {
		*s = (*s)[:n]
		return s
	}
	s := make([]T, n)
	return &s
}

func release[T cpublas.Float](s *[]T) { scratchPool[T]().Put(s) }
