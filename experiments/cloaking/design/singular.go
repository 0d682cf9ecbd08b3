package design

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

const (
	// negligible is the norm of a row, over the largest, below which it is rounding: what is
	// left of a matrix moves no singular value by more than p·2⁻⁵⁶ of the largest.
	negligible = 0x1p-56
	// maxSweeps bounds the sweeps of Jacobi's method, which takes five to ten.
	maxSweeps = 60
)

// leftSingular returns the left singular vectors of c (P×k) and the singular values that are
// not rounding, largest first.
//
// Equal columns are taken together, and so are equal rows: C = R·C'·Eᵀ with one row and one
// column of C' (p×n) for each set, of sizes r and e, has the singular values of
// W = diag(√r)·C'·diag(√e) and the left vectors R·diag(1/√r)·U of its U. Of W the factor L
// (p×k) of a pivoted W = LV, with orthonormal rows of V, has the same ones. Both steps leave
// out what repeats or is rounding, which is most of a cloaking matrix: predictions at near
// inputs are nearly the same. Jacobi's rotations of the columns of L end at UΣ; after the
// pivoting they are graded, which is when the method is accurate in the small singular values,
// too, and ends after few sweeps (Drmač and Veselić, "New fast and accurate Jacobi SVD
// algorithm", SIAM Journal on Matrix Analysis and Applications 29, 2008).
func leftSingular(c *mat.Dense, rows, columns groups) (u *mat.Dense, values []float64, err error) {
	p, _ := c.Dims()
	// By a power of two, so that squares neither overflow nor vanish.
	_, exponent := math.Frexp(largestOf(c))
	exponent = max(exponent, -1000) // 2¹⁰⁰⁰ is finite
	t := pivoted(weighted(c, rows, columns, math.Ldexp(1, -exponent)))
	k, _ := t.Dims()
	if k == 0 {
		return nil, []float64{0}, nil
	}
	if !orthogonalise(t) {
		return nil, nil, fmt.Errorf("the singular value decomposition of the cloaking matrix (%d×%d) did not converge "+
			"in %d sweeps", p, len(columns.of), maxSweeps)
	}
	values = make([]float64, k)
	order := make([]int, k)
	for i := range order {
		order[i], values[i] = i, math.Sqrt(dot(t.RawRowView(i), t.RawRowView(i)))
	}
	slices.SortStableFunc(order, func(i, j int) int {
		if values[i] > values[j] {
			return -1
		} else if values[i] < values[j] {
			return 1
		}
		return 0
	})
	sorted, root := make([]float64, k), make([]float64, len(rows.size))
	for i, size := range rows.size {
		root[i] = math.Sqrt(size)
	}
	u = mat.NewDense(p, k, nil)
	for j, from := range order {
		sorted[j] = math.Ldexp(values[from], exponent)
		row := t.RawRowView(from)
		length := math.Copysign(values[from], leading(row))
		for i, set := range rows.of {
			u.Set(i, j, row[set]/(length*root[set]))
		}
	}
	return u, sorted, nil
}

// leading is the first of the largest elements, to six digits. Singular vectors have it
// positive: their sign, which noise is drawn with, does not hang on how they are found.
func leading(v []float64) float64 {
	largest := 0.0
	for _, x := range v {
		largest = max(largest, math.Abs(x))
	}
	return v[slices.IndexFunc(v, func(x float64) bool { return math.Abs(x) >= largest*(1-1e-6) })]
}

// weighted is W times a scale, one row and one column for each set of equal ones.
func weighted(c *mat.Dense, rows, columns groups, scale float64) *mat.Dense {
	w := mat.NewDense(len(rows.first), len(columns.first), nil)
	root := make([]float64, len(columns.first))
	for j, size := range columns.size {
		root[j] = math.Sqrt(size)
	}
	for i, from := range rows.first {
		src, dst, both := c.RawRowView(from), w.RawRowView(i), scale*math.Sqrt(rows.size[i])
		for j, column := range columns.first {
			dst[j] = src[column] * root[j] * both
		}
	}
	return w
}

// pivoted returns Lᵀ (k×p) of W = LV, with V the orthonormal rows that the modified
// Gram–Schmidt method finds when it takes the row of W (p×n) with the largest remainder
// first, until no remainder counts. W is overwritten.
func pivoted(w *mat.Dense) *mat.Dense {
	p, n := w.Dims()
	raw := w.RawMatrix()
	factor := make([]float64, 0, p*min(p, n))
	v := make([]float64, n)
	first := 0.0
	for k := range min(p, n) {
		pivot, largest := 0, 0.0
		for i := range p {
			if square := dot(w.RawRowView(i), w.RawRowView(i)); square > largest {
				pivot, largest = i, square
			}
		}
		largest = math.Sqrt(largest)
		if k == 0 {
			first = largest
		}
		if !(largest > negligible*first) {
			break
		}
		for j, x := range w.RawRowView(pivot) {
			v[j] = x / largest
		}
		factor = factor[:(k+1)*p]
		l := vector(factor[k*p:])
		blas64.Gemv(blas.NoTrans, 1, raw, vector(v), 0, l)
		blas64.Ger(-1, l, vector(v), raw)
		clear(w.RawRowView(pivot)) // but for rounding
	}
	if len(factor) == 0 {
		return new(mat.Dense)
	}
	return mat.NewDense(len(factor)/p, p, factor)
}

