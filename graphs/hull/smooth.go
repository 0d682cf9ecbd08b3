package hull

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/batch"
	"privkern/graphs/cpublas"
	"privkern/graphs/engine"
)

// SmoothModel holds the images of a set of samples under their own KAHM. The weights of an image
// sum to one, those of a smoothed sample to Σh, so that smoothed samples shrink to the origin
// where memberships are small.
type SmoothModel struct {
	// Images are the images A(y_i), N×p; a sample whose sum of memberships is not safely positive
	// is its own image.
	Images *mat.Dense
	// Smoothed are the images times their sums of memberships (Eq. 81), N×p.
	Smoothed *mat.Dense
	// Error is the modelling error Σ‖y_i − A(y_i)‖ (Eq. 88).
	Error float64
	// Unsafe counts the samples without an image.
	Unsafe int
}

// Model fits a KAHM (Definition 1) to the rows of y (N×p) and evaluates it there. opts.Layers is
// ignored. The errors are those of Fit.
//
// With the kernel matrix K of the samples and S = K(K+λI)⁻¹, row i of SY is the smoothed sample
// Σ_j h_j(y_i) y_j of Eq. (81), row i of S1 the sum of memberships, and their quotient the image.
// Unlike [Machine.Images], this needs no kernel values other than K.
func Model(ctx context.Context, e *engine.Engine, y *mat.Dense, opts Options) (m *SmoothModel, err error) {
	err = models(ctx, e, []*mat.Dense{y}, opts, func(_ int, model *SmoothModel, err error) error {
		m = model
		return err
	}).all()
	if err != nil {
		return nil, err
	}
	return m, nil
}

// ModelAll is [Model] for several sets of samples, those of a size class in common runs, as in
// [FitAll]. Once done has been called for a set of samples, ModelAll does not read it any more, and
// done may set its entry in the slice.
func ModelAll(ctx context.Context, e *engine.Engine, samples []*mat.Dense, opts Options,
	done func(i int, m *SmoothModel, err error) error) error {
	return models(ctx, e, samples, opts, done).all()
}

// models returns the call of ModelAll.
func models(ctx context.Context, e *engine.Engine, samples []*mat.Dense, opts Options,
	done func(i int, m *SmoothModel, err error) error) *call {
	opts.Layers = 1
	return &call{ctx: ctx, e: e, opts: opts, samples: samples, model: true, add: addModels,
		done: func(f *fit) error { return done(f.index, f.model, f.err) }}
}

// addModels turns the solutions of a group's only layer into models.
func addModels(g *group, layers []*solved) error {
	one := layers[0]
	kernels, err := g.directKernels(one)
	if err != nil {
		return err
	}
	return g.each(func(i int, f *fit) {
		var products func(row int, to []float64)
		if solutions, ok := one.solutions[i].([]float64); ok {
			products = kernelTimes(g, i, solutions, one.fixed[i].at, kernels[i])
		} else {
			products = kernelTimes(g, i, one.solutions[i].([]float32), one.fixed[i].at, kernels[i])
		}
		f.model = f.modelOf(one.fixed[i], products)
	})
}

// modelOf returns the model of the samples from the rows of K [B', b], N×(p+1).
func (f *fit) modelOf(fixed *fixedPoint, products func(row int, to []float64)) *SmoothModel {
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
		// A sample without an image makes the modelling error (Eq. 88) infinite.
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

// A sum of memberships is safely positive above this share of 1/(1+λ), the membership of a single
// sample, whose kernel matrix is 1.
const (
	memberships64 = 1e-8
	memberships32 = 1e-3
)

// directFrom is the λ from which K times the solutions B is computed as a product instead of T − λB,
// whose relative error is about λ/κ units of roundoff for eigenvalues κ of K.
const directFrom = 10

// directKernels returns the kernel matrices (N×N) of the members for which the product is
// computed, and nil for the others.
func (g *group) directKernels(one *solved) ([]*mat.Dense, error) {
	kernels := make([]*mat.Dense, len(g.fits))
	var direct []int
	for _, i := range g.members() {
		if one.fixed[i].at >= directFrom {
			direct = append(direct, i)
		}
	}
	if direct == nil {
		return kernels, nil
	}
	picked, err := pick(g.ctx, g.e, g.e.ElementType(), one.kernels, direct)
	if err != nil {
		return nil, err
	}
	host, err := engine.Fetch(g.ctx, picked)
	if err != nil {
		return nil, err
	}
	for row, i := range direct {
		if kernels[i], err = batch.Member(host["k"], row, g.fits[i].n, g.fits[i].n); err != nil {
			return nil, err
		}
	}
	return kernels, nil
}

// kernelTimes returns a function that computes rows of KB for the solutions B = (K+λI)⁻¹T of
// member i, N×(p+1). If k is nil, KB = T − λB in Np operations. Where λ is large, nearly all of T
// cancels; then k is K, and the product takes 2N²p operations.
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
