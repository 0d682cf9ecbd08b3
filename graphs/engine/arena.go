package engine

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"gorgonia.org/gorgonia"
)

// Small inputs of a run lie in one piece of memory, an arena, so that one copy brings them.

const (
	// mostTogether bounds the bytes of an input in an arena.
	mostTogether = 64 << 10
	// mostArena bounds the bytes of an arena.
	mostArena = 1 << 20
	// ArenaAlignment is the alignment in bytes of the values in an arena.
	ArenaAlignment = 256
)

// Arenas is a device with arenas.
type Arenas interface {
	// Arena allocates memory for tensors in one piece, in their order. Each is freed by itself.
	Arena(to []DTensor) error
	// Fill copies a value to each tensor of an arena, as Upload.
	Fill(to []DTensor, values []gorgonia.Value) error
}

// together returns the names of the inputs that an arena takes: none that is an output, too, as
// that may stay when a later run fills the arena of a recording.
func (x *Executor) together(inputs Values) (names []string) {
	total, outputs := 0, slices.Collect(maps.Values(x.output))
	for _, name := range x.graph.InputNames {
		slot, used := x.inputs[name]
		_, resident := inputs[name].(*Resident)
		if !used || resident || x.pinned[name] || slices.Contains(outputs, slot) {
			continue
		}
		bytes := (x.slot(slot).Bytes() + ArenaAlignment - 1) &^ (ArenaAlignment - 1)
		if bytes <= mostTogether && total+bytes <= mostArena {
			total += bytes
			names = append(names, name)
		}
	}
	return names
}

// fill gives slots the values of inputs, by one copy to an arena, or to that of a recording.
func (x *Executor) fill(held *slots, names []string, inputs Values) (err error) {
	x.tape.loaded = names
	if len(names) == 0 {
		return nil
	}
	to, values := x.slotsOf(names), make([]gorgonia.Value, len(names))
	for i, name := range names {
		if values[i], err = shaped(inputs[name], to[i]); err != nil {
			return fmt.Errorf("input %q: %w", name, err)
		}
	}
	places := x.tape.places(names)
	if places != nil {
		to = places
	} else if err = x.home.arena(x.device, to); err != nil {
		return fmt.Errorf("inputs %q: %w", names, err)
	}
	for i, name := range names {
		slot := x.inputs[name]
		held.values[slot], held.live[slot] = to[i], places == nil
	}
	return x.device.fill(to, values)
}

// slotsOf returns the tensors of inputs without memory.
func (x *Executor) slotsOf(names []string) []DTensor {
	all := make([]DTensor, len(names))
	for i, name := range names {
		all[i] = x.slot(x.inputs[name])
	}
	return all
}

// arena allocates an arena of a device. Where that is full, runs that hold some memory end first.
func (h *residents) arena(d *countedDevice, to []DTensor) error {
	err := d.arena(to)
	if errors.Is(err, ErrOutOfDeviceMemory) && h.settle() {
		err = d.arena(to)
	}
	return err
}

// arena is [Arenas.Arena], also of a device without arenas.
func (d *countedDevice) arena(to []DTensor) (err error) {
	if a, ok := d.Device.(Arenas); ok {
		return a.Arena(to)
	}
	for i := range to {
		if to[i].Buf, err = d.Alloc(to[i].Bytes()); err != nil {
			for _, t := range to[:i] {
				d.Free(t.Buf)
			}
			return err
		}
	}
	return nil
}

// fill is [Arenas.Fill], also of a device without arenas. It is counted as one copy.
func (d *countedDevice) fill(to []DTensor, values []gorgonia.Value) (err error) {
	bytes := 0
	for _, t := range to {
		bytes += t.Bytes()
	}
	d.copied(bytes, 0)
	if a, ok := d.Device.(Arenas); ok {
		return a.Fill(to, values)
	}
	for i := range to {
		err = errors.Join(err, d.Device.Upload(to[i], values[i]))
	}
	return err
}
