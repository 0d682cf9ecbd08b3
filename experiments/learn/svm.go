package learn

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Kernel writes the kernel of x (d) and each of the points (m×d) to out (m). It must be symmetric.
// It need not be positive semidefinite; see pair for the search in that case.
type Kernel func(x []float64, points *mat.Dense, out []float64)

// LinearKernel is the inner product.
func LinearKernel(x []float64, points *mat.Dense, out []float64) {
	for i := range out {
		out[i] = floats.Dot(x, points.RawRowView(i))
	}
}

// MatrixKernel reads the kernel of points that are row numbers: a matrix with one column, as
// [RowNumbers] makes it, stands in for the features. The rows are those of the matrices in
// their order; column j is the kernel with point j, which the first matrix has as row j.
func MatrixKernel(matrices ...*mat.Dense) Kernel {
	return func(x []float64, points *mat.Dense, out []float64) {
		i := int(x[0])
		k := 0
		for rows := matrices[0].RawMatrix().Rows; i >= rows; rows = matrices[k].RawMatrix().Rows {
			i -= rows
			k++
		}
		row, at := matrices[k].RawRowView(i), points.RawMatrix()
		for i := range out {
			out[i] = row[int(at.Data[i*at.Stride])]
		}
	}
}

// RowNumbers returns first, first+1, ..., n of them, as a column.
func RowNumbers(first, n int) *mat.Dense {
	m := mat.NewDense(n, 1, nil)
	for i := range n {
		m.Set(i, 0, float64(first+i))
	}
	return m
}

// SVMIterations is the cap on the iterations of [TrainSVM] for a pair of classes.
const SVMIterations = 10_000_000

// ErrIterations is in the error of a search that stops at the cap on its iterations.
var ErrIterations = errors.New("the most that are allowed")

// SVMOptions adjusts [TrainSVM]; zero values stand for the defaults.
// C has the unit of 1/K: scaling a kernel by s and C by 1/s trains the same machine.
type SVMOptions struct {
	C          float64 // bound on the weight of a sample; default 1
	Kernel     Kernel  // default the inner product, for which predictions are fastest
	Tolerance  float64 // of the conditions of optimality; default 1e-3
	CacheBytes int64   // for rows of the kernel matrix; default 256 MiB
	Iterations int     // cap for each pair of classes; default [SVMIterations]
}

// withDefaults replaces zeros by the defaults.
func (o SVMOptions) withDefaults() SVMOptions {
	if o.C == 0 {
		o.C = 1
	}
	if o.Tolerance == 0 {
		o.Tolerance = 1e-3
	}
	if o.CacheBytes == 0 {
		o.CacheBytes = 1 << 28
	}
	if o.Iterations == 0 {
		o.Iterations = SVMIterations
	}
	return o
}

// SVM is a support vector machine for several classes: one machine decides
// between each two of them, and the class with most of these votes is
// predicted, the smallest of equals.
type SVM struct {
	Classes []int // in increasing order
	Pairs   []SVMPair
	kernel  Kernel     // nil for the inner product
	support *mat.Dense // samples that some pair uses; nil for the inner product
}

// SVMPair decides between two classes.
type SVMPair struct {
	Positive, Negative int     // the classes; Positive is the smaller
	Objective          float64 // of the dual problem, a minimum: ½αᵀQα − Σα
	Bias               float64
	Support            int // number of support vectors
	Iterations         int

	positive, negative int       // indices of the classes
	weights            []float64 // of the features, for the inner product
	rows               []int     // of SVM.support
	beta               []float64 // their weights
}

// TrainSVM trains a C-support vector machine, one against one, on the rows of x (N×d) and their
// labels. Given equal arguments it returns equal results.
//
// It returns an error where a search stops at the cap on its iterations, short of the tolerance,
// with the violation that was reached. It also returns one where there are fewer than two classes,
// a class has a single sample, numbers of x or of the kernel are not finite, or an option is not
// positive.
//
// Each pair solves min ½αᵀQα − Σα, yᵀα = 0, 0 ≤ α ≤ C, with Q_st = y_s y_t K_st (see smo). With L
// classes there are L(L−1)/2 pairs, each on the samples of two classes: together they cost less
// than one against the rest. Time grows between N² and N³ a pair, and with C.
func TrainSVM(x *mat.Dense, labels []int, opts SVMOptions) (*SVM, error) {
	machines, _, err := trainGrid(x, labels, []float64{opts.withDefaults().C}, opts)
	if err != nil {
		return nil, err
	}
	return machines[0], nil
}

