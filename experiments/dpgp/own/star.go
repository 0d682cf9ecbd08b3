package own

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset/table"
)

// starred is how many points a [star] has.
func starred(inputs []table.Input) int {
	n := 1
	for _, in := range inputs {
		n += max(2, in.Levels)
	}
	return n
}

// star returns the middle of a box, and from there the ends of each number and the levels of each category, one at a
// time (Box and Wilson 1951, "On the experimental attainment of optimum conditions", JRSS B 13): the effect of
// each input is seen better there than at corners, which confound it with effects of several. The middle of a category
// has an equal share of each level.
func star(inputs []table.Input, low, high []float64) *mat.Dense {
	middle := make([]float64, len(low))
	column := 0
	for _, in := range inputs {
		middle[column] = low[column] + (high[column]-low[column])/2
		for level := range in.Levels {
			middle[column+level] = 1 / float64(in.Levels)
		}
		column += max(1, in.Levels)
	}
	points := [][]float64{middle}
	column = 0
	for _, in := range inputs {
		arms := [][]float64{{low[column]}, {high[column]}}
		if in.Levels > 0 {
			arms = arms[:0]
			for level := range in.Levels {
				arms = append(arms, hot(level, in.Levels))
			}
		}
		for _, arm := range arms {
			point := slices.Clone(middle)
			copy(point[column:], arm)
			points = append(points, point)
		}
		column += max(1, in.Levels)
	}
	return mat.NewDense(len(points), len(low), slices.Concat(points...))
}
