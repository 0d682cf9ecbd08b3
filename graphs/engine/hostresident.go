package engine

import (
	"fmt"

	"gorgonia.org/gorgonia"
)

// Detach has nothing to wait for either: the host computes at once.
func (d *hostDevice) Detach() (Tail, error) { return nil, nil }

// After has nothing to follow.
func (d *hostDevice) After(Tail) error { return nil }

// maxSpareResident bounds the values that stay whose memory is used again once they are closed:
// the state of a loop is. Larger ones are those of a phase of the work, the next one of which
// has other sizes: what is kept of them would add up.
const maxSpareResident = 1 << 20

// Take hands over the result itself, and copies only what something else refers to. The
// run's buffer is borrowed from then on.
func (d *hostDevice) Take(t DTensor) (Buf, error) {
	buf := t.Buf.(*hostBuf)
	if buf.value == nil {
		return nil, fmt.Errorf("a value stays that was never computed")
	}
	if buf.borrowed || buf.shared {
		v, err := gorgonia.CloneValue(buf.value)
		return &hostBuf{value: v}, err
	}
	kept := *buf
	kept.reusable = t.Bytes() <= maxSpareResident
	buf.borrowed, buf.reusable = true, false
	return &kept, nil
}

// Lend gives a tensor a header of its own, as Upload does. Nothing is copied.
func (d *hostDevice) Lend(kept, as DTensor) (Buf, error) {
	v, err := shaped(kept.Buf.(*hostBuf).value, as)
	if err != nil {
		return nil, err
	}
	return &hostBuf{value: header(v), borrowed: true}, nil
}

// give implements giver: the value itself, which later runs do not use again, unless it is
// the caller's own that was uploaded.
func (d *hostDevice) give(kept, as DTensor) (gorgonia.Value, error) {
	buf := kept.Buf.(*hostBuf)
	if buf.value == nil || buf.borrowed {
		return nil, nil
	}
	buf.reusable = false
	v, err := shaped(buf.value, as)
	if err != nil {
		return nil, err
	}
	return header(v), nil
}
