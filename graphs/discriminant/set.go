package discriminant

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
	"privkern/graphs/op"
)

// Set holds P compressive kernels of the same samples, each scaled to trace one (Eq. 17), for the
// computation of weights. It keeps only inner products and class sums of the factors Z_l, which
// are small.
//
// Weights are in the order of the kernels and not negative.
type Set struct {
	blocks []block // the columns of each kernel
	gram   *mat.SymDense
	// Sums of the features over the classes, L×r.
	utilitySums, privacySums *mat.Dense
	utility, privacy         *classes
	traces                   []float64
	ranges                   []kernelRange
}

// block is the range [from, to) of columns of the joint factor.
type block struct{ from, to int }

// size returns the number of columns, Q of the kernel.
func (b block) size() int { return b.to - b.from }

// kernelRange is the range of a compressive kernel: its nonzero eigenvalues s (k) and the
// coordinates V (Q×k) in which it is diagonal. K̂ = ZZᵀ = ESEᵀ with the orthonormal E = ZVS^(−½)
// and ZᵀZ = VSVᵀ, which is only Q×Q.
type kernelRange struct {
	s []float64
	v *mat.Dense
}

// rangeTolerance is the share of the largest eigenvalue below which eigenvalues are treated as zero.
const rangeTolerance = 1e-12

// NewSet returns the set of the compressive kernels Z_l Z_lᵀ of N samples, with the labels of the
// task (utility) and those to be hidden (privacy).
//
// It computes ZᵀZ (r×r) of the joint factor Z (N×r) and the class sums (L×r), in float64 on every
// engine. Norms and inner products of kernels follow from these, ⟨K̂_k, K̂_l⟩_F = ‖Z_kᵀZ_l‖²_F,
// without N×N matrices. It returns an error if the numbers of samples differ, or a kernel has
// trace zero.
func NewSet(ctx context.Context, e *engine.Engine, factors []*mat.Dense, utility, privacy []int) (*Set, error) {
	if len(factors) == 0 {
		return nil, errors.New("combining kernels: there is none")
	}
	s := &Set{}
	var err error
	if s.utility, err = newClasses(utility); err != nil {
		return nil, fmt.Errorf("combining kernels, utility: %w", err)
	}
	if s.privacy, err = newClasses(privacy); err != nil {
		return nil, fmt.Errorf("combining kernels, privacy: %w", err)
	}
	n, columns := len(utility), 0
	for l, z := range factors {
		if z == nil || z.IsEmpty() {
			return nil, fmt.Errorf("combining kernels: kernel %d (counted from 0) is empty", l)
		}
		if rows, _ := z.Dims(); rows != n || len(privacy) != n {
			return nil, fmt.Errorf("combining kernels: kernel %d (counted from 0) has %d samples, for %d utility and %d "+
				"privacy labels", l, rows, n, len(privacy))
		}
		_, c := z.Dims()
		s.blocks = append(s.blocks, block{columns, columns + c})
		columns += c
	}
	all := mat.NewDense(n, columns, nil)
	for l, z := range factors {
		all.Slice(0, n, s.blocks[l].from, s.blocks[l].to).(*mat.Dense).Copy(z)
	}
	if err := s.multiply(ctx, e, all); err != nil {
		return nil, err
	}
	return s, s.normalise()
}

// multiply computes inner products and class sums of the joint factor.
func (s *Set) multiply(ctx context.Context, e *engine.Engine, z *mat.Dense) error {
	n, columns := z.Dims()
	lu, lp := s.utility.number(), s.privacy.number()
	var indicators mat.Dense
	indicators.Augment(s.utility.indicators(), s.privacy.indicators())
	out, err := e.RunAs(ctx, tensor.Float64, productsProgram(n, columns, lu+lp),
		engine.Values{"z": engine.NewMatrix(tensor.Float64, z), "e": engine.NewMatrix(tensor.Float64, &indicators)})
	if err != nil {
		return err
	}
	r := engine.Read(out)
	gram, sums := r.Floats("gram"), r.Dense("sums")
	if err := r.Err(); err != nil {
		return err
	}
	s.gram = mat.NewSymDense(columns, gram)
	s.utilitySums = mat.DenseCopyOf(sums.Slice(0, lu, 0, columns))
	s.privacySums = mat.DenseCopyOf(sums.Slice(lu, lu+lp, 0, columns))
	return nil
}

