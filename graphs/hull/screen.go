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
	// The transformation of queries, from an origin near them: where the rows of V and μ ((s+1)×p)
	// begin in those of all machines, Vμ (s), Gμ (m), and ‖μ‖².
	row            int
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
	// screenTile bounds the queries of one run in screening coordinates, for which constants are
	// packed; screenAbreast bounds the machines whose transformations are one product, for which
	// queries are packed. Both copies would take a twentieth of the time without.
	screenTile    = 4096
	screenAbreast = 8
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
	rows := 0
	for i, m := range s.machines {
		s.screens[i].row = rows
		rows += m.Dim() + 1
	}
	s.project = mat.NewDense(rows, p, nil)
	return s.e.ParallelFor(s.ctx, len(s.machines), 1, func(i, _ int) error {
		m, sc := s.machines[i], &s.screens[i]
		sc.transform(m, s.basis, s.origin, s.project.Slice(sc.row, sc.row+m.Dim()+1, 0, p).(*mat.Dense))
		return nil
	})
}

// transform transforms a machine to the coordinates of the rows of basis (m×p), and sets its rows of
// project ((s+1)×p). The product takes 2N·p·m operations per layer, once per search.
func (sc *screen) transform(m *Machine, basis *mat.Dense, origin []float64, project *mat.Dense) {
	dims, _ := basis.Dims()
	project.Copy(m.directions)
	mean := project.RawRowView(m.Dim())
	for j, v := range m.mean {
		mean[j] = v - origin[j]
		sc.square += mean[j] * mean[j]
	}
	sc.scores, sc.centre = make([]float64, m.Dim()), make([]float64, dims)
	mat.NewVecDense(m.Dim(), sc.scores).MulVec(m.directions, mat.NewVecDense(m.columns, mean))
	mat.NewVecDense(dims, sc.centre).MulVec(basis, mat.NewVecDense(m.columns, mean))
	rows := convert[float32](basis.RawMatrix().Data)
	for _, l := range m.layers {
		from := engine.Data(asType(l.solutions, tensor.Float32)).([]float32)
		s, p, c := m.Dim(), m.columns, len(sc.centre)
		wide, narrow := s+p+1, s+c+1
		b := make([]float32, m.samples*narrow)
		for i := range m.samples {
			copy(b[i*narrow:], from[i*wide:i*wide+s])
			b[(i+1)*narrow-1] = from[(i+1)*wide-1]
		}
		cpublas.Gemm(blas.NoTrans, blas.Trans, m.samples, c, p, 1, from[s:], wide, rows, p, 0, b[s:], narrow)
		sc.solutions = append(sc.solutions, engine.TensorOf(b, m.samples, narrow))
	}
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
	for b, m := range s.machines {
		s.lower[b], s.sharp[b], s.done[b] = make([][]float64, len(m.layers)), make([][]bool, len(m.layers)),
			make([][]bool, len(m.layers))
		for l := range m.layers {
			s.lower[b][l], s.sharp[b][l], s.done[b][l] = make([]float64, q), make([]bool, q), make([]bool, q)
		}
	}
	if !s.full {
		return s.screened()
	}
	return s.e.ParallelFor(s.ctx, len(s.machines), 1, func(b, _ int) error {
		solutions := s.machines[b].solutions(tensor.Float32)
		for lo := 0; lo < q; lo += queryTile {
			z, size := s.allCoordinates(b, lo, min(lo+queryTile, q))
			if err := s.boundsOf(b, lo, solutions, z, s.columns, size); err != nil {
				return err
			}
		}
		return nil
	})
}

// screened is bounds in screening coordinates. Each worker takes some machines at a time.
func (s *search) screened() error {
	q, from, n := len(s.best), s.shift(), len(s.machines)
	abreast := max(1, min(screenAbreast, n/(2*s.e.Workers())))
	return s.e.ParallelFor(s.ctx, n, abreast, func(first, end int) error {
		rows, _ := s.project.Dims()
		if end < n {
			rows = s.screens[end].row
		}
		project := s.project.Slice(s.screens[first].row, rows, 0, s.columns).T()
		var projected mat.Dense
		for lo := 0; lo < q; lo += screenTile {
			hi := min(lo+screenTile, q)
			projected.Reset()
			projected.Mul(from.points.Slice(lo, hi, 0, s.columns), project)
			for b := first; b < end; b++ {
				sc := &s.screens[b]
				at := sc.row - s.screens[first].row
				z, size := sc.coordinates(from, lo, projected.Slice(0, hi-lo, at, at+len(sc.scores)+1).(*mat.Dense))
				if err := s.boundsOf(b, lo, sc.solutions, z, len(sc.centre), size); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// boundsOf computes lower bounds of the distances of the queries from lo on to the layers of machine b:
// queries z (·×(s+c)) and solutions in the same coordinates, and the sizes ‖y−μ‖.
func (s *search) boundsOf(b, lo int, solutions []*tensor.Dense, z *tensor.Dense, c int, size []float64) error {
	out, err := s.machines[b].run(s.ctx, s.e, solutions, 0, z, c, false)
	if err != nil {
		return err
	}
	for l := range solutions {
		d := engine.Data(out[fmt.Sprintf("distance %d", l)]).([]float32)
		for i, v := range d {
			s.bound(b, l, lo+i, float64(v), size[i], s.full)
		}
	}
	return nil
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

// coordinates returns [V(y−μ), G(y−μ)] of the queries from lo on, q×(s+m), and the sizes ‖y−μ‖, from
// the products of the queries with V and μ (q×(s+1)). Differences are rounded, not their terms, so that
// a common offset costs no accuracy.
func (sc *screen) coordinates(from *displacement, lo int, projected *mat.Dense) (*tensor.Dense, []float64) {
	dims, c := len(sc.scores), len(sc.centre)
	q, _ := projected.Dims()
	cols := dims + c
	z, size := make([]float32, q*cols), make([]float64, q)
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
