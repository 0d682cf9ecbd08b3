//go:build linux && (amd64 || arm64)

package cuda

import (
	"errors"
	"unsafe"

	"gorgonia.org/gorgonia"

	"privkern/graphs/cuda/driver"
	"privkern/graphs/engine"
)

// arena is a block that several buffers share.
type arena struct {
	block driver.Pointer
	parts int // that are not freed, guarded by the device's lock
}

var _ engine.Arenas = (*device)(nil)

// aligned rounds a number of bytes up.
func aligned(bytes int) int {
	return (bytes + engine.ArenaAlignment - 1) &^ (engine.ArenaAlignment - 1)
}

// Arena implements [engine.Arenas].
func (d *device) Arena(to []engine.DTensor) error {
	total := 0
	for _, t := range to {
		total += aligned(t.Bytes())
	}
	whole, err := d.Alloc(total)
	if err != nil {
		return err
	}
	a := &arena{block: whole.(*buffer).block, parts: len(to)}
	at := a.block
	for i := range to {
		to[i].Buf = &buffer{block: at, arena: a}
		at += driver.Pointer(aligned(to[i].Bytes()))
	}
	return nil
}

// Fill implements [engine.Arenas].
func (d *device) Fill(to []engine.DTensor, values []gorgonia.Value) error {
	total := 0
	all := make([][]byte, len(to))
	for i, t := range to {
		var err error
		if all[i], err = bytesOf(values[i]); err != nil {
			return err
		}
		if len(all[i]) != t.Bytes() {
			return errors.New("a value of another size than its device memory")
		}
		total += aligned(len(all[i]))
	}
	return d.on(func(l *lane) error {
		from, err := d.stage(total)
		if err != nil {
			return err
		}
		staged := unsafe.Slice((*byte)(from), total)
		for _, data := range all {
			copy(staged, data)
			staged = staged[aligned(len(data)):]
		}
		return d.gpu.failed("copying to the device",
			d.gpu.api.Upload(to[0].Buf.(*buffer).block, from, total, l.stream))
	})
}

// whole returns the block of a buffer that is freed, and whether no other buffer has a part of it.
func (g *gpu) whole(b *buffer) (driver.Pointer, bool) {
	if b.arena == nil {
		return b.block, true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	b.arena.parts--
	return b.arena.block, b.arena.parts == 0
}
