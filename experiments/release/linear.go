package release

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// Linear is the query Qx of private numbers x (N) with a public matrix Q (R×N).
type Linear struct {
	q       *mat.Dense
	largest []float64 // bounds |x_j|
	query   Query
}

// smallestChange is far above where float64 loses digits.
const smallestChange = 0x1p-1010

// NewLinear describes the query Qx where the protected unit moves one element of
// x by at most change, or where units is not nil all of its elements, each as often as it is there, and
// |x_j| ≤ largest_j.
//
// The sensitivity is change·max_j ‖q_j‖ of the matrix that is applied, or change·[LargestMove], because nothing
// certifies how a matrix was designed. Rounding errors are bounded: a computed sum
// of N products is off by at most γ_N Σ_j |Q_ij x_j|, γ_N = Nu/(1 − Nu), u = 2^-53,
// in any order and with or without fused operations (Higham, "Accuracy and
// stability of numerical algorithms", 2002, Eq. 3.5), and by the smallest float64
// a product that underflows.
func NewLinear(what string, q *mat.Dense, change float64, units [][]int, largest []float64) (*Linear, error) {
	r, n := q.Dims()
	if len(largest) != n {
		return nil, fmt.Errorf("a defect: %d bounds for %d private numbers", len(largest), n)
	}
	l := &Linear{q: q, largest: largest, query: Query{What: what, Coordinates: r}}
	if !finite(q.RawMatrix().Data) || !finite(largest) {
		return nil, fmt.Errorf("%s: the public matrix is not finite", what)
	}
	l.query.Change = Up(change * LargestMove(q, units))
	if l.query.Change > 0 && l.query.Change < smallestChange {
		const advice = "bring the data to a scale nearer one"
		return nil, fmt.Errorf("%s: a sensitivity of %g is too small for double precision: %s", what, l.query.Change, advice)
	}
	gamma := float64(n+2) * 0x1p-53
	gamma /= 1 - gamma
	errs := make([]float64, r)
	for i := range errs {
		size := 0.0
		for j, v := range q.RawRowView(i) {
			size += math.Abs(v) * largest[j]
		}
		size = Up(size * (1 + 2*gamma))
		l.query.Size = max(l.query.Size, Up(size*(1+gamma)))
		errs[i] = gamma*size + float64(n)*math.SmallestNonzeroFloat64
	}
	// Nrm2 scales: squares of such small numbers would underflow.
	l.query.Error = Up(norm2(errs) * normSlack(r))
	return l, nil
}

// norm2 is the Euclidean norm.
func norm2(v []float64) float64 {
	return blas64.Nrm2(blas64.Vector{N: len(v), Inc: 1, Data: v})
}

func finite(values []float64) bool {
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// Query describes the query to the noise.
func (l *Linear) Query() Query { return l.query }

// Of computes Qx. It returns an error for numbers beyond their bounds, which is a
// defect of the caller: they are clipped before.
func (l *Linear) Of(x []float64) ([]float64, error) {
	r, n := l.q.Dims()
	if len(x) != n {
		return nil, fmt.Errorf("a defect: %d private numbers for %d columns", len(x), n)
	}
	for j, v := range x {
		if !(math.Abs(v) <= l.largest[j]) {
			return nil, errors.New("a defect: a private number is beyond its bound")
		}
	}
	out := make([]float64, r)
	for i := range out {
		sum := 0.0
		for j, v := range l.q.RawRowView(i) {
			sum += v * x[j]
		}
		out[i] = sum
	}
	return out, nil
}
