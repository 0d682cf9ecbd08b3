//go:build !amd64

package vector

// Other processors compute what surrounds the exponential by the portable definition.

func vectorDoubleAbs[T Float](_, _ []T) bool { return false }
func vectorTanh[T Float](_, _, _ []T) bool   { return false }
