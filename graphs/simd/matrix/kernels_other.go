//go:build !amd64 && !arm64

package matrix

import "privkern/graphs/simd"

var (
	kernels64 = [...]*kernels[float64]{simd.Portable: portable64}
	kernels32 = [...]*kernels[float32]{simd.Portable: portable32}
)
