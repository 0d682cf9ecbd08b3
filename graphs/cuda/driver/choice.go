//go:build linux && (amd64 || arm64) && !cu

package driver

// New returns the program's binding, without cgo.
func New() API { return pure{} }
