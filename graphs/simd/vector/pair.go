package vector

import (
	"math"
	mathbits "math/bits"
)

// Flat stands for the curvature of a parabola that has none.
const Flat = 1e-12

// pairBlock is the number of elements that a kernel looks at together.
const pairBlock = 8

// Descend subtracts move·(a−b) from f, and returns the last place of the largest f+up, and it. The
// place is −1 if every f+up is −∞. All slices have the length of f.
func Descend(f, up, a, b []float64, move float64) (place int, largest float64) {
	up, a, b = up[:len(f)], a[:len(f)], b[:len(f)]
	place, largest = -1, math.Inf(-1)
	whole, t := len(f)&^(pairBlock-1), 0
	for t < whole {
		passed, which, done := vectorDescend(f[t:whole], up[t:], a[t:], b[t:], move, largest)
		if !done {
			break
		}
		// The largest of before counts, too: one of the block that is smaller than it is not taken.
		for ; which != 0; which &= which - 1 {
			k := t + passed + mathbits.TrailingZeros(uint(which))
			if v := f[k] + up[k]; v >= largest {
				place, largest = k, v
			}
		}
		t += passed + pairBlock
	}
	for k := min(t, whole); k < len(f); k++ {
		f[k] -= Product(move, a[k]-b[k])
		if v := f[k] + up[k]; v >= largest && v > math.Inf(-1) {
			place, largest = k, v
		}
	}
	return place, largest
}

// Gain returns the last place of the largest (most − v)²/κ of the v = f+down below most, with κ =
// own + diagonal − 2·row, or [Flat] if that is not positive. The place is −1 if no v is below. least is
// the smallest v. All slices have the length of f.
func Gain(f, down, diagonal, row []float64, most, own float64) (place int, least float64) {
	down, diagonal, row = down[:len(f)], diagonal[:len(f)], row[:len(f)]
	best, lanes := gain{place: -1}, [4]float64{math.Inf(1), math.Inf(1), math.Inf(1), math.Inf(1)}
	whole, t := len(f)&^(pairBlock-1), 0
	for t < whole {
		passed, which, done := vectorGain(f[t:whole], down[t:], diagonal[t:], row[t:], most, own, best.gain, &lanes)
		if !done {
			break
		}
		for ; which != 0; which &= which - 1 {
			k := t + passed + mathbits.TrailingZeros(uint(which))
			best.look(k, most-(f[k]+down[k]), own+diagonal[k]-2*row[k])
		}
		t += passed + pairBlock
	}
	for k := min(t, whole); k < len(f); k++ {
		v := f[k] + down[k]
		lanes[0] = min(lanes[0], v)
		if d := most - v; d > 0 {
			best.look(k, d, own+diagonal[k]-2*row[k])
		}
	}
	return best.place, min(lanes[0], lanes[1], lanes[2], lanes[3])
}

// gain is the largest so far, and its place.
type gain struct {
	gain  float64
	place int
}

// look takes the gain d²/curvature of a place if it is not smaller, without the division otherwise.
func (g *gain) look(place int, d, curvature float64) {
	if curvature <= 0 {
		curvature = Flat
	}
	if square := d * d; square >= g.gain*curvature {
		g.gain, g.place = square/curvature, place
	}
}
