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

// queryTile bounds the queries that are evaluated in one run of a graph. It is large
// enough for the matrix products to run at full speed, and bounds the memory of an image
// to queryTile × (s+p) numbers.
const queryTile = 1024

// Distances returns the distances of queries (q×p) to their images in every
// layer (q×L, Eq. 52), +Inf where there is no image.
//
// The engine has the element type of the one that fitted the machine. A query takes
// 2N(n+p+1) operations a layer and N exponentials.
func (m *Machine) Distances(ctx context.Context, e *engine.Engine, queries *mat.Dense) (*mat.Dense, error) {
	d, _, err := m.evaluate(ctx, e, queries, false)
	return d, err
}

// Images returns the images of queries (q×p) under every layer (L matrices,
// q×p, Eq. 51) and their distances (q×L). An image that does not exist is NaN.
// Coordinates are those of the samples: the mean is added again.
func (m *Machine) Images(ctx context.Context, e *engine.Engine,
	queries *mat.Dense) (images []*mat.Dense, distances *mat.Dense, err error) {
	distances, images, err = m.evaluate(ctx, e, queries, true)
	return images, distances, err
}

// NearestLayer returns the distance of a query to the machine (Eq. 53), the
// smallest of a row of Distances, and the layer that it belongs to.
func NearestLayer(distances []float64) (layer int, distance float64) {
	distance = math.Inf(1)
	for l, d := range distances {
		if d < distance {
			layer, distance = l, d
		}
	}
	return layer, distance
}

// evaluate is Distances and Images: layers are nested in one program, so that the
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
	s := m.Dim()
	for lo := 0; lo < q; lo += queryTile {
		hi := min(lo+queryTile, q)
		rows := queries.Slice(lo, hi, 0, p).(*mat.Dense)
		out, err := m.run(ctx, e, m.solutions(), m.coordinates(e, rows), p, 0, len(m.layers), images)
		if err != nil {
			return nil, nil, err
		}
		for l := range m.layers {
			d, err := engine.Floats(out[fmt.Sprintf("distance %d", l)])
			if err != nil {
				return nil, nil, err
			}
			for i, v := range d {
				distances.Set(lo+i, l, v)
			}
			if !images {
				continue
			}
			image, err := engine.Dense(out[fmt.Sprintf("image %d", l)])
			if err != nil {
				return nil, nil, err
			}
			for i := range hi - lo {
				to := points[l].RawRowView(lo + i)
				for j, v := range image.RawRowView(i)[s:] {
					to[j] = v + m.mean[j]
				}
			}
		}
	}
	return distances, points, nil
}

// coordinates returns [V(y−μ), y−μ] of queries, q×(s+p), in the engine's
// element type.
func (m *Machine) coordinates(e *engine.Engine, queries *mat.Dense) *tensor.Dense {
	if e.DType() == tensor.Float32.String() {
		return coordinates[float32](m, queries)
	}
	return coordinates[float64](m, queries)
}

// Differences are taken in float64 and rounded once, so that a common offset of samples
// and queries costs no digits in float32.
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

// solutions are B of all layers, N×(s+p+1) each.
func (m *Machine) solutions() []*tensor.Dense {
	s := make([]*tensor.Dense, len(m.layers))
	for l := range s {
		s[l] = m.layers[l].solutions
	}
	return s
}

// run evaluates the layers from first to before last with c coordinates beside
// the scores. The element type is that of the queries, which the solutions of
// these layers share.
//
// c is p, or the number of screening coordinates, or 0 for scores alone. The solutions
// are N×(s+c+1).
func (m *Machine) run(ctx context.Context, e *engine.Engine, solutions []*tensor.Dense,
	queries *tensor.Dense, c, first, last int, images bool) (engine.Values, error) {
	in := engine.Values{"queries": queries}
	for l := first; l < last; l++ {
		in[fmt.Sprintf("points %d", l)] = asType(m.layers[l].points, queries.Dtype())
		in[fmt.Sprintf("weights %d", l)] = asType(m.layers[l].weights, queries.Dtype())
		in[fmt.Sprintf("solutions %d", l)] = solutions[l]
	}
	return e.RunAs(ctx, queries.Dtype(), machineProgram(queries.Shape()[0], m.samples, m.Dim(), c, first, last, images),
		in)
}

