package vector

import "math"

// Max returns the largest element of x, which is not empty, or NaN if any element is NaN. A zero
// result is +0.
func Max[T Float](x []T) T {
	lanes := lanesBytes / size[T]()
	n := len(x) &^ (lanes - 1)
	var tail [lanesBytes / 4]T
	if n < len(x) {
		lowest := T(math.Inf(-1))
		for i := range tail {
			tail[i] = lowest
		}
		copy(tail[:], x[n:])
	}
	largest, done := vectorMax(x[:n], n < len(x), &tail)
	if !done {
		largest = x[0]
		for _, v := range x {
			if v > largest || v != v {
				largest = v
			}
			if v != v {
				break
			}
		}
	}
	return largest + 0
}

// vectorMax runs the level's kernel, if there is one.
func vectorMax[T Float](x []T, more bool, tail *[lanesBytes / 4]T) (T, bool) {
	switch x := any(x).(type) {
	case []float64:
		var p, t *float64
		if len(x) > 0 {
			p = &x[0]
		}
		if more {
			t = &any(tail).(*[lanesBytes / 4]float64)[0]
		}
		s, done := vectorMax64(p, len(x), t)
		return T(s), done
	case []float32:
		var p, t *float32
		if len(x) > 0 {
			p = &x[0]
		}
		if more {
			t = &any(tail).(*[lanesBytes / 4]float32)[0]
		}
		s, done := vectorMax32(p, len(x), t)
		return T(s), done
	}
	return 0, false
}
