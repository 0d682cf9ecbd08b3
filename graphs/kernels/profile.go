package kernels

import "fmt"

// Metric is the number s that a kernel of a pair of points x, y depends on.
type Metric int

// The metrics.
const (
	SquaredEuclidean Metric = iota // Σ (x−y)²
	Manhattan                      // Σ |x−y|
	InnerProduct                   // Σ x·y
)

// String is the metric's name in an operation's.
func (m Metric) String() string {
	return [...]string{"SquaredEuclidean", "Manhattan", "InnerProduct"}[m]
}

// Form is the shape of a kernel as a function of its metric s: enum Form of pairs.cu.
//
// All but the tanh are positive semidefinite over the metric that they go with: the
// exponential with SquaredEuclidean is the EQ (RBF) covariance, with Manhattan the Laplacian
// one; the Matérn forms go with SquaredEuclidean, for ν = ½, 3/2, 5/2 (Rasmussen and Williams
// 2006, Eqs. 4.14 and 4.17); the power, with Offset ≥ 0, and the tanh go with InnerProduct.
type Form int

// The forms, with u = Rate·√s.
const (
	ExponentialForm Form = iota // Scale·exp(−Rate·s)
	Matern12Form                // Scale·exp(−u)
	Matern32Form                // Scale·(1+u)·exp(−u)
	Matern52Form                // Scale·(1+u+u²/3)·exp(−u)
	PowerForm                   // Scale·(Rate·s+Offset)^Degree
	TanhForm                    // Scale·tanh(Rate·s+Offset)
)

// String is the form's name in an operation's.
func (f Form) String() string {
	return [...]string{"Exponential", "Matern12", "Matern32", "Matern52", "Power", "Tanh"}[f]
}

// Profile is a kernel of pairs of points: a form over a metric.
//
// Rate follows from the parameters of the field: 1/(2ℓ²) for an EQ covariance of
// lengthscale ℓ, √(2ν)/ℓ for a Matérn one, γ for the RBF, Laplacian, polynomial and
// sigmoid kernels. Scale is the variance k(x, x) of the stationary forms.
//
// The fields are those of PROFILE in pairs.cu in their order, apart from Metric, on which
// it depends which CUDA kernel is launched.
type Profile struct {
	Metric Metric
	Form   Form
	slope  bool // the derivative by the metric
	Scale  float64
	Rate   float64
	Offset float64 // Power and Tanh
	Degree int     // Power
}

// Slope returns the derivative ∂k/∂s by the metric, for CUDA kernels.
func (p Profile) Slope() Profile {
	p.slope = true
	return p
}

// String carries every parameter exactly: it goes into the operation's hash.
func (p Profile) String() string {
	return fmt.Sprintf("%v,%v,scale=%x,rate=%x,offset=%x,degree=%d", p.Metric, p.Form, p.Scale, p.Rate, p.Offset, p.Degree)
}