// trainGrid is [TrainSVM] for every C of a grid. A pair's rows of the kernel serve all of them. The error is that of
// the first C that fails, and comes with its place in the grid.
func trainGrid(x *mat.Dense, labels []int, grid []float64, opts SVMOptions) (machines []*SVM, failed int, err error) {
	opts = opts.withDefaults()
	for g, c := range grid {
		if !(c > 0) || math.IsInf(c, 1) {
			return nil, g, fmt.Errorf("support vector machine: C is %v; a positive number is required", c)
		}
	}
	switch {
	case !(opts.Tolerance > 0):
		return nil, 0, fmt.Errorf("support vector machine: the tolerance is %v; a positive number is required",
			opts.Tolerance)
	case opts.Iterations < 1:
		return nil, 0, fmt.Errorf("support vector machine: %d iterations; at least one is required", opts.Iterations)
	}
	if err := checkSamples("support vector machine", x, labels); err != nil {
		return nil, 0, err
	}
	classes, members := byClass(labels)
	if len(classes) < 2 {
		return nil, 0, fmt.Errorf("support vector machine: all %d samples have the label %d; at least two classes are "+
			"required", len(labels), classes[0])
	}
	for k, rows := range members {
		if len(rows) == 1 {
			return nil, 0, fmt.Errorf("support vector machine: the class %d has a single sample (row %d); "+
				"at least two are required", classes[k], rows[0])
		}
	}
	for range grid {
		machines = append(machines, &SVM{Classes: classes, kernel: opts.Kernel})
	}
	var lent [2]rowMemory
	for a := range classes {
		for b := a + 1; b < len(classes) && len(machines) > 0; b++ {
			p := newPair(x, members[a], members[b], opts, &lent)
			for g := range machines {
				pair, e := p.train(grid[g])
				if e != nil {
					// Those of larger places are not needed any more.
					failed, machines = g, machines[:g]
					err = fmt.Errorf("support vector machine, classes %d and %d: %w", classes[a], classes[b], e)
					break
				}
				pair.Positive, pair.Negative, pair.positive, pair.negative = classes[a], classes[b], a, b
				machines[g].Pairs = append(machines[g].Pairs, *pair)
			}
		}
	}
	if err != nil {
		return nil, failed, err
	}
	for _, m := range machines {
		if m.kernel != nil {
			m.keepSupport(x)
		}
	}
	return machines, 0, nil
}

