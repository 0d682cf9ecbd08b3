package fit

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/kahm/wide"
	"privkern/experiments/learn"
	"privkern/graphs/engine"
	"privkern/graphs/hull"
	"privkern/runner/experiment"
)

// Bounds returns the experiment kahm/bounds.
var Bounds = experiment.Of(experiment.Declaration[*BoundsSettings, BoundsMetrics]{
	Name:     "kahm/bounds",
	Version:  1,
	Summary:  "the bounds of the paper's theorems, beside the norms and distances that they bound",
	Source:   "Kumar, Moser and Fischer, Theorems 1 to 6; the data are this project's",
	Seedless: func(s *BoundsSettings) bool { return s.Samples == Counterexample },
	// Samples and queries in a few copies, and the kernel matrix: 60 and 110 MiB were
	// measured for 60 and 500 rows.
	Memory: func(s *BoundsSettings) int64 {
		n := int64(s.Rows)
		return process + float*(8*n*n+int64(s.Queries)*int64(s.Dim)*20)
	},
	Check: func(s *BoundsSettings) error {
		switch {
		case s.N > s.Dim:
			return fmt.Errorf("n = %d: the samples have only %d columns", s.N, s.Dim)
		case s.Rows < s.Branches*(s.N+1):
			return fmt.Errorf("rows = %d: %d branches of n = %d directions need at least %d", s.Rows, s.Branches, s.N,
				s.Branches*(s.N+1))
		}
		return wide.CheckLayers(s.N, s.Layers)
	},
	Run: runBounds,
})

// counterexample are six points of the plane for which the sum of memberships changes its
// sign (n = p = 2): on the ray at the angle of rayDegrees it is positive near the origin
// and negative from a distance of about 0.19 on. They were found by search among points
// with coordinates that are multiples of a hundredth.
var counterexample = mat.NewDense(6, 2, []float64{0, .04, .02, .04, -.03, .01, .05, .02, .03, -.02, -.02, .02})

const (
	rayDegrees = 52.5
	rayLength  = 0.3
)

// bounds is the state of a trial.
type bounds struct {
	*BoundsSettings
	e       *engine.Engine
	y       *mat.Dense // samples, N×p
	queries *mat.Dense // q×p
	ray     *mat.Dense // the direction of the queries of the counterexample, 1×p
	n       int        // principal directions
	layers  int
	m       *hull.Machine

	metrics BoundsMetrics
}

// runBounds computes both sides of the inequalities of Theorems 1 to 6.
func runBounds(ctx context.Context, t *experiment.Trial, s *BoundsSettings,
) (*experiment.Outcome[BoundsMetrics], error) {
	r := &bounds{BoundsSettings: s, e: engine.Of(t.Engine)}
	r.choose(t)
	m, err := hull.Fit(ctx, r.e, r.y, hull.Options{Dim: r.n, Layers: r.layers, Iteration: hull.Picard})
	if err != nil {
		return nil, err
	}
	r.m = m
	if r.Samples == Counterexample {
		if err := r.approach(ctx); err != nil {
			return nil, err
		}
	}
	kernel, err := r.kernel(ctx)
	if err != nil {
		return nil, err
	}
	r.theorem1(kernel)
	series, err := r.theorems2to4(ctx, kernel)
	if err != nil {
		return nil, err
	}
	if err := r.theorem5(ctx, t); err != nil {
		return nil, err
	}
	if err := r.theorem6(ctx); err != nil {
		return nil, err
	}
	return &experiment.Outcome[BoundsMetrics]{Metrics: r.metrics, Warnings: r.e.Warnings(),
		Series: map[string]experiment.Series{"queries": series}}, nil
}

// choose sets samples and queries: a ray for the counterexample, otherwise the samples with
// noise of up to three times their spread.
func (r *bounds) choose(t *experiment.Trial) {
	if r.Samples == Counterexample {
		r.y, r.n, r.layers = counterexample, 2, 2
		sin, cos := math.Sincos(rayDegrees * math.Pi / 180)
		r.ray = mat.NewDense(1, 2, []float64{cos, sin})
		r.queries = mat.NewDense(r.Queries, 2, nil)
		for i := range r.Queries {
			r.queries.SetRow(i, r.at(rayLength*float64(i+1)/float64(r.Queries)))
		}
		return
	}
	r.y, r.n, r.layers = FormulaClass(0, r.Rows, r.Dim), r.N, r.Layers
	spread := mat.Norm(r.y, 2) / math.Sqrt(float64(r.Rows*r.Dim))
	rng := t.Stream("queries")
	r.queries = mat.NewDense(r.Queries, r.Dim, nil)
	for i := range r.Queries {
		scale := []float64{0, .3, 1, 3}[i%4] * spread
		for j := range r.Dim {
			r.queries.Set(i, j, r.y.At(i%r.Rows, j)+scale*rng.NormFloat64())
		}
	}
}

// at returns the point of the ray at a distance from the origin.
func (r *bounds) at(distance float64) []float64 {
	var point mat.Dense
	point.Scale(distance, r.ray)
	return point.RawRowView(0)
}

