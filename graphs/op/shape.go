package op

import (
	"fmt"

	"gorgonia.org/tensor"
)

// Shape rules that several operations share.

func sameShape(i int) func([]tensor.Shape) (tensor.Shape, error) {
	return func(in []tensor.Shape) (tensor.Shape, error) { return in[i].Clone(), nil }
}

func square(in []tensor.Shape) (tensor.Shape, error) {
	if in[0][0] != in[0][1] {
		return nil, fmt.Errorf("shape %v, want a square matrix", in[0])
	}
	return in[0].Clone(), nil
}

func squareToScalar(in []tensor.Shape) (tensor.Shape, error) {
	if _, err := square(in); err != nil {
		return nil, err
	}
	return tensor.ScalarShape(), nil
}

// solve is the shape of X in A X = B.
func solve(in []tensor.Shape) (tensor.Shape, error) {
	if _, err := square(in); err != nil {
		return nil, err
	}
	if in[1][0] != in[0][0] {
		return nil, fmt.Errorf("the matrix is %v and the right side %v: the numbers of rows differ", in[0], in[1])
	}
	return in[1].Clone(), nil
}

// pairs is the shape of a matrix over all pairs of rows.
func pairs(in []tensor.Shape) (tensor.Shape, error) {
	if in[0][1] != in[1][1] {
		return nil, fmt.Errorf("points of %d and of %d dimensions", in[0][1], in[1][1])
	}
	return tensor.Shape{in[0][0], in[1][0]}, nil
}
