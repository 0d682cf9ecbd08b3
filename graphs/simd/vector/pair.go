package vector

import "math"

// Flat stands for the curvature of a parabola that has none.
const Flat = 1e-12

// pairBlock is the number of elements that a kernel looks at together.
const pairBlock = 8

// Descend subtracts move·(a−b) from f, and returns the last place of the largest f+up, and it. The
// place is −1 if every f+up is −∞. All slices have the length of f.
func Descend(f, up, a, b []float64, move float64) (place int, largest float64) {
	up, a, b = up[:len(f)], a[:len(f)], b[:len(f)]
	place, largest = -1, math.Inf(-1)
	for t := 0; t < len(f); {
		done := 0 // elements that are moved
		if n := (len(f) - t) &^ (pairBlock - 1); n > 0 {
			passed, moved := vectorDescend(f[t:t+n], up[t:], a[t:], b[t:], move, largest)
			t += passed
			done = moved
		}
		end := min(t+pairBlock, len(f))
		for k := t; k < end; k++ {
			if k >= t+done {
				f[k] -= Product(move, a[k]-b[k])
			}
			if v := f[k] + up[k]; v >= largest && v > math.Inf(-1) {
				place, largest = k, v
			}
		}
		t = end
	}
	return place, largest
}

// Gain returns the last place of the largest (most − v)²/κ of the v = f+down below most, with κ =
// own + diagonal − 2·row, or [Flat] if that is not positive. The place is −1 if no v is below. least is
// the smallest v. All slices have the length of f.
func Gain(f, down, diagonal, row []float64, most, own float64) (place int, least float64) {
	down, diagonal, row = down[:len(f)], diagonal[:len(f)], row[:len(f)]
	place = -1
	gain, lanes := 0.0, [4]float64{math.Inf(1), math.Inf(1), math.Inf(1), math.Inf(1)}
	for t := 0; t < len(f); {
		if n := (len(f) - t) &^ (pairBlock - 1); n > 0 {
			t += vectorGain(f[t:t+n], down[t:], diagonal[t:], row[t:], most, own, gain, &lanes)
		}
		end := min(t+pairBlock, len(f))
		for k := t; k < end; k++ {
			v := f[k] + down[k]
			lanes[0] = min(lanes[0], v)
			if d := most - v; d > 0 {
				curvature := own + diagonal[k] - 2*row[k]
				if curvature <= 0 {
					curvature = Flat
				}
				// d²/curvature ≥ gain, without the division.
				if square := d * d; square >= gain*curvature {
					gain, place = square/curvature, k
				}
			}
		}
		t = end
	}
	return place, min(lanes[0], lanes[1], lanes[2], lanes[3])
}