// normalise scales every kernel to trace one, and decomposes it.
func (s *Set) normalise() error {
	columns := s.gram.SymmetricDim()
	scale := make([]float64, columns)
	for l, b := range s.blocks {
		trace := 0.0
		for i := b.from; i < b.to; i++ {
			trace += s.gram.At(i, i)
		}
		if !(trace > 0) || math.IsInf(trace, 1) {
			return fmt.Errorf("combining kernels: kernel %d (counted from 0) has the trace %g and cannot be scaled to one", l,
				trace)
		}
		s.traces = append(s.traces, trace)
		for i := b.from; i < b.to; i++ {
			scale[i] = 1 / math.Sqrt(trace)
		}
	}
	for i := range columns {
		for j := i; j < columns; j++ {
			s.gram.SetSym(i, j, s.gram.At(i, j)*scale[i]*scale[j])
		}
	}
	for _, sums := range []*mat.Dense{s.utilitySums, s.privacySums} {
		sums.Apply(func(_, j int, v float64) float64 { return v * scale[j] }, sums)
	}
	for _, b := range s.blocks {
		r, err := rangeOf(s.gram.SliceSym(b.from, b.to).(*mat.SymDense))
		if err != nil {
			return fmt.Errorf("combining kernels: %w", err)
		}
		s.ranges = append(s.ranges, r)
	}
	return nil
}

// rangeOf decomposes a Gram matrix. It keeps at least one eigenvalue.
func rangeOf(gram *mat.SymDense) (kernelRange, error) {
	var eigen mat.EigenSym
	if !eigen.Factorize(gram, true) {
		return kernelRange{}, &op.NoConvergenceError{Order: gram.SymmetricDim()}
	}
	values := eigen.Values(nil)
	var v mat.Dense
	eigen.VectorsTo(&v)
	n, first := len(values), 0
	for first < n-1 && values[first] <= rangeTolerance*values[n-1] {
		first++
	}
	return kernelRange{s: values[first:], v: mat.DenseCopyOf(v.Slice(0, n, first, n))}, nil
}

// Trace returns the trace of kernel l (counted from 0) before scaling.
func (s *Set) Trace(l int) float64 { return s.traces[l] }

// Rank returns the rank of Σ_l μ_l K̂_l for the weights μ.
func (s *Set) Rank(weights []float64) (int, error) {
	m := s.weighted(weights)
	r, err := rangeOf(m)
	if err != nil {
		return 0, err
	}
	return len(r.s), nil
}

// Frobenius returns the Frobenius norm of Σ_l μ_l K̂_l, which is that of the Gram matrix (r×r) of
// the weighted features.
func (s *Set) Frobenius(weights []float64) float64 {
	m := s.weighted(weights)
	return mat.Norm(m, 2) // ‖ZᵀZ‖_F = ‖ZZᵀ‖_F
}

// weighted returns the Gram matrix (r×r) of the weighted features, √(μ_k μ_l) z_iᵀz_j for columns
// i of kernel k and j of kernel l.
func (s *Set) weighted(weights []float64) *mat.SymDense {
	root := make([]float64, s.gram.SymmetricDim())
	for l, b := range s.blocks {
		for i := b.from; i < b.to; i++ {
			root[i] = math.Sqrt(weights[l])
		}
	}
	m := mat.NewSymDense(len(root), nil)
	for i := range root {
		for j := i; j < len(root); j++ {
			m.SetSym(i, j, s.gram.At(i, j)*root[i]*root[j])
		}
	}
	return m
}

// Combine returns the features of the combined kernel (Eq. 16): the factors side by side, each
// scaled by √(μ_l/trace_l) with the traces of the set. Kernels of weight zero are left out. The
// factors may be those of other samples than the set's.
func (s *Set) Combine(factors []*mat.Dense, weights []float64) (*mat.Dense, error) {
	if len(factors) != len(s.blocks) || len(weights) != len(s.blocks) {
		return nil, fmt.Errorf("combining %d kernels: %d factors and %d weights", len(s.blocks), len(factors), len(weights))
	}
	columns := 0
	for l, b := range s.blocks {
		if !(weights[l] >= 0) || math.IsInf(weights[l], 1) {
			return nil, fmt.Errorf("combining kernels: weight %d (counted from 0) is %g", l, weights[l])
		}
		if _, c := factors[l].Dims(); c != b.size() {
			return nil, fmt.Errorf("combining kernels: factor %d (counted from 0) has %d columns, not %d", l, c, b.size())
		}
		if weights[l] > 0 {
			columns += b.size()
		}
	}
	if columns == 0 {
		return nil, errors.New("combining kernels: all weights are zero")
	}
	n, _ := factors[0].Dims()
	z := mat.NewDense(n, columns, nil)
	at := 0
	for l, f := range factors {
		if weights[l] == 0 {
			continue
		}
		if rows, _ := f.Dims(); rows != n {
			return nil, fmt.Errorf("combining kernels: factor %d (counted from 0) has %d samples, factor 0 has %d", l, rows, n)
		}
		scale := math.Sqrt(weights[l] / s.traces[l])
		for i := range n {
			to := z.RawRowView(i)[at:]
			for j, v := range f.RawRowView(i) {
				to[j] = scale * v
			}
		}
		at += s.blocks[l].size()
	}
	return z, nil
}
