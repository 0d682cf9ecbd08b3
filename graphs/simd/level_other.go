//go:build !amd64 && !arm64

package simd

func available() []Level { return []Level{Portable} }
