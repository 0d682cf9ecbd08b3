package discriminant

import (
	"context"
	"fmt"
	"math"

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
	if m.Kernel.String() != kernel.Linear(1).String() {
		return m
	}
	_, d := p.points.Dims()
	var w mat.Dense
	w.Mul(p.points.T(), p.a) // aᵀXy = (Xᵀa)ᵀy
	return &Map{Kernel: m.Kernel, Points: UnitVectors(d), Coefficients: &w, Shift: p.shift}
}

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

// landmarkTolerance is the share of the largest eigenvalue of the landmarks' kernel matrix below
// which eigenvalues are treated as zero. A negative eigenvalue beyond it is an error.
const landmarkTolerance = 1e-10

// NewLandmarks returns the map to features whose inner products approximate the kernel by k_xᵀ K⁺
// k_y, with the kernel matrix K of the landmarks (P×d) (Williams and Seeger, "Using the Nyström
// method to speed up kernel machines", 2001). It does not depend on data. It returns an error if
// K is not positive semidefinite.
func NewLandmarks(ctx context.Context, e *engine.Engine, k kernel.Kernel, landmarks *mat.Dense) (*Map, error) {
	matrix, err := k.Matrix64(ctx, e, landmarks, landmarks)
	if err != nil {
		return nil, fmt.Errorf("landmarks: %w", err)
	}
	n, _ := matrix.Dims()
	symmetric := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			symmetric.SetSym(i, j, matrix.At(i, j))
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(symmetric, true) {
		return nil, fmt.Errorf("landmarks: the eigenvalues of kernel %v between them were not found", k)
	}
	values := eigen.Values(nil)
	largest := values[n-1]
	if !(largest > 0) || values[0] < -landmarkTolerance*largest {
		return nil, fmt.Errorf("landmarks: kernel %v has the eigenvalue %.3g between them: it is not positive "+
			"semidefinite, and has no features", k, values[0])
	}
	first := 0
	for values[first] <= landmarkTolerance*largest {
		first++
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	roots := mat.DenseCopyOf(vectors.Slice(0, n, first, n)) // V S^(−½)
	roots.Apply(func(_, j int, v float64) float64 { return v / math.Sqrt(values[first+j]) }, roots)
	return &Map{Kernel: k, Points: landmarks, Coefficients: roots, Shift: make([]float64, n-first)}, nil
}

// After returns the composition of m and a linear compression of its features. Its points are
// those of m.
func (m *Map) After(compression *Map) *Map {
	_, r := m.Coefficients.Dims()
	if p, _ := compression.Points.Dims(); p != r || compression.Kernel.String() != kernel.Linear(1).String() {
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
