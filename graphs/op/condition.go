package op

import (
	"math"

	"gorgonia.org/tensor"

	"privkern/graphs/cpublas"
	"privkern/graphs/kernels"
	"privkern/graphs/parallel"
)

// ReciprocalCondition is the operation (A, L) → an estimate of 1/(‖A‖₁ ‖A⁻¹‖₁) for A = L
// Lᵀ, in O(n²) operations (as LAPACK's pocon).
//
// ‖A⁻¹‖₁ is not computed but searched for, by the ascent of Hager and Higham over unit
// vectors and signs (Higham, "FORTRAN codes for estimating the one-norm of a real or
// complex matrix", ACM TOMS 14, 1988, Algorithm 4.1), in about ten solves. The result
// is a lower bound of the norm, rarely below a third of it, so that the operation returns an
// upper bound of the reciprocal condition: right in its order of magnitude, which suffices for
// a warning.
func ReciprocalCondition() Op {
	return Op{def: &definition{
		name: "ReciprocalCondition", in: []int{2, 2}, out: 0,
		shape: func(in []tensor.Shape) (tensor.Shape, error) {
			if _, err := solve(in); err != nil {
				return nil, err
			}
			return squareToScalar(in)
		},
		run64: reciprocalCondition[float64], run32: reciprocalCondition[float32],
		launch: launchReciprocalCondition,
		cases: func(s *sampler) []Case {
			a := s.definite(small)
			overflow := applied("ReciprocalCondition overflow", ReciprocalCondition(), 1, s.definite(32), s.overflowing(32))
			// Solutions overflow to NaN, and no element is the largest one.
			overflow.Double = true
			large := s.definite(kernels.ConditionOrder + 8) // by several kernels
			return []Case{applied("ReciprocalCondition", ReciprocalCondition(), 10, a, lowerOf(a)), overflow,
				applied("ReciprocalCondition of a large matrix", ReciprocalCondition(), 10, large, lowerOf(large))}
		},
	}}
}

// searches is LAPACK's limit of the steps of the ascent.
const searches = 4

// reciprocalCondition is the CPU kernel of ReciprocalCondition, in float64: a float32
// factor of an ill-conditioned matrix has solutions that overflow float32. By symmetry
// the largest sum of a row of A is its one-norm. Solutions that overflow float64 leave a NaN
// for the norm of the inverse, and zero for the result.
func reciprocalCondition[T cpublas.Float](c call[T]) error {
	a := c.in[0]
	sums := make([]float64, a.rows)
	if err := rowTiles(c.pool, a.rows, func(i int) { sums[i] = sumAbsolute(a.row(i)) }); err != nil {
		return err
	}
	norm := 0.0
	for _, s := range sums {
		norm = max(norm, s)
	}
	inverse, err := inverseNorm(c.pool, toFloat64(c.in[1].data), a.rows)
	if err != nil {
		return err
	}
	c.out.data[0] = 0
	if norm > 0 && inverse > 0 {
		c.out.data[0] = T(1 / norm / inverse)
	}
	return nil
}

// inverseNorm returns the estimate of ‖A⁻¹‖₁ from the factor of A = L Lᵀ of order n.
func inverseNorm(pool *parallel.Pool, l []float64, n int) (float64, error) {
	x, signs := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = 1 / float64(n)
	}
	estimate, last := 0.0, -1
	for range searches {
		if err := substitute(pool, l, n, x, 1); err != nil {
			return 0, err
		}
		sum := sumAbsolute(x)
		changed := takeSigns(x, signs)
		before := estimate
		if !(sum <= estimate) {
			estimate = sum
		}
		if !changed || sum <= before {
			break
		}
		if err := substitute(pool, l, n, x, 1); err != nil {
			return 0, err
		}
		first := largestAbsolute(x)
		if first < 0 || last >= 0 && math.Abs(x[last]) == math.Abs(x[first]) {
			break
		}
		clear(x)
		x[first], last = 1, first
	}
	for i := range x { // x_i = ±(1 + i/(n−1)), for matrices at which the ascent fails
		x[i] = 1 + float64(i)/float64(max(1, n-1))
		if i%2 != 0 {
			x[i] = -x[i]
		}
	}
	if err := substitute(pool, l, n, x, 1); err != nil {
		return 0, err
	}
	if alternate := 2 * sumAbsolute(x) / float64(3*n); alternate > estimate {
		estimate = alternate
	}
	return estimate, nil
}

// takeSigns overwrites x by its signs, keeps them in signs, and reports whether any has
// changed.
func takeSigns(x, signs []float64) (changed bool) {
	for i, v := range x {
		x[i] = math.Copysign(1, v)
		changed = changed || x[i] != signs[i]
		signs[i] = x[i]
	}
	return changed
}

// largestAbsolute returns the index of the first element of the largest absolute value, -1 where
// all are NaN.
func largestAbsolute(x []float64) int {
	largest, at := -1.0, -1
	for i, v := range x {
		if a := math.Abs(v); a > largest {
			largest, at = a, i
		}
	}
	return at
}

// sumAbsolute returns Σ |row_j| in float64, by four sums.
func sumAbsolute[T cpublas.Float](row []T) float64 {
	var s0, s1, s2, s3 float64
	for ; len(row) >= 4; row = row[4:] {
		s0 += math.Abs(float64(row[0]))
		s1 += math.Abs(float64(row[1]))
		s2 += math.Abs(float64(row[2]))
		s3 += math.Abs(float64(row[3]))
	}
	for _, v := range row {
		s0 += math.Abs(float64(v))
	}
	return (s0 + s1) + (s2 + s3)
}

// launchReciprocalCondition queues one kernel for the whole search, or for a larger order all
// steps that it could need, so that the host need not wait for its end; those after the end do
// nothing.
func launchReciprocalCondition(t Stream) {
	a, l := t.In(0), t.In(1)
	n := a.Rows
	if n <= kernels.ConditionOrder {
		t.Launch(kernels.EstimateCondition{A: a, L: l, N: n, Searches: searches, Out: t.Out()})
		return
	}
	x, signs, state := t.Scratch(n, 1), t.Scratch(n, 1), t.Doubles(4)
	norm := kernels.RowNormParts{A: a, N: n}
	parts := norm.Grid().Blocks
	norm.Parts = t.Doubles(parts)
	t.Launch(norm)
	t.Launch(kernels.ConditionBegin{X: x, Signs: signs, State: state, N: n})
	for range searches {
		substituteOn(t, l, x)
		t.Launch(kernels.ConditionSigns{X: x, Signs: signs, State: state, N: n})
		substituteOn(t, l, x)
		t.Launch(kernels.ConditionUnit{X: x, State: state, N: n})
	}
	substituteOn(t, l, x)
	t.Launch(kernels.ConditionSigns{X: x, Signs: signs, State: state, N: n})
	t.Launch(kernels.ConditionAlternate{X: x, N: n})
	substituteOn(t, l, x)
	t.Launch(kernels.ConditionEnd{X: x, State: state, Parts: norm.Parts, Count: parts, N: n, Out: t.Out()})
}
