package learn

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// DensityDifferenceResult is the result of [DensityDifference]. A width or ridge at an end of its
// grid means that the best one may lie beyond it.
type DensityDifferenceResult struct {
	// L2 estimates ∫(p−q)² dx, in 1/unit of the samples. It is never negative.
	L2     float64
	Sigma  float64 // width of the Gaussian kernels, in the unit of the samples
	Lambda float64 // ridge, in the unit of the samples
}

// DensityGrid is the kernel widths σ and ridges λ that [DensityDifference] tries, all
// positive, in the unit of the samples; nil stands for those that scale with the samples.
type DensityGrid struct {
	Widths, Ridges []float64
}

// PublishedGrid returns the grid of the code that the authors of LSDD publish (M. C. du
// Plessis, http://www.ms.k.u-tokyo.ac.jp/software.html#LSDD; the same numbers are in
// CNelias/ChangePointDetection.jl, src/ChangePointDetection.jl, which follows it). It is
// the same for samples of any spread: samples whose densities differ in detail finer than
// a quarter of a unit come out too similar.
func PublishedGrid() DensityGrid {
	return DensityGrid{
		Widths: []float64{0.25, 0.5, 0.75, 1, 1.2, 1.5, 2, 2.2, 2.5, 3, 5},
		Ridges: halfDecades(1, -3, 9),
	}
}

// halfDecades returns unit·10^from and the following steps of half a decade.
func halfDecades(unit, from float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = unit * math.Pow(10, float64(i)/2+from)
	}
	return out
}

const (
	densityCentres = 300
	densityFolds   = 5
	widthsADecade  = 5
	mostWidths     = 40
	ridges         = 11 // from 1e-4 to 10 of the spread, two a decade
)

// DensityDifference estimates the squared L2 distance ∫(p(x)−q(x))² dx of the
// densities behind two samples of numbers, without estimating either: p − q is
// fitted by Gaussian kernels around up to 300 centres drawn from both samples,
// by least squares with a ridge (LSDD: Sugiyama, Kanamori, Suzuki, du Plessis,
// Liu and Takeuchi, "Density-difference estimation", Neural Computation
// 25(10), 2013). With ĥ the difference of the mean kernel values, H the
// products of the kernels and θ = (H + λI)⁻¹ĥ the distance is estimated by
// 2ĥᵀθ − θᵀHθ, their estimate of smaller bias. The membership-inference score
// of Kumar, Moser and Fischer (Eq. 69) is this distance.
//
// σ and λ are those with the least squared error in 5-fold cross-validation
// (fewer folds where a sample has fewer numbers), over the grid. Without widths
// or ridges they are geometric and scale with the samples' spreads: σ from 0.03
// of the smaller to 3 of the larger, λ from 1e-4 to 10 of their geometric mean.
// The spread of a sample is its standard deviation or, where smaller, its
// interquartile range over 1.349. A change of unit by a factor c then changes
// the result by exactly 1/c, up to rounding: scores are comparable at equal
// units only. Given grids, such as [PublishedGrid], do not scale.
//
// Samples of one law do not give 0: at 60,000 and 10,000 numbers, estimates
// below about 5e-4 of 1/spread are noise (6e-8 to 7e-4 in eight trials with
// normal samples), more at fewer.
//
// Centres and folds come from rng, and the result depends on the arguments and
// its state alone. It returns an error where a sample has fewer than two
// numbers, a number that is not finite, or equal numbers only (a law without a
// density: the distance would be infinite), or where its spread cannot be
// computed.
func DensityDifference(a, b []float64, grid DensityGrid, rng *rand.Rand) (*DensityDifferenceResult, error) {
	spreadA, err := spread("first", a)
	if err != nil {
		return nil, err
	}
	spreadB, err := spread("second", b)
	if err != nil {
		return nil, err
	}
	centres := drawCentres(a, b, rng)
	folds := min(densityFolds, len(a), len(b))
	d := &difference{centres: centres, a: cutSorted(a, folds, rng), b: cutSorted(b, folds, rng)}

	best := &DensityDifferenceResult{}
	least := math.Inf(1)
	if grid.Widths == nil {
		grid.Widths = widths(min(spreadA, spreadB), max(spreadA, spreadB))
	}
	if grid.Ridges == nil {
		grid.Ridges = halfDecades(math.Sqrt(spreadA)*math.Sqrt(spreadB), -4, ridges)
	}
	for _, sigma := range grid.Widths {
		f, err := d.fit(sigma)
		if err != nil {
			return nil, err
		}
		for _, lambda := range grid.Ridges {
			if s := f.validate(lambda); s < least {
				least = s
				best = &DensityDifferenceResult{L2: f.distance(lambda), Sigma: sigma, Lambda: lambda}
			}
		}
	}
	if math.IsInf(least, 1) {
		return nil, fmt.Errorf("density difference: no kernel width and ridge has a finite error; rescale the samples")
	}
	return best, nil
}

