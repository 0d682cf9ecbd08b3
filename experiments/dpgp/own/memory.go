package own

import (
	"privkern/experiments/dataset/table"
	"privkern/experiments/dpgp/sparse"
)

// Memory estimates the bytes that a trial of the user's data takes; 0 where they cannot be
// read, which the trial reports. Kernels is how many matrices of the rows by the inducing inputs
// there are at a time; the numbers that are read are there six times, as read, as a matrix, in
// parts, and scaled. Of 1,000 to 1,000,000 rows of 1 to 20 inputs with 1 to 400 inducing inputs,
// in MiB, 64 to 983 were measured for classification (7.5), 70 to 796 for a choice (6) and 59 to
// 455 for regression (5); a release takes less.
func (i Inducing) Memory(s table.Spec, kernels float64) int64 {
	const process, float, copies = 84 << 20, 8, 6
	rows, inputs, err := s.Size()
	if err != nil {
		return 0
	}
	// More is refused when it is read.
	numbers := min(rows*(inputs+len(s.Others)), table.MaxValues)
	kernel := min(float64(rows)*float64(i.points(inputs, s.Inputs)), sparse.MaxKernel)
	return process + float*(copies*int64(numbers)+int64(kernels*kernel))
}

// points returns how many inducing inputs there are for rows with so many inputs, at most as many
// as there can be. Inputs is the setting; 0 stands for a file that cannot be read.
func (i Inducing) points(width int, inputs string) int {
	switch {
	case i.File != "":
		rows, _, err := table.Spec{Dataset: i.File, Inputs: inputs, Reading: i.Reading}.Size()
		if err != nil {
			return 0
		}
		if i.Centres > 0 {
			return i.Centres
		}
		return min(rows, sparse.MaxInducing)
	case i.Values != nil:
		return len(i.Values)
	}
	if i.Auto {
		return mostRuns + 1
	}
	points, _, _ := i.layout(width) // none where a check refuses them
	return points
}
