package op

import (
	"fmt"
	"math"

	"gorgonia.org/tensor"

	"privkern/graphs/cpublas"
	"privkern/graphs/kernels"
)

// Pieces of a Newton step of the Laplace approximation with the logistic
// likelihood (Rasmussen and Williams 2006, Section 3.4).

// LogisticScale is the operation (f, n) → √(nW), the square root of the logistic
// likelihood's curvature, W = π(1 − π) with π = 1/(1 + e^{−f}), where n labels
// share a latent value. f and n are N×1.
//
// n counts how often a point was labelled: labels of one point multiply their
// likelihoods, which adds the curvatures W = −∂² log p(y|f)/∂f² (Rasmussen and Williams
// 2006, Eq. 3.15). A negative count is an error.
func LogisticScale() Op {
	return Op{def: &definition{
		name: "LogisticScale", in: []int{2, 2}, out: 2, shape: columnAnd(rowsAlike),
		run64: logisticScale[float64], run32: logisticScale[float32],
		launch: func(t Stream) {
			t.Launch(kernels.LogisticScale{F: t.In(0), Count: t.In(1), N: t.In(0).Rows, Out: t.Out(), Failed: t.Failure()})
		},
		cases: func(s *sampler) []Case {
			return []Case{applied("LogisticScale", LogisticScale(), 1, s.normal(small, 1), s.positive(small, 1))}
		},
	}}
}

// logisticScale is the CPU kernel of LogisticScale.
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
//
// From ∂ log p(y|f)/∂f = (y+1)/2 − π (Eq. 3.15), summed over the n labels of a point.
// The columns of Y share f: they are right sides of one linear system. The result is
// linear in Y, so that noise added to the labels can be calibrated.
func NewtonTarget() Op {
	return Op{def: &definition{
		name: "NewtonTarget", in: []int{2, 2, 2}, out: 2,
		shape: func(in []tensor.Shape) (tensor.Shape, error) {
			if _, err := columnAnd(rowsAlike)(in[:2]); err != nil {
				return nil, err
			}
			return rowsAlike([]tensor.Shape{in[0], in[2]})
		},
		run64: newtonTarget[float64], run32: newtonTarget[float32],
		launch: func(t Stream) {
			y := t.In(2)
			t.Launch(kernels.NewtonTarget{F: t.In(0), Count: t.In(1), Y: y, N: y.Rows, M: y.Cols, Out: t.Out()})
		},
		cases: func(s *sampler) []Case {
			return []Case{applied("NewtonTarget", NewtonTarget(), 10, s.normal(small, 1), s.positive(small, 1),
				s.normal(small, 3))}
		},
	}}
}

// newtonTarget is the CPU kernel of NewtonTarget. W comes from both tails of the
// logistic function, π(f)π(−f), as 1 − π loses all digits for large f.
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

// IdentityPlusScaled is the operation (K, s) → I + diag(s) K diag(s). K is n×n,
// s is n×1.
//
// With s = √W it is B = I + W^½KW^½ (Rasmussen and Williams 2006, Eq. 3.26), whose
// eigenvalues lie between 1 and 1 + n max_ij(K_ij)/4: its factorisation is safe where
// that of K + W⁻¹ breaks down, because W tends to zero for points that are certain.
func IdentityPlusScaled() Op {
	return Op{def: &definition{
		name: "IdentityPlusScaled", in: []int{2, 2}, out: 2,
		shape: func(in []tensor.Shape) (tensor.Shape, error) {
			if _, err := square(in); err != nil {
				return nil, err
			}
			if in[1][0] != in[0][0] || in[1][1] != 1 {
				return nil, fmt.Errorf("scales %v for a matrix %v, want %d×1", in[1], in[0], in[0][0])
			}
			return in[0].Clone(), nil
		},
		run64: identityPlusScaled[float64], run32: identityPlusScaled[float32],
		launch: func(t Stream) {
			t.Launch(kernels.IdentityPlusScaled{K: t.In(0), S: t.In(1), N: t.In(0).Rows, Out: t.Out()})
		},
		cases: func(s *sampler) []Case {
			return []Case{applied("IdentityPlusScaled", IdentityPlusScaled(), 10, s.symmetric(small), s.normal(small, 1))}
		},
	}}
}

// identityPlusScaled is the CPU kernel of IdentityPlusScaled.
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
