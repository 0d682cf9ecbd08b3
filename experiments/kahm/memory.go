package kahm

import "privkern/runner/experiment"

const (
	process = 100 << 20 // what any trial takes, with some room
	float   = 8
	image   = pixels * float
)

// digitMemory estimates what machines of MNIST's digits take, in bytes: for a
// training image the bounds, coordinates and weights of its machine and the
// image itself, for a test image its float32 and float64 coordinates. With
// n = 20 and 5 layers 235, 530 and 924 MiB were measured for 2,000, 6,000 and
// 12,000 training images with 1,000 test images, 304 MiB for 2,000 with 4,000,
// and less than 4 GiB for all; shared among parties 220 MiB for 2,000 with 1,000.
func digitMemory(p experiment.Params) int64 {
	return process + 20<<20 + int64(p.Int("train"))*image*25/2 + int64(p.Int("test"))*image*15/4
}

// imageMemory is that of a machine of one digit: n×n matrices, and the images of
// every layer, after all digits were read. 240, 276 and 477 MiB were measured for
// 200, 1,000 and 2,000 images with 5 layers or fewer, 356 MiB for 1,000 with 20.
func imageMemory(p experiment.Params, layers int) int64 {
	n := int64(p.Int("images"))
	return 265<<20 + 10*float*n*n + int64(layers)*n*image
}

// timingMemory is that of a matrix of rows by dim, of which six are held, and
// four rows×rows. In MiB were measured 514, 919 and 1044 for 1,000 by 10,000,
// 1,000 by 20,000 and 500 by 50,000, 463 for 3,000 by 1,000, 137 for 2,000 by 100.
func timingMemory(p experiment.Params) int64 {
	n := int64(p.Int("rows"))
	return process + 10<<20 + float*n*int64(p.Int("dim"))*13/2 + float*n*n*22/5
}

// toyMemory is that of two or fewer parts of so many samples: 57, 94 and 219 MiB
// were measured for 200, 1,000 and 2,000.
func toyMemory(p experiment.Params) int64 {
	n := int64(p.Int("samples"))
	return process + 7*float*n*n
}

// referenceMemory is that of three classes: 55, 116 and 281 MiB were measured for
// 40, 1,000 and 2,000 rows.
func referenceMemory(p experiment.Params) int64 {
	n := int64(p.Int("rows"))
	return process + 9*float*n*n
}

// freiburgMemory is not known: the user's features have as many columns as they
// have.
func freiburgMemory(experiment.Params) int64 { return 0 }

// stressMemory is that of the recordings, cut into vectors of so many intervals:
// 216 and 123 MiB were measured for 30 and 100.
func stressMemory(p experiment.Params) int64 {
	return process + 10<<20 + 5600<<20/int64(p.Int("history"))
}
