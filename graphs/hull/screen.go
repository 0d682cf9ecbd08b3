package hull

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"
	"gorgonia.org/tensor"

	"privkern/graphs/cpublas"
	"privkern/graphs/engine"
)

// screen is a machine in screening coordinates, in float32. With the orthonormal rows V (s×p) of the
// machine's directions and G (m×p) of the basis, ‖G(y−A(y))‖ ≤ ‖y−A(y)‖, so that the distance in m
// coordinates is a lower bound of the distance in p. Up to rounding, the images are those of the
// machine, because a layer reads its query through V alone.
type screen struct {
	solutions []*tensor.Dense // of each layer, N×(s+m+1)
	// The transformation of queries, from an origin near them: the rows of V and μ ((s+1)×p),
	// Vμ (s), Gμ (m), and ‖μ‖².
	project        *mat.Dense
	scores, centre []float64
	square         float64
}

// displacement holds the queries of a chunk from the origin: y (q×p), Gy (q×m) and ‖y‖² (q).
type displacement struct {
	points, coordinates *mat.Dense
	square              []float64
}

const (
	// screenColumns is the number of columns of a machine in screening coordinates: s scores, m
	// leading directions of the queries, and the memberships. Products are fastest with a multiple
	// of 32.
	screenColumns = 96
	// minScreenDims is the least number m.
	minScreenDims = 32
)

// prepare chooses screening coordinates from the queries, and transforms the machines.
//
// The basis holds the leading principal directions of the queries, because most of the length of
// y−A(y) lies in directions in which queries differ. Where p is too small to gain by it, full is set
// instead.
func (s *search) prepare(queries *mat.Dense) error {
	q, p := queries.Dims()
	dims := 0
	for _, m := range s.machines {
		dims = max(dims, m.Dim())
	}
	m := min(max(minScreenDims, screenColumns-dims-1), q-1)
	s.full = p <= 2*screenColumns || m < 1
	if s.opts.Exhaustive || s.direct || s.full {
		return nil
	}
	sample := queries.Slice(0, min(q, screenSample), 0, p).(*mat.Dense)
	f := newFit(s.e, sample)
	if err := principal(s.ctx, s.e, [][]*fit{{f}}, m); err != nil {
		return err
	}
	if f.err != nil {
		return f.err
	}
	if f.directions == nil { // equal queries
		s.full = true
		return nil
	}
	s.basis, s.origin = f.directions, f.mean
	s.screens = make([]screen, len(s.machines))
	return s.e.ParallelFor(s.ctx, len(s.machines), 1, func(i, _ int) error {
		s.screens[i] = newScreen(s.machines[i], s.basis, s.origin)
		return nil
	})
}

// newScreen transforms a machine to the coordinates of the rows of basis (m×p). The product takes
// 2N·p·m operations per layer, once per search.
func newScreen(m *Machine, basis *mat.Dense, origin []float64) (out screen) {
	dims, _ := basis.Dims()
	out.project = mat.NewDense(m.Dim()+1, m.columns, nil)
	out.project.Copy(m.directions)
	mean := out.project.RawRowView(m.Dim())
	for j, v := range m.mean {
		mean[j] = v - origin[j]
		out.square += mean[j] * mean[j]
	}
	out.scores, out.centre = make([]float64, m.Dim()), make([]float64, dims)
	mat.NewVecDense(m.Dim(), out.scores).MulVec(m.directions, mat.NewVecDense(m.columns, mean))
	mat.NewVecDense(dims, out.centre).MulVec(basis, mat.NewVecDense(m.columns, mean))
	rows := convert[float32](basis.RawMatrix().Data)
	for _, l := range m.layers {
		from := engine.Data(asType(l.solutions, tensor.Float32)).([]float32)
		s, p, c := m.Dim(), m.columns, len(out.centre)
		wide, narrow := s+p+1, s+c+1
		b := make([]float32, m.samples*narrow)
		for i := range m.samples {
			copy(b[i*narrow:], from[i*wide:i*wide+s])
			b[(i+1)*narrow-1] = from[(i+1)*wide-1]
		}
		cpublas.Gemm(blas.NoTrans, blas.Trans, m.samples, c, p, 1, from[s:], wide, rows, p, 0, b[s:], narrow)
		out.solutions = append(out.solutions, engine.TensorOf(b, m.samples, narrow))
	}
	return out
}

