package design

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// weighted is W = diag(√r)·C'·diag(√e) of the C = R·C'·Eᵀ with one row and one column of C' for
// each set of equal ones, of sizes r and e: it has the singular values of C, and of its left
// vectors U the matrix C has R·diag(1/√r)·U.
func weighted(c *mat.Dense, rows, columns groups) *mat.Dense {
	w := mat.NewDense(len(rows.first), len(columns.first), nil)
	root := columns.roots()
	for i, from := range rows.first {
		src, dst, both := c.RawRowView(from), w.RawRowView(i), math.Sqrt(rows.size[i])
		for j, column := range columns.first {
			dst[j] = src[column] * root[j] * both
		}
	}
	return w
}

// groups are sets of equal rows or columns of a matrix.
type groups struct {
	of    []int     // the set of each row or column
	first []int     // the first member of each set, in ascending order
	size  []float64 // the members of each
}

// roots are those of the sizes.
func (g groups) roots() []float64 {
	out := make([]float64, len(g.size))
	for i, size := range g.size {
		out[i] = math.Sqrt(size)
	}
	return out
}

// EqualRows returns the set of equal rows of x (n×d) that each row is in, numbered in the order of their first
// members, and these and the sizes of the sets.
func EqualRows(x *mat.Dense) (of, first []int, size []float64) {
	g := equalRows(x)
	return g.of, g.first, g.size
}

// groupsOf groups equal elements. Hash returns a number that equal elements share.
func groupsOf(hash []uint64, equal func(i, j int) bool) groups {
	g := groups{of: make([]int, len(hash))}
	seen := make(map[uint64]int, len(hash)) // the latest set with that hash, from 1
	var before []int                        // the set before it with the same hash; 0 for none
	for i, h := range hash {
		at := seen[h]
		for at > 0 && !equal(g.first[at-1], i) {
			at = before[at-1]
		}
		if at > 0 {
			g.of[i] = at - 1
			g.size[at-1]++
			continue
		}
		g.of[i] = len(g.first)
		before, seen[h] = append(before, seen[h]), len(g.first)+1
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
