package dpgp

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

// exactSums is Algorithm 1's release of the sums A and B of a sparse GP: what each
// row contributes is computed in float64 from that row alone, rounded to a grid
// and added in whole numbers. B is symmetric: there is one number, with one draw
// of noise, for each i ≤ j.
type exactSums struct {
	model  *model
	n      int
	factor float64 // σ/Δ of the calibration
	// Noise of A (M numbers), of B's diagonal (M) and of B beside it (M(M−1)/2; nil
	// for M = 1).
	a, diagonal, beside *release.Noise
}

// newExactSums calibrates the release for n rows whose outputs lie in [−1, 1],
// for a joint sensitivity Δ of (A, ratio·B) by Eq. (6).
//
// A row's kernel vector has relative rounding errors of a few units in the last
// place from exp, and of (D+4) from its argument u, of which exp(−u) takes up
// u·exp(−u) ≤ 1/e at most.
func newExactSums(
	ctx context.Context, m *model, n int, epsilon, delta, sensitivity, ratio float64,
) (*exactSums, error) {
	if times := fault.In(ctx).DeltaTimes; times > 0 {
		delta *= times
	}
	factor, err := mechanism.SafeFactor(mechanism.Analytic, epsilon, delta)
	if err != nil {
		return nil, err
	}
	s := &exactSums{model: m, n: n, factor: factor}
	number, dims := m.inducing.Z.Dims()
	size, d, v := float64(number), float64(dims), m.variance
	// Eq. (6) and the bound in it are sums of up to M rounded terms.
	change := sensitivity * (1 + 0x1p-38)
	if fault.In(ctx).PerCoordinate {
		change = max(v, ratio*v*v)
	}
	largestScale := 2 * factor * change
	rounding := math.Sqrt(size)*v*(d+10)*0x1p-52 + ratio*size*v*v*(2*d+24)*0x1p-52 +
		release.ContributionError(largestScale)*math.Sqrt(size+size*size)
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

// partial are sums over some of the rows.
type partial struct{ a, diagonal, beside *release.Sums }

func (s *exactSums) partial(ctx context.Context) (p partial, err error) {
	v := s.model.variance
	var errA, errD, errB error
	p.a, errA = release.NewSums(ctx, s.a, s.n, v)
	p.diagonal, errD = release.NewSums(ctx, s.diagonal, s.n, v*v)
	if s.beside != nil {
		p.beside, errB = release.NewSums(ctx, s.beside, s.n, v*v)
	}
	return p, errors.Join(errA, errD, errB)
}

// noisy returns the sums over the rows of x (N×D) with outputs y in [−1, 1], with
// noise. Whole numbers add up to the same in any order and on any workers.
func (s *exactSums) noisy(
	ctx context.Context, x *mat.Dense, y []float64, workers int, source *release.Source,
) (sparsegp.Sums, error) {
	parts := make([]partial, max(1, min(workers, len(y)/64)))
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
func (s *exactSums) add(p partial, x []float64, y float64) {
	k := s.model.vector(x)
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

// vector is a row's kernel vector, in float64 on the CPU whatever the engine is.
func (m *model) vector(x []float64) []float64 {
	number, _ := m.inducing.Z.Dims()
	k := make([]float64, number)
	for j := range k {
		square := 0.0
		for d, z := range m.inducing.Z.RawRowView(j) {
			square += (x[d] - z) * (x[d] - z)
		}
		k[j] = m.variance * math.Exp(-square/(2*m.lengthscale*m.lengthscale))
	}
	return k
}
