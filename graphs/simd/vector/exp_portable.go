package vector

import (
	"math"

	"privkern/graphs/simd/internal/fma"
)

// portableExp defines the three forms.
func portableExp[T Float](f form, dst, src []T, p *parameters[T]) {
	c := expTable[T]()
	for i, x := range src {
		switch f {
		case plain:
			dst[i] = exponential(x, c)
		case scaled:
			t := (x - p[0]) * p[1]
			dst[i] = flushed(t, p[2], c)
		case root:
			t := T(math.Sqrt(float64(x))) * p[1]
			u := t
			if u < p[5] {
				u = p[5]
			}
			dst[i] = flushed(t, fma.FMA(fma.FMA(p[4], u, p[3]), u, p[2]), c)
		}
	}
}

// flushed returns factor·exp(t), or zero if it or exp(t) is not normal.
func flushed[T Float](t, factor T, c []T) T {
	if t < c[6] {
		return 0
	}
	v := factor * exponential(t, c)
	if T(math.Abs(float64(v))) < c[8] {
		return 0
	}
	return v
}

// exponential defines exp x. NaN passes the limits, because comparisons with it are false.
func exponential[T Float](x T, c []T) T {
	if x > c[0] {
		x = c[0]
	}
	if x < c[1] {
		x = c[1]
	}
	n := T(math.RoundToEven(float64(Product(x, c[2]))))
	high, low := fma.FMA(-n, c[3], x), Product(n, c[4])
	r := high - low
	square := Product(r, r)
	terms := c[9:]
	even, odd := terms[0], terms[(len(terms)+1)/2]
	evens, odds := terms[1:(len(terms)+1)/2], terms[(len(terms)+1)/2+1:]
	for _, v := range evens {
		even = fma.FMA(even, square, v)
	}
	for _, v := range odds {
		odd = fma.FMA(odd, square, v)
	}
	e := high + fma.FMA(fma.FMA(odd, r, even), square, -low) + c[5]
	if n != n {
		return n
	}
	// Two steps, because one factor would overflow before the product. Only the last one rounds.
	half := int(n) >> 1
	return Product(Product(e, power[T](half)), power[T](int(n)-half))
}

// power returns 2ⁿ, for a normal result.
func power[T Float](n int) T {
	if size[T]() == 8 {
		return T(math.Float64frombits(uint64(n+1023) << 52))
	}
	return T(math.Float32frombits(uint32(n+127) << 23))
}

// expTable returns the table of the element type.
func expTable[T Float]() []T {
	if t, ok := any(expTable64[:]).([]T); ok {
		return t
	}
	return any(expTable32[:]).([]T)
}
