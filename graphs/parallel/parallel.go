// Package parallel runs loops over tiles on a bounded number of goroutines.
//
// The partition into tiles is the caller's and does not depend on the number
// of workers, so that a loop whose tiles are independent computes the same
// bits with any number.
package parallel

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Pool bounds how many goroutines compute at the same time over all loops that
// share it, nested ones included. The nil Pool runs every loop on the
// goroutine that calls it.
type Pool struct {
	extra chan struct{}   // one token for each goroutine other than the caller's
	ctx   context.Context // ends all loops; may be nil
	begin func() (stop func())
}

// NewPool returns a pool of that many workers, the calling goroutine included.
func NewPool(workers int) *Pool {
	return &Pool{extra: make(chan struct{}, max(workers, 1)-1)}
}

// Within returns a pool of the same workers whose loops also end with a context.
func (p *Pool) Within(ctx context.Context) *Pool {
	if p == nil {
		return &Pool{ctx: ctx}
	}
	return &Pool{extra: p.extra, ctx: ctx, begin: p.begin}
}

// Around returns a pool of the same workers. Goroutines other than the caller's call begin
// before their work and stop after it, so that their time can be measured.
func (p *Pool) Around(begin func() (stop func())) *Pool {
	if p == nil { // the caller's goroutine works alone
		return nil
	}
	return &Pool{extra: p.extra, ctx: p.ctx, begin: begin}
}

// Go calls work on a goroutine of its own for a worker that Acquire took; work calls Release.
func (p *Pool) Go(wg *sync.WaitGroup, work func()) {
	wg.Go(func() {
		if p.begin != nil {
			defer p.begin()()
		}
		work()
	})
}

// ended returns the error of a context that ends the loop.
func (p *Pool) ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil || p == nil || p.ctx == nil {
		return err
	}
	return p.ctx.Err()
}

// Err returns the error of the context of [Pool.Within], for work that is no loop.
func (p *Pool) Err() error { return p.ended(context.Background()) }

// Workers returns the bound.
func (p *Pool) Workers() int {
	if p == nil {
		return 1
	}
	return cap(p.extra) + 1
}

// Acquire takes a further worker out of the pool, if one is free, for work that is no loop.
// The caller returns it with Release.
func (p *Pool) Acquire() bool {
	if p == nil {
		return false
	}
	select {
	case p.extra <- struct{}{}:
		return true
	default:
		return false
	}
}

// Release returns a worker to the pool. It may be called on another goroutine than Acquire.
func (p *Pool) Release() { <-p.extra }

// PanicError is a panic, turned into an error.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Detail is the stack, for the log of a trial. It is no part of the error, since it holds arguments of functions.
func (e *PanicError) Detail() string { return string(e.Stack) }

// Unwrap returns the panic's value where it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Catch turns a panic of the function that defers it into a *PanicError, the error that the
// function returns.
func Catch(err *error) {
	if v := recover(); v != nil {
		*err = &PanicError{Value: v, Stack: debug.Stack()}
	}
}

// For calls f for the tiles [0,tile), [tile,2·tile), … of [0,n). It returns
// the error of the first tile that fails, in the order of the tiles, or the
// context's, or that of [Pool.Within]; tiles after a failed one may not run. A panic in f is
// returned as a *PanicError.
//
// The caller's goroutine works too, and others join it while the pool has
// workers to spare, so a loop inside a loop neither waits nor exceeds the
// bound.
func (p *Pool) For(ctx context.Context, n, tile int, f func(lo, hi int) error) error {
	if tile < 1 {
		return fmt.Errorf("parallel: a tile of %d elements", tile)
	}
	tiles := (n + tile - 1) / tile
	var (
		next    atomic.Int64
		stopped atomic.Bool
		mu      sync.Mutex
		failed  = tiles
		failure error
		wg      sync.WaitGroup
	)
	work := func() {
		for !stopped.Load() {
			t := int(next.Add(1)) - 1
			if t >= tiles {
				return
			}
			err := p.ended(ctx)
			if err == nil {
				err = protect(f, t*tile, min((t+1)*tile, n))
			}
			if err != nil {
				// Tiles are claimed in order, so every earlier one finishes
				// and the first failure is the same in every run.
				stopped.Store(true)
				mu.Lock()
				if t < failed {
					failed, failure = t, err
				}
				mu.Unlock()
			}
		}
	}
	for range min(tiles, p.Workers()) - 1 {
		if !p.Acquire() {
			break
		}
		p.Go(&wg, func() {
			defer p.Release()
			work()
		})
	}
	work()
	wg.Wait()
	return failure
}

// protect calls f and returns a panic as a *PanicError.
func protect(f func(lo, hi int) error, lo, hi int) (err error) {
	defer Catch(&err)
	return f(lo, hi)
}
