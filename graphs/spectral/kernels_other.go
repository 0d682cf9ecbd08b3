//go:build !amd64

package spectral

func vectorAddRows[T Float](*[together]T, []T, int, []T) bool { return false }

func vectorDotRows[T Float]([]T, int, []T, *partial[T]) bool { return false }

func vectorAddDotRows[T Float](*[together]T, []T, int, []T, []T, *partial[T]) bool { return false }

func vectorEightRows[T Float](_, _ []T, _ int, _, _ []T) (s [lanes]T, ok bool) { return s, false }
