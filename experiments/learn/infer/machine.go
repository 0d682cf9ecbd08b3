package infer

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/learn"
	"privkern/graphs/kernel"
)

// Ladders of a support vector machine. γ is for the sum over columns of variance one, d of them.
var (
	penalties = []float64{.01, .1, 1, 10, 100, 1000, 1e4, 1e5, 1e6}
	gammas    = []float64{1. / 256, 1. / 64, 1. / 16, .25, 1, 4, 16, 64}
)

// machine is a support vector machine with an RBF kernel.
type machine struct {
	*room
	gamma, c float64
	gram     *mat.Dense // N×N, of γ
}

func (m *machine) kernel() kernel.Kernel {
	_, d := m.x.Dims()
	return kernel.RBF(m.gamma / float64(d))
}

// set sets γ, with the kernel matrix of the training rows. A program computes it in float64 once for all C.
func (m *machine) set(ctx context.Context, gamma float64) (err error) {
	if m.gram != nil && gamma == m.gamma {
		return nil
	}
	m.gamma, m.gram = gamma, nil // two are not held
	m.gram, err = m.kernel().Matrix64(ctx, m.Engine, m.x, m.x)
	return err
}

// tuningIterations is the cap on the iterations for a pair of classes while a machine is tuned. A C beyond it is slow,
// and is not tried.
const tuningIterations = 300_000

// options are those of a machine on row numbers of matrices.
func (m *machine) options(c float64, iterations int, matrices ...*mat.Dense) learn.SVMOptions {
	return learn.SVMOptions{C: c, Kernel: learn.MatrixKernel(matrices...), Iterations: iterations}
}

func (m *machine) tune(ctx context.Context) (*peak, error) {
	axes := []axis{{name: "C", values: penalties, starts: []int{4}},
		{name: "gamma times columns", values: gammas, starts: []int{2, 4, 6}}}
	top, err := climb(ctx, axes, func(v []float64) (float64, error) {
		if err := m.set(ctx, v[1]); err != nil {
			return 0, err
		}
		rows := learn.RowNumbers(0, len(m.labels))
		score, err := m.validate(ctx, func(f learn.Fold) (answers, error) {
			svm, err := learn.TrainSVM(learn.SelectRows(rows, f.Train), learn.Select(m.labels, f.Train),
				m.options(v[0], tuningIterations, m.gram))
			return decisions{svm, learn.SelectRows(rows, f.Test)}, err
		})
		if errors.Is(err, learn.ErrIterations) {
			err = fmt.Errorf("%w: C = %g: %w", errBeyond, v[0], err)
		}
		return score, err
	})
	if err != nil {
		return nil, err
	}
	m.c = top.values[0]
	return top, m.set(ctx, top.values[1])
}

func (m *machine) answer(ctx context.Context, x *mat.Dense) (answers, error) {
	cross, err := m.kernel().Matrix64(ctx, m.Engine, x, m.x)
	if err != nil {
		return nil, err
	}
	n, tested := len(m.labels), cross.RawMatrix().Rows
	rows, labels := m.several()
	svm, err := learn.TrainSVM(learn.SelectRows(learn.RowNumbers(0, n), rows), labels,
		m.options(m.c, learn.SVMIterations, m.gram, cross))
	return decisions{svm, learn.RowNumbers(n, tested)}, err
}

// several are the training rows of classes with more than one, and their labels.
func (m *machine) several() (rows, labels []int) {
	counts := make([]int, m.classes)
	for _, l := range m.labels {
		counts[l]++
	}
	for row, l := range m.labels {
		if counts[l] > 1 {
			rows, labels = append(rows, row), append(labels, l)
		}
	}
	return rows, labels
}

// decisions are the answers of a machine about rows.
type decisions struct {
	of   *learn.SVM
	rows *mat.Dense
}

func (d decisions) together(groups [][]int) []int { return d.of.PredictTogether(d.rows, groups) }
