package op

import "privkern/graphs/cpublas"

// isSingle reports whether T is float32.
func isSingle[T cpublas.Float]() bool {
	var zero T
	_, single := any(zero).(float32)
	return single
}

// toFloat64 returns the elements in float64, without a copy where they are.
func toFloat64[T cpublas.Float](a []T) []float64 {
	if same, ok := any(a).([]float64); ok {
		return same
	}
	b := make([]float64, len(a))
	for i, v := range a {
		b[i] = float64(v)
	}
	return b
}
