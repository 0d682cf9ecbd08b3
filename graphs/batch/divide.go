package batch

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Group is a batch of problems whose matrices have one size class.
type Group struct {
	Rows, Cols int   // the size class
	Members    []int // numbers of the problems, in ascending order
}

// Divide puts problems into groups by the size class of their matrices alone. most returns the
// number of problems of a class that fit in memory together; a group has at least one.
func Divide(problems []*mat.Dense, most func(rows, cols int) int) []Group {
	return DivideBy(problems, SizeClass, most)
}

// DivideBy is Divide with a size class of rows of its own; that of columns is [SizeClass].
func DivideBy(problems []*mat.Dense, ofRows func(n int) int, most func(rows, cols int) int) []Group {
	order := make([]int, len(problems))
	for i := range order {
		order[i] = i
	}
	class := func(i int) (rows, cols int) {
		r, c := problems[i].Dims()
		return ofRows(r), SizeClass(c)
	}
	slices.SortStableFunc(order, func(i, j int) int {
		ri, ci := class(i)
		rj, cj := class(j)
		return cmp.Or(ri-rj, ci-cj)
	})
	var groups []Group
	for _, i := range order {
		rows, cols := class(i)
		last := len(groups) - 1
		if last < 0 || groups[last].Rows != rows || groups[last].Cols != cols ||
			len(groups[last].Members) >= max(1, most(rows, cols)) {
			groups = append(groups, Group{Rows: rows, Cols: cols})
			last++
		}
		groups[last].Members = append(groups[last].Members, i)
	}
	return groups
}

// OfProblem adds the number of the problem to its error, where there are several.
func OfProblem(err error, i, of int) error {
	if err == nil || of == 1 {
		return err
	}
	return fmt.Errorf("problem %d of %d: %w", i+1, of, err)
}
