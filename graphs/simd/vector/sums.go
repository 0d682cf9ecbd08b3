package vector

import "privkern/graphs/simd/internal/fma"

// term selects the terms of a sum.
type term int

const (
	products term = iota // x·y, fused
	squares              // (x−y)², fused
)

// Dot returns Σ x_k·y_k over the elements of x. Products are fused with the additions. The error
// is at most about len/32 + 5 units of roundoff (len/64 + 6 in float32) times Σ|x_k·y_k|.
func Dot[T Float](x, y []T) T { return sum(products, x, y) }

// SquaredDistance returns Σ (x_k−y_k)² over the elements of x.
func SquaredDistance[T Float](x, y []T) T { return sum(squares, x, y) }

// lanesBytes is the size of all partial sums in bytes.
const lanesBytes = 256

// sum adds whole blocks in place, and the remaining elements from a buffer padded by zeros.
func sum[T Float](k term, x, y []T) T {
	y = y[:len(x)]
	lanes := lanesBytes / size[T]()
	n := len(x) &^ (lanes - 1)
	var tailX, tailY [lanesBytes / 4]T
	if n < len(x) {
		copy(tailX[:], x[n:])
		copy(tailY[:], y[n:])
	}
	if v, done := vectorSum(k, x[:n], y[:n], n < len(x), &tailX, &tailY); done {
		return v
	}
	var s [lanesBytes / 4]T
	for from := 0; from < n; from += lanes {
		addBlock(k, s[:lanes], x[from:], y[from:])
	}
	if n < len(x) {
		addBlock(k, s[:lanes], tailX[:], tailY[:])
	}
	for half := lanes / 2; half > 0; half /= 2 {
		for i := range half {
			s[i] += s[i+half]
		}
	}
	return s[0]
}

// addBlock defines one step of the partial sums.
func addBlock[T Float](k term, s, x, y []T) {
	for i := range s {
		switch k {
		case products:
			s[i] = fma.FMA(x[i], y[i], s[i])
		case squares:
			d := x[i] - y[i]
			s[i] = fma.FMA(d, d, s[i])
		}
	}
}

// vectorSum runs the level's kernel, if there is one.
func vectorSum[T Float](k term, x, y []T, more bool, tailX, tailY *[lanesBytes / 4]T) (T, bool) {
	switch x := any(x).(type) {
	case []float64:
		var px, py, tx, ty *float64
		if len(x) > 0 {
			px, py = &x[0], &any(y).([]float64)[0]
		}
		if more {
			tx, ty = &any(tailX).(*[lanesBytes / 4]float64)[0], &any(tailY).(*[lanesBytes / 4]float64)[0]
		}
		s, done := vectorSum64(k, px, py, len(x), tx, ty)
		return T(s), done
	case []float32:
		var px, py, tx, ty *float32
		if len(x) > 0 {
			px, py = &x[0], &any(y).([]float32)[0]
		}
		if more {
			tx, ty = &any(tailX).(*[lanesBytes / 4]float32)[0], &any(tailY).(*[lanesBytes / 4]float32)[0]
		}
		s, done := vectorSum32(k, px, py, len(x), tx, ty)
		return T(s), done
	}
	return 0, false
}
