package hull

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
)

// SmoothModel is what the KAHM of a set of samples makes of these very samples.
// Images are affine combinations with weights that sum to one, smoothed samples with
// weights that sum to Σh: those shrink to the origin where memberships are small.
type SmoothModel struct {
	// Images are the images A(y_i), N×p; a sample whose memberships do not have
	// a safely positive sum keeps its place.
	Images *mat.Dense
	// Smoothed are the images times their sums of memberships (Eq. 81), N×p.
	Smoothed *mat.Dense
	// Error is the modelling error Σ‖y_i − A(y_i)‖ (Eq. 88).
	Error float64
	// Unsafe counts the samples without an image.
	Unsafe int
}

// Model fits a KAHM (Definition 1) to the rows of y (N×p) and returns what it
// makes of them. opts.Layers is not read. The errors are those of Fit.
//
// In matrix form, with K the kernel matrix of the samples and S = K(K+λI)⁻¹, row i of SY
// is the smoothed sample Σ_j h_j(y_i) y_j of Eq. (81), row i of S1 the sum of
// memberships, and their quotient the image. Unlike [Machine.Images] it needs no kernel
// values besides K: the points are the samples.
func Model(ctx context.Context, e *engine.Engine, y *mat.Dense, opts Options) (*SmoothModel, error) {
	opts.Layers = 1
	if err := check(y, opts); err != nil {
		return nil, fmt.Errorf("kernel affine hull machine: %w", err)
	}
	f, err := newFit(ctx, e, y, opts)
	if err != nil {
		return nil, fmt.Errorf("kernel affine hull machine: %w", err)
	}
	one, fixed, err := f.layer(ctx, f.dim, nil)
	if err != nil {
		return nil, fmt.Errorf("kernel affine hull machine: %w", err)
	}
	products, err := f.kernelTimes(one, fixed.at)
	if err != nil {
		return nil, err
	}
	safety := memberships64
	if fixed.single {
		safety = memberships32
	}
	out := &SmoothModel{Images: mat.NewDense(f.n, f.p, nil), Smoothed: mat.NewDense(f.n, f.p, nil)}
	for i := range f.n {
		from, product := y.RawRowView(i), products.RawRowView(i)
		smoothed, image := out.Smoothed.RawRowView(i), out.Images.RawRowView(i)
		sum := product[f.p]
		for j := range from {
			smoothed[j] = product[j] + sum*f.mean[j]
		}
		// An image without a sum makes the modelling error (Eq. 88) infinite.
		if !(sum > safety/(1+fixed.at)) {
			out.Unsafe++
			out.Error = math.Inf(1)
			copy(image, from)
			continue
		}
		square := 0.0
		for j, v := range from {
			image[j] = smoothed[j] / sum
			square += (v - image[j]) * (v - image[j])
		}
		out.Error += math.Sqrt(square)
	}
	return out, nil
}

// A sum of memberships below this share of 1/(1+λ), that of a single sample,
// is not safely positive.
const (
	// A single sample has the kernel matrix 1 and the membership 1/(1+λ).
	memberships64 = 1e-8
	memberships32 = 1e-3
)

// directFrom is the λ from which K times the solutions is computed as a product.
// Relative to KB the error of the difference is about the unit of roundoff times λ/κ for
// eigenvalues κ of K.
const directFrom = 10

// kernelTimes returns K [B', b] for solutions B = (K+λI)⁻¹T, N×(p+1). As
// KB = T − λB it costs no product, but where λ is large, nearly all of T cancels.
// From (K+λI)B = T. The product takes 2N²p operations, the difference Np.
func (f *fit) kernelTimes(one *solution, lambda float64) (*mat.Dense, error) {
	solutions, err := engine.Dense(one.solutions)
	if err != nil {
		return nil, err
	}
	out := mat.NewDense(f.n, f.p+1, nil)
	if lambda >= directFrom {
		k, err := engine.Dense(one.kernel)
		if err != nil {
			return nil, err
		}
		out.Mul(k, solutions)
		return out, nil
	}
	targets, err := engine.Dense(f.targets.values)
	if err != nil {
		return nil, err
	}
	for i := range f.n {
		to, b := out.RawRowView(i), solutions.RawRowView(i)
		for j, t := range targets.RawRowView(i) {
			to[j] = t - lambda*b[j]
		}
	}
	return out, nil
}
