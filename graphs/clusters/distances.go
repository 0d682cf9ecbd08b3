package clusters

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
)

// queryBlock is the number of queries of a run.
const queryBlock = 128

// Distances calls each for every query (row of queries, m×d) with its squared distances to the
// points (rows of x, n×d), up to a constant |q|²: |x_j|² − 2qᵀx_j, where the mean of the points
// is subtracted first, so that little cancels far from zero. The slice is valid until each
// returns. size is the largest of |x_j|² and |q|² about the mean; the error of a distance is at
// most about (3d+8)·2⁻⁵³ of it.
//
// It takes 2mnd operations and holds 128·n distances, in float64 on every engine.
func Distances(ctx context.Context, e *engine.Engine, x, queries *mat.Dense,
	each func(query int, distances []float64, size float64)) error {
	n, d := x.Dims()
	m, qd := queries.Dims()
	if qd != d {
		return fmt.Errorf("nearest neighbours: the queries have %d columns, the points %d; they must be as many", qd, d)
	}
	mean := make([]float64, d)
	for i := range n {
		floats.Add(mean, x.RawRowView(i))
	}
	floats.Scale(1/float64(n), mean)
	across, norms, size := mat.NewDense(d, n, nil), mat.NewDense(1, n, nil), 0.0
	row := make([]float64, d)
	for j := range n {
		floats.SubTo(row, x.RawRowView(j), mean)
		across.SetCol(j, row)
		norm := floats.Dot(row, row)
		norms.Set(0, j, -norm)
		size = max(size, norm)
	}
	rows := min(queryBlock, m)
	s, err := e.SessionAs(tensor.Float64, distanceProgram(rows, n, d))
	if err != nil {
		return err
	}
	defer s.Close()
	for name, v := range map[string]*mat.Dense{"x": across, "norms": norms} {
		if err := s.Pin(name, engine.NewMatrix(tensor.Float64, v)); err != nil {
			return err
		}
	}
	for first := 0; first < m; first += rows {
		moved := mat.NewDense(rows, d, nil) // zero after the last query
		lengths := make([]float64, min(rows, m-first))
		for i := range lengths {
			to := moved.RawRowView(i)
			floats.SubTo(to, queries.RawRowView(first+i), mean)
			lengths[i] = floats.Dot(to, to)
			floats.Scale(-2, to)
		}
		out, err := s.Run(ctx, engine.Values{"q": engine.NewMatrix(tensor.Float64, moved)})
		if err != nil {
			return err
		}
		distances, err := engine.Dense(out["d"])
		if err != nil {
			return err
		}
		for i, length := range lengths {
			each(first+i, distances.RawRowView(i), max(size, length))
		}
	}
	return nil
}

// distanceProgram computes "d" (m×n), QX − 1N, from "q" (m×d), −2 times the queries, "x" (d×n),
// the points as columns, and "norms" N (1×n), minus their squared lengths.
func distanceProgram(m, n, d int) engine.Program {
	return engine.Program{Name: "distances of neighbours", Key: fmt.Sprintf("neighbours %d %d %d", m, n, d),
		Build: func(b *engine.Builder) {
			products := b.Mul(b.Input("q", m, d), b.Input("x", d, n))
			b.Output("d", b.SubRow(products, b.Input("norms", 1, n)))
		}}
}
