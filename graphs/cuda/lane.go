//go:build linux && (amd64 || arm64)

package cuda

import (
	"cmp"
	"fmt"
	"slices"
	"unsafe"

	"privkern/graphs/cuda/driver"
)

// lane is a stream of the device with its resources: one run owns it, from the first work that it
// queues until it has waited for the device, or goes on without the host, so that nothing of one
// run waits for another. There are as many as runs that hosts queue at the same time.
type lane struct {
	gpu    *gpu
	stream driver.Stream
	event  driver.Event // marks the end of the queued work
	blas   uintptr      // cuBLAS's handle, 0 until it is needed
	solver uintptr      // cuSOLVER's handle, 0 until it is needed
	params uintptr      // of cuSOLVER's generic functions, 0 until they are needed
	host   [][]byte     // work areas of queued calls
	// free are blocks that work in this stream may still use, by size.
	free map[int][]driver.Pointer
	// tails are the runs that were queued here and that nobody has waited for.
	tails int
	words []uint64 // of the last launch, as memory for the next one's
	// recording takes the work that is queued here, nil outside of recordings.
	recording *recording
	// owner is the recording whose runs alone have the lane.
	owner *recording
}

// lane returns one that no run has: that of a device's recordings, or else of the run that it
// follows, if that is idle and no other device's, or the last of those in which nothing is queued,
// or any. The calling thread has the device's context.
func (g *gpu) lane(d *device) (*lane, error) {
	g.mu.Lock()
	at := -1
	if d != nil {
		at = slices.Index(g.idle, cmp.Or(d.own, d.like))
	}
	if at >= 0 && g.idle[at].owner != nil && g.idle[at].owner.d != d {
		at = -1
	}
	for i := len(g.idle) - 1; i >= 0 && at < 0; i-- {
		if g.idle[i].tails == 0 && g.idle[i].owner == nil {
			at = i
		}
	}
	for i := len(g.idle) - 1; i >= 0 && at < 0; i-- {
		if g.idle[i].owner == nil {
			at = i
		}
	}
	if at >= 0 {
		l := g.idle[at]
		g.idle = slices.Delete(g.idle, at, at+1)
		g.mu.Unlock()
		return l, nil
	}
	g.mu.Unlock()
	l := &lane{gpu: g, free: map[int][]driver.Pointer{}}
	var err error
	if l.stream, err = g.api.NewStream(); err != nil {
		return nil, g.failed("making a stream", err)
	}
	if l.event, err = g.api.NewEvent(); err != nil {
		_ = g.api.DestroyStream(l.stream) // the first error counts
		return nil, g.failed("making an event", err)
	}
	return l, nil
}

// putBack ends a run's use of a lane in which nothing is queued.
func (g *gpu) putBack(l *lane) {
	g.mu.Lock()
	defer g.mu.Unlock()
	l.settled()
	g.idle = append(g.idle, l)
}

// settleIdle waits for the lanes that no run has, if work may be queued that uses their free
// blocks. The caller holds the lock and a thread with the context.
func (g *gpu) settleIdle() error {
	for _, l := range g.idle {
		if len(l.free) == 0 {
			continue
		}
		if err := g.failed("waiting for the device", g.api.Synchronize(l.stream)); err != nil {
			return err
		}
		l.settled()
	}
	return nil
}

// settled makes the lane's free blocks everybody's, once nothing that is queued uses them.
// The caller holds the device's lock.
func (l *lane) settled() {
	l.host = nil
	for size, list := range l.free {
		l.gpu.pool.free[size] = append(l.gpu.pool.free[size], list...)
		delete(l.free, size)
	}
}

// wait waits, asleep, for all that is queued.
func (l *lane) wait() error {
	g := l.gpu
	if err := g.api.Record(l.event, l.stream); err != nil {
		return g.failed("recording an event", err)
	}
	return g.failed("waiting for the device", g.api.Wait(l.event))
}

// destroy gives the lane up.
func (l *lane) destroy() error {
	g := l.gpu
	if l.params != 0 {
		g.libs.solver.Call("cusolverDnDestroyParams", l.params)
	}
	if l.solver != 0 {
		g.libs.solver.Call("cusolverDnDestroy", l.solver)
	}
	if l.blas != 0 {
		g.libs.blas.Call("cublasDestroy_v2", l.blas)
	}
	err := g.api.DestroyEvent(l.event)
	if streamErr := g.api.DestroyStream(l.stream); err == nil {
		err = streamErr
	}
	return err
}

// blasHandle returns the lane's handle of cuBLAS.
func (l *lane) blasHandle() (uintptr, error) {
	if l.blas != 0 {
		return l.blas, nil
	}
	lib := l.gpu.libs.blas
	if status := lib.Call("cublasCreate_v2", uintptr(unsafe.Pointer(&l.blas))); status != 0 {
		l.blas = 0
		return 0, fmt.Errorf("cuBLAS cannot be set up: %s", blasStatus(status))
	}
	// The default mode: no TF32 in float32 products.
	if status := lib.Call("cublasSetMathMode", l.blas, 0); status != 0 {
		return 0, fmt.Errorf("cuBLAS: TF32 cannot be turned off: %s", blasStatus(status))
	}
	if status := lib.Call("cublasSetStream_v2", l.blas, uintptr(l.stream)); status != 0 {
		return 0, fmt.Errorf("cuBLAS: the stream cannot be set: %s", blasStatus(status))
	}
	return l.blas, nil
}

// solverHandle returns the lane's handle of cuSOLVER.
func (l *lane) solverHandle() (uintptr, error) {
	if l.solver != 0 {
		return l.solver, nil
	}
	lib := l.gpu.libs.solver
	if status := lib.Call("cusolverDnCreate", uintptr(unsafe.Pointer(&l.solver))); status != 0 {
		l.solver = 0
		return 0, fmt.Errorf("cuSOLVER cannot be set up: status %d", status)
	}
	if status := lib.Call("cusolverDnSetStream", l.solver, uintptr(l.stream)); status != 0 {
		return 0, fmt.Errorf("cuSOLVER: the stream cannot be set: status %d", status)
	}
	return l.solver, nil
}
