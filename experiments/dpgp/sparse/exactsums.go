package sparse

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/fault"
	"privkern/experiments/mechanism"
	"privkern/experiments/release"
	"privkern/graphs/sparsegp"
)

// ExactSums is Algorithm 1's release of the sums A and B of a sparse GP: what each
// row contributes is computed in float64 from that row alone, rounded to a grid
// and added in whole numbers. B is symmetric: there is one number, with one draw
// of noise, for each i ≤ j.
//
// The published algorithm adds floating-point noise to floating-point sums; neither has
// the law that the proof assumes, and their low bits reveal the data. Whole numbers on a
// grid have no rounding that depends on other rows: the sensitivity of what is released
// is that of the mathematics plus a bound on the rounding of one row, which the
// calibration adds.
type ExactSums struct {
	model  *Model
	n      int
	factor float64 // σ/Δ of the calibration
	// Noise of A (M numbers), of B's diagonal (M) and of B beside it (M(M−1)/2; nil
	// for M = 1).
	a, diagonal, beside *release.Noise
}

// NewExactSums calibrates the release for n rows whose outputs lie in [−1, 1], for a
// joint sensitivity Δ of (A, ratio·B) by Eq. (6). Its errors are those of a budget that
// is too small or too large to compute with, and of sums whose rounding counts.
//
// A row's kernel vector has relative rounding errors of a few units in the last
// place from exp, and of (D+4) from its argument u, of which exp(−u) takes up
// u·exp(−u) ≤ 1/e at most.
func NewExactSums(
	ctx context.Context, m *Model, n int, epsilon, delta, sensitivity, ratio float64,
) (*ExactSums, error) {
	if times := fault.In(ctx).DeltaTimes; times > 0 {
		delta *= times
	}
	factor, err := mechanism.SafeFactor(mechanism.Analytic, epsilon, delta)
	if err != nil {
		return nil, err
	}
	s := &ExactSums{model: m, n: n, factor: factor}
	number, dims := m.Inducing.Z.Dims()
	size, d, v := float64(number), float64(dims), m.Variance
	// Eq. (6) and the bound in it are sums of up to M rounded terms.
	// A relative 2^−38 is far above M rounded additions of positive numbers.
	change := sensitivity * (1 + 0x1p-38)
	if fault.In(ctx).PerCoordinate {
		change = max(v, ratio*v*v)
	}
	largestScale := 2 * factor * change
	// Euclidean norms of the rounding errors of one row in A (M numbers), in ratio·B
	// (M²) and on the grid.
	rounding := math.Sqrt(size)*v*(d+10)*0x1p-52 + ratio*size*v*v*(2*d+24)*0x1p-52 +
		release.ContributionError(largestScale)*math.Sqrt(size+size*size)
	// One coordinate of weight w counts w times in the joint norm: its noise is 1/w of
	// A's.
	calibrate := func(what string, coordinates int, weight, largest float64) *release.Noise {
		if err != nil || coordinates == 0 {
			return nil
		}
		var noise *release.Noise
		noise, err = release.Gaussian(release.Query{
			What: what, Coordinates: coordinates, Size: float64(n) * largest,
			Change: release.Up(change / weight), Error: release.Up(rounding / weight),
		}, factor)
		if err == nil && noise.Scale()*weight > largestScale {
			err = fmt.Errorf("%s: the rounding error %g of the sums is not small beside their sensitivity %g: use a larger "+
				"epsilon, or fewer inducing inputs", what, rounding, change)
		}
		return noise
	}
	s.a = calibrate("sum A of the sparse GP", number, 1, v)
	s.diagonal = calibrate("diagonal of the sum B of the sparse GP", number, ratio, v*v)
	s.beside = calibrate("sum B of the sparse GP beside its diagonal", number*(number-1)/2, ratio*math.Sqrt2, v*v)
	return s, err
}

// Factor is the standard deviation of the noise over the sensitivity.
func (s *ExactSums) Factor() float64 { return s.factor }

// Scales are the standard deviations of the noise in A and on the diagonal of B.
func (s *ExactSums) Scales() (a, b float64) { return s.a.Scale(), s.diagonal.Scale() }

// partialSums are sums over some of the rows.
type partialSums struct{ a, diagonal, beside *release.Sums }

// partial returns empty sums, which one worker fills.
func (s *ExactSums) partial(ctx context.Context) (p partialSums, err error) {
	v := s.model.Variance
	var errA, errD, errB error
	p.a, errA = release.NewSums(ctx, s.a, s.n, v)
	p.diagonal, errD = release.NewSums(ctx, s.diagonal, s.n, v*v)
	if s.beside != nil {
		p.beside, errB = release.NewSums(ctx, s.beside, s.n, v*v)
	}
	return p, errors.Join(errA, errD, errB)
}

// Noisy returns the sums over the rows of x (N×D) with outputs y in [−1, 1], with
// noise. Whole numbers add up to the same in any order and on any workers.
func (s *ExactSums) Noisy(
	ctx context.Context, x *mat.Dense, y []float64, workers int, source *release.Source,
) (sparsegp.Sums, error) {
	parts := make([]partialSums, max(1, min(workers, len(y)/64)))
	for i := range parts {
		var err error
		if parts[i], err = s.partial(ctx); err != nil {
			return sparsegp.Sums{}, err
		}
	}
	var group sync.WaitGroup
	for i, p := range parts {
		group.Go(func() {
			for row := i * len(y) / len(parts); row < (i+1)*len(y)/len(parts); row++ {
				s.add(p, x.RawRowView(row), y[row])
			}
		})
	}
	group.Wait()
	all := parts[0]
	for _, p := range parts[1:] {
		all.a.Merge(p.a)
		all.diagonal.Merge(p.diagonal)
		if s.beside != nil {
			all.beside.Merge(p.beside)
		}
	}
	out := sparsegp.Sums{A: all.a.Noisy(source)}
	number := len(out.A)
	out.B = mat.NewDense(number, number, nil)
	for i, v := range all.diagonal.Noisy(source) {
		out.B.Set(i, i, v)
	}
	if s.beside == nil {
		return out, nil
	}
	k := 0
	for _, v := range all.beside.Noisy(source) {
		i, j := beside(k)
		out.B.Set(i, j, v)
		out.B.Set(j, i, v)
		k++
	}
	return out, nil
}

// beside returns the place i > j of the k-th number beside the diagonal.
func beside(k int) (i, j int) {
	i = int((1 + math.Sqrt(1+8*float64(k))) / 2)
	for i*(i-1)/2 > k {
		i--
	}
	for (i+1)*i/2 <= k {
		i++
	}
	return i, k - i*(i-1)/2
}

// add adds what one row contributes: y·k to A and k·kᵀ to B.
// Each product is rounded once, before it meets the grid: what a row adds depends on
// this row alone.
func (s *ExactSums) add(p partialSums, x []float64, y float64) {
	k := s.model.Vector(x)
	contribution := make([]float64, len(k))
	for i, v := range k {
		contribution[i] = y * v
	}
	p.a.Add(contribution)
	for i, v := range k {
		contribution[i] = v * v
	}
	p.diagonal.Add(contribution)
	if p.beside == nil {
		return
	}
	products := make([]float64, 0, len(k)*(len(k)-1)/2)
	for i := range k {
		for j := range i {
			products = append(products, k[i]*k[j])
		}
	}
	p.beside.Add(products)
}
