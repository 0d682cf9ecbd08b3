package vector

import "math"

// tanh is a rational function below tanhSmall, with the coefficients of the Cephes library.
const (
	tanhSmall = .625
	tanhP0    = 9.64399179425052238628e-1
	tanhP1    = 9.92877231001918586564e1
	tanhP2    = 1.61468768441708447952e3
	tanhQ0    = 1.12811678491632931402e2
	tanhQ1    = 2.23548839060100448583e3
	tanhQ2    = 4.84406305325125486048e3
)

// Tanh stores tanh(src[i]) in dst[i] for each element of src; dst may be src. The error is below
// three units in the last place. NaN gives NaN.
//
// For |x| ≥ tanhSmall it is sign(x)·(1 − 2/(exp 2|x| + 1)), with the exponential of this package,
// and x + x³P(x²)/Q(x²) for smaller |x|.
func Tanh[T Float](dst, src []T) {
	dst = dst[:len(src)]
	const part = 256
	var e [part]T
	for from := 0; from < len(src); from += part {
		to := min(from+part, len(src))
		doubleAbs(e[:to-from], src[from:to])
		Exp(e[:to-from], e[:to-from])
		finishTanh(dst[from:to], src[from:to], e[:to-from])
	}
}

// doubleAbs stores 2|src[i]| in dst[i].
func doubleAbs[T Float](dst, src []T) {
	n := len(src) &^ (block[T]() - 1)
	if n > 0 && !vectorDoubleAbs(dst[:n], src[:n]) {
		n = 0
	}
	for i, x := range src[n:] {
		dst[n+i] = 2 * T(math.Abs(float64(x)))
	}
}

// finishTanh stores tanh(src[i]) in dst[i], from e[i] = exp 2|src[i]|.
func finishTanh[T Float](dst, src, e []T) {
	n := len(src) &^ (block[T]() - 1)
	if n > 0 && !vectorTanh(dst[:n], src[:n], e[:n]) {
		n = 0
	}
	for i, x := range src[n:] {
		dst[n+i] = tanh(x, e[n+i])
	}
}

// tanh returns tanh x from e = exp 2|x|.
func tanh[T Float](x, e T) T {
	a := T(math.Abs(float64(x)))
	switch {
	case x != x || x == 0:
		return x
	case a >= tanhSmall:
		return T(math.Copysign(float64(1-2/(e+1)), float64(x)))
	}
	s := Product(x, x)
	p := Product(Product(-tanhP0, s)-tanhP1, s) - tanhP2
	q := Product(Product(s+tanhQ0, s)+tanhQ1, s) + tanhQ2
	return x + Product(Product(x, s), p/q)
}
