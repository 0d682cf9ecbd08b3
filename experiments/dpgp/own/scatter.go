package own

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"
	"gonum.org/v1/gonum/stat/samplemv"

	"privkern/experiments/dataset/table"
)

// fixed is the stream of what is public and the same for everybody.
func fixed() *rand.Rand { return rand.New(seed()) }

func seed() rand.Source { return rand.NewPCG(1, 2) }

// maxScattered is the most inputs of a Halton sequence in gonum.
const maxScattered = 1000

// scattered returns points (at most number, by the columns of inputs) that fill
// the box from low to high evenly: those of a Halton sequence, randomised as by Owen 2017 ("A
// randomized Halton algorithm in R", arXiv:1706.02808) with a fixed stream. Each input has a
// coordinate of the sequence. The interval of that of a category is cut into as many parts as it has
// levels, and a point has the level of its part. Of equal points, which categories alone may make,
// the first is kept.
func scattered(number int, inputs []table.Input, low, high []float64) (*mat.Dense, error) {
	if n := len(inputs); n > maxScattered {
		return nil, fmt.Errorf("inducing = %d: points are laid in at most %d inputs, and there are %d; give a public file "+
			"of them", number, maxScattered, n)
	}
	unit := mat.NewDense(number, len(inputs), nil)
	samplemv.Halton{Kind: samplemv.Owen, Q: distmv.NewUnitUniform(len(inputs), nil), Src: seed()}.Sample(unit)
	var kept [][]float64
	for i := range number {
		point, j := make([]float64, len(low)), 0
		for input, in := range inputs {
			u, k := unit.At(i, input), in.Levels
			if k == 0 {
				point[j] = low[j] + (high[j]-low[j])*u
			} else {
				point[j+min(k-1, int(u*float64(k)))] = 1
			}
			j += max(1, k)
		}
		if !slices.ContainsFunc(kept, func(q []float64) bool { return slices.Equal(q, point) }) {
			kept = append(kept, point)
		}
	}
	return mat.NewDense(len(kept), len(low), slices.Concat(kept...)), nil
}