// spread returns the spread of a sample, or why it cannot be used.
// The interquartile range guards against far outliers, which would widen every kernel of
// the grid; 1.349 is its ratio to the standard deviation of a normal law.
func spread(name string, x []float64) (float64, error) {
	if len(x) < 2 {
		return 0, fmt.Errorf("density difference: the %s sample has %d numbers; at least 2 are required", name, len(x))
	}
	for i, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return 0, fmt.Errorf("density difference: number %d of the %s sample is %v; finite numbers are required", i, name, v)
		}
	}
	sorted := slices.Clone(x)
	slices.Sort(sorted)
	if sorted[0] == sorted[len(sorted)-1] {
		return 0, fmt.Errorf("density difference: all %d numbers of the %s sample are %v; a constant has no density", len(x),
			name, x[0])
	}
	s := stat.StdDev(sorted, nil)
	if q := stat.Quantile(0.75, stat.Empirical, sorted, nil) - stat.Quantile(0.25, stat.Empirical, sorted, nil); q > 0 {
		s = min(s, q/1.349)
	}
	if !(s > 0) || math.IsInf(s, 1) {
		return 0, fmt.Errorf("density difference: the spread of the %s sample is %v in double precision; "+
			"rescale the samples", name, s)
	}
	return s, nil
}

// widths are the kernel widths to try. They are geometric from 0.03·smaller to 3·larger,
// five a decade or a little more, and 41 of them at most.
func widths(smaller, larger float64) []float64 {
	low := 0.03 * smaller
	decades := math.Log10(larger/smaller) + 2
	n := min(int(math.Ceil(widthsADecade*decades)), mostWidths)
	out := make([]float64, n+1)
	for i := range out {
		out[i] = low * math.Pow(10, decades*float64(i)/float64(n))
	}
	return out
}

// drawCentres draws from both samples without replacement, each number as
// likely as any other.
func drawCentres(a, b []float64, rng *rand.Rand) []float64 {
	n := len(a) + len(b)
	picked := rng.Perm(n)[:min(n, densityCentres)]
	out := make([]float64, len(picked))
	for i, at := range picked {
		if at < len(a) {
			out[i] = a[at]
		} else {
			out[i] = b[at-len(a)]
		}
	}
	slices.Sort(out)
	return out
}

// cutSorted deals the numbers to folds at random, and sorts each fold.
// Fold sizes differ by one at most. kernelSums wants points in increasing order.
func cutSorted(x []float64, folds int, rng *rand.Rand) [][]float64 {
	out := make([][]float64, folds)
	for i, at := range rng.Perm(len(x)) {
		out[i%folds] = append(out[i%folds], x[at])
	}
	for _, f := range out {
		slices.Sort(f)
	}
	return out
}

// difference is the problem of fitting p − q.
type difference struct {
	centres []float64   // of the kernels, in increasing order
	a, b    [][]float64 // the samples by fold
}

// eigenproblem is the problem for one σ, in the eigenvectors of H, where (H + λI) is
// diagonal for every λ. One decomposition, O(b³) for b centres, serves all ridges and
// folds, at O(b) each, where Cholesky factors would be one for each ridge.
type eigenproblem struct {
	values []float64   // eigenvalues of H
	all    []float64   // ĥ of all numbers
	train  [][]float64 // ĥ of all folds but one
	test   [][]float64 // ĥ of that fold
}

