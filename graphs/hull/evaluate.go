package hull

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"
	"gorgonia.org/tensor"

	"privkern/graphs/cpublas"
	"privkern/graphs/engine"
)

// queryTile bounds the queries of one run on the CPU. Matrix products reach their full speed at
// this size, and an image takes queryTile×(s+p) numbers.
const queryTile = 1024

// Distances returns the distances of queries (q×p) to their images in every layer (q×L, Eq. 52),
// +Inf where there is no image.
//
// The engine has the element type of the one that fitted the machine. A query takes 2N(n+p+1)
// operations and N exponentials per layer.
func (m *Machine) Distances(ctx context.Context, e *engine.Engine, queries *mat.Dense) (*mat.Dense, error) {
	d, _, err := m.evaluate(ctx, e, queries, false)
	return d, err
}

// Images returns the images of queries (q×p) under every layer (L matrices, q×p, Eq. 51) and
// their distances (q×L). An image that does not exist is NaN. Coordinates are those of the
// samples: the mean is added again.
func (m *Machine) Images(ctx context.Context, e *engine.Engine,
	queries *mat.Dense) (images []*mat.Dense, distances *mat.Dense, err error) {
	distances, images, err = m.evaluate(ctx, e, queries, true)
	return images, distances, err
}

// NearestLayer returns the distance of a query to the machine (Eq. 53), which is the smallest in
// a row of Distances, and its layer.
func NearestLayer(distances []float64) (layer int, distance float64) {
	distance = math.Inf(1)
	for l, d := range distances {
		if d < distance {
			layer, distance = l, d
		}
	}
	return layer, distance
}

// evaluate computes Distances and, on demand, Images. One program nests the layers, so that the
// principal scores of an image stay on the device between them.
func (m *Machine) evaluate(ctx context.Context, e *engine.Engine, queries *mat.Dense,
	images bool) (*mat.Dense, []*mat.Dense, error) {
	q, p := queries.Dims()
	if p != m.columns {
		return nil, nil, fmt.Errorf("kernel affine hull machine: queries of %d columns for samples of %d", p, m.columns)
	}
	distances := mat.NewDense(q, len(m.layers), nil)
	var points []*mat.Dense
	if images {
		for range m.layers {
			points = append(points, mat.NewDense(q, p, nil))
		}
	}
	for lo := 0; lo < q; lo += queryTile {
		hi := min(lo+queryTile, q)
		z := m.coordinates(e, queries.Slice(lo, hi, 0, p).(*mat.Dense))
		out, err := m.run(ctx, e, m.solutions(z.Dtype()), 0, z, p, images)
		if err != nil {
			return nil, nil, err
		}
		r := engine.Read(out)
		for l := range m.layers {
			for i, v := range r.Floats(fmt.Sprintf("distance %d", l)) {
				distances.Set(lo+i, l, v)
			}
			if !images {
				continue
			}
			image := r.Dense(fmt.Sprintf("image %d", l))
			if r.Err() != nil {
				break
			}
			for i := range hi - lo {
				to := points[l].RawRowView(lo + i)
				for j, v := range image.RawRowView(i)[m.Dim():] {
					to[j] = v + m.mean[j]
				}
			}
		}
		if err := r.Err(); err != nil {
			return nil, nil, err
		}
	}
	return distances, points, nil
}

// coordinates returns [V(y−μ), y−μ] of queries, q×(s+p), in the engine's element type.
func (m *Machine) coordinates(e *engine.Engine, queries *mat.Dense) *tensor.Dense {
	if e.ElementType() == tensor.Float32 {
		return coordinates[float32](m, queries)
	}
	return coordinates[float64](m, queries)
}

// Differences are taken in float64 and rounded once, so that a common offset of samples and
// queries costs no digits in float32.
func coordinates[T cpublas.Float](m *Machine, queries *mat.Dense) *tensor.Dense {
	q, p := queries.Dims()
	s := m.Dim()
	cols := s + p
	z := make([]T, q*cols)
	for i := range q {
		to := z[i*cols+s:]
		for j, v := range queries.RawRowView(i) {
			to[j] = T(v - m.mean[j])
		}
	}
	v := convert[T](m.directions.RawMatrix().Data)
	cpublas.Gemm(blas.NoTrans, blas.Trans, q, s, p, 1, z[s:], cols, v, p, 0, z, cols)
	return engine.TensorOf(z, q, cols)
}

// solutions returns B of all layers, N×(s+p+1) each, in an element type.
func (m *Machine) solutions(dtype tensor.Dtype) []*tensor.Dense {
	s := make([]*tensor.Dense, len(m.layers))
	for l := range s {
		s[l] = asType(m.layers[l].solutions, dtype)
	}
	return s
}

