package discriminant

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// classes are labels as numbers from 0, in the order of the labels.
type classes struct {
	of     []int     // class of each sample
	counts []float64 // samples of each class
}

// newClasses numbers labels in increasing order. It is an error where there are none, or
// more than maxClasses different ones.
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

// maxClasses keeps a column of numbers from being taken for labels.
const maxClasses = 1000

// number is L, the number of classes.
func (c *classes) number() int { return len(c.counts) }

// indicators returns the N×L matrix with a one for the class of each sample.
func (c *classes) indicators() *mat.Dense {
	e := mat.NewDense(len(c.of), c.number(), nil)
	for i, k := range c.of {
		e.Set(i, k, 1)
	}
	return e
}

// contrasts returns T, L×(L−1): the basis U is the indicators times T. With w_l =
// √(N_l/N), the columns of indicators·diag(1/√N_l) are orthonormal and give the constant
// with w; a Householder matrix that maps the first axis to w has in its other columns
// what is orthogonal to it.
//
// One reflection gives all of it, and U is orthonormal to rounding whatever the class
// sizes. Which basis of the span is taken has no part in the results: K_B and every
// score depend on UUᵀ alone.
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

// basis returns U, N×(L−1).
// Its columns are orthonormal and sum to zero, 1ᵀU = 0.
func (c *classes) basis() *mat.Dense {
	t := c.contrasts()
	u := mat.NewDense(len(c.of), c.number()-1, nil)
	for i, k := range c.of {
		u.SetRow(i, t.RawRowView(k))
	}
	return u
}