// fit sets up the problem for a kernel width. For Gaussian kernels in one dimension the
// products are known,
//
//	H_ij = ∫ e^{−(x−c_i)²/2σ²} e^{−(x−c_j)²/2σ²} dx = √π σ e^{−(c_i−c_j)²/4σ²}.
//
// H is singular to rounding when σ exceeds the distances of the centres: its eigenvalues
// decay fast, and without the ridge θ would be noise.
func (d *difference) fit(sigma float64) (*eigenproblem, error) {
	n := len(d.centres)
	h := mat.NewSymDense(n, nil)
	for i, c := range d.centres {
		for j := i; j < n; j++ {
			z := (c - d.centres[j]) / (2 * sigma)
			h.SetSym(i, j, math.Sqrt(math.Pi)*sigma*math.Exp(-z*z))
		}
	}
	var e mat.EigenSym
	if !e.Factorize(h, true) {
		return nil, fmt.Errorf("density difference: the eigenvalues of the kernel products (kernel width %g, %d centres) "+
			"did not converge; rescale the samples", sigma, n)
	}
	f := &eigenproblem{values: e.Values(nil)}
	for i := range f.values {
		f.values[i] = max(f.values[i], 0) // H is positive semi-definite but for rounding
	}
	var vectors mat.Dense
	e.VectorsTo(&vectors)
	rotate := func(h []float64) []float64 {
		out := mat.NewVecDense(n, nil)
		out.MulVec(vectors.T(), mat.NewVecDense(n, h))
		return out.RawVector().Data
	}
	meansA, meansB := foldMeans(d.a, d.centres, sigma), foldMeans(d.b, d.centres, sigma)
	f.all = rotate(floats.SubTo(make([]float64, n), meansA.all, meansB.all))
	for k := range d.a {
		f.train = append(f.train, rotate(floats.SubTo(make([]float64, n), meansA.without[k], meansB.without[k])))
		f.test = append(f.test, rotate(floats.SubTo(make([]float64, n), meansA.within[k], meansB.within[k])))
	}
	return f, nil
}

// means are those of the kernels (one for each centre) over the numbers of a
// sample, of one fold, and of all folds but one.
type means struct {
	all             []float64
	within, without [][]float64
}

// Sums of the other folds are the total less this one's: each number is visited once a
// width, not once a fold. The difference has the absolute error of the total, about a
// fifth larger relative to the other folds.
func foldMeans(folds [][]float64, centres []float64, sigma float64) means {
	total, count := make([]float64, len(centres)), 0
	sums := make([][]float64, len(folds))
	for k, x := range folds {
		sums[k] = kernelSums(x, centres, sigma)
		floats.Add(total, sums[k])
		count += len(x)
	}
	m := means{all: floats.ScaleTo(make([]float64, len(total)), 1/float64(count), total)}
	for k, x := range folds {
		rest := floats.SubTo(make([]float64, len(total)), total, sums[k])
		floats.Scale(1/float64(count-len(x)), rest)
		floats.Scale(1/float64(len(x)), sums[k])
		m.within, m.without = append(m.within, sums[k]), append(m.without, rest)
	}
	return m
}

// validate returns the mean over the folds of θᵀHθ − 2ĥᵀθ with θ from the
// other folds: the squared error of the fit, less ∫(p−q)².
// In the eigenbasis θ_i = ĥ_i/(v_i + λ). The left-out term does not depend on σ or λ.
func (f *eigenproblem) validate(lambda float64) float64 {
	sum := 0.0
	for k, train := range f.train {
		for i, v := range f.values {
			theta := train[i] / (v + lambda)
			sum += theta * (v*theta - 2*f.test[k][i])
		}
	}
	return sum / float64(len(f.train))
}

// distance returns 2ĥᵀθ − θᵀHθ of all numbers. With v ≥ 0 every term ĥ_i²(v_i + 2λ)/(v_i
// + λ)² is at least zero, and so is the estimate.
func (f *eigenproblem) distance(lambda float64) float64 {
	sum := 0.0
	for i, v := range f.values {
		theta := f.all[i] / (v + lambda)
		sum += theta * (2*f.all[i] - v*theta)
	}
	return sum
}
