package vector

import "math"

// Tanh stores tanh(src[i]) in dst[i]; dst may be src, and is not shorter. The error is below
// three units in the last place. NaN stays NaN.
//
// From |x| = 5/8 on it is 1 − 2/(exp 2|x| + 1) by the exponential of this package, below it
// x + x³P(x²)/Q(x²) with the coefficients of the Cephes library.
func Tanh[T Float](dst, src []T) {
	dst = dst[:len(src)]
	const part = 256
	var e [part]T
	for from := 0; from < len(src); from += part {
		to := min(from+part, len(src))
		for i, x := range src[from:to] {
			e[i] = 2 * T(math.Abs(float64(x)))
		}
		Exp(e[:to-from], e[:to-from])
		for i, x := range src[from:to] {
			dst[from+i] = tanh(x, e[i])
		}
	}
}

// tanh is tanh x from e = exp 2|x|.
func tanh[T Float](x, e T) T {
	a := T(math.Abs(float64(x)))
	switch {
	case x != x || x == 0:
		return x
	case a >= .625:
		return T(math.Copysign(float64(1-2/(e+1)), float64(x)))
	}
	s := Product(x, x)
	p := Product(Product(-9.64399179425052238628e-1, s)-9.92877231001918586564e1, s) - 1.61468768441708447952e3
	q := Product(Product(s+1.12811678491632931402e2, s)+2.23548839060100448583e3, s) + 4.84406305325125486048e3
	return x + Product(Product(x, s), p/q)
}
