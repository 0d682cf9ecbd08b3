//go:build gpu && linux

package cuda

import (
	"errors"
	"fmt"
	"math/bits"

	"gorgonia.org/cu"

	"privkern/graphs/engine"
)

// pool keeps device memory. A block that is given back is used again at once:
// there is one stream, so that whoever gets it works after whoever had it.
//
// Blocks are never divided or joined: graphs ask for the same few sizes over and over,
// and rounding sizes up costs at most a quarter. The driver's allocator waits for the
// device on every call, which would stop the queue.
type pool struct {
	free map[int][]cu.DevicePtr // by size
	size map[cu.DevicePtr]int   // of every block
	used map[cu.DevicePtr]bool
	// Bytes in use and kept, and the most that were in use.
	inUse, kept, peak int
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

// alloc returns a block of at least the given size. The caller holds the device's
// lock and a thread with its context.
func (g *gpu) alloc(bytes int) (cu.DevicePtr, error) {
	p := &g.pool
	if p.free == nil {
		p.free, p.size, p.used = map[int][]cu.DevicePtr{}, map[cu.DevicePtr]int{}, map[cu.DevicePtr]bool{}
	}
	size := blockSize(bytes)
	list := p.free[size]
	if n := len(list); n > 0 {
		block := list[n-1]
		p.free[size] = list[:n-1]
		p.kept -= size
		p.take(block, size)
		return block, nil
	}
	block, err := cu.MemAlloc(int64(size))
	if errors.Is(err, cu.OutOfMemory) {
		// Blocks of other sizes make room.
		if err := g.failed("waiting for the device", g.stream.Synchronize()); err != nil {
			return 0, err
		}
		if err := p.trim(); err != nil {
			return 0, err
		}
		block, err = cu.MemAlloc(int64(size))
	}
	if errors.Is(err, cu.OutOfMemory) {
		free, total, _ := cu.MemInfo()
		return 0, fmt.Errorf("device %d, %s: %w: %s are asked for, %s of %s are free, and this process holds %s; use fewer "+
			"jobs on this device, a smaller problem, --dtype float32, or --backend cpu",
			g.info.Index, g.info.Name, engine.ErrOutOfDeviceMemory, amount(size), amount(int(free)), amount(int(total)),
			amount(p.inUse))
	}
	if err != nil {
		return 0, g.failed("allocating memory", err)
	}
	p.size[block] = size
	p.take(block, size)
	return block, nil
}

// take counts a block as in use.
func (p *pool) take(block cu.DevicePtr, size int) {
	p.used[block] = true
	p.inUse += size
	p.peak = max(p.peak, p.inUse)
}

// release takes a block back; it is an error to do so twice.
func (p *pool) release(block cu.DevicePtr) error {
	if !p.used[block] {
		return fmt.Errorf("device memory at %#x is freed without being in use; this is a defect of the program",
			uintptr(block))
	}
	delete(p.used, block)
	size := p.size[block]
	p.inUse -= size
	p.kept += size
	p.free[size] = append(p.free[size], block)
	return nil
}

// trim gives all blocks that nobody uses back to the driver, which waits for
// the device.
func (p *pool) trim() error {
	for size, list := range p.free {
		for _, block := range list {
			if err := cu.MemFree(block); err != nil {
				return fmt.Errorf("freeing device memory: %w", resultOf(err))
			}
			delete(p.size, block)
			p.kept -= size
		}
		delete(p.free, size)
	}
	return nil
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
