package exact

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"privkern/experiments/baseline/ground"
	"privkern/experiments/learn"
)

// rows are training rows: with outputs in [−1, 1] of a regression, or with labels from 0.
type rows struct {
	x       *mat.Dense // N×d
	y       []float64
	labels  []int
	classes int // 0 of a regression
}

func (r *rows) len() int { return r.x.RawMatrix().Rows }

// of returns some of the rows.
func (r *rows) of(some []int) *rows {
	out := &rows{x: learn.SelectRows(r.x, some), classes: r.classes}
	for _, i := range some {
		if r.classes > 0 {
			out.labels = append(out.labels, r.labels[i])
		} else {
			out.y = append(out.y, r.y[i])
		}
	}
	return out
}

// outputs are the columns that a method fits by least squares (N×1, or N×C for classes: 1 for the own class and −1 for
// others).
func (r *rows) outputs() *mat.Dense {
	if r.classes == 0 {
		return mat.NewDense(len(r.y), 1, r.y)
	}
	out := mat.NewDense(len(r.labels), r.classes, nil)
	out.Apply(func(i, c int, _ float64) float64 {
		if r.labels[i] == c {
			return 1
		}
		return -1
	}, out)
	return out
}

// least bounds probabilities in a loss from below.
const least = 1e-6

// loss is the sum over the rows of the squared errors of means (1×N), or of −log of the probabilities (C×N) of the own
// classes.
func (r *rows) loss(predicted [][]float64) (sum float64) {
	for i, l := range r.labels {
		sum -= math.Log(max(least, predicted[l][i]))
	}
	for i, v := range r.y {
		sum += (v - predicted[0][i]) * (v - predicted[0][i])
	}
	return sum
}

// family is a method with several candidates for its settings, one of which is number 0.
type family interface {
	// losses returns those of the valid rows by a fit of each candidate to the training rows.
	losses(ctx context.Context, train, valid *rows) ([]float64, error)
	fit(ctx context.Context, train *rows, candidate int) (ground.Evaluator, error)
}

const (
	// folds is the number of parts of the rows, each of which is held out once.
	folds = 3
	// mostFolded is the number of rows up to which this is done; of more, one part is held out, which suffices.
	mostFolded = 5000
)

// choose fits the candidate of all families that has the least loss on rows that are held out, the first of equal ones.
// The parts are drawn from a fixed stream.
func choose(ctx context.Context, r *rows, families ...family) (ground.Evaluator, error) {
	n := r.len()
	parts, err := learn.RandomFolds(n, min(folds, n), rand.New(rand.NewPCG(1, uint64(n))))
	if err != nil {
		return nil, err
	}
	if n > mostFolded {
		parts = parts[:1]
	}
	best, bestFamily, bestCandidate := math.Inf(1), families[0], 0
	for _, f := range families {
		var sums []float64
		for _, p := range parts {
			losses, err := f.losses(ctx, r.of(p.Train), r.of(p.Test))
			if err != nil {
				return nil, err
			}
			if sums == nil {
				sums = make([]float64, len(losses))
			}
			floats.Add(sums, losses)
		}
		if k := floats.MinIdx(sums); sums[k] < best {
			best, bestFamily, bestCandidate = sums[k], f, k
		}
	}
	return bestFamily.fit(ctx, r, bestCandidate)
}

// standard brings inputs to mean 0 and variance 1 by those of the training rows; an input that is constant there is 0.
type standard struct{ means, scales []float64 }

func standardOf(x *mat.Dense) standard {
	_, d := x.Dims()
	s := standard{make([]float64, d), make([]float64, d)}
	for j := range d {
		var sd float64
		if s.means[j], sd = stat.PopMeanStdDev(mat.Col(nil, j, x), nil); sd > 1e-12 {
			s.scales[j] = 1 / sd
		}
	}
	return s
}

func (s standard) of(x *mat.Dense) *mat.Dense {
	out := mat.DenseCopyOf(x)
	out.Apply(func(_, j int, v float64) float64 { return (v - s.means[j]) * s.scales[j] }, out)
	return out
}

// clipped brings means to [−1, 1], in place.
func clipped(means []float64) []float64 {
	for i, v := range means {
		means[i] = max(-1, min(1, v))
	}
	return means
}