// run evaluates the layers from first on that have the given solutions, N×(s+c+1) each, at queries
// (q×(s+c), see machineProgram), in the element type of the queries. The number c of coordinates
// after the scores is p, the number of screening coordinates, or 0.
func (m *Machine) run(ctx context.Context, e *engine.Engine, solutions []*tensor.Dense, first int,
	queries *tensor.Dense, c int, images bool) (engine.Values, error) {
	in := engine.Values{"queries": queries}
	for i, s := range solutions {
		l := first + i
		in[fmt.Sprintf("points %d", l)] = asType(m.layers[l].points, queries.Dtype())
		in[fmt.Sprintf("weights %d", l)] = asType(m.layers[l].weights, queries.Dtype())
		in[fmt.Sprintf("solutions %d", l)] = s
	}
	program := machineProgram(queries.Shape()[0], m.samples, m.Dim(), c, first, first+len(solutions), images)
	return e.RunAs(ctx, queries.Dtype(), program, in)
}

// chosenDistances returns the distances of queries (q×p) to the layers for which
// need[layer][query] is set, +Inf where there is no image; others are NaN. It computes in the
// engine's element type.
func (m *Machine) chosenDistances(ctx context.Context, e *engine.Engine, queries *mat.Dense,
	need [][]bool) ([][]float64, error) {
	if e.ElementType() == tensor.Float32 {
		return chosenDistances[float32](ctx, m, e, queries, need)
	}
	return chosenDistances[float64](ctx, m, e, queries, need)
}

// Layer by layer the queries fall into two groups, which may overlap: a distance that is needed
// takes 2N(s+p) operations, and principal scores for a later layer take 2Ns. With p = 784 and
// s = 20 the second is a fortieth of the first.
func chosenDistances[T cpublas.Float](ctx context.Context, m *Machine, e *engine.Engine, queries *mat.Dense,
	need [][]bool) ([][]float64, error) {
	q, p := queries.Dims()
	s, all := m.Dim(), coordinates[T](m, queries)
	z, dtype := engine.Data(all).([]T), all.Dtype() // q×(s+p); the scores are those of the latest image
	distances := make([][]float64, len(m.layers))
	for l := range distances {
		distances[l] = slices.Repeat([]float64{math.NaN()}, q)
	}
	for l := range m.layers {
		var now, later []int
		for i := range q {
			if need[l][i] {
				now = append(now, i)
			}
			if slices.ContainsFunc(need[l+1:], func(n []bool) bool { return n[i] }) {
				later = append(later, i)
			}
		}
		if len(now) > 0 {
			full := []*tensor.Dense{asType(m.layers[l].solutions, dtype)}
			out, err := m.run(ctx, e, full, l, gather(z, s+p, s+p, now), p, false)
			if err != nil {
				return nil, err
			}
			d := engine.Data(out[fmt.Sprintf("distance %d", l)]).([]T)
			for r, i := range now {
				distances[l][i] = float64(d[r])
			}
		}
		if len(later) == 0 {
			break
		}
		scores := []*tensor.Dense{asType(m.layers[l].scores, dtype)}
		out, err := m.run(ctx, e, scores, l, gather(z, s+p, s, later), 0, true)
		if err != nil {
			return nil, err
		}
		image := engine.Data(out[fmt.Sprintf("image %d", l)]).([]T)
		for r, i := range later {
			copy(z[i*(s+p):i*(s+p)+s], image[r*s:(r+1)*s])
		}
	}
	return distances, nil
}

// gather returns the first take of the cols columns of some rows. Their number is rounded up to a
// multiple of 8, beyond 64 of 32, by repeating the last row, because every shape has a graph of
// its own, which is compiled once.
func gather[T cpublas.Float](a []T, cols, take int, rows []int) *tensor.Dense {
	n := (len(rows) + 7) / 8 * 8
	if n > 64 {
		n = (n + 31) / 32 * 32
	}
	out := make([]T, n*take)
	for r := range n {
		i := rows[min(r, len(rows)-1)]
		copy(out[r*take:(r+1)*take], a[i*cols:i*cols+take])
	}
	return engine.TensorOf(out, n, take)
}

// asType returns a matrix in an element type, and a itself where it has that type.
func asType(a *tensor.Dense, dtype tensor.Dtype) *tensor.Dense {
	if a.Dtype() == dtype {
		return a
	}
	if dtype == tensor.Float32 {
		return engine.TensorOf(convert[float32](engine.Data(a).([]float64)), a.Shape()...)
	}
	return engine.TensorOf(convert[float64](engine.Data(a).([]float32)), a.Shape()...)
}
