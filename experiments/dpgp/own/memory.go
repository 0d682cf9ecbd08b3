package own

import (
	"math"

	"privkern/experiments/dataset/table"
	"privkern/experiments/dpgp/sparse"
)

// Memory estimates what a trial of the user's data takes, in bytes; 0 where they cannot be
// read, which the trial says. Points returns how many inducing inputs there are for that many
// inputs, see [Points]. Kernels is how many matrices of the rows by them there are at a time;
// the numbers that are read there are six times, as read, as a matrix, in parts, and scaled.
// Of 1,000 to 1,000,000 rows of 1 to 20 inputs with 1 to 400 inducing inputs, in MiB, 64 to
// 983 were measured for classification (7.5), 70 to 796 for a choice (6) and 59 to 455 for
// regression (5); a release takes less.
func Memory(s table.Spec, points func(inputs int) int, kernels float64) int64 {
	const process, float, copies = 84 << 20, 8, 6
	rows, inputs, err := s.Size()
	if err != nil {
		return 0
	}
	// More is refused when it is read.
	numbers := min(rows*(inputs+len(s.Others)), table.MaxValues)
	kernel := min(float64(rows)*float64(points(inputs)), sparse.MaxKernel)
	return process + float*(copies*int64(numbers)+int64(kernels*kernel))
}

// Points returns how many inducing inputs a grid of count in every input has, or the data of
// a name, where file says that they are these; at most as many as there can be.
func Points(count int, file bool, name, inputs string) func(int) int {
	return func(width int) int {
		if file {
			rows, _, err := table.Spec{Dataset: name, Inputs: inputs}.Size()
			if err != nil {
				return 0 // the trial says so
			}
			return min(rows, sparse.MaxInducing)
		}
		return int(min(math.Pow(float64(count), float64(width)), sparse.MaxInducing))
	}
}