// keepSupport copies the samples in use and renumbers them.
func (m *SVM) keepSupport(x *mat.Dense) {
	n, _ := x.Dims()
	used, number := make([]bool, n), make([]int, n)
	for _, pair := range m.Pairs {
		for _, row := range pair.rows {
			used[row] = true
		}
	}
	var rows []int
	for row, u := range used {
		if u {
			number[row] = len(rows)
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		return // a tolerance that any machine fulfils
	}
	m.support = SelectRows(x, rows)
	for _, pair := range m.Pairs {
		for i, row := range pair.rows {
			pair.rows[i] = number[row]
		}
	}
}

// pairOf is the search for the machine between two classes.
type pairOf struct {
	x      *mat.Dense
	rows   []int // of x: the samples of both classes
	y      []float64
	cache  *rowCache
	opts   SVMOptions
	finite bool // no number of the kernel was not
}

// newPair prepares the rows of x. The memory of the kernel's rows, and of those among a part of the samples, is lent.
func newPair(x *mat.Dense, positive, negative []int, opts SVMOptions, lent *[2]rowMemory) *pairOf {
	p := &pairOf{x: x, rows: slices.Concat(positive, negative), opts: opts, finite: true}
	points := SelectRows(x, p.rows)
	p.y = make([]float64, len(p.rows))
	for i := range p.y {
		p.y[i] = -1
		if i < len(positive) {
			p.y[i] = 1
		}
	}
	kernel := opts.Kernel
	if kernel == nil {
		kernel = LinearKernel
	}
	fill := func(i int, row []float64) {
		kernel(points.RawRowView(i), points, row)
		for _, v := range row {
			p.finite = p.finite && v-v == 0
		}
	}
	diagonal := make([]float64, len(p.rows))
	for i := range diagonal {
		kernel(points.RawRowView(i), points.Slice(i, i+1, 0, points.RawMatrix().Cols).(*mat.Dense), diagonal[i:i+1])
		p.finite = p.finite && diagonal[i]-diagonal[i] == 0
	}
	p.cache = newRowCache(len(p.rows), opts.CacheBytes, fill, func(i int) float64 { return diagonal[i] })
	p.cache.lendTo(&lent[0], &lent[1])
	return p
}

// train returns the machine with the rows of x that it uses.
// For the inner product the weights Σβ_t x_t replace the support vectors: a decision
// then costs O(d) instead of O(Nd).
func (p *pairOf) train(c float64) (*SVMPair, error) {
	s := newSMO(p.cache, p.y, c, p.opts.Tolerance, p.opts.Iterations)
	reached := s.solve()
	if !p.finite || math.IsNaN(s.objective) || math.IsInf(s.objective, 0) || math.IsNaN(s.bias) ||
		math.IsInf(s.bias, 0) {
		return nil, fmt.Errorf("the kernel has values that are not finite")
	}
	if !(reached < p.opts.Tolerance) {
		return nil, fmt.Errorf("the search stopped after %d iterations, %w, with the conditions of optimality violated by "+
			"%.3g, and less than %g is wanted; use a smaller C, or features of a smaller scale", s.iterations, ErrIterations,
			reached, p.opts.Tolerance)
	}
	pair := &SVMPair{Objective: s.objective, Bias: s.bias, Iterations: s.iterations}
	for i, b := range s.beta {
		if b != 0 {
			pair.rows, pair.beta = append(pair.rows, p.rows[i]), append(pair.beta, b)
		}
	}
	pair.Support = len(pair.rows)
	if p.opts.Kernel == nil {
		_, d := p.x.Dims()
		pair.weights = make([]float64, d)
		for i, row := range pair.rows {
			floats.AddScaled(pair.weights, pair.beta[i], p.x.RawRowView(row))
		}
		pair.rows, pair.beta = nil, nil
	}
	return pair, nil
}

// Decisions writes the decision of every pair about the rows of x (M×d): the
// result is M × len(Pairs), positive for the pair's Positive class.
//
// The decision is Σ_t β_t K(x_t, x) + b, summed in the order of the samples. A sample
// that several pairs use is evaluated once.
func (m *SVM) Decisions(x *mat.Dense) *mat.Dense {
	n, _ := x.Dims()
	out := mat.NewDense(n, len(m.Pairs), nil)
	var values [4][]float64
	for k := range values {
		if m.support != nil {
			values[k] = make([]float64, m.support.RawMatrix().Rows)
		}
	}
	for i := 0; i < n; i += len(values) {
		together := min(n-i, len(values))
		for k := 0; k < together && m.support != nil; k++ {
			m.kernel(x.RawRowView(i+k), m.support, values[k])
		}
		for p := range m.Pairs {
			pair := &m.Pairs[p]
			d := [4]float64{pair.Bias, pair.Bias, pair.Bias, pair.Bias}
			if pair.weights != nil {
				for k := range together {
					d[k] += floats.Dot(pair.weights, x.RawRowView(i+k))
				}
			}
			pair.sums(&d, &values)
			for k := range together {
				out.Set(i+k, p, d[k])
			}
		}
	}
	return out
}

// sums adds the pair's sums of kernel values of four rows to d. A sum waits for each of its additions; those of four
// rows do not wait for one another.
func (p *SVMPair) sums(d *[4]float64, values *[4][]float64) {
	a, b, c, e := d[0], d[1], d[2], d[3]
	for k, r := range p.rows {
		beta := p.beta[k]
		a += beta * values[0][r]
		b += beta * values[1][r]
		c += beta * values[2][r]
		e += beta * values[3][r]
	}
	*d = [4]float64{a, b, c, e}
}

// Predict returns the class of each row of x (M×d).
func (m *SVM) Predict(x *mat.Dense) []int { return m.Vote(m.Decisions(x)) }

// Vote returns the class of each row of decisions (M × len(Pairs)).
func (m *SVM) Vote(decisions *mat.Dense) []int {
	n, _ := decisions.Dims()
	out, votes := make([]int, n), make([]int, len(m.Classes))
	for i := range out {
		out[i] = m.vote(decisions.RawRowView(i), votes)
	}
	return out
}

// Scores returns, for each of a number of classes from 0, how much each row of x (M×d) looks like it: the
// sum of the decisions of its pairs, and −Inf for a class without training samples.
func (m *SVM) Scores(x *mat.Dense, classes int) [][]float64 {
	decisions := m.Decisions(x)
	n, _ := x.Dims()
	out := make([][]float64, classes)
	for c := range out {
		out[c] = slices.Repeat([]float64{math.Inf(-1)}, n)
	}
	for _, c := range m.Classes {
		out[c] = make([]float64, n)
	}
	for p, pair := range m.Pairs {
		for i := range n {
			out[m.Classes[pair.positive]][i] += decisions.At(i, p)
			out[m.Classes[pair.negative]][i] -= decisions.At(i, p)
		}
	}
	return out
}

// PredictTogether returns one class for each group of rows of x (M×d), see VoteTogether.
func (m *SVM) PredictTogether(x *mat.Dense, groups [][]int) []int {
	return m.VoteTogether(m.Decisions(x), groups)
}

// VoteTogether returns one class for each group of rows of decisions (M × len(Pairs)), all
// of them about samples of one class: the decisions of every pair are summed over the group
// before it votes.
func (m *SVM) VoteTogether(decisions *mat.Dense, groups [][]int) []int {
	sums := mat.NewDense(max(len(groups), 1), len(m.Pairs), nil)
	for g, rows := range groups {
		for _, i := range rows {
			floats.Add(sums.RawRowView(g), decisions.RawRowView(i))
		}
	}
	out, votes := make([]int, len(groups)), make([]int, len(m.Classes))
	for g := range groups {
		out[g] = m.vote(sums.RawRowView(g), votes)
	}
	return out
}

// vote returns the class that most pairs decide for. A decision of exactly zero is a vote
// for the pair's Negative class. Votes is scratch, one for each class.
func (m *SVM) vote(decisions []float64, votes []int) int {
	clear(votes)
	for p, d := range decisions {
		if d > 0 {
			votes[m.Pairs[p].positive]++
		} else {
			votes[m.Pairs[p].negative]++
		}
	}
	return m.Classes[mostVoted(votes)]
}

// Accuracy is the share of equal elements of two lists of as many.
func Accuracy(predicted, labels []int) float64 {
	right := 0
	for i, p := range predicted {
		if p == labels[i] {
			right++
		}
	}
	return float64(right) / float64(len(labels))
}

// checkSamples wants finite rows and a label for each.
func checkSamples(who string, x *mat.Dense, labels []int) error {
	n, d := x.Dims()
	if n != len(labels) {
		return fmt.Errorf("%s: %d samples, but %d labels; they must be as many", who, n, len(labels))
	}
	if n == 0 || d == 0 {
		return fmt.Errorf("%s: there are no samples", who)
	}
	return checkFinite(who, x)
}

// checkFinite wants finite numbers.
func checkFinite(who string, x *mat.Dense) error {
	n, _ := x.Dims()
	for i := range n {
		for j, v := range x.RawRowView(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("%s: row %d, column %d of the samples is %v; finite numbers are required", who, i, j, v)
			}
		}
	}
	return nil
}

// mostVoted returns the place of the largest element, the first of equals.
func mostVoted[T int | float64](votes []T) int {
	best := 0
	for c, v := range votes {
		if v > votes[best] {
			best = c
		}
	}
	return best
}

// byClass returns the different labels in increasing order and the rows of each.
func byClass(labels []int) (classes []int, members [][]int) {
	classes = slices.Compact(slices.Sorted(slices.Values(labels)))
	members = make([][]int, len(classes))
	for row, label := range labels {
		k, _ := slices.BinarySearch(classes, label)
		members[k] = append(members[k], row)
	}
	return classes, members
}
