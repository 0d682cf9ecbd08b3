package op

import (
	"fmt"
	"math"

	"gorgonia.org/tensor"

	"privkern/graphs/cpublas"
)

// LogisticScale is the operation (f, n) → √(nW), the square root of the logistic
// likelihood's curvature, W = π(1 − π) with π = 1/(1 + e^{−f}), where n labels
// share a latent value. f and n are N×1.
func LogisticScale() Op {
	d := &definition{name: "LogisticScale", in: []int{2, 2}, out: 2, shape: columnAnd(rowsAlike)}
	return Op{d.kernels(logisticScale[float64], logisticScale[float32])}
}

func logisticScale[T cpublas.Float](c call[T]) error {
	for i, v := range c.in[0].data {
		n := float64(c.in[1].data[i])
		if n < 0 {
			return fmt.Errorf("count %d is %g: counts must not be negative", i, n)
		}
		// √(π(1−π)) without 1 − π, which would lose all digits for large f.
		e := math.Exp(-math.Abs(float64(v)) / 2)
		c.out.data[i] = T(math.Sqrt(n) * e / (1 + e*e))
	}
	return nil
}

// NewtonTarget is the operation (f, n, Y) → n W f + (Y + n)/2 − n π, for each
// column of Y: the vector b of a Newton step of the Laplace approximation
// (Rasmussen and Williams 2006, Algorithm 3.1), summed over the n labels that
// share a latent value. f and n are N×1. Y is N×m, sums of labels; labels are ±1,
// or any number where they carry noise.
func NewtonTarget() Op {
	d := &definition{name: "NewtonTarget", in: []int{2, 2, 2}, out: 2, shape: func(in []tensor.Shape) (tensor.Shape, error) {
		if _, err := columnAnd(rowsAlike)(in[:2]); err != nil {
			return nil, err
		}
		return rowsAlike([]tensor.Shape{in[0], in[2]})
	}}
	return Op{d.kernels(newtonTarget[float64], newtonTarget[float32])}
}

func newtonTarget[T cpublas.Float](c call[T]) error {
	labels := c.in[2]
	for i, v := range c.in[0].data {
		f, n := float64(v), float64(c.in[1].data[i])
		pi := logistic(f)
		base := n * (pi*logistic(-f)*f - pi) // n W f − n π
		to := c.out.row(i)
		for j, y := range labels.row(i) {
			to[j] = T(base + (float64(y)+n)/2)
		}
	}
	return nil
}

// logistic is 1/(1 + e^{−f}), accurate in both tails.
func logistic(f float64) float64 {
	if f < 0 {
		e := math.Exp(f)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-f))
}

// ScaleRows is the operation (s, X) → diag(s) X. s is n×1, X is n×m.
func ScaleRows() Op {
	d := &definition{name: "ScaleRows", in: []int{2, 2}, out: 2, shape: rowsAlike}
	return Op{d.kernels(scaleRows[float64], scaleRows[float32])}
}

func scaleRows[T cpublas.Float](c call[T]) error {
	for i, s := range c.in[0].data {
		to := c.out.row(i)
		for j, v := range c.in[1].row(i) {
			to[j] = s * v
		}
	}
	return nil
}

// IdentityPlusScaled is the operation (K, s) → I + diag(s) K diag(s). K is n×n,
// s is n×1.
func IdentityPlusScaled() Op {
	d := &definition{name: "IdentityPlusScaled", in: []int{2, 2}, out: 2, shape: func(in []tensor.Shape) (tensor.Shape, error) {
		if _, err := square(in); err != nil {
			return nil, err
		}
		if in[1][0] != in[0][0] || in[1][1] != 1 {
			return nil, fmt.Errorf("scales %v for a matrix %v, want %d×1", in[1], in[0], in[0][0])
		}
		return in[0].Clone(), nil
	}}
	return Op{d.kernels(identityPlusScaled[float64], identityPlusScaled[float32])}
}

func identityPlusScaled[T cpublas.Float](c call[T]) error {
	s := c.in[1].data
	for i, si := range s {
		to := c.out.row(i)
		for j, v := range c.in[0].row(i) {
			to[j] = si * s[j] * v
		}
		to[i]++
	}
	return nil
}

// rowsAlike is the shape of the second input, an n×m matrix, beside an n×1
// column.
func rowsAlike(in []tensor.Shape) (tensor.Shape, error) {
	if in[0][1] != 1 || in[0][0] != in[1][0] {
		return nil, fmt.Errorf("a column %v for a matrix %v, want %d×1", in[0], in[1], in[1][0])
	}
	return in[1].Clone(), nil
}

// columnAnd demands that the second input has one column, beside what the rule
// demands.
func columnAnd(rule func([]tensor.Shape) (tensor.Shape, error)) func([]tensor.Shape) (tensor.Shape, error) {
	return func(in []tensor.Shape) (tensor.Shape, error) {
		if in[1][1] != 1 {
			return nil, fmt.Errorf("shape %v, want %d×1", in[1], in[1][0])
		}
		return rule(in)
	}
}
