package learn

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Scaling brings columns to mean zero and (population) variance one. A column that is
// constant becomes zero.
type Scaling struct {
	Mean, Scale []float64 // of each column; Scale is 0 for a constant one
}

// ScalingOf returns the scaling of samples.
func ScalingOf(x *mat.Dense) *Scaling {
	n, columns := x.Dims()
	s := &Scaling{make([]float64, columns), make([]float64, columns)}
	for j := range columns {
		mean, square := 0.0, 0.0
		for i := range n {
			mean += x.At(i, j)
		}
		mean /= float64(n)
		for i := range n {
			d := x.At(i, j) - mean
			square += d * d
		}
		s.Mean[j] = mean
		if deviation := math.Sqrt(square / float64(n)); deviation > 1e-12*math.Abs(mean) {
			s.Scale[j] = 1 / deviation
		}
	}
	return s
}

// Apply scales samples, in place.
func (s *Scaling) Apply(x *mat.Dense) {
	rows, columns := x.Dims()
	for i := range rows {
		for j := range columns {
			x.Set(i, j, s.Scale[j]*(x.At(i, j)-s.Mean[j]))
		}
	}
}
