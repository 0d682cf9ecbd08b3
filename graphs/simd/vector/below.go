package vector

import "fmt"

// ExpBelow overwrites the rows of x, of len(top) elements each, by exp(xᵢⱼ − topⱼ), with the bits of
// [Sub] and then [ScaledExp] of shift 0, rate 1 and scale 1.
// It panics where x is not made of whole rows.
//
// No element of a column is above its top, other than in a column with NaN: of its results those of
// NaN are NaN, and the others are undefined.
func ExpBelow[T Float](x, top []T) {
	if len(x) == 0 {
		return
	}
	if len(top) == 0 || len(x)%len(top) != 0 { // a level's kernel would leave out a part of a row, or write after it
		panic(fmt.Sprintf("vector: %d elements are no rows of %d", len(x), len(top)))
	}
	if x, ok := any(x).([]float32); ok && vectorExpBelow32(x, any(top).([]float32)) {
		return
	}
	var repeated [512]T // differences of short rows take longer to call than to compute
	tops := repeated[:0]
	for len(tops)+len(top) <= len(repeated) {
		tops = append(tops, top...)
	}
	if len(tops) == 0 {
		tops = top
	}
	for i := 0; i < len(x); i += len(tops) {
		rows := x[i:min(i+len(tops), len(x))]
		Sub(rows, rows, tops[:len(rows)])
	}
	ScaledExp(x, x, 0, 1, 1)
}
