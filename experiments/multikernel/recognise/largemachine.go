package recognise

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/learn"
	"privkern/graphs/engine"
	"privkern/graphs/kernel"
)

// mostMatrix is the number of training samples, or of test samples, up to which an adversary keeps kernel matrices in
// float64.
const mostMatrix = 6_000

// DrawnRows returns the places of about that many samples at most, as large a share of each label as of all, at least
// three of it or all of them, or nil where there are no more or most is 0.
func DrawnRows(labels []int, most int, rng *rand.Rand) []int {
	n := len(labels)
	if most == 0 || n <= most {
		return nil
	}
	of := map[int][]int{}
	for i, l := range labels {
		of[l] = append(of[l], i)
	}
	var rows []int
	for _, l := range Distinct(labels) {
		members := of[l]
		rng.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		rows = append(rows, members[:min(max(len(members)*most/n, 3), len(members))]...)
	}
	slices.Sort(rows)
	return rows
}

// blockRows is the number of rows of a kernel matrix in float64 at a time.
const blockRows = 512

// largeKernel is the kernel of many samples, of which the numbers stand for the features as for [learn.MatrixKernel]:
// of training samples its matrix in float32, half the memory, and of test samples, which come in their order, a block
// at a time.
type largeKernel struct {
	ctx         context.Context
	e           *engine.Engine
	kernel      kernel.Kernel
	train, test *mat.Dense
	matrix      []float32  // N×N
	block       *mat.Dense // of test samples from first
	first       int
	err         error
}

// of computes the matrix of another kernel.
func (k *largeKernel) of(rbf kernel.Kernel) error {
	k.kernel, k.block = rbf, nil
	n, d := k.train.Dims()
	if k.matrix == nil {
		k.matrix = make([]float32, n*n)
	}
	for lo := 0; lo < n; lo += blockRows {
		hi := min(lo+blockRows, n)
		block, err := rbf.Matrix64(k.ctx, k.e, k.train.Slice(lo, hi, 0, d).(*mat.Dense), k.train)
		if err != nil {
			return err
		}
		for i := lo; i < hi; i++ {
			to := k.matrix[i*n:][:n]
			for j, v := range block.RawRowView(i - lo) {
				to[j] = float32(v)
			}
		}
	}
	return nil
}

// fill is a [learn.Kernel]. Where it fails, numbers are not, and err is set.
func (k *largeKernel) fill(x []float64, points *mat.Dense, out []float64) {
	n, _ := k.train.Dims()
	at, i := points.RawMatrix(), int(x[0])
	if i < n {
		row := k.matrix[i*n:][:n]
		for j := range out {
			out[j] = float64(row[int(at.Data[j*at.Stride])])
		}
		return
	}
	row := k.further(i - n)
	for j := range out {
		out[j] = math.NaN()
		if row != nil {
			out[j] = row[int(at.Data[j*at.Stride])]
		}
	}
}

// further returns the row of a test sample, nil where it fails.
func (k *largeKernel) further(i int) []float64 {
	if k.err != nil {
		return nil
	}
	if k.block == nil || i < k.first || i >= k.first+k.block.RawMatrix().Rows {
		tested, d := k.test.Dims()
		k.first = i
		if k.block, k.err = k.kernel.Matrix64(k.ctx, k.e, k.test.Slice(i, min(i+blockRows, tested), 0, d).(*mat.Dense),
			k.train); k.err != nil {
			k.block = nil
			return nil
		}
	}
	return k.block.RawRowView(i - k.first)
}

// largeMachine is machine for many samples: one matrix is kept at a time.
func (a *adversary) largeMachine(train, test *mat.Dense, labels []int) error {
	samples, columns := train.Dims()
	k := &largeKernel{ctx: a.ctx, e: engine.Of(a.Engine), train: train, test: test}
	// Rows of the cache are read from the matrix: few suffice.
	options := learn.SVMOptions{Kernel: k.fill, Iterations: a.searches, CacheBytes: 1 << 26}
	numbers, most := learn.RowNumbers(0, samples), -1.
	var best kernel.Kernel
	for _, g := range adversaryGammas {
		rbf := kernel.RBF(g / float64(columns))
		if err := k.of(rbf); err != nil {
			return err
		}
		choice, err := learn.CrossValidateC(numbers, labels, adversaryPenalties, adversaryFolds,
			a.Stream("cross-validation of an adversary"), options)
		if err != nil {
			return err
		}
		if accuracy := slices.Max(choice.Accuracy); accuracy > most {
			most, best, options.C = accuracy, rbf, choice.C
		}
	}
	if k.kernel.String() != best.String() {
		if err := k.of(best); err != nil {
			return err
		}
	}
	m, err := learn.TrainSVM(numbers, labels, options)
	if err != nil {
		return err
	}
	tested, _ := test.Dims()
	a.decide(m, learn.RowNumbers(samples, tested))
	return k.err
}
