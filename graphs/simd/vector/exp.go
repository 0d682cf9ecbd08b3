package vector

import "math"

// Exp stores exp(src[i]) in dst[i] for each element of src; dst may be src.
//
// The error is below one unit in the last place over the full range, and denormal results are
// rounded once. The result is +Inf from 709.78 (float32: 88.72) on, 0 below −745.13 (−103.97),
// and NaN for NaN.
//
// exp(x) = 2ⁿ·exp(r) with n = x/log 2 rounded to even and r = x − n·log 2 = h − l. h is exact, by
// one fused step with the leading part of log 2, and l is n times the remainder of log 2.
// exp(r) = 1 + (h + (r²·q(r) − l)), where q is a polynomial of degree 10 (5) through Chebyshev
// points of |r| ≤ ½ log 2, with even and odd terms by Horner's rule in r².
func Exp[T Float](dst, src []T) { exponentials(plain, dst, src, nil) }

// ScaledExp stores scale·exp(rate·(src[i]−shift)) in dst[i]; dst may be src.
//
// The exponent is rounded to the element type. The result is zero if it or its exponential is
// below the smallest normal number, because denormal numbers slow down products a hundredfold.
// NaN gives NaN.
func ScaledExp[T Float](dst, src []T, shift, rate, scale T) {
	exponentials(scaled, dst, src, &parameters[T]{shift, rate, scale})
}

// RootExp stores (c0 + c1·t + c2·t²)·exp(t) for t = rate·√src[i] and rate ≤ 0 in dst[i]; dst may
// be src. Small results are zero as in [ScaledExp]. The polynomial is evaluated at a t limited to
// where the exponential is zero, so that an infinite src gives zero.
func RootExp[T Float](dst, src []T, rate, c0, c1, c2 T) {
	exponentials(root, dst, src, &parameters[T]{0, rate, c0, c1, c2, T(leastWeighted)})
}

// form is one of the three exponentials.
type form int

const (
	plain form = iota
	scaled
	root
)

// parameters holds shift, rate, the coefficients c0, c1 and c2 of the polynomial, and the least t
// at which it is evaluated.
type parameters[T Float] [6]T

// leastWeighted is a t whose exponential is zero in both element types.
const leastWeighted = -1000

// exponentials runs a kernel on whole blocks of elements, and on the remaining ones in a buffer.
func exponentials[T Float](f form, dst, src []T, p *parameters[T]) {
	dst = dst[:len(src)]
	n := len(src) &^ (block[T]() - 1)
	if n > 0 {
		exponentialsOfBlocks(f, dst[:n], src[:n], p)
	}
	if n < len(src) {
		var buffer [blockBytes / 4]T
		copy(buffer[:], src[n:])
		exponentialsOfBlocks(f, buffer[:block[T]()], buffer[:block[T]()], p)
		copy(dst[n:], buffer[:])
	}
}

func exponentialsOfBlocks[T Float](f form, dst, src []T, p *parameters[T]) {
	done := false
	switch src := any(src).(type) {
	case []float64:
		done = vectorExp64(f, any(dst).([]float64), src, any(p).(*parameters[float64]))
	case []float32:
		done = vectorExp32(f, any(dst).([]float32), src, any(p).(*parameters[float32]))
	}
	if !done {
		portableExp(f, dst, src, p)
	}
}

// Tables of the kernels: the largest and the smallest argument, beyond which the result is Inf or
// 0, 1/log 2, log 2 in two parts, 1, the least argument with a normal exponential, the mask of an
// absolute value, the smallest normal number, and the coefficients of q, those of even powers
// first, from the highest down.
var expTable64 = [20]float64{
	710, -746, 1 / math.Ln2, high64, math.Ln2 - high64, 1, -708.396418532264, math.Float64frombits(1<<63 - 1),
	0x1p-1022,
	0x1.1f731ea5352cap-29, 0x1.27e4db57442fbp-22, 0x1.a01a01a6dcaffp-16, 0x1.6c16c16c162ccp-10,
	0x1.5555555555556p-5, 0.5,
	0x1.af4e196027428p-26, 0x1.71de021a90822p-19, 0x1.a01a01abef415p-13, 0x1.11111111100cep-7,
	0x1.5555555555557p-3,
}

var expTable32 = [15]float32{
	89, -104, 1 / math.Ln2, high32, math.Ln2 - high32, 1, -87.3365, math.Float32frombits(1<<31 - 1), 0x1p-126,
	0x1.6d4362p-10, 0x1.5554e8p-5, 0.5,
	0x1.a12528p-13, 0x1.1110e0p-7, 0x1.555556p-3,
}

const (
	high64 = 0x1.62e42fefa39efp-1
	high32 = 0x1.62e43p-1
)
