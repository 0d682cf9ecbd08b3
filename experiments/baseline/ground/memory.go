package ground

import "privkern/experiments/dataset/table"

// Parts of the memory of a trial, in bytes: a process with its simulated data, and the square matrices of a reference,
// whose Gaussian process has at most 2,000 rows.
const (
	process = 112 << 20
	squares = 96 << 20
)

// heldReference is [Baseline.Held] of a reference, whose trees have the rows by bins and by leaves.
const heldReference = 100

// memory estimates the bytes that a trial takes; base alone where the data cannot be read, which the trial reports. The
// numbers that are read are there eight times, as read, as a matrix, in parts, and scaled. A million rows of one input
// took 1.65 GB with ridge, and 0.2 GB with noisy gradients; of three inputs 0.34 GB with label-noise.
func (d *Data) memory(base int64, held int) int64 {
	const float, copies = 8, 8
	if !d.IsOwn() {
		return base
	}
	s := d.Spec()
	rows, inputs, err := s.Size()
	if err != nil {
		return base
	}
	numbers := min(rows*(inputs+len(s.Others)), table.MaxValues)
	return base + float*(copies*int64(numbers)+int64(held)*int64(rows))
}