// orthogonalise rotates pairs of rows of t (k×p) until all are orthogonal to the last digits,
// the larger of each pair first. It reports false where that takes too many sweeps.
func orthogonalise(t *mat.Dense) bool {
	k, p := t.Dims()
	tolerance := float64(p) * 0x1p-53
	square := make([]float64, k)
	for range maxSweeps {
		for i := range square {
			square[i] = dot(t.RawRowView(i), t.RawRowView(i))
		}
		rotated := false
		for i := range k {
			for j := i + 1; j < k; j++ {
				a, b := t.RawRowView(i), t.RawRowView(j)
				if square[i] < square[j] {
					for x, v := range a {
						a[x], b[x] = b[x], v
					}
					square[i], square[j] = square[j], square[i]
				}
				inner := dot(a, b)
				if math.Abs(inner) <= tolerance*math.Sqrt(square[i])*math.Sqrt(square[j]) {
					continue
				}
				rotated = true
				// The smaller angle that makes the rows orthogonal.
				zeta := (square[j] - square[i]) / (2 * inner)
				tangent := 1 / (math.Abs(zeta) + math.Sqrt(1+zeta*zeta))
				if zeta < 0 {
					tangent = -tangent
				}
				cosine := 1 / math.Sqrt(1+tangent*tangent)
				rotate(a, b, cosine, cosine*tangent)
				square[i], square[j] = square[i]-tangent*inner, max(0, square[j]+tangent*inner)
			}
		}
		if !rotated {
			return true
		}
	}
	return false
}

// rotate sets (a, b) to (ca − sb, sa + cb).
func rotate(a, b []float64, c, s float64) {
	b = b[:len(a)]
	for x, v := range a {
		y := b[x]
		a[x], b[x] = c*v-s*y, s*v+c*y
	}
}

// dot is the inner product.
func dot(a, b []float64) float64 { return blas64.Dot(vector(a), vector(b)) }

// largestOf is the largest magnitude.
func largestOf(c *mat.Dense) float64 {
	p, _ := c.Dims()
	largest := 0.0
	for i := range p {
		for _, v := range c.RawRowView(i) {
			largest = max(largest, math.Abs(v))
		}
	}
	return largest
}

// groups are sets of equal rows or columns of a matrix.
type groups struct {
	of    []int     // the set of each row or column
	first []int     // the first member of each set, in ascending order
	size  []float64 // the members of each
}

// groupsOf puts what is equal together. Hash is a number that equal ones share.
func groupsOf(hash []uint64, equal func(i, j int) bool) groups {
	g := groups{of: make([]int, len(hash))}
	seen := make(map[uint64][]int, len(hash)) // the sets with that hash
	for i, h := range hash {
		at := slices.IndexFunc(seen[h], func(set int) bool { return equal(g.first[set], i) })
		if at >= 0 {
			g.of[i] = seen[h][at]
			g.size[g.of[i]]++
			continue
		}
		g.of[i] = len(g.first)
		seen[h] = append(seen[h], g.of[i])
		g.first, g.size = append(g.first, i), append(g.size, 1)
	}
	return g
}

// equalRows and equalColumns put together those that are equal in every bit.
func equalRows(c *mat.Dense) groups {
	p, _ := c.Dims()
	hash := make([]uint64, p)
	for i := range hash {
		for _, v := range c.RawRowView(i) {
			hash[i] = mixed(hash[i], v)
		}
	}
	return groupsOf(hash, func(i, j int) bool {
		b := c.RawRowView(j)
		for x, v := range c.RawRowView(i) {
			if math.Float64bits(v) != math.Float64bits(b[x]) {
				return false
			}
		}
		return true
	})
}

func equalColumns(c *mat.Dense) groups {
	p, n := c.Dims()
	hash := make([]uint64, n)
	for i := range p {
		for j, v := range c.RawRowView(i) {
			hash[j] = mixed(hash[j], v)
		}
	}
	return groupsOf(hash, func(i, j int) bool {
		for x := range p {
			if row := c.RawRowView(x); math.Float64bits(row[i]) != math.Float64bits(row[j]) {
				return false
			}
		}
		return true
	})
}

// mixed is the hash of Fowler, Noll and Vo on words, with the high bits folded back.
func mixed(h uint64, v float64) uint64 {
	h = (h ^ math.Float64bits(v)) * 1099511628211
	return h ^ h>>29
}
