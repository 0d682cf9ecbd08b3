package ebm

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"privkern/experiments/baseline/ground"
	"privkern/experiments/method"
)

// fitting are the n rows of a fit, and the step that it is at.
type fitting struct {
	*algorithm
	rows      *method.Part
	at        []uint16  // n×d, the bins
	scores    []float64 // n×K, by the steps before the last one
	last, now *step     // last is nil at the first step
}

func (a *algorithm) fitting(rows *method.Part) *fitting {
	n, _ := rows.X.Dims()
	d := len(a.features)
	f := &fitting{algorithm: a, rows: rows, at: make([]uint16, n*d), scores: make([]float64, n*a.outputs)}
	for i := range n {
		x := rows.X.RawRowView(i)
		for j, feature := range a.features {
			f.at[i*d+j] = uint16(feature.bin(x, a.bins[j]))
		}
	}
	return f
}

// count is the vector of a row in the counts.
func (f *fitting) count(row int, out []float64) {
	for j, first := range f.first {
		out[first+int(f.at[row*len(f.first)+j])] = 1
	}
}

// chunk is the number of rows whose residuals are added one after the other.
const chunk = 8192

// ask sums the residuals in the leaves of a step, with noise. For judging they are added as they come, which takes half
// the time.
func (f *fitting) ask(ctx context.Context, sums *ground.Sums) ([]float64, error) {
	if sums.Released() {
		return sums.Sum(f.residuals, f.residual)
	}
	n, _ := f.rows.X.Dims()
	total, err := ground.InChunks(ctx, f.Engine, n, chunk, f.outputs*f.Leaves, func(lo, hi int, sum []float64) {
		for row := lo; row < hi; row++ {
			if !ground.Empty(f.rows, row) {
				f.residual(row, sum)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	sums.Judge(f.residuals, total)
	return total, nil
}

// residual adds the clipped residual of a row to those of its leaf, after it has brought the row's scores up to date.
// Each row is asked for once in a step.
func (f *fitting) residual(row int, out []float64) {
	k, at := f.outputs, f.at[row*len(f.features):]
	score := f.scores[row*k : (row+1)*k]
	if s := f.last; s != nil {
		floats.Add(score, s.update[int(s.leaves[at[s.feature]])*k:][:k])
	}
	leaf := int(f.now.leaves[at[f.now.feature]])
	if k > 1 {
		f.several(row, score, out[leaf*k:(leaf+1)*k])
		return
	}
	var r float64
	if f.rows.Labels == nil {
		r = f.rows.Y[row] - score[0]
	} else {
		r = float64(f.rows.Labels[row]) - 1/(1+math.Exp(-score[0]))
	}
	out[leaf] += max(-f.norm, min(f.norm, r))
}

// several adds the clipped residuals e_l − p of more than two classes, of which p are the probabilities by the scores.
func (f *fitting) several(row int, score, out []float64) {
	all, square := floats.LogSumExp(score), 0.0
	of := func(class int) float64 {
		if class == f.rows.Labels[row] {
			return 1 - math.Exp(score[class]-all)
		}
		return -math.Exp(score[class] - all)
	}
	for class := range score {
		square += of(class) * of(class)
	}
	shrink := 1.0
	if norm := math.Sqrt(square); norm > f.norm {
		shrink = f.norm / norm
	}
	for class := range score {
		out[class] += shrink * of(class)
	}
}
