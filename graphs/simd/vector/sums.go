package vector

import (
	"math"

	"privkern/graphs/simd/internal/fma"
)

// kind is what a sum adds up.
type kind int

const (
	products   kind = iota // x·y, fused
	squares                // (x−y)², fused
	elements               // x
	magnitudes             // |x|
)

// Dot is Σ x_k·y_k, where y is not shorter than x. Products are fused with the additions. Its
// error is at most about len/32 + 5 units of roundoff (len/64 + 6 in float32) times
// Σ|x_k·y_k|.
func Dot[T Float](x, y []T) T { return sum(products, x, y) }

// SquaredDistance is Σ (x_k−y_k)², where y is not shorter than x.
func SquaredDistance[T Float](x, y []T) T { return sum(squares, x, y) }

// Sum is Σ x_k.
func Sum[T Float](x []T) T { return sum(elements, x, x) }

// AbsSum is Σ |x_k|.
func AbsSum[T Float](x []T) T { return sum(magnitudes, x, x) }

// Norm is the Euclidean norm of x. Where the sum of squares is not safely within the range of
// the element type, the elements are divided by a power of two first, so that the norm
// neither overflows nor underflows before its own value does.
func Norm[T Float](x []T) T {
	s := Dot(x, x)
	least, most := 0x1p-900, 0x1p1000
	if size[T]() == 4 {
		least, most = 0x1p-90, 0x1p120
	}
	if v := float64(s); v >= least && v <= most {
		return T(math.Sqrt(float64(s)))
	}
	largest := 0.0
	for _, v := range x {
		a := math.Abs(float64(v))
		if math.IsNaN(a) {
			return v
		}
		largest = max(largest, a)
	}
	if largest == 0 || math.IsInf(largest, 0) {
		return T(largest)
	}
	_, e := math.Frexp(largest)
	total := T(0)
	buffer := borrow[T](min(len(x), 4096))
	defer release(buffer)
	for len(x) > 0 {
		n := min(len(x), 4096)
		for i, v := range x[:n] {
			(*buffer)[i] = T(math.Ldexp(float64(v), -e))
		}
		total += Dot((*buffer)[:n], (*buffer)[:n])
		x = x[n:]
	}
	return T(math.Ldexp(math.Sqrt(float64(total)), e))
}

// lanesBytes is the size of all partial sums.
const lanesBytes = 256

// sum adds up whole blocks where they are, and the rest in a buffer filled up with zeros.
func sum[T Float](k kind, x, y []T) T {
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
func addBlock[T Float](k kind, s, x, y []T) {
	for i := range s {
		switch k {
		case products:
			s[i] = fma.FMA(x[i], y[i], s[i])
		case squares:
			d := x[i] - y[i]
			s[i] = fma.FMA(d, d, s[i])
		case elements:
			s[i] += x[i]
		case magnitudes:
			s[i] += T(math.Abs(float64(x[i])))
		}
	}
}

// vectorSum is the level's kernel, if it has one.
func vectorSum[T Float](k kind, x, y []T, more bool, tailX, tailY *[lanesBytes / 4]T) (T, bool) {
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
