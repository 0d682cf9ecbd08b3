package vector

import "privkern/graphs/simd/internal/fma"

// Axpy adds alpha·x to y, in fused steps. y is not shorter than x.
func Axpy[T Float](alpha T, x, y []T) {
	y = y[:len(x)]
	n := len(x) &^ (block[T]() - 1)
	if n > 0 {
		axpyBlocks(y[:n], x[:n], alpha)
	}
	for i, v := range x[n:] {
		y[n+i] = fma.FMA(alpha, v, y[n+i])
	}
}

func axpyBlocks[T Float](y, x []T, alpha T) {
	done := false
	switch x := any(x).(type) {
	case []float64:
		done = vectorAxpy64(any(y).([]float64), x, float64(alpha))
	case []float32:
		done = vectorAxpy32(any(y).([]float32), x, float32(alpha))
	}
	if !done {
		for i, v := range x {
			y[i] = fma.FMA(alpha, v, y[i])
		}
	}
}

// Scal stores alpha·src[i] in dst[i]; dst may be src, and is not shorter.
func Scal[T Float](dst []T, alpha T, src []T) {
	dst = dst[:len(src)]
	n := len(src) &^ (block[T]() - 1)
	done := n == 0
	switch src := any(src).(type) {
	case []float64:
		done = done || vectorScal64(any(dst).([]float64)[:n], src[:n], float64(alpha))
	case []float32:
		done = done || vectorScal32(any(dst).([]float32)[:n], src[:n], float32(alpha))
	}
	if !done {
		n = 0
	}
	for i, v := range src[n:] {
		dst[n+i] = alpha * v
	}
}

// AddNorms finishes a row of squared distances |x|² + |y_j|² − 2x·y_j: dst holds −2x·y_j, norms
// |y_j|² and norm |x|². It reports whether any result is below near·(|x|²+|y_j|²), where the
// product formula has cancelled.
func AddNorms[T Float](dst, norms []T, norm, near T) (hit bool) {
	norms = norms[:len(dst)]
	n := len(dst) &^ (block[T]() - 1)
	done := n == 0
	if n > 0 {
		switch dst := any(dst).(type) {
		case []float64:
			hit, done = vectorNorms64(dst[:n], any(norms).([]float64)[:n], float64(norm), float64(near))
		case []float32:
			hit, done = vectorNorms32(dst[:n], any(norms).([]float32)[:n], float32(norm), float32(near))
		}
	}
	if !done {
		n = 0
	}
	for i, v := range dst[n:] {
		both := norm + norms[n+i]
		s := both + v
		dst[n+i] = s
		hit = hit || s < Product(near, both)
	}
	return hit
}
