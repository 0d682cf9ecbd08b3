// Package hull fits and evaluates kernel affine hull machines (KAHM) of Kumar,
// Moser and Fischer, "On mitigating the utility-loss in differentially private
// learning: a new perspective by a geometrically inspired kernel approach"
// (JAIR 79, 2024), as graph programs.
//
// A machine of samples Y (N×p) maps a point y to an affine combination of the samples,
// A(y) = Σ h_i(Py) y_i / Σ h_i(Py) (Definition 1). P encodes by the n leading principal
// directions, and h = (K+λI)⁻¹k solves a regularised least squares problem whose λ is a fixed
// point (Theorem 1). A conditionally deep machine nests L of them with n, n−1, … directions
// (Definition 3); the distance of a point to it is the smallest over its layers (Definition 4).
//
// # Computation
//
// The covariance θ of the encodings is diagonal in principal coordinates and the encodings are
// nested, so that a layer passes on principal scores, never points. Each layer keeps the
// solutions (K+λI)⁻¹[Y−1μ, 1] in the coordinates [scores, y−μ]: one product with the kernel
// values gives both the input of the next layer and the point of the affine hull.
//
// [FitAll] and [ModelAll] compute machines of one size class (package batch) in common runs,
// padded so that the padding contributes nothing. A run evaluates the fixed points that are not
// found yet, and copies their norms to the host; kernel matrices, targets and solutions stay on
// the backend, until the last solutions of a layer are copied once. A machine has the same bits
// in every batch, and alone.
//
// # Cost
//
// A batch takes two or three runs for the directions of all its machines; a layer takes one run
// for the kernel matrices and as many as its slowest machine has evaluations. On the CPU the
// batches of a call together take at most as much memory as the samples, or 64 MB; on a device a
// batch takes at most 2 GB.
//
// A layer of N samples takes one to three Cholesky factorisations of order N and as many solves
// with p right-hand sides, 2N²p operations each. Principal directions come from the smaller of
// the p×p covariance and the N×N Gram matrix. A query takes 2N(n+p+1) operations and N
// exponentials per layer; an [Ensemble] of many machines avoids most of them by bounds in a few
// coordinates.
//
// # Scale
//
// λ* grows with the square of the data, while the kernel matrix has a unit diagonal (Eq. 40).
// Hence the scale of the data is a hyperparameter: pixels from 0 to 255 instead of 0 to 1 are
// smoothed to a constant. Distances are in the unit of the data.
//
// # Deviation from the paper
//
// The paper's Theorems 2 to 5 assume a positive sum Σh for every query. Eq. (148) does not
// follow, because a product of positive semidefinite matrices need not be positive semidefinite.
// Where the sum is not safely positive, the machine has no image and the distance is +Inf.
package hull

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
)

// Iteration selects the method by which the fixed point of λ is found.
type Iteration int

const (
	// Secant is the secant method on e − R(e): the same fixed point in about a third of the
	// evaluations.
	Secant Iteration = iota
	// Picard is the paper's iteration (43) from e₀ = ½‖Y‖²_F/(pN) to a relative change of 1e-12.
	Picard
)

// Options are the hyperparameters of a machine and the tolerance of its fixed points.
type Options struct {
	// Dim is n, the number of principal directions of the first layer, from 1 to p.
	Dim int
	// Layers is L, from 1 to Dim; 0 stands for 1.
	Layers    int
	Iteration Iteration
	// Tolerance bounds the relative distance of the λ of the solutions from λ* with Secant. Values
	// below 1e-10, in float32 1e-5, stand for these.
	Tolerance float64
	// Change is the absolute change of λ at which Picard stops, if it is above 0: λ and the solutions
	// are those before this change.
	Change float64
	// Lambdas are known λ of the layers of each machine of a call, which are taken as they are. λ is
	// solved for where a machine or a layer has none.
	Lambdas [][]float64
}

// Machine is a conditionally deep kernel affine hull machine. It is immutable, and safe for
// concurrent use.
//
// It holds L solutions of N×(n+p+1) numbers, in the element type of the engine that fitted it,
// and L sets of points of N×d: about 34 MB in float64 for a thousand samples of 784 columns and
// five layers.
type Machine struct {
	samples, columns int
	mean             []float64  // of the samples, 1×p
	directions       *mat.Dense // V, n×p, orthonormal rows
	variances        []float64  // θ, the n largest eigenvalues of the covariance, descending
	layers           []layer
}

