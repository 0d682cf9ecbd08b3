package op

import (
	"fmt"

	"gorgonia.org/tensor"
)

// Shape rules that several operations share.

// sameShape is the shape of input i.
func sameShape(i int) func([]tensor.Shape) (tensor.Shape, error) {
	return func(in []tensor.Shape) (tensor.Shape, error) { return in[i].Clone(), nil }
}

// square is the shape of a square first input, n×n.
func square(in []tensor.Shape) (tensor.Shape, error) {
	if in[0][0] != in[0][1] {
		return nil, fmt.Errorf("shape %v, want a square matrix", in[0])
	}
	return in[0].Clone(), nil
}

// factored is the shape of a square matrix whose factor is the second input.
func factored(in []tensor.Shape) (tensor.Shape, error) {
	if _, err := square(in); err != nil {
		return nil, err
	}
	if !in[1].Eq(in[0]) {
		return nil, fmt.Errorf("the matrix is %v and its factor %v", in[0], in[1])
	}
	return in[0].Clone(), nil
}

// squareToScalar is a scalar, for a square first input.
func squareToScalar(in []tensor.Shape) (tensor.Shape, error) {
	if _, err := square(in); err != nil {
		return nil, err
	}
	return tensor.ScalarShape(), nil
}

// solve is the shape of X in A X = B.
// A is n×n and B n×m, in this order among the inputs.
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
// The inputs are n×d and m×d, the result is n×m.
func pairs(in []tensor.Shape) (tensor.Shape, error) {
	if in[0][1] != in[1][1] {
		return nil, fmt.Errorf("points of %d and of %d dimensions", in[0][1], in[1][1])
	}
	return tensor.Shape{in[0][0], in[1][0]}, nil
}

// rowsAlike returns the shape of the second input, an n×m matrix; the first is an n×1
// column.
func rowsAlike(in []tensor.Shape) (tensor.Shape, error) {
	if in[0][1] != 1 || in[0][0] != in[1][0] {
		return nil, fmt.Errorf("a column %v for a matrix %v, want %d×1", in[0], in[1], in[1][0])
	}
	return in[1].Clone(), nil
}

// columnAnd requires a one-column second input in addition to rule.
func columnAnd(rule func([]tensor.Shape) (tensor.Shape, error)) func([]tensor.Shape) (tensor.Shape, error) {
	return func(in []tensor.Shape) (tensor.Shape, error) {
		if in[1][1] != 1 {
			return nil, fmt.Errorf("shape %v, want %d×1", in[1], in[1][0])
		}
		return rule(in)
	}
}
