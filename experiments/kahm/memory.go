package kahm

import "privkern/runner/experiment"

// digitMemory estimates what machines of MNIST's digits take, in bytes: for a
// training image the bounds, coordinates and weights of its machine and the
// image itself, for a test image its float32 and float64 coordinates. With
// n = 20 and 5 layers 235, 530 and 924 MiB were measured for 2,000, 6,000 and
// 12,000 training images with 1,000 test images, 304 MiB for 2,000 with 4,000,
// and less than 4 GiB for all.
func digitMemory(p experiment.Params) int64 {
	const image = 8 * pixels
	return 85<<20 + int64(p.Int("train"))*image*21/2 + int64(p.Int("test"))*image*15/4
}
