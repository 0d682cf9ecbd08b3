package op

import (
	"fmt"
	"math"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/cpublas"
)

// Form is the shape of a kernel as a function of its metric s.
type Form int

// The forms, with u = Rate·√s.
const (
	Exponential Form = iota // Scale·exp(−Rate·s)
	Matern12                // Scale·exp(−u)
	Matern32                // Scale·(1+u)·exp(−u)
	Matern52                // Scale·(1+u+u²/3)·exp(−u)
	Power                   // Scale·(Rate·s+Offset)^Degree
	Tanh                    // Scale·tanh(Rate·s+Offset)
)

func (f Form) String() string {
	return [...]string{"Exponential", "Matern12", "Matern32", "Matern52", "Power", "Tanh"}[f]
}

// Profile is a kernel of pairs of points: a form over a metric.
type Profile struct {
	Metric Metric
	Form   Form
	Scale  float64
	Rate   float64
	Offset float64 // Power and Tanh
	Degree int     // Power
}

// String carries every parameter exactly: it goes into the operation's hash.
func (p Profile) String() string {
	return fmt.Sprintf("%v,%v,scale=%x,rate=%x,offset=%x,degree=%d", p.Metric, p.Form, p.Scale, p.Rate, p.Offset, p.Degree)
}

// Kernel is the fused operation (X, Y) → K, K_ij = k(x_i, y_j): X is n×d, Y is
// m×d, K is n×m.
func Kernel(p Profile) Op {
	d := &definition{name: "Kernel(" + p.String() + ")", params: p, in: []int{2, 2}, out: 2, shape: pairs, diff: []bool{true, true},
		sym: func(in gorgonia.Nodes, _, grad *gorgonia.Node) (gorgonia.Nodes, error) {
			w, err := kernelSlope(p).Apply(in[0], in[1], grad)
			if err != nil {
				return nil, err
			}
			wT, err := gorgonia.Transpose(w)
			if err != nil {
				return nil, err
			}
			dx, err := metricGradient(p.Metric).Apply(in[0], in[1], w)
			if err != nil {
				return nil, err
			}
			dy, err := metricGradient(p.Metric).Apply(in[1], in[0], wT)
			return gorgonia.Nodes{dx, dy}, err
		}}
	return Op{d.kernels(
		func(c call[float64]) error { return kernelMatrix(c, p, c.in[0], c.in[1], false) },
		func(c call[float32]) error { return kernelMatrix(c, p, c.in[0], c.in[1], false) })}
}

// KernelSymmetric is the fused operation X → K, K_ij = k(x_i, x_j). K is
// exactly symmetric, and its diagonal is exactly k(x, x) where the metric is a
// distance.
func KernelSymmetric(p Profile) Op {
	d := &definition{name: "KernelSymmetric(" + p.String() + ")", params: p, in: []int{2}, out: 2, diff: []bool{true},
		shape: func(in []tensor.Shape) (tensor.Shape, error) { return tensor.Shape{in[0][0], in[0][0]}, nil },
		sym: func(in gorgonia.Nodes, _, grad *gorgonia.Node) (gorgonia.Nodes, error) {
			w, err := kernelSlope(p).Apply(in[0], in[0], grad)
			if err != nil {
				return nil, err
			}
			// x_i enters row i and column i.
			w, err = addTranspose(w)
			if err != nil {
				return nil, err
			}
			dx, err := metricGradient(p.Metric).Apply(in[0], in[0], w)
			return gorgonia.Nodes{dx}, err
		}}
	return Op{d.kernels(
		func(c call[float64]) error { return kernelMatrix(c, p, c.in[0], c.in[0], true) },
		func(c call[float32]) error { return kernelMatrix(c, p, c.in[0], c.in[0], true) })}
}

func addTranspose(a *gorgonia.Node) (*gorgonia.Node, error) {
	t, err := gorgonia.Transpose(a)
	if err != nil {
		return nil, err
	}
	return gorgonia.Add(a, t)
}

func kernelMatrix[T cpublas.Float](c call[T], p Profile, x, y matrix[T], symmetric bool) error {
	return pairwise(c.pool, p.Metric, x, y, symmetric, c.out, func(row []T) { applyForm(p, row) })
}

// kernelSlope is the operation (X, Y, G) → W, W_ij = G_ij ∂k/∂s at the metric s
// of x_i and y_j. A slope that is infinite at s = 0 (Matérn 1/2) counts as
// zero, because ∂s/∂x is zero there.
func kernelSlope(p Profile) Op {
	d := &definition{name: "KernelSlope(" + p.String() + ")", params: p, in: []int{2, 2, 2}, out: 2, shape: pairs}
	return Op{d.kernels(
		func(c call[float64]) error { return slopeMatrix(c, p) },
		func(c call[float32]) error { return slopeMatrix(c, p) })}
}

func slopeMatrix[T cpublas.Float](c call[T], p Profile) error {
	err := pairwise(c.pool, p.Metric, c.in[0], c.in[1], false, c.out, func(row []T) {
		for i, s := range row {
			row[i] = T(p.slope(float64(s)))
		}
	})
	for i, g := range c.in[2].data {
		c.out.data[i] *= g
	}
	return err
}

// applyForm overwrites metrics by kernel values. The loops stand apart to keep
// the choice of the form out of them.
func applyForm[T cpublas.Float](p Profile, row []T) {
	scale, rate := p.Scale, p.Rate
	switch p.Form {
	case Exponential:
		for i, s := range row {
			row[i] = T(scale * math.Exp(-rate*float64(s)))
		}
	case Matern12:
		for i, s := range row {
			row[i] = T(scale * math.Exp(-rate*math.Sqrt(float64(s))))
		}
	case Matern32:
		for i, s := range row {
			u := rate * math.Sqrt(float64(s))
			row[i] = T(scale * (1 + u) * math.Exp(-u))
		}
	case Matern52:
		for i, s := range row {
			u := rate * math.Sqrt(float64(s))
			row[i] = T(scale * (1 + u + u*u/3) * math.Exp(-u))
		}
	case Power:
		for i, s := range row {
			row[i] = T(scale * power(rate*float64(s)+p.Offset, p.Degree))
		}
	case Tanh:
		for i, s := range row {
			row[i] = T(scale * math.Tanh(rate*float64(s)+p.Offset))
		}
	}
}

// slope is dk/ds.
func (p Profile) slope(s float64) float64 {
	switch p.Form {
	case Exponential:
		return -p.Rate * p.Scale * math.Exp(-p.Rate*s)
	case Matern12:
		if s == 0 {
			return 0
		}
		r := math.Sqrt(s)
		return -p.Scale * p.Rate / (2 * r) * math.Exp(-p.Rate*r)
	case Matern32: // du/ds = Rate²/(2u); k' = −Scale·u·exp(−u)
		return -p.Scale * p.Rate * p.Rate / 2 * math.Exp(-p.Rate*math.Sqrt(s))
	case Matern52: // k' = −Scale·u(1+u)/3·exp(−u)
		u := p.Rate * math.Sqrt(s)
		return -p.Scale * p.Rate * p.Rate / 6 * (1 + u) * math.Exp(-u)
	case Power:
		return p.Scale * p.Rate * float64(p.Degree) * power(p.Rate*s+p.Offset, p.Degree-1)
	case Tanh:
		t := math.Tanh(p.Rate*s + p.Offset)
		return p.Scale * p.Rate * (1 - t*t)
	}
	return math.NaN()
}

// power is b^n for n ≥ 0 by repeated squaring.
func power(b float64, n int) float64 {
	r := 1.0
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			r *= b
		}
		b *= b
	}
	return r
}
