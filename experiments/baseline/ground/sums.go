package ground

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"sync"

	"gonum.org/v1/gonum/floats"

	"privkern/experiments/method"
	"privkern/experiments/release"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// Noise is that of one query, calibrated to its sensitivity.
type Noise struct {
	query Query
	exact *release.Noise // nil without privacy
	loss  experiment.Loss
}

// Scale is the standard deviation of Gaussian noise, or the scale of Laplace noise; 0 without privacy.
func (n *Noise) Scale() float64 {
	if n.exact == nil {
		return 0
	}
	return n.exact.Scale()
}

// Losses are those of several queries of one release.
func Losses(noises ...*Noise) []experiment.Loss {
	var out []experiment.Loss
	for _, n := range noises {
		if n.exact != nil {
			out = append(out, n.loss)
		}
	}
	return out
}

// Sums answers sums over the rows of a fit, the only way of a baseline to its rows: with the noise of a release, with
// seeded noise that judges it, or with none.
type Sums struct {
	ctx    context.Context
	engine *engine.Engine
	rows   *method.Part
	rng    *rand.Rand      // judges, where source is nil; nil for no noise
	source *release.Source // releases
}

// Judging returns sums over rows with noise from rng, or with none where it is nil.
func (p *Problem) Judging(ctx context.Context, rows *method.Part, rng *rand.Rand) *Sums {
	return &Sums{ctx: ctx, engine: p.Engine, rows: rows, rng: rng}
}

// Empty reports whether a row is a place without one, which contributes nothing.
func Empty(p *method.Part, row int) bool {
	if p.Labels != nil {
		return p.Labels[row] < 0
	}
	return math.IsNaN(p.Y[row])
}

// chunk is the number of rows whose vectors are added one after the other.
const chunk = 1024

// Sum returns the sum over the rows of the vectors that of computes, with noise. A call of the function gets zeros; it
// reads no other row, and may be called by several workers at once. It is not called for empty rows.
func (s *Sums) Sum(n *Noise, of func(row int, out []float64)) ([]float64, error) {
	if s.source != nil {
		return s.exact(n, of)
	}
	rows, _ := s.rows.X.Dims()
	total, err := InChunks(s.ctx, s.engine, rows, chunk, n.query.Coordinates, func(lo, hi int, sum []float64) {
		n.each(s.rows, lo, hi, of, func(one []float64) { floats.Add(sum, one) })
	})
	if err != nil {
		return nil, err
	}
	s.Judge(n, total)
	return total, nil
}

// SumAt is [Sums.Sum] of vectors that are 0 but at a few places, which differ: of writes them and the values there.
func (s *Sums) SumAt(n *Noise, few int, of func(row int, places []int, values []float64)) ([]float64, error) {
	places, values := make([]int, few), make([]float64, few)
	each := func(lo, hi int, add func(places []int, values []float64)) {
		for row := lo; row < hi; row++ {
			if !Empty(s.rows, row) {
				of(row, places, values)
				n.clip(values)
				add(places, values)
			}
		}
	}
	rows, _ := s.rows.X.Dims()
	if s.source != nil {
		total, err := release.NewSums(n.exact, n.query.Rows, n.query.Largest)
		if err != nil {
			return nil, err
		}
		each(0, rows, total.AddAt)
		return total.Noisy(s.source), s.ctx.Err()
	}
	total, part := make([]float64, n.query.Coordinates), make([]float64, n.query.Coordinates)
	var met []int
	for lo := 0; lo < rows; lo += chunk { // sums of chunks, as Sum has them
		met = met[:0]
		each(lo, min(rows, lo+chunk), func(places []int, values []float64) {
			for i, place := range places {
				part[place] += values[i]
			}
			met = append(met, places...)
		})
		for _, place := range met {
			total[place] += part[place]
			part[place] = 0
		}
	}
	s.Judge(n, total)
	return total, s.ctx.Err()
}

