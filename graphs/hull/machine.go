// Package hull fits and evaluates kernel affine hull machines (KAHM) of Kumar,
// Moser and Fischer, "On mitigating the utility-loss in differentially private
// learning: a new perspective by a geometrically inspired kernel approach"
// (JAIR 79, 2024), as graph programs.
//
// A machine of samples Y (N×p) maps a point y to an affine combination of the
// samples, A(y) = Σ h_i(Py) y_i / Σ h_i(Py) (Definition 1): P encodes by the n
// leading principal directions, and h = (K+λI)⁻¹k is the solution of a
// regularised least squares problem whose λ is a fixed point (Theorem 1). A
// conditionally deep machine nests L of them with n, n−1, … directions
// (Definition 3); the distance of a point to it is the smallest over its
// layers (Definition 4).
//
// # How it is computed
//
// The covariance θ of the encodings is diagonal in principal coordinates and
// the encodings are nested, so that layers hand on principal scores, never
// points. Of every layer the solutions (K+λI)⁻¹[Y−μ, 1] are kept, in the
// coordinates [scores, y−μ]: one product with the kernel values gives both the
// next layer's input and the point of the affine hull.
//
// Many machines are fitted together ([FitAll], [ModelAll]): those of one size class, see
// package batch, in common runs, padded so that the padding contributes nothing. The fixed
// points of all of them advance together. A run evaluates those that are still searched for,
// and brings their norms to the host; kernel matrices, targets and solutions stay where they
// are computed, until the last solutions of a layer are copied once. A machine has the same
// bits in every batch, and alone.
//
// # What it costs
//
// A batch takes two runs or three for the directions of all its machines, and for a layer
// one for the kernel matrices and as many as its slowest machine has evaluations. On the CPU
// the batches of a call take together no more memory than the samples, or 64 MB; on a
// device a batch has at most 2 GB.
//
// A layer of N samples takes one to three Cholesky factorisations of order N and
// as many solves with p right sides, 2N²p operations each: N³ where columns are
// few, N²p where they are many. The principal directions come from the smaller of
// the p×p covariance and the N×N Gram matrix. A query takes 2N(n+p+1) operations
// a layer and N exponentials; an [Ensemble] of many machines spares most of it by
// bounds in a few coordinates.
//
// # Scale
//
// λ* grows with the square of the data against a kernel matrix of unit diagonal
// (Eq. 40), so that the scale of the data is a hyperparameter: pixels from 0 to
// 255 in place of 0 to 1 smooth everything away. Distances are in the unit of the
// data.
//
// # What does not hold
//
// The sum Σh is not positive for every query, as the paper's Theorems 2 to 5
// assume: (148) does not follow, because a product of positive semidefinite
// matrices need not be one. Where it is not safely positive, the machine has no
// image and the distance is +Inf.
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

// Iteration says how the fixed point of λ is found.
type Iteration int

const (
	// Secant is the secant method on e − R(e): the same fixed point in about a
	// third of the steps.
	Secant Iteration = iota
	// Picard is the paper's iteration (43) from e₀ = ½‖Y‖²/(pN) to a relative
	// change of 1e-12.
	Picard
)

// Options say which machine is fitted.
type Options struct {
	// Dim is n, the number of principal directions of the first layer, from 1
	// to the number p of columns.
	Dim int
	// Layers is L, from 1 to Dim; 0 stands for 1.
	Layers    int
	Iteration Iteration
	// Tolerance bounds how far, relative to λ*, the λ of the solutions may be from it where
	// Secant finds it; 0 stands for 1e-10, in float32 1e-5, which also are the least.
	Tolerance float64
}

// Machine is a conditionally deep kernel affine hull machine. It is safe for concurrent
// use: nothing changes after Fit.
//
// It holds L solutions of N×(n+p+1) numbers, in the element type of the engine that
// fitted it, and L sets of points of N×d: for a thousand samples of 784 columns and five
// layers about 34 MB in float64.
type Machine struct {
	samples, columns int
	mean             []float64  // of the samples, 1×p
	directions       *mat.Dense // n×p, orthonormal rows
	variances        []float64  // θ, the n largest eigenvalues of the covariance, descending
	layers           []layer
}

// layer is one KAHM of the nest, of d = n−l+1 directions.
type layer struct {
	points     *tensor.Dense // X, N×d: scores divided by √(dθ)
	weights    *tensor.Dense // 1×d: 1/√(dθ)
	solutions  *tensor.Dense // B, N×(n+p+1): [scores of B', B', b]
	scores     *tensor.Dense // [scores of B', b], N×(n+1): what the next layer needs
	lambda     float64
	iterations int
}

// Dim is the number of principal directions in use: Options.Dim, or the rank
// of the samples' covariance where that is smaller.
func (m *Machine) Dim() int { return len(m.variances) }

