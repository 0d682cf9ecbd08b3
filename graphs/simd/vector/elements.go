package vector

// Scal stores alpha·src[i] in dst[i] for each element of src; dst may be src.
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

// AddNorms completes a row of squared distances |x|² + |y_j|² − 2x·y_j, where dst holds −2x·y_j,
// norms |y_j|², and norm |x|². It reports whether any result is below near·(|x|²+|y_j|²), where
// the terms have cancelled.
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
