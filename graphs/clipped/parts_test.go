package clipped

import "testing"

// A part has as many pictures as have room, 256 at most, and parts have all examples once.
func TestParts(t *testing.T) {
	for side, want := range map[int]int{14: 256, 28: 256, 64: 80, 128: 16} {
		c := Convolution{Width: side, Height: side, Targets: 10}
		got := c.pictures()
		if got > want || got < want/2 {
			t.Errorf("%d pictures of %d by %d are a part, want about %d", got, side, side, want)
		}
		next := 0
		for _, p := range c.divide(1000, true) {
			if p.first != next || p.count < 1 || p.rows < p.count || p.rows > got {
				t.Fatalf("%d by %d: part %+v after %d", side, side, p, next)
			}
			next += p.count
		}
		if next != 1000 {
			t.Errorf("%d by %d: parts have %d of 1000", side, side, next)
		}
	}
}
