package hull

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/batch"
	"privkern/graphs/cpublas"
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
func Model(ctx context.Context, e *engine.Engine, y *mat.Dense, opts Options) (m *SmoothModel, err error) {
	err = ModelAll(ctx, e, []*mat.Dense{y}, opts, func(_ int, model *SmoothModel, err error) error {
		m = model
		return err
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// ModelAll is [Model] for several sets of samples, those of a size in common runs, as in
// [FitAll]. When done is called for some, these are not read any more, and it may set their
// place in the slice.
func ModelAll(ctx context.Context, e *engine.Engine, samples []*mat.Dense, opts Options,
	done func(i int, m *SmoothModel, err error) error) error {
	opts.Layers = 1
	fail := func(i int, err error) error { return done(i, nil, err) }
	return inGroups(ctx, e, samples, opts, fail, func(ctx context.Context, g *group) error {
		one, err := g.layer(ctx, g.dim, make([][]*fixedPoint, len(g.fits)))
		if err != nil {
			return err
		}
		defer one.close()
		if err := g.take(ctx, one); err != nil {
			return err
		}
		kernels, err := g.directKernels(ctx, one)
		if err != nil {
			return err
		}
		models := make([]*SmoothModel, len(g.fits))
		err = g.each(ctx, func(i int, f *fit) {
			var products func(row int, to []float64)
			if solutions, ok := one.solutions[i].([]float64); ok {
				products = kernelTimes(g, i, solutions, one.fixed[i].at, kernels[i])
			} else {
				products = kernelTimes(g, i, one.solutions[i].([]float32), one.fixed[i].at, kernels[i])
			}
			models[i] = f.model(one.fixed[i], products)
		})
		if err != nil {
			return err
		}
		for i, f := range g.fits {
			if f.err == nil {
				if err := done(f.index, models[i], nil); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// model makes the model of the samples from the rows of K [B', b].
func (f *fit) model(fixed *fixedPoint, products func(row int, to []float64)) *SmoothModel {
	safety := memberships64
	if fixed.single {
		safety = memberships32
	}
	out := &SmoothModel{Images: mat.NewDense(f.n, f.p, nil), Smoothed: mat.NewDense(f.n, f.p, nil)}
	product := make([]float64, f.p+1)
	for i := range f.n {
		from := f.samples.RawRowView(i)
		products(i, product)
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
	return out
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

// directKernels are the kernel matrices of the members of a group for which the product is
// computed, n×n, nil for the others.
func (g *group) directKernels(ctx context.Context, one *solved) ([]*mat.Dense, error) {
	kernels := make([]*mat.Dense, len(g.fits))
	var direct []int
	for i, f := range g.fits {
		if f.err == nil && one.fixed[i].at >= directFrom {
			direct = append(direct, i)
		}
	}
	if direct == nil {
		return kernels, nil
	}
	picked, err := pick(ctx, g.e, g.e.ElementType(), one.kernels, direct)
	if err != nil {
		return nil, err
	}
	defer picked.close()
	all, err := picked["k"].Value(ctx)
	if err != nil {
		return nil, err
	}
	for row, i := range direct {
		if kernels[i], err = batch.Member(all, row, g.fits[i].n, g.fits[i].n); err != nil {
			return nil, err
		}
	}
	return kernels, nil
}

// kernelTimes gives the rows of K [B', b] of a member for its solutions B = (K+λI)⁻¹T,
// N×(p+1). As KB = T − λB it costs no product, but where λ is large, nearly all of T
// cancels, and K is given.
// From (K+λI)B = T. The product takes 2N²p operations, the difference Np.
func kernelTimes[T cpublas.Float](g *group, i int, solutions []T, lambda float64, k *mat.Dense,
) func(row int, to []float64) {
	cols := g.p + 1
	if k != nil {
		var product mat.Dense
		product.Mul(k, mat.NewDense(g.fits[i].n, cols, convert[float64](solutions[:g.fits[i].n*cols])))
		return func(row int, to []float64) { copy(to, product.RawRowView(row)) }
	}
	targets := engine.Data(g.targets.host).([]T)[i*g.n*cols:]
	return func(row int, to []float64) {
		b := solutions[row*cols:]
		for j, t := range targets[row*cols : (row+1)*cols] {
			to[j] = float64(t) - lambda*float64(b[j])
		}
	}
}