// layer is one KAHM of the nest, of d = n−l+1 directions.
type layer struct {
	points     *tensor.Dense // X, N×d: scores divided by √(dθ)
	weights    *tensor.Dense // 1×d: 1/√(dθ)
	solutions  *tensor.Dense // B, N×(n+p+1): [B'Vᵀ, B', b]
	scores     *tensor.Dense // [B'Vᵀ, b], N×(n+1), for the input of the next layer
	lambda     float64
	iterations int
}

// Dim returns the number of principal directions in use: the smaller of Options.Dim and the rank
// of the samples' covariance.
func (m *Machine) Dim() int { return len(m.variances) }

// Layers returns the number of layers.
func (m *Machine) Layers() int { return len(m.layers) }

// Lambda returns λ* of a layer (Eq. 40), counted from 0.
func (m *Machine) Lambda(layer int) float64 { return m.layers[layer].lambda }

// Iterations returns the number of evaluations of R (Eq. 42) for a layer's fixed point, without
// estimates of R from a sketch.
func (m *Machine) Iterations(layer int) int { return m.layers[layer].iterations }

// Fit fits a conditionally deep machine to the rows of y (N×p).
//
// Where the samples' covariance has a rank below opts.Dim (fewer than Dim+1 samples, constant
// columns), the machine has as many directions as the rank, and the engine gets a warning. Of
// equal samples, or a single one, the image of every query is that sample. Fit returns an error
// where y is empty or not finite, where opts do not suit it, and where all samples are zero,
// because λ* would be zero.
//
// A layer costs one to three evaluations of R with the secant method, depending on the tolerance,
// N³/3 + 2N²p operations each. opts.Dim should be at most N−2: with N−1 directions the scaled
// samples are the corners of a regular simplex, and all kernel values between different samples
// are e⁻¹ for any data.
func Fit(ctx context.Context, e *engine.Engine, y *mat.Dense, opts Options) (m *Machine, err error) {
	err = machines(ctx, e, []*mat.Dense{y}, opts, func(_ int, fitted *Machine, err error) error {
		m = fitted
		return err
	}).all()
	if err != nil {
		return nil, err
	}
	return m, nil
}

// FitAll fits the machines of several sets of samples, those of a size class in common runs. It
// calls done with each machine and its index in samples, or with the error that Fit returns for
// these samples; the other machines are fitted all the same.
//
// Machines come batch by batch, in no order, and done is called by several goroutines. FitAll
// returns an error of done, which ends the call, as does an error that belongs to no machine. A
// machine has the same bits as from Fit. The entries of samples become nil once they have been
// read, so that their memory can be freed before the machine is ready.
func FitAll(ctx context.Context, e *engine.Engine, samples []*mat.Dense, opts Options,
	done func(i int, m *Machine, err error) error) error {
	return machines(ctx, e, samples, opts, done).all()
}

// machines returns the call of FitAll.
func machines(ctx context.Context, e *engine.Engine, samples []*mat.Dense, opts Options,
	done func(i int, m *Machine, err error) error) *call {
	if opts.Layers == 0 {
		opts.Layers = 1
	}
	return &call{ctx: ctx, e: e, opts: opts, samples: samples, add: addLayers,
		done: func(f *fit) error { return done(f.index, f.machine, f.err) }}
}

// check returns an error where samples or options cannot be fitted.
func check(y *mat.Dense, opts Options) error {
	if y == nil || y.IsEmpty() {
		return errors.New("there are no samples")
	}
	n, p := y.Dims()
	switch {
	case opts.Dim < 1 || opts.Dim > p:
		return fmt.Errorf("%d principal directions of %d columns: use 1 to %[2]d", opts.Dim, p)
	case !(opts.Tolerance >= 0 && opts.Tolerance < 1):
		return fmt.Errorf("a tolerance of %g of the regularisation parameter: use at least 0, and less than 1",
			opts.Tolerance)
	case !(opts.Change >= 0) || opts.Change > 0 && opts.Iteration != Picard:
		return fmt.Errorf("a change of λ of %g: use 0 or more, and Picard's iteration", opts.Change)
	case opts.Layers < 1 || opts.Layers > opts.Dim:
		return fmt.Errorf("%d layers with %d principal directions: use 1 to %[2]d", opts.Layers, opts.Dim)
	}
	zero := true
	for i := range n {
		for j, v := range y.RawRowView(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("row %d, column %d (counted from 0) of the samples is %g; finite numbers are required", i, j, v)
			}
			zero = zero && v == 0
		}
	}
	if zero {
		return errors.New("every sample is zero: the regularisation parameter (Eq. 40) would be zero; leave such samples " +
			"out, or use fewer branches")
	}
	return nil
}
