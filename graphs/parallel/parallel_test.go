package parallel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

func TestEveryElementOnce(t *testing.T) {
	for _, workers := range []int{1, 2, 7} {
		for _, n := range []int{0, 1, 5, 64} {
			for _, tile := range []int{1, 3, 100} {
				counts := make([]atomic.Int32, n)
				err := NewPool(workers).For(context.Background(), n, tile, func(lo, hi int) error {
					if lo%tile != 0 || hi != min(lo+tile, n) {
						return fmt.Errorf("a tile [%d,%d)", lo, hi)
					}
					for i := lo; i < hi; i++ {
						counts[i].Add(1)
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				for i := range counts {
					if counts[i].Load() != 1 {
						t.Fatalf("workers %d, n %d, tile %d: element %d visited %d times", workers, n, tile, i, counts[i].Load())
					}
				}
			}
		}
	}
}

// The first failure in the order of the tiles wins, whoever is faster.
func TestFirstErrorIsTheSameInEveryRun(t *testing.T) {
	p := NewPool(8)
	for range 200 {
		err := p.For(context.Background(), 100, 1, func(lo, _ int) error {
			if lo >= 17 && lo%2 == 1 {
				return fmt.Errorf("tile %d", lo)
			}
			return nil
		})
		if err == nil || err.Error() != "tile 17" {
			t.Fatalf("got %v", err)
		}
	}
}

func TestPanicIsAnError(t *testing.T) {
	cause := errors.New("cause")
	err := NewPool(3).For(context.Background(), 10, 1, func(lo, _ int) error {
		if lo == 4 {
			panic(cause)
		}
		return nil
	})
	var p *PanicError
	if !errors.As(err, &p) || !errors.Is(err, cause) || !strings.Contains(p.Detail(), "parallel_test.go") {
		t.Errorf("got %v", err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	err := NewPool(2).For(ctx, 1000, 1, func(lo, _ int) error {
		if lo == 3 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// A pool within a context ends with it, and shares its workers.
func TestWithin(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	for _, p := range []*Pool{NewPool(2), nil} {
		within := p.Within(ctx)
		if within.Workers() != p.Workers() {
			t.Errorf("%d workers, want %d", within.Workers(), p.Workers())
		}
		if err := within.For(context.Background(), 9, 1, func(int, int) error { return nil }); err != nil {
			t.Error(err)
		}
	}
	visited := atomic.Int32{}
	err := NewPool(2).Within(ctx).For(context.Background(), 1000, 1, func(lo, _ int) error {
		visited.Add(1)
		if lo == 3 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || visited.Load() == 1000 {
		t.Errorf("%d tiles; %v", visited.Load(), err)
	}
}

// Loops inside loops share the bound, and finish.
func TestNestedLoopsKeepTheBound(t *testing.T) {
	const workers = 3
	p := NewPool(workers)
	var now, most atomic.Int32
	err := p.For(context.Background(), 20, 1, func(int, int) error {
		return p.For(context.Background(), 20, 1, func(int, int) error {
			n := now.Add(1)
			for {
				m := most.Load()
				if n <= m || most.CompareAndSwap(m, n) {
					break
				}
			}
			now.Add(-1)
			return nil
		})
	})
	if err != nil || most.Load() > workers {
		t.Errorf("%d at the same time, want at most %d; %v", most.Load(), workers, err)
	}
}

func TestNilPoolRunsInOrder(t *testing.T) {
	var p *Pool
	var order []int
	err := p.For(context.Background(), 5, 2, func(lo, _ int) error { order = append(order, lo); return nil })
	if err != nil || !slices.Equal(order, []int{0, 2, 4}) || p.Workers() != 1 {
		t.Errorf("%v %v", order, err)
	}
}

func TestInvalidTile(t *testing.T) {
	if err := NewPool(1).For(context.Background(), 5, 0, func(int, int) error { return nil }); err == nil {
		t.Error("a tile of no elements was accepted")
	}
}

// A worker that is taken out of the pool is missing to its loops until it is given back.
func TestAcquire(t *testing.T) {
	p := NewPool(3)
	if !p.Acquire() || !p.Within(context.Background()).Acquire() || p.Acquire() {
		t.Error("a pool of three workers has two beside the caller's")
	}
	p.Release()
	if !p.Acquire() {
		t.Error("a worker was not given back")
	}
	var order []int // written by one goroutine alone
	err := p.For(context.Background(), 5, 1, func(lo, _ int) error { order = append(order, lo); return nil })
	if err != nil || !slices.Equal(order, []int{0, 1, 2, 3, 4}) {
		t.Errorf("%v %v", order, err)
	}
	if (*Pool)(nil).Acquire() || NewPool(1).Acquire() {
		t.Error("there is a worker beside the only one")
	}
}