// solutions32 are the solutions of all layers in float32.
func (m *Machine) solutions32() []*tensor.Dense {
	s := make([]*tensor.Dense, len(m.layers))
	for l := range s {
		s[l] = asType(m.layers[l].solutions, tensor.Float32)
	}
	return s
}

// solved32 are the solutions of a machine's layers in float32; those in all
// coordinates only where need[layer] asks for them.
func (m *Machine) solved32(need [][]bool) (full, scores []*tensor.Dense) {
	for l, layer := range m.layers {
		var all *tensor.Dense
		if slices.Contains(need[l], true) {
			all = asType(layer.solutions, tensor.Float32)
		}
		full, scores = append(full, all), append(scores, asType(layer.scores, tensor.Float32))
	}
	return full, scores
}

// chosenDistances returns the distances of queries (q×p) to the layers that
// need[layer][query] asks for, +Inf where there is no image; others are NaN.
// Layers that nobody asks for cost their principal scores only, which the next
// layer reads.
func (m *Machine) chosenDistances(ctx context.Context, e *engine.Engine, queries *mat.Dense,
	need [][]bool) ([][]float64, error) {
	if e.DType() == tensor.Float32.String() {
		return chosenDistances[float32](ctx, m, e, m.solutions(), m.scoreSolutions(), queries, need)
	}
	return chosenDistances[float64](ctx, m, e, m.solutions(), m.scoreSolutions(), queries, need)
}

// full are the solutions in all coordinates, N×(s+p+1), scores those in scores alone,
// N×(s+1). Layer by layer the queries fall into two groups, which may overlap: those
// whose distance is wanted now, for 2N(s+p) operations, and those that a later layer
// needs, for 2Ns. With p = 784 and s = 20 the second is a fortieth of the first.
func chosenDistances[T cpublas.Float](ctx context.Context, m *Machine, e *engine.Engine, full, scores []*tensor.Dense,
	queries *mat.Dense, need [][]bool) ([][]float64, error) {
	q, p := queries.Dims()
	s := m.Dim()
	z := engine.Data(coordinates[T](m, queries)).([]T) // q×(s+p); the scores are those of the latest image
	distances := make([][]float64, len(m.layers))
	for l := range distances {
		distances[l] = make([]float64, q)
		for i := range q {
			distances[l][i] = math.NaN()
		}
	}
	for l := range m.layers {
		var now, later []int
		for i := range q {
			if need[l][i] {
				now = append(now, i)
			}
			for _, n := range need[l+1:] {
				if n[i] {
					later = append(later, i)
					break
				}
			}
		}
		if len(now) > 0 {
			out, err := m.run(ctx, e, full, gather(z, s+p, s+p, now), p, l, l+1, false)
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
		out, err := m.run(ctx, e, scores, gather(z, s+p, s, later), 0, l, l+1, true)
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

// gather returns the first take of the cols columns of some rows. The last row
// is repeated a few times, which makes graphs of few different shapes.
// Every shape has a graph of its own, which is compiled once: rows come in multiples of
// 8, of 32 beyond 64.
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

// scoreSolutions are [scores of B', b] of all layers, N×(s+1) each.
func (m *Machine) scoreSolutions() []*tensor.Dense {
	s := make([]*tensor.Dense, len(m.layers))
	for l := range s {
		s[l] = m.layers[l].scores
	}
	return s
}

// asType returns a matrix in an element type, without a copy where it has it.
func asType(a *tensor.Dense, dtype tensor.Dtype) *tensor.Dense {
	if a.Dtype() == dtype {
		return a
	}
	if dtype == tensor.Float32 {
		return engine.TensorOf(convert[float32](engine.Data(a).([]float64)), a.Shape()...)
	}
	return engine.TensorOf(convert[float64](engine.Data(a).([]float32)), a.Shape()...)
}