// approaches is the number of bisections towards the zero of the sum of memberships: the norm
// of the image grows as the inverse of the distance to it.
const approaches = 20

// approach replaces the first query by the last point of the ray that has an image.
func (r *bounds) approach(ctx context.Context) error {
	low, high := 0.0, rayLength
	for range approaches {
		middle := (low + high) / 2
		d, err := r.m.Distances(ctx, r.e, mat.NewDense(1, 2, r.at(middle)))
		if err != nil {
			return err
		}
		if math.IsInf(d.At(0, 0), 1) {
			high = middle
		} else {
			low = middle
		}
	}
	r.queries.SetRow(0, r.at(low))
	return nil
}

// eigenkernel is the kernel matrix of the first layer in its eigenvectors.
type eigenkernel struct {
	values []float64 // κ, ascending
	parts  []float64 // squared norms of the parts of Y along the eigenvectors; their sum is ‖Y‖²_F
	square float64   // ‖Y‖²_F
	size   float64   // pN
}

// kernel decomposes the kernel matrix K, N×N (Eq. 39), because machines do not keep it:
//
//	K_ij = exp(−(x_i − x_j)ᵀθ⁻¹(x_i − x_j)/(2n))   (Eq. 35)
//
// with x_i the principal scores of sample i, and θ their covariance.
func (r *bounds) kernel(ctx context.Context) (*eigenkernel, error) {
	scores, err := hull.PrincipalScores(ctx, r.e, r.y, r.n)
	if err != nil {
		return nil, err
	}
	rows, n := scores.Dims()
	variance := make([]float64, n) // θ is diagonal, and the scores have mean zero
	for d := range variance {
		column := mat.Col(nil, d, scores)
		variance[d] = mat.Dot(mat.NewVecDense(rows, column), mat.NewVecDense(rows, column)) / float64(rows-1)
	}
	k := mat.NewSymDense(rows, nil)
	for i := range rows {
		for j := i; j < rows; j++ {
			sum := 0.0
			for d, v := range variance {
				z := scores.At(i, d) - scores.At(j, d)
				sum += z * z / v
			}
			k.SetSym(i, j, math.Exp(-sum/(2*float64(n)))) // Eq. (35)
		}
	}
	var e mat.EigenSym
	if !e.Factorize(k, true) {
		return nil, errors.New("the eigenvalues of the kernel matrix did not converge; use fewer rows")
	}
	var vectors, along mat.Dense
	e.VectorsTo(&vectors)
	along.Mul(vectors.T(), r.y)
	_, p := r.y.Dims()
	out := &eigenkernel{values: e.Values(nil), parts: make([]float64, rows), size: float64(p * rows)}
	for i := range rows {
		for _, v := range along.RawRowView(i) {
			out.parts[i] += v * v
		}
		out.square += out.parts[i]
	}
	return out, nil
}

// residual returns R(e, τ) and its derivative in e (Eqs. 21 and 114), with λ = e + τ.
func (k *eigenkernel) residual(lambda float64) (r, slope float64) {
	for i, kappa := range k.values {
		share := lambda / (kappa + lambda)
		r += share * share * k.parts[i]
		slope += 2 * share * kappa / ((kappa + lambda) * (kappa + lambda)) * k.parts[i]
	}
	return r / k.size, slope / k.size
}

// theorem1Points is the number of e at which the slope of R is taken, between the ends of
// (26).
const theorem1Points = 1000

// theorem1 computes R and its slope in e, with their bounds at e from 0 to ‖Y‖²_F/(pN):
//
//	R(e, τ) ≤ ‖Y‖²_F/(pN)   (22)
//	∂R/∂e ≤ 2‖Y‖²_F/(pN(e + τ))   (23)
//
// with τ = 2‖Y‖²_F/(pN) (Eq. 40), so that R is a contraction with one fixed point.
func (r *bounds) theorem1(k *eigenkernel) {
	most := k.square / k.size // ‖Y‖²_F/(pN)
	tau, m := 2*most, &r.metrics
	m.ResidualBound = most
	before := 1.0 // R(0) > 0
	for i := 1; i < theorem1Points; i++ {
		e := most * float64(i) / theorem1Points
		value, slope := k.residual(e + tau)
		m.SlopeShare = max(m.SlopeShare, slope/(2*most/(e+tau)))
		m.Contraction = max(m.Contraction, slope)
		if (value-e)*before < 0 {
			m.FixedPoints++
		}
		before = value - e
	}
	m.Lambda, m.Iterations = r.m.Lambda(0), float64(r.m.Iterations(0))
	m.Residual, _ = k.residual(m.Lambda)
}

