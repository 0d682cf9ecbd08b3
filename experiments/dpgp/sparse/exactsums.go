package sparse

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/mechanism"
	"privkern/experiments/release"
	"privkern/graphs/sparsegp"
	"privkern/runner/experiment"
)

// ExactSums is Algorithm 1's release of the sums A and B of a sparse GP: the contribution of each
// row is computed in float64 from that row alone, rounded to a grid and added in whole numbers. B
// is symmetric: there is one number, with one draw of noise, for each i ≤ j.
//
// The published algorithm adds floating-point noise to floating-point sums; neither has the
// distribution that the proof assumes, and their low bits reveal the data. Whole numbers on a grid
// have no rounding that depends on other rows: the sensitivity of the released sums is that of the
// mathematics plus a bound on the rounding of one row, which the calibration adds.
type ExactSums struct {
	model  *Model
	n      int
	blocks Blocks
	factor float64 // σ/Δ of the calibration
	// Noise of A (M numbers a block), of B's diagonal (M) and of B off the diagonal (M(M−1)/2; nil
	// for M = 1).
	a, diagonal, beside *release.Noise
}

// Share is the contribution of a row to the sums of one block: Product·k to A, Weight·k·kᵀ to B.
type Share struct{ Product, Weight float64 }

// Blocks are sums that are released as one query: those of the regressions for all classes,
// say, in all of which a row has a share.
type Blocks struct {
	Number  int
	Largest Share // bounds on |Product| and on Weight ≥ 0
}

// oneRegression is the share of Algorithm 1: y·k and k·kᵀ, |y| ≤ 1.
var oneRegression = Blocks{1, Share{1, 1}}

// NewExactSums calibrates the release for n rows whose outputs lie in [−1, 1], for a
// joint sensitivity Δ of (A, ratio·B), that of a protected unit of some rows ([Calibration]). Its
// errors are those of a budget that is too small or too large to compute with, and of sums whose
// rounding counts.
func NewExactSums(
	m *Model, n, unit int, epsilon, delta, sensitivity, ratio float64,
) (*ExactSums, error) {
	return NewExactBlocks(m, n, unit, epsilon, delta, sensitivity, ratio, oneRegression)
}

// NewExactBlocks calibrates the release of the sums of several blocks for n rows, for a joint
// sensitivity Δ of (A, ratio·B) of all of them together.
//
// A share multiplies the contribution of a row once more, which is two more units in the last
// place, with that of the share itself: the sensitivity is that of real numbers. The Euclidean norm
// of errors that are bounded in each block grows with the root of their number, and that of a unit
// with the number of its rows.
func NewExactBlocks(
	m *Model, n, unit int, epsilon, delta, sensitivity, ratio float64, blocks Blocks,
) (*ExactSums, error) {
	factor, err := mechanism.SafeFactor(mechanism.Analytic, epsilon, delta)
	if err != nil {
		return nil, err
	}
	s := &ExactSums{model: m, n: n, blocks: blocks, factor: factor}
	number, _ := m.Inducing.Z.Dims()
	size, v := float64(number), m.reach()
	// Eq. (6) and the bound in it are sums of up to M rounded terms.
	// A relative 2^−38 is far above M rounded additions of positive numbers.
	change := sensitivity * (1 + 0x1p-38)
	largestScale := 2 * factor * change
	// Euclidean norms of the rounding errors of one row in A (M numbers), in ratio·B
	// (M²) and on the grid, of as many rows as a unit has.
	product, weight, more := blocks.Largest.Product, blocks.Largest.Weight, 2.0
	if blocks == oneRegression {
		more = 0 // nothing is multiplied
	}
	rounding := math.Sqrt(float64(blocks.Number)) * (m.rounding(blocks.Largest, ratio, more) +
		release.ContributionError(largestScale)*math.Sqrt(size+size*size)) * float64(unit)
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
	what := "sparse GP"
	if blocks.Number > 1 {
		what = "sparse GPs of all classes"
	}
	s.a = calibrate("sum A of the "+what, blocks.Number*number, 1, v*product)
	s.diagonal = calibrate("diagonal of the sum B of the "+what, blocks.Number*number, ratio, v*v*weight)
	s.beside = calibrate("sum B of the "+what+" beside its diagonal", blocks.Number*(number*(number-1)/2),
		ratio*math.Sqrt2, v*v*weight)
	return s, err
}

// Losses is the privacy loss of a protected unit by the noise in all sums, which are one query: μ is
// the sensitivity over the standard deviation of the noise.
func (s *ExactSums) Losses() []experiment.Loss {
	return []experiment.Loss{{Law: "gaussian", Size: 1 / s.factor, Times: 1}}
}