// Each returns a number of each row that of computes, with noise, for a query that keeps the rows apart: no sum is
// formed. An empty row has 0. A call of the function reads no other row.
func (s *Sums) Each(n *Noise, of func(row int) float64) ([]float64, error) {
	rows, _ := s.rows.X.Dims()
	out := make([]float64, rows)
	for row := range out {
		if !Empty(s.rows, row) {
			one := []float64{of(row)}
			n.clip(one)
			out[row] = one[0]
		}
	}
	if s.source != nil {
		return s.source.Add(n.exact, out)
	}
	s.Judge(n, out)
	return out, nil
}

// Scale is that of the noise which the sums have: 0 where they have none.
func (s *Sums) Scale(n *Noise) float64 {
	if s.source == nil && s.rng == nil {
		return 0
	}
	return n.Scale()
}

// Released reports whether sums are those of a release, which are computed row by row.
func (s *Sums) Released() bool { return s.source != nil }

// Judge adds seeded noise to a sum that was computed in another way, such as by a product of matrices; nothing where
// there is none.
func (s *Sums) Judge(n *Noise, total []float64) {
	if s.rng == nil || n.exact == nil {
		return
	}
	for i := range total {
		if n.loss.Law == "laplace" {
			v := s.rng.ExpFloat64()
			if s.rng.Uint64()&1 == 0 {
				v = -v
			}
			total[i] += n.Scale() * v
		} else {
			total[i] += n.Scale() * s.rng.NormFloat64()
		}
	}
}

// Sample draws some of the rows that are not empty, each with probability rate, independently of all else, by the
// seeded noise that judges: a release has no samples. Without noise it returns all of these rows, and the rate 1.
func (s *Sums) Sample(rate float64) (rows []int, used float64, err error) {
	if s.source != nil && rate < 1 {
		return nil, 0, errors.New("a release has no samples of rows")
	}
	if s.rng == nil {
		rate = 1
	}
	n, _ := s.rows.X.Dims()
	for row := range n {
		if !Empty(s.rows, row) && (rate == 1 || s.rng.Float64() < rate) {
			rows = append(rows, row)
		}
	}
	return rows, rate, nil
}

// exact is [Sums.Sum] of a release.
func (s *Sums) exact(n *Noise, of func(row int, out []float64)) ([]float64, error) {
	var mu sync.Mutex
	total, err := release.NewSums(n.exact, n.query.Rows, n.query.Largest)
	if err != nil {
		return nil, err
	}
	rows, _ := s.rows.X.Dims()
	err = s.engine.ParallelFor(s.ctx, rows, chunk, func(lo, hi int) error {
		sums, err := release.NewSums(n.exact, n.query.Rows, n.query.Largest)
		if err != nil {
			return err
		}
		n.each(s.rows, lo, hi, of, sums.Add)
		mu.Lock()
		defer mu.Unlock()
		total.Merge(sums)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return total.Noisy(s.source), nil
}

// each adds the vectors of the rows from lo to hi that are not empty.
func (n *Noise) each(rows *method.Part, lo, hi int, of func(row int, out []float64), add func(one []float64)) {
	one := make([]float64, n.query.Coordinates)
	for row := lo; row < hi; row++ {
		if !Empty(rows, row) {
			clear(one)
			of(row, one)
			n.clip(one)
			add(one)
		}
	}
}

// clip brings the vector of a row to the norm of its query: one that is longer is made shorter by a hair more than
// that, and one that is not finite counts as 0.
func (n *Noise) clip(v []float64) {
	order := 2.0
	if n.loss.Law == "laplace" {
		order = 1
	}
	norm := floats.Norm(v, order)
	switch {
	case norm <= n.query.Norm:
	case norm <= math.MaxFloat64:
		floats.Scale(n.query.Norm/norm*(1-0x1p-45), v)
	default:
		clear(v)
	}
}
