//go:build !amd64

package vector

// Other processors use the portable definition, except for the exponential.

func vectorDoubleAbs[T Float](_, _ []T) bool { return false }
func vectorTanh[T Float](_, _, _ []T) bool   { return false }