// theorems2to4 computes norms of images A(y), and ratios of distances to those to the samples,
// with the bounds
//
//	‖A(y)‖ ≤ ρ‖Y‖₂   (46)
//	‖y − A(y)‖ ≤ ρ‖[y−y¹ … y−yᴺ]‖₂   (49)
//
// where ρ = (λ + κ_max)/(λ + κ_min) ≤ 1 + pN²/(2‖Y‖²_F). Theorem 4 has (49) for the distance to
// a conditionally deep machine.
func (r *bounds) theorems2to4(ctx context.Context, k *eigenkernel) (experiment.Series, error) {
	images, distances, err := r.m.Images(ctx, r.e, r.queries)
	if err != nil {
		return nil, err
	}
	m := &r.metrics
	low, high := k.values[0], k.values[len(k.values)-1]
	m.RatioBound = (m.Lambda + high) / (m.Lambda + low)
	n, p := r.y.Dims()
	m.RatioBoundSimple = 1 + float64(p)*float64(n*n)/(2*k.square)
	size := spectral(r.y)
	m.NormBound, m.NormBoundSimple = size*m.RatioBound, size*m.RatioBoundSimple
	series := experiment.Series{"x": make([]float64, r.Queries), "norm": make([]float64, r.Queries)}
	for i := range r.Queries {
		q := r.queries.RawRowView(i)
		series["x"][i], series["norm"][i] = norm(q), norm(images[0].RawRowView(i))
		first := distances.At(i, 0)
		if math.IsInf(first, 1) {
			m.WithoutImage++
			continue
		}
		away := spectral(differences(r.y, q))
		_, nearest := hull.NearestLayer(distances.RawRowView(i))
		m.NormMax = max(m.NormMax, series["norm"][i])
		m.RatioMax, m.RatioDeepMax = max(m.RatioMax, first/away), max(m.RatioDeepMax, nearest/away)
	}
	m.WithoutImage /= float64(r.Queries)
	if m.NormMax == 0 {
		return nil, errors.New("no query has an image; use more samples")
	}
	return series, nil
}

// theorem5 computes the ratios of the distance to a wide machine, the smallest of those to the
// machines of clusters, to ‖[y−y¹ … y−yᴺ]‖_F over all samples. The bound (61) is the least
// 1 + pN_s²/(2‖Y_s‖²_F) of the clusters s. The counterexample is one cluster.
func (r *bounds) theorem5(ctx context.Context, t *experiment.Trial) error {
	parts := []*mat.Dense{r.y}
	if r.Samples == Formula && r.Branches > 1 {
		c, err := learn.KMeans(ctx, r.e, r.y, r.Branches, t.Stream("k-means"), learn.KMeansOptions{})
		if err != nil {
			return err
		}
		rows := make([][]int, r.Branches)
		for i, l := range c.Labels {
			rows[l] = append(rows[l], i)
		}
		parts = parts[:0]
		for _, of := range rows {
			parts = append(parts, learn.SelectRows(r.y, of))
		}
	}
	m := &r.metrics
	m.RatioWideBound = math.Inf(1)
	machines := make([]*hull.Machine, len(parts))
	for i, part := range parts {
		var err error
		if machines[i], err = hull.Fit(ctx, r.e, part, hull.Options{Dim: r.n, Layers: r.layers}); err != nil {
			return fmt.Errorf("branch %d: %w", i+1, err)
		}
		n, p := part.Dims()
		size := mat.Norm(part, 2) // Frobenius
		m.RatioWideBound = min(m.RatioWideBound, 1+float64(p)*float64(n*n)/(2*size*size))
	}
	all := make([]*mat.Dense, len(machines))
	for i, machine := range machines {
		var err error
		if all[i], err = machine.Distances(ctx, r.e, r.queries); err != nil {
			return err
		}
	}
	for i := range r.Queries {
		nearest := math.Inf(1)
		for _, d := range all {
			_, one := hull.NearestLayer(d.RawRowView(i))
			nearest = min(nearest, one)
		}
		if !math.IsInf(nearest, 1) {
			m.RatioWideMax = max(m.RatioWideMax, nearest/mat.Norm(differences(r.y, r.queries.RawRowView(i)), 2))
		}
	}
	return nil
}

// theorem6 smooths the samples (Eq. 81), and compares the modelling error (Eq. 86) with that
// of the samples themselves.
func (r *bounds) theorem6(ctx context.Context) error {
	y, first := r.y, 0.0
	for step := range r.Smoothing + 1 {
		m, err := hull.Model(ctx, r.e, y, hull.Options{Dim: r.n})
		if err != nil {
			return fmt.Errorf("smoothing step %d: %w", step, err)
		}
		if step == 0 {
			first = m.Error
		}
		r.metrics.SmoothedError, y = m.Error/first, m.Smoothed
	}
	return nil
}

// norm returns the Euclidean norm.
func norm(x []float64) float64 { return mat.Norm(mat.NewVecDense(len(x), x), 2) }

// spectral returns the largest singular value.
func spectral(a *mat.Dense) float64 {
	var d mat.SVD
	if !d.Factorize(a, mat.SVDNone) {
		return math.NaN()
	}
	return d.Values(nil)[0]
}

// differences returns q−yⁱ, N×p.
func differences(y *mat.Dense, q []float64) *mat.Dense {
	n, p := y.Dims()
	out := mat.NewDense(n, p, nil)
	for i := range n {
		for j, v := range y.RawRowView(i) {
			out.Set(i, j, q[j]-v)
		}
	}
	return out
}