// Layers is the number of layers.
func (m *Machine) Layers() int { return len(m.layers) }

// Lambda is λ* of a layer (Eq. 40); layers are counted from 0.
func (m *Machine) Lambda(layer int) float64 { return m.layers[layer].lambda }

// Iterations is the number of evaluations of R (Eq. 42) that a layer's fixed
// point took; an estimate of R from a few right-hand sides does not count.
func (m *Machine) Iterations(layer int) int { return m.layers[layer].iterations }

// Fit fits a conditionally deep machine to the rows of y (N×p).
//
// Where the samples' covariance has a rank below opts.Dim (fewer than Dim+1
// samples, constant columns), the rank takes the place of Dim, and the engine
// gets a warning; of equal samples, or a single one, the machine is that point.
// It returns an error where y is empty or not finite, where opts do not suit
// it, and where all samples are zero (λ* would be zero).
//
// A layer costs one to three evaluations of R with the secant method, as the tolerance has
// it, N³/3 + 2N²p operations each. opts.Dim should be at most N−2: with N−1 directions the scaled
// samples are the corners of a regular simplex, all kernel values between different
// samples are e⁻¹, whatever the data.
func Fit(ctx context.Context, e *engine.Engine, y *mat.Dense, opts Options) (m *Machine, err error) {
	err = FitAll(ctx, e, []*mat.Dense{y}, opts, func(_ int, fitted *Machine, err error) error {
		m = fitted
		return err
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// FitAll fits the machines of several sets of samples, those of a size in common runs. It
// hands each machine to done with its number among the samples, or the error that Fit gives
// for these samples, which do not keep the others from having theirs.
//
// Machines come batch by batch, in no order, and done is called by several goroutines. An
// error of done ends the call, which returns it, as does one that belongs to no machine.
// The numbers of a machine have the bits that Fit gives, whatever the others are. The places
// in the slice are set to nil when samples have been read, so that their memory can go before
// their machine is there.
func FitAll(ctx context.Context, e *engine.Engine, samples []*mat.Dense, opts Options,
	done func(i int, m *Machine, err error) error) error {
	if opts.Layers == 0 {
		opts.Layers = 1
	}
	fail := func(i int, err error) error { return done(i, nil, err) }
	return inGroups(ctx, e, samples, opts, fail, func(ctx context.Context, g *group) error {
		for _, f := range g.fits {
			samples[f.index], f.samples = nil, nil
		}
		machines, err := g.machines(ctx)
		if err != nil {
			return err
		}
		for i, f := range g.fits {
			if f.err == nil {
				if err := done(f.index, machines[i], nil); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// residentBytes is what the solutions of layers may take on a device before they come down,
// one wait for all of them. On the CPU they are taken layer by layer.
const residentBytes = 1 << 30

// machines fits the machines of a group layer by layer.
func (g *group) machines(ctx context.Context) ([]*Machine, error) {
	machines := make([]*Machine, len(g.fits))
	found := make([][]*fixedPoint, len(g.fits))
	var layers []*solved // whose solutions stay
	defer func() {
		for _, one := range layers {
			one.close()
		}
	}()
	for i, f := range g.fits {
		machines[i] = &Machine{samples: f.n, columns: f.p, mean: f.mean, directions: f.directions, variances: f.variances}
	}
	bytes, last := 0, min(g.opts.Layers, g.dim)-1
	for l := range last + 1 {
		g.stage = fmt.Sprintf("layer %d: ", l+1)
		solved, err := g.layer(ctx, g.dim-l, found)
		if err != nil {
			return nil, err
		}
		solved.kernels.close()
		for i, fixed := range solved.fixed {
			found[i] = append(found[i], fixed)
		}
		layers, bytes = append(layers, solved), bytes+solved.bytes()
		if l < last && g.e.Backend() != "cpu" && bytes < residentBytes {
			continue
		}
		if err := g.addLayers(ctx, machines, layers); err != nil {
			return nil, err
		}
		layers, bytes = nil, 0
	}
	return machines, nil
}

// addLayers takes the solutions of layers, and adds the layers to the machines.
func (g *group) addLayers(ctx context.Context, machines []*Machine, layers []*solved) error {
	if err := g.take(ctx, layers...); err != nil {
		return err
	}
	for _, one := range layers {
		err := g.each(ctx, func(i int, f *fit) {
			fixed := one.fixed[i]
			solutions, scores := f.withScores(one.solutions[i])
			one.solutions[i] = nil
			machines[i].layers = append(machines[i].layers, layer{
				points: g.e.Tensor(one.points[i]), weights: g.e.Tensor(one.weights[i]), solutions: solutions,
				scores: scores, lambda: fixed.lambda(), iterations: fixed.evaluations,
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// check says what is wrong with samples or options, in words for the caller's prefix.
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
