package linalg

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/tensor"

	"privkern/graphs/batch"
	"privkern/graphs/engine"
	"privkern/graphs/internal/finite"
)

// Singular holds the singular values of an m×n matrix in descending order, without those that are
// rounding, and their left singular vectors.
type Singular struct {
	Values []float64  // up to min(m, n); none for a matrix of zeros
	Left   *mat.Dense // m×len(Values), orthonormal columns; nil for none
	// Err is an *[op.NoConvergenceError] if the decomposition failed.
	Err error
}

// LeftSingular decomposes matrices of any sizes by [op.LeftSingular], in float64 on every engine.
// Matrices of one size class form one batch, and each has the same bits alone and among others.
// It returns an error if a matrix is empty or not finite, or the context ends.
func LeftSingular(ctx context.Context, e *engine.Engine, matrices []*mat.Dense) ([]Singular, error) {
	for i, a := range matrices {
		if a == nil || a.IsEmpty() {
			return nil, batch.OfProblem(errors.New("the matrix is empty"), i, len(matrices))
		}
		if err := finite.Matrix("the matrix", a); err != nil {
			return nil, batch.OfProblem(err, i, len(matrices))
		}
	}
	found := make([]Singular, len(matrices))
	groups := batch.Divide(matrices, singularTogether)
	err := e.ParallelFor(ctx, len(groups), 1, func(i, _ int) error {
		return leftSingular(ctx, e, &groups[i], matrices, found)
	})
	return found, err
}

// singularTogether returns the number of matrices in one batch, 64 MiB.
func singularTogether(rows, cols int) int { return (1 << 23) / (rows * cols) }

// singularProgram computes "e" of m matrices "a" (m×rows×cols), in the layout of [op.LeftSingular].
func singularProgram(m, rows, cols int) engine.Program {
	return engine.Program{
		Name: "left singular vectors",
		Key:  fmt.Sprintf("left singular %d %d %d", m, rows, cols),
		Build: func(b *engine.Builder) {
			b.Output("e", b.LeftSingular(b.Tensor("a", m, rows, cols)))
		},
	}
}

// leftSingular decomposes the matrices of a group in one batch, padded by zeros, which add neither
// singular values nor elements of the vectors.
func leftSingular(ctx context.Context, e *engine.Engine, g *batch.Group, matrices []*mat.Dense,
	found []Singular) error {
	members := make([]*mat.Dense, len(g.Members))
	for i, number := range g.Members {
		members[i] = matrices[number]
	}
	a, err := batch.Matrices(tensor.Float64, g.Rows, g.Cols, members)
	if err != nil {
		return err
	}
	out, err := e.RunAs(ctx, tensor.Float64, singularProgram(len(members), g.Rows, g.Cols), engine.Values{"a": a})
	failed := make([]error, len(members))
	if err := batch.Failures(err, failed); err != nil {
		return err
	}
	elements, err := engine.Floats(out["e"])
	if err != nil {
		return err
	}
	size := min(g.Rows, g.Cols) * (g.Rows + 1)
	for i, number := range g.Members {
		if found[number].Err = failed[i]; failed[i] == nil {
			found[number] = singularOf(members[i], elements[i*size:(i+1)*size], g.Rows+1)
		}
	}
	return nil
}

// singularOf reads the decomposition of a from lines that hold a value and its vector.
func singularOf(a *mat.Dense, lines []float64, length int) (s Singular) {
	m, n := a.Dims()
	for i := 0; i < min(m, n) && lines[i*length] > 0; i++ {
		s.Values = append(s.Values, lines[i*length])
	}
	if len(s.Values) == 0 {
		return s
	}
	s.Left = mat.NewDense(m, len(s.Values), nil)
	for j := range s.Values {
		s.Left.SetCol(j, lines[j*length+1:j*length+1+m])
	}
	return s
}
