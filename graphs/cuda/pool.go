//go:build linux && (amd64 || arm64)

package cuda

import (
	"errors"
	"fmt"
	"math/bits"

	"privkern/graphs/cuda/driver"
	"privkern/graphs/engine"
)

// pool keeps unused device memory, and counts the memory in use. A block that is given back while
// the work on it is still queued may only be used again in the same stream: it stays with its
// [lane] until that has waited for the device.
//
// Blocks are never divided or joined: graphs ask for the same few sizes over and over, and rounding
// sizes up costs at most a quarter. The driver's allocator waits for the device on every call,
// which would stop the queues.
type pool struct {
	free map[int][]driver.Pointer // by size
	size map[driver.Pointer]int   // of every block
	used map[driver.Pointer]bool
	// Bytes in use and kept, and the most that were in use.
	inUse, kept, peak int
}

func newPool() pool {
	return pool{free: map[int][]driver.Pointer{}, size: map[driver.Pointer]int{}, used: map[driver.Pointer]bool{}}
}

// blockSize rounds a size up to one of four steps for each power of two, so that blocks
// fit more than one shape. Sizes between 2^k and 2^(k+1) are 2^(k−2) apart; the smallest
// is 256 bytes.
func blockSize(bytes int) int {
	const smallest = 256
	if bytes <= smallest {
		return smallest
	}
	step := 1 << (bits.Len(uint(bytes-1)) - 3)
	return (bytes + step - 1) / step * step
}

// alloc returns a block of at least the given size for work in a lane. The calling thread
// has the device's context.
func (g *gpu) alloc(l *lane, bytes int) (driver.Pointer, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	size := blockSize(bytes)
	for _, free := range []map[int][]driver.Pointer{l.free, g.pool.free} {
		if list := free[size]; len(list) > 0 {
			block := list[len(list)-1]
			free[size] = list[:len(list)-1]
			g.pool.kept -= size
			g.pool.take(block, size)
			l.note(block)
			return block, nil
		}
	}
	block, err := g.api.Alloc(size)
	if errors.Is(err, driver.OutOfMemory) && l.recording == nil {
		// Recordings and blocks of other sizes make room.
		g.dropIdle()
		if err := g.failed("waiting for the device", g.api.Synchronize(l.stream)); err != nil {
			return 0, err
		}
		l.settled()
		if err := errors.Join(g.settleIdle(), g.trim()); err != nil {
			return 0, err
		}
		block, err = g.api.Alloc(size)
	}
	if errors.Is(err, driver.OutOfMemory) {
		free, total, _ := g.api.Memory()
		return 0, fmt.Errorf("device %d, %s: %w: %s are asked for, %s of %s are free, and this process holds %s; a smaller "+
			"problem, --dtype float32 or --backend cpu needs less",
			g.info.Index, g.info.Name, engine.ErrOutOfDeviceMemory, amount(size), amount(int(free)), amount(int(total)),
			amount(g.pool.inUse))
	}
	if err != nil {
		return 0, g.failed("allocating memory", err)
	}
	g.pool.size[block] = size
	g.pool.take(block, size)
	l.note(block)
	return block, nil
}

// take counts a block as in use.
func (p *pool) take(block driver.Pointer, size int) {
	p.used[block] = true
	p.inUse += size
	p.peak = max(p.peak, p.inUse)
}

// release takes a block back, to be used again in a lane, or by everybody where that is
// nil: then nothing that is queued may use it. It is an error to do so twice.
func (g *gpu) release(l *lane, block driver.Pointer) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := &g.pool
	if !p.used[block] {
		return fmt.Errorf("device memory at %#x is freed without being in use; this is a defect of the program",
			uintptr(block))
	}
	delete(p.used, block)
	size := p.size[block]
	p.inUse -= size
	p.kept += size
	free := p.free
	if l != nil {
		free = l.free
	}
	free[size] = append(free[size], block)
	return nil
}

// hold keeps a buffer's memory, also after it is freed.
func (g *gpu) hold(b *buffer) {
	g.mu.Lock()
	defer g.mu.Unlock()
	b.holds++
}

// isHeld reports whether a holder of a buffer has yet to release it, once it is freed.
func (g *gpu) isHeld(b *buffer) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if b.holds == 0 || b.freed {
		return false
	}
	b.freed = true
	return true
}

// unhold gives up holds of buffers. Nothing that is queued uses those any more that were
// freed.
func (g *gpu) unhold(held []*buffer) (err error) {
	for _, b := range held {
		g.mu.Lock()
		b.holds--
		last := b.holds == 0 && b.freed
		g.mu.Unlock()
		if !last {
			continue
		}
		if block, whole := g.whole(b); whole {
			err = errors.Join(err, g.release(nil, block))
		}
	}
	return err
}

// trim gives all blocks that nobody uses back to the driver, which waits for the device.
// The caller holds the lock and a thread with the context.
func (g *gpu) trim() error {
	p := &g.pool
	for size, list := range p.free {
		for _, block := range list {
			if err := g.api.Free(block); err != nil {
				return fmt.Errorf("freeing device memory: %w", err)
			}
			delete(p.size, block)
			p.kept -= size
		}
		delete(p.free, size)
	}
	return nil
}

// makeRoom returns unused memory to the driver, and reports whether there was any. The calling
// thread has the context.
func (g *gpu) makeRoom(l *lane) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if l.recording != nil || g.pool.kept == 0 || g.api.Synchronize(l.stream) != nil {
		return false
	}
	l.settled()
	before := g.pool.kept
	return g.settleIdle() == nil && g.trim() == nil && g.pool.kept < before
}

// amount is a number of bytes in a unit that suits it.
func amount(bytes int) string {
	value, unit := float64(bytes), "bytes"
	for _, u := range []string{"KiB", "MiB", "GiB"} {
		if value < 1024 {
			break
		}
		value, unit = value/1024, u
	}
	return fmt.Sprintf("%.4g %s", value, unit)
}