// Scales are the standard deviations of the noise in A and on the diagonal of B.
func (s *ExactSums) Scales() (a, b float64) { return s.a.Scale(), s.diagonal.Scale() }

// partialSums are sums over some of the rows.
type partialSums struct{ a, diagonal, beside *release.Sums }

// partial returns empty sums, which one worker fills.
func (s *ExactSums) partial() (p partialSums, err error) {
	v := s.model.reach()
	a, b := v*s.blocks.Largest.Product, v*v*s.blocks.Largest.Weight
	var errA, errD, errB error
	p.a, errA = release.NewSums(s.a, s.n, a)
	p.diagonal, errD = release.NewSums(s.diagonal, s.n, b)
	if s.beside != nil {
		p.beside, errB = release.NewSums(s.beside, s.n, b)
	}
	return p, errors.Join(errA, errD, errB)
}

// Noisy returns the sums over the rows of x (N×D) with outputs y in [−1, 1], with
// noise. Whole numbers add up to the same in any order and on any workers.
func (s *ExactSums) Noisy(
	x *mat.Dense, y []float64, workers int, source *release.Source,
) (sparsegp.Sums, error) {
	all, err := s.NoisyBlocks(x, func(row int, shares []Share) { shares[0] = Share{y[row], 1} }, workers, source)
	if err != nil {
		return sparsegp.Sums{}, err
	}
	return all[0], nil
}

// NoisyBlocks returns the sums of every block over the rows of x (N×D), with noise; sharesOf
// returns the shares of a row in the blocks.
func (s *ExactSums) NoisyBlocks(
	x *mat.Dense, sharesOf func(row int, shares []Share), workers int, source *release.Source,
) ([]sparsegp.Sums, error) {
	rows, _ := x.Dims()
	parts := make([]partialSums, max(1, min(workers, rows/64)))
	for i := range parts {
		var err error
		if parts[i], err = s.partial(); err != nil {
			return nil, err
		}
	}
	var group sync.WaitGroup
	for i, p := range parts {
		group.Go(func() {
			shares := make([]Share, s.blocks.Number)
			for row := i * rows / len(parts); row < (i+1)*rows/len(parts); row++ {
				sharesOf(row, shares)
				s.add(p, x.RawRowView(row), shares)
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
	return s.noisy(all, source), nil
}

// noisy adds the noise of all blocks: to A, then to B's diagonal, then off the diagonal.
func (s *ExactSums) noisy(all partialSums, source *release.Source) []sparsegp.Sums {
	number, _ := s.model.Inducing.Z.Dims()
	out := make([]sparsegp.Sums, s.blocks.Number)
	a, diagonal := all.a.Noisy(source), all.diagonal.Noisy(source)
	for c := range out {
		out[c] = sparsegp.Sums{A: a[c*number : (c+1)*number : (c+1)*number], B: mat.NewDense(number, number, nil)}
		for i, v := range diagonal[c*number : (c+1)*number] {
			out[c].B.Set(i, i, v)
		}
	}
	if s.beside == nil {
		return out
	}
	pairs := number * (number - 1) / 2
	for k, v := range all.beside.Noisy(source) {
		i, j := offDiagonal(k % pairs)
		out[k/pairs].B.Set(i, j, v)
		out[k/pairs].B.Set(j, i, v)
	}
	return out
}

// offDiagonal returns the place i > j of the k-th number below the diagonal.
func offDiagonal(k int) (i, j int) {
	i = int((1 + math.Sqrt(1+8*float64(k))) / 2)
	for i*(i-1)/2 > k {
		i--
	}
	for (i+1)*i/2 <= k {
		i++
	}
	return i, k - i*(i-1)/2
}

// add adds the contribution of one row: its product with k to A and its weight times k·kᵀ to B, of
// every block. The rounded numbers depend on this row alone.
func (s *ExactSums) add(p partialSums, x []float64, shares []Share) {
	k := s.model.features(x)
	contribution := make([]float64, 0, len(k)*len(shares))
	for _, share := range shares {
		for _, v := range k {
			contribution = append(contribution, share.Product*v)
		}
	}
	p.a.Add(contribution)
	contribution = contribution[:0]
	for _, share := range shares {
		for _, v := range k {
			contribution = append(contribution, share.Weight*(v*v))
		}
	}
	p.diagonal.Add(contribution)
	if p.beside == nil {
		return
	}
	products := make([]float64, 0, len(shares)*len(k)*(len(k)-1)/2)
	for _, share := range shares {
		for i := range k {
			for j := range i {
				products = append(products, share.Weight*(k[i]*k[j]))
			}
		}
	}
	p.beside.Add(products)
}
