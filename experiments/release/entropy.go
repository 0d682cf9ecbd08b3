package release

import (
	"fmt"
	"io"
	"math"
	"math/bits"
)

// chunk is how many bytes are read from the entropy source at a time.
const chunk = 4096

// bitReader hands out the bits of an entropy source.
type bitReader struct {
	entropy io.Reader
	buffer  [chunk]byte
	next    int // the first byte of buffer that is not used up
}

func newBitReader(entropy io.Reader) *bitReader {
	return &bitReader{entropy: entropy, next: chunk}
}

// uint32 returns 32 independent fair bits. It panics where the source ends:
// noise that is made up in its place would protect nobody.
func (b *bitReader) uint32() uint32 {
	if b.next == chunk {
		if _, err := io.ReadFull(b.entropy, b.buffer[:]); err != nil {
			panic(fmt.Sprintf("release: the entropy source failed: %v", err))
		}
		b.next = 0
	}
	p := b.buffer[b.next : b.next+4 : b.next+4]
	b.next += 4
	return uint32(p[0]) | uint32(p[1])<<8 | uint32(p[2])<<16 | uint32(p[3])<<24
}

// coin is fair.
func (b *bitReader) coin() bool { return b.uint32()&1 == 1 }

// below returns a uniform number from 0 to n−1, n ≥ 1, by rejection: no number
// is favoured, not even by 2^-32.
func (b *bitReader) below(n uint32) uint32 {
	mask := uint32(1)<<bits.Len32(n-1) - 1
	for {
		if v := b.uint32() & mask; v < n {
			return v
		}
	}
}

// uniform is a real number that is uniform on (0, 1), of which as many binary
// digits are known as have been needed: chunks of 32, the highest first. Further
// digits are drawn when a comparison asks for them, so that comparisons are those
// of real numbers.
type uniform struct {
	first uint32
	rest  []uint32 // nearly always empty
}

func (b *bitReader) uniform() uniform { return uniform{first: b.uint32()} }

// digits returns the chunk at that place.
func (u *uniform) digits(place int, b *bitReader) uint32 {
	if place == 0 {
		return u.first
	}
	for len(u.rest) < place {
		u.rest = append(u.rest, b.uint32())
	}
	return u.rest[place-1]
}

// less reports whether u < v. Equal real numbers have probability zero.
func (u *uniform) less(v *uniform, b *bitReader) bool {
	for place := 0; ; place++ {
		if p, q := u.digits(place, b), v.digits(place, b); p != q {
			return p < q
		}
	}
}

// lessThan reports whether u < v for 0 ≤ v ≤ 1, a float64 and so a number with
// finitely many binary digits: no rounding is involved.
func (u *uniform) lessThan(v float64, b *bitReader) bool {
	if v >= 1 {
		return true
	}
	for place := 0; v > 0; place++ {
		v *= 1 << 32 // exact, as are the next two: they only take digits away
		digits := math.Floor(v)
		v -= digits
		if p := u.digits(place, b); p != uint32(digits) {
			return p < uint32(digits)
		}
	}
	return false // u has v's digits, and more
}
