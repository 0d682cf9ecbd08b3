package discriminant

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
	"privkern/graphs/kernel"
)

// Map maps a sample to its compressed features, Coefficientsᵀk − Shift, where k holds the kernel
// values between the points and the sample. It is the public part of a compression.
type Map struct {
	Kernel       kernel.Kernel
	Points       *mat.Dense // P×d
	Coefficients *mat.Dense // P×Q
	Shift        []float64  // Q
}

// Map returns the map of a projection. Its points are the training samples or, for the linear
// kernel, the unit vectors, which reveal nothing of the samples.
func (p *Projection) Map() *Map {
	m := &Map{Kernel: p.kernel, Points: p.points, Coefficients: p.a, Shift: p.shift}
	if !isLinear(m.Kernel) {
		return m
	}
	_, d := p.points.Dims()
	var w mat.Dense
	w.Mul(p.points.T(), p.a) // aᵀXy = (Xᵀa)ᵀy
	return &Map{Kernel: m.Kernel, Points: UnitVectors(d), Coefficients: &w, Shift: p.shift}
}

// isLinear reports whether the kernel is the inner product.
func isLinear(k kernel.Kernel) bool { return k.String() == kernel.Linear(1).String() }

// UnitVectors returns the identity, d×d: points for which coefficients of the linear kernel are
// those of the columns.
func UnitVectors(d int) *mat.Dense {
	u := mat.NewDense(d, d, nil)
	for i := range d {
		u.Set(i, i, 1)
	}
	return u
}

// Apply returns the features (T×Q) of samples (T×d), in float64. It takes O(TP(d+Q)) operations.
func (m *Map) Apply(ctx context.Context, e *engine.Engine, y *mat.Dense) (*mat.Dense, error) {
	p := &Projection{kernel: m.Kernel, points: m.Points, a: m.Coefficients, shift: m.Shift, dtype: tensor.Float64}
	return p.Project(ctx, e, y)
}

// landmarkTolerance is the share of the largest diagonal element of the landmarks' kernel matrix up to which a
// remainder is treated as zero, and landmarkRounding that beyond which it is an error.
const (
	landmarkTolerance = 1e-10
	landmarkRounding  = 1e-8
)

// NewLandmarks returns the map to features whose inner products approximate the kernel by k_xᵀ K⁺
// k_y, with the kernel matrix K of the landmarks (P×d) (Williams and Seeger, "Using the Nyström
// method to speed up kernel machines", 2001). It does not depend on data. It returns an error if
// K is not positive semidefinite.
//
// The features are L⁻¹k of the Cholesky factor of r landmarks, each the one that those before leave most of (Fine and
// Scheinberg 2001). Landmarks that are combinations of these, such as equal ones, have coefficients of zero. It takes
// O(P²(d+r)) operations.
func NewLandmarks(ctx context.Context, e *engine.Engine, k kernel.Kernel, landmarks *mat.Dense) (*Map, error) {
	matrix, err := k.Matrix64(ctx, e, landmarks, landmarks)
	if err != nil {
		return nil, fmt.Errorf("landmarks: %w", err)
	}
	factor, order, err := pivoted(matrix)
	if err != nil {
		return nil, fmt.Errorf("landmarks: kernel %v %w: it is not positive semidefinite, and has no features", k, err)
	}
	n, r := matrix.RawMatrix().Rows, len(order)
	lower, inverse := mat.NewTriDense(r, mat.Lower, nil), new(mat.TriDense)
	for j, row := range order {
		for i := range j + 1 {
			lower.SetTri(j, i, factor.At(i, row))
		}
	}
	if err := inverse.InverseTri(lower); err != nil {
		var condition mat.Condition
		if !errors.As(err, &condition) || math.IsInf(float64(condition), 1) {
			return nil, fmt.Errorf("landmarks: kernel %v: %w", k, err)
		}
	}
	roots := mat.NewDense(n, r, nil) // L⁻ᵀ
	for j, row := range order {
		for i := j; i < r; i++ {
			roots.Set(row, i, inverse.At(i, j))
		}
	}
	return &Map{Kernel: k, Points: landmarks, Coefficients: roots, Shift: make([]float64, r)}, nil
}

// pivoted returns F (r×P) with FᵀF = K up to landmarkTolerance, and the r rows of K that it begins with.
func pivoted(k *mat.Dense) (*mat.Dense, []int, error) {
	n, _ := k.Dims()
	left := make([]float64, n) // diagonal of K − FᵀF
	for i := range left {
		left[i] = k.At(i, i)
	}
	most := floats.Max(left)
	var order []int
	f := mat.NewDense(n, n, nil)
	for range n {
		next := floats.MaxIdx(left)
		if !(left[next] > landmarkTolerance*most) {
			break
		}
		r := len(order)
		row := f.RawRowView(r)
		copy(row, k.RawRowView(next))
		for i := range r {
			floats.AddScaled(row, -f.At(i, next), f.RawRowView(i))
		}
		floats.Scale(1/math.Sqrt(left[next]), row)
		for i, v := range row {
			left[i] -= v * v
		}
		left[next] = math.Inf(-1) // taken
		order = append(order, next)
	}
	if len(order) == 0 {
		return nil, nil, fmt.Errorf("is %g at most of a landmark with itself", most)
	}
	f = f.Slice(0, len(order), 0, n).(*mat.Dense)
	var rest mat.Dense
	rest.Mul(f.T(), f)
	rest.Sub(k, &rest)
	if off := max(mat.Max(&rest), -mat.Min(&rest)); !(off <= landmarkRounding*most) {
		return nil, nil, fmt.Errorf("leaves %.3g between landmarks of no length", off)
	}
	return f, order, nil
}

// After returns the composition of m and a linear compression of its features. Its points are
// those of m.
func (m *Map) After(compression *Map) *Map {
	_, r := m.Coefficients.Dims()
	if p, _ := compression.Points.Dims(); p != r || !isLinear(compression.Kernel) {
		panic("discriminant: a compression that is not linear in these features")
	}
	q := len(compression.Shift)
	var linear, coefficients mat.Dense
	linear.Mul(compression.Points.T(), compression.Coefficients) // r×Q
	coefficients.Mul(m.Coefficients, &linear)                    // P×Q
	shift := make([]float64, q)
	for j := range q {
		shift[j] = compression.Shift[j] + mat.Dot(mat.NewVecDense(r, m.Shift), linear.ColView(j))
	}
	return &Map{Kernel: m.Kernel, Points: m.Points, Coefficients: &coefficients, Shift: shift}
}
