package discriminant

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// classes holds labels as class indices from 0, in the order of the labels.
type classes struct {
	of     []int     // the class of each sample, N
	counts []float64 // the number of samples of each class, L
}

// newClasses numbers labels in increasing order. It returns an error if there are none, or more than
// maxClasses different ones.
func newClasses(labels []int) (*classes, error) {
	if len(labels) == 0 {
		return nil, errors.New("there are no labels")
	}
	distinct := slices.Clone(labels)
	slices.Sort(distinct)
	distinct = slices.Compact(distinct)
	if len(distinct) > maxClasses {
		return nil, fmt.Errorf("the labels have %d different values: more than %d classes are not computed with",
			len(distinct), maxClasses)
	}
	c := &classes{of: make([]int, len(labels)), counts: make([]float64, len(distinct))}
	for i, l := range labels {
		k, _ := slices.BinarySearch(distinct, l)
		c.of[i] = k
		c.counts[k]++
	}
	return c, nil
}

// maxClasses limits the number of classes, because more suggest a column of numbers instead of
// labels.
const maxClasses = 1000

// number returns L, the number of classes.
func (c *classes) number() int { return len(c.counts) }

// indicators returns the N×L matrix with a one for the class of each sample.
func (c *classes) indicators() *mat.Dense {
	e := mat.NewDense(len(c.of), c.number(), nil)
	for i, k := range c.of {
		e.Set(i, k, 1)
	}
	return e
}

// contrasts returns T (L×(L−1)) such that the basis is U = indicators·T.
//
// The columns of indicators·diag(1/√N_l) are orthonormal, and their combination with
// w_l = √(N_l/N) is the constant. A Householder matrix that maps the first axis to w has a basis
// of the orthogonal complement of w in its other columns. U is orthonormal to rounding for any
// class sizes. Results do not depend on the choice of the basis, because K_B and every score
// depend only on UUᵀ.
func (c *classes) contrasts() *mat.Dense {
	l := c.number()
	n := float64(len(c.of))
	v := make([]float64, l) // w + sign(w_0)e_0; w_0 is positive
	for i, count := range c.counts {
		v[i] = math.Sqrt(count / n)
	}
	v[0]++
	square := 2 * v[0] // ‖v‖²
	t := mat.NewDense(l, l-1, nil)
	for i, count := range c.counts {
		for j := 1; j < l; j++ {
			h := -2 * v[i] * v[j] / square
			if i == j {
				h++
			}
			t.Set(i, j-1, h/math.Sqrt(count))
		}
	}
	return t
}

// basis returns U (N×(L−1)), whose columns are orthonormal and sum to zero, 1ᵀU = 0.
func (c *classes) basis() *mat.Dense {
	t := c.contrasts()
	u := mat.NewDense(len(c.of), c.number()-1, nil)
	for i, k := range c.of {
		u.SetRow(i, t.RawRowView(k))
	}
	return u
}
