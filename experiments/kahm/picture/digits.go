package picture

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset/readers"
	"privkern/experiments/learn"
	"privkern/runner/experiment"
)

// digitSide is the side of an image of a digit, in pixels.
const digitSide = 28

// check refuses a subspace of more dimensions than the images span.
func (s *Images) check(n int) error {
	if n >= s.Images {
		return fmt.Errorf("n = %d: %d images span at most %d principal directions; use fewer, or more images",
			n, s.Images, s.Images-1)
	}
	return nil
}

// draw returns the images of a trial: images×784, pixels in [0, 1].
func (s *Images) draw(t *experiment.Trial) (*mat.Dense, error) {
	all, err := readers.LoadMNIST(t.Dataset(experiment.NameOf(s.Dataset)))
	if err != nil {
		return nil, err
	}
	var rows []int
	for i, l := range all.Train.Labels {
		if int(l) == s.Digit {
			rows = append(rows, i)
		}
	}
	if len(rows) < s.Images {
		return nil, fmt.Errorf("images = %d: there are only %d training images of the digit %d",
			s.Images, len(rows), s.Digit)
	}
	return all.Train.Matrix(learn.Select(rows, t.Stream("images").Perm(len(rows))[:s.Images])), nil
}

// memory returns the bytes of a machine of one digit: n×n matrices, and the images of
// every layer, after all digits were read. 147, 191 and 962 MiB were measured for 200,
// 1,000 and 3,000 images with 5 layers, 374 MiB for 1,000 with 20; 224 MiB for 1,000
// images that are fabricated.
func (s *Images) memory(layers int) int64 {
	const float = 8
	n := int64(s.Images)
	return 170<<20 + 11*float*n*n + int64(layers)*n*digitSide*digitSide*float*3/2
}

// numbered returns first, first+1, …, n numbers.
func numbered(n, first int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(first + i)
	}
	return out
}