// bounds computes lower bounds of the distances of the chunk's queries to all layers of all machines.
// A pair takes 2N(s+m+1) operations per layer, instead of 2N(s+p+1).
func (s *search) bounds() error {
	q := len(s.best)
	s.lower, s.sharp, s.done = make([][][]float64, len(s.machines)), make([][][]bool, len(s.machines)),
		make([][][]bool, len(s.machines))
	s.known = nil
	if !s.full && s.e.ElementType() == tensor.Float32 {
		s.known = make([][][]float64, len(s.machines))
	}
	var from *displacement
	if !s.full {
		from = s.shift()
	}
	return s.e.ParallelFor(s.ctx, len(s.machines), 1, func(b, _ int) error {
		m := s.machines[b]
		var solutions []*tensor.Dense
		c := s.columns
		if s.full {
			solutions = m.solutions(tensor.Float32)
		} else {
			solutions, c = s.screens[b].solutions, len(s.screens[b].centre)
		}
		s.lower[b], s.sharp[b], s.done[b] = make([][]float64, len(m.layers)), make([][]bool, len(m.layers)),
			make([][]bool, len(m.layers))
		for l := range m.layers {
			s.lower[b][l], s.sharp[b][l], s.done[b][l] = make([]float64, q), make([]bool, q), make([]bool, q)
		}
		for lo := 0; lo < q; lo += queryTile {
			hi := min(lo+queryTile, q)
			var z *tensor.Dense
			var size []float64
			if s.full {
				z, size = s.allCoordinates(b, lo, hi)
			} else {
				z, size = s.screens[b].coordinates(from, lo, hi)
			}
			out, err := m.run(s.ctx, s.e, solutions, 0, z, c, false)
			if err != nil {
				return err
			}
			for l := range m.layers {
				d := engine.Data(out[fmt.Sprintf("distance %d", l)]).([]float32)
				for i, v := range d {
					s.bound(b, l, lo+i, float64(v), size[i], s.full)
				}
			}
		}
		return nil
	})
}

// shift returns the displacement of the chunk's queries.
func (s *search) shift() *displacement {
	q := len(s.best)
	out := &displacement{points: mat.NewDense(q, s.columns, nil), coordinates: new(mat.Dense), square: make([]float64, q)}
	for i := range q {
		to := out.points.RawRowView(i)
		for j, v := range s.queries.RawRowView(i) {
			to[j] = v - s.origin[j]
			out.square[i] += to[j] * to[j]
		}
	}
	out.coordinates.Mul(out.points, s.basis.T())
	return out
}

// coordinates returns [V(y−μ), G(y−μ)] of the queries from lo to hi, (hi−lo)×(s+m), and the sizes
// ‖y−μ‖. Differences are rounded, not their terms, so that a common offset costs no accuracy.
func (sc *screen) coordinates(from *displacement, lo, hi int) (*tensor.Dense, []float64) {
	dims, c := len(sc.scores), len(sc.centre)
	q, cols := hi-lo, dims+c
	z, size := make([]float32, q*cols), make([]float64, q)
	_, p := from.points.Dims()
	var projected mat.Dense
	projected.Mul(from.points.Slice(lo, hi, 0, p), sc.project.T())
	for i := range q {
		to, row := z[i*cols:(i+1)*cols], projected.RawRowView(i)
		for j, v := range sc.scores {
			to[j] = float32(row[j] - v)
		}
		for j, v := range from.coordinates.RawRowView(lo + i) {
			to[dims+j] = float32(v - sc.centre[j])
		}
		// ‖y−μ‖² = ‖y‖² − 2yᵀμ + ‖μ‖² in float64, from an origin in the middle of the queries. It
		// scales the slack, and need not be exact.
		size[i] = math.Sqrt(max(0, from.square[lo+i]-2*row[dims]+sc.square))
	}
	return engine.TensorOf(z, q, cols), size
}

// allCoordinates returns [V(y−μ), y−μ] of the queries from lo to hi for machine b,
// (hi−lo)×(s+p), and the sizes ‖y−μ‖.
func (s *search) allCoordinates(b, lo, hi int) (*tensor.Dense, []float64) {
	m := s.machines[b]
	size := make([]float64, hi-lo)
	for i := range size {
		size[i] = s.size(b, lo+i)
	}
	return coordinates[float32](m, s.queries.Slice(lo, hi, 0, s.columns).(*mat.Dense)), size
}

// bound sets the lower bound d − slack·(‖y−μ‖ + d) from the float32 distance d of query i to a layer:
// rounding enters with the coordinates of the query and with those of the image. Without an image,
// or beyond the range of float32, the bound is −∞, because in the machine's own precision there may
// be a distance.
func (s *search) bound(b, l, i int, d, size float64, sharp bool) {
	if math.IsInf(d, 1) || math.IsNaN(d) || math.IsInf(size, 1) {
		d, size = math.Inf(-1), 0
	}
	s.lower[b][l][i], s.sharp[b][l][i] = d-s.slack*(size+max(d, 0)), sharp
}

// single returns the float32 distance that bound was called with.
func (s *search) single(b, l, i int, size float64) float64 {
	return (s.lower[b][l][i] + s.slack*size) / (1 - s.slack)
}

// raise sets the upper bounds from the sharp lower bounds.
func (s *search) raise() {
	for b, m := range s.machines {
		g := s.group(b)
		for i := range s.best {
			size := -1.0
			for l := range m.layers {
				if lower := s.lower[b][l][i]; s.sharp[b][l][i] && lower > 0 && lower < s.upper[i][g] {
					if size < 0 {
						size = s.size(b, i)
					}
					d := s.single(b, l, i, size)
					s.upper[i][g] = min(s.upper[i][g], d+s.slack*(size+d))
				}
			}
		}
	}
}

// size returns ‖y−μ‖ of query i for machine b.
func (s *search) size(b, i int) float64 {
	sum := 0.0
	for j, v := range s.queries.RawRowView(i) {
		d := v - s.machines[b].mean[j]
		sum += d * d
	}
	return math.Sqrt(sum)
}
