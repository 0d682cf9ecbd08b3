package op

import (
	"fmt"
	"math"

	"gorgonia.org/tensor"

	"privkern/graphs/cpublas"
)

// LogisticScale is the operation f → √W, the square root of the logistic
// likelihood's curvature, W = π(1 − π) with π = 1/(1 + e^{−f}). f is n×1.
func LogisticScale() Op {
	d := &definition{name: "LogisticScale", in: []int{2}, out: 2, shape: sameShape(0)}
	return Op{d.kernels(logisticScale[float64], logisticScale[float32])}
}

func logisticScale[T cpublas.Float](c call[T]) error {
	for i, v := range c.in[0].data {
		// √(π(1−π)) without 1 − π, which would lose all digits for large f.
		e := math.Exp(-math.Abs(float64(v)) / 2)
		c.out.data[i] = T(e / (1 + e*e))
	}
	return nil
}

// NewtonTarget is the operation (f, Y) → W f + (Y + 1)/2 − π, for each column
// of Y: the vector b of a Newton step of the Laplace approximation (Rasmussen
// and Williams 2006, Algorithm 3.1) for the labels of that column. f is n×1, Y
// is n×m; labels are ±1, or any number where they carry noise.
func NewtonTarget() Op {
	d := &definition{name: "NewtonTarget", in: []int{2, 2}, out: 2, shape: rowsAlike}
	return Op{d.kernels(newtonTarget[float64], newtonTarget[float32])}
}

func newtonTarget[T cpublas.Float](c call[T]) error {
	labels := c.in[1]
	for i, v := range c.in[0].data {
		f := float64(v)
		pi := logistic(f)
		// W f − π
		base := pi*logistic(-f)*f - pi
		to := c.out.row(i)
		for j, y := range labels.row(i) {
			to[j] = T(base + (float64(y)+1)/2)
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
