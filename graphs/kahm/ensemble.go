package kahm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"
	"gorgonia.org/tensor"

	"privkern/graphs/cpublas"
	"privkern/graphs/engine"
)

// Ensemble finds, among many machines, the one that a point is nearest to: the
// branches of a wide machine (Definitions 5 and 6), the classes of a classifier
// (Definition 7), the parties of a federation (Eq. 104).
//
// Distances are exact, in the machines' own precision, but few are computed.
// Every machine is first evaluated in float32 in few coordinates (its principal
// scores, and the leading principal directions of the queries), which costs a
// tenth: the distance in these coordinates is a lower bound. Machines are then
// taken in the order of their bounds until no bound is below the smallest
// distance found. Where the bounds rule out too little, as with much noise in
// the samples, float32 distances in all coordinates take their place, so that
// only the winner and near ties are computed again.
type Ensemble struct {
	machines []*Machine
	groups   []int
	count    int // of groups
	columns  int
	// The screening coordinates.
	basis   *mat.Dense // m×p, orthonormal rows; nil for all coordinates
	screens []screen
}

// screen is a machine in screening coordinates, in float32.
type screen struct {
	solutions  []*tensor.Dense // of each layer, N×(s+m+1)
	directions []float32       // s×p
	mean       []float32       // p
	centre     []float32       // basis·μ, m
}

// screenDims is the number of screening coordinates beside the principal
// scores.
const screenDims = 96

// NewEnsemble returns an ensemble of machines of the same number of columns.
// groups gives each machine its group, such as its class, counted from 0: the
// nearest machine is sought in every group, or over all groups.
func NewEnsemble(machines []*Machine, groups []int) (*Ensemble, error) {
	if len(machines) == 0 || len(groups) != len(machines) {
		return nil, fmt.Errorf("an ensemble of %d machines in %d groups: it needs at least one machine, and a group for each", len(machines), len(groups))
	}
	s := &Ensemble{machines: machines, groups: groups, columns: machines[0].columns}
	for i, m := range machines {
		if m.columns != s.columns {
			return nil, fmt.Errorf("machine %d has %d columns, machine 0 %d", i, m.columns, s.columns)
		}
		if groups[i] < 0 {
			return nil, fmt.Errorf("machine %d is in group %d: groups are counted from 0", i, groups[i])
		}
		s.count = max(s.count, groups[i]+1)
	}
	return s, nil
}

// Nearest is the outcome of a search.
type Nearest struct {
	// Distance and Machine are those of the nearest machine, for each query and
	// group (q×groups, or q×1 over all): +Inf and −1 where no machine has an
	// image.
	Distance *mat.Dense
	Machine  [][]int
	// Pairs is the number of pairs of a query and a machine, Evaluated how many
	// of them were evaluated in all coordinates, and Unsafe how many of these
	// had no image in some layer.
	Pairs, Evaluated, Unsafe int64
}

// Search options.
type Search struct {
	// ByGroup asks for the nearest machine of every group, rather than of all.
	ByGroup bool
	// Exhaustive evaluates every pair in full, in the machines' own precision:
	// the reference for tests and benchmarks.
	Exhaustive bool
	// Progress, if not nil, is told how many queries are done.
	Progress func(done, total int)
}

const (
	// searchChunk bounds the queries that are searched at a time.
	searchChunk = 2048
	// slackStart is the first bound on the error of a float32 distance,
	// relative to the size ‖y−μ‖ of the query; on handwritten digits the error
	// is 50 times smaller. Every distance that is computed again is held
	// against it, and the bound grows where it does not hold by far.
	slackStart = 1e-4
	slackCheck = 4.0
	slackGrow  = 16.0
	slackEnd   = 0.2
	// fullFrom is the share of pairs that the lower bounds leave over from
	// which float32 distances in all coordinates are the cheaper bounds.
	fullFrom = 0.25
)

// search is the state of one call.
type search struct {
	*Ensemble
	ctx     context.Context
	e       *engine.Engine
	opts    Search
	full    bool // screen in all coordinates
	slack   float64
	queries *mat.Dense // of the chunk
	lower   [][]float64
	// best is the smallest distance per query and group so far, at its machine.
	best [][]float64
	at   [][]int
	out  *Nearest
}

// Nearest searches for the nearest machine of every query (q×p).
func (s *Ensemble) Nearest(ctx context.Context, e *engine.Engine, queries *mat.Dense, opts Search) (*Nearest, error) {
	q, p := queries.Dims()
	if p != s.columns {
		return nil, fmt.Errorf("queries of %d columns for machines of %d", p, s.columns)
	}
	for i := range q {
		for j, v := range queries.RawRowView(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("query %d, column %d (counted from 0) is %g; finite numbers are required", i, j, v)
			}
		}
	}
	groups := 1
	if opts.ByGroup {
		groups = s.count
	}
	run := &search{Ensemble: s, ctx: ctx, e: e, opts: opts, slack: slackStart,
		out: &Nearest{Distance: mat.NewDense(q, groups, nil), Machine: make([][]int, q)}}
	if err := run.prepare(queries); err != nil {
		return nil, err
	}
	for lo := 0; lo < q; lo += searchChunk {
		hi := min(lo+searchChunk, q)
		run.queries = queries.Slice(lo, hi, 0, p).(*mat.Dense)
		if err := run.chunk(); err != nil {
			return nil, err
		}
		for i := range hi - lo {
			copy(run.out.Distance.RawRowView(lo+i), run.best[i])
			run.out.Machine[lo+i] = run.at[i]
		}
		if opts.Progress != nil {
			opts.Progress(hi, q)
		}
	}
	return run.out, nil
}

// prepare chooses the screening coordinates from the queries, and brings the
// machines into them.
func (s *search) prepare(queries *mat.Dense) error {
	q, p := queries.Dims()
	m := min(screenDims, q-1)
	s.full = p <= 2*screenDims || m < 1
	if s.opts.Exhaustive || s.full {
		return nil
	}
	sample := queries.Slice(0, min(q, searchChunk), 0, p).(*mat.Dense)
	f := &fit{e: s.e, mean: columnMeans(sample)}
	f.n, f.p = sample.Dims()
	if err := f.findPrincipal(s.ctx, f.centre(sample), m); err != nil {
		return err
	}
	if f.directions == nil { // equal queries
		s.full = true
		return nil
	}
	s.basis = f.directions
	basis := convert[float32](s.basis.RawMatrix().Data)
	s.screens = make([]screen, len(s.machines))
	return s.e.ParallelFor(s.ctx, len(s.machines), 1, func(i, _ int) error {
		s.screens[i] = newScreen(s.machines[i], basis)
		return nil
	})
}

// newScreen brings a machine into screening coordinates: those of the rows of
// basis (m×p), or all where it is nil.
func newScreen(m *Machine, basis []float32) screen {
	out := screen{directions: convert[float32](m.directions.RawMatrix().Data), mean: convert[float32](m.mean)}
	if basis != nil {
		out.centre = make([]float32, len(basis)/m.columns)
		cpublas.Gemm(blas.NoTrans, blas.Trans, 1, len(out.centre), m.columns, 1, out.mean, m.columns, basis, m.columns, 0, out.centre, len(out.centre))
	}
	for _, l := range m.layers {
		all := asType(l.solutions, tensor.Float32)
		if basis == nil {
			out.solutions = append(out.solutions, all)
			continue
		}
		from := all.Data().([]float32)
		s, p, c := m.Dim(), m.columns, len(out.centre)
		wide, narrow := s+p+1, s+c+1
		b := make([]float32, m.samples*narrow)
		for i := range m.samples {
			copy(b[i*narrow:], from[i*wide:i*wide+s])
			b[(i+1)*narrow-1] = from[(i+1)*wide-1]
		}
		cpublas.Gemm(blas.NoTrans, blas.Trans, m.samples, c, p, 1, from[s:], wide, basis, p, 0, b[s:], narrow)
		out.solutions = append(out.solutions, tensor.New(tensor.WithShape(m.samples, narrow), tensor.WithBacking(b)))
	}
	return out
}

// chunk searches for the queries of one chunk.
func (s *search) chunk() error {
	for {
		s.reset()
		if s.opts.Exhaustive {
			return s.everything()
		}
		if err := s.bounds(); err != nil {
			return err
		}
		again, err := s.refine()
		if err != nil || !again {
			return err
		}
	}
}

func (s *search) reset() {
	q, _ := s.queries.Dims()
	_, groups := s.out.Distance.Dims()
	s.best, s.at = make([][]float64, q), make([][]int, q)
	for i := range q {
		s.best[i], s.at[i] = make([]float64, groups), make([]int, groups)
		for g := range groups {
			s.best[i][g], s.at[i][g] = math.Inf(1), -1
		}
	}
}

// everything evaluates all pairs.
func (s *search) everything() error {
	q := len(s.best)
	all := make([]int, q)
	for i := range all {
		all[i] = i
	}
	work := make([][]int, len(s.machines))
	for b := range work {
		work[b] = all
	}
	s.out.Pairs += int64(q) * int64(len(s.machines))
	_, err := s.evaluate(work)
	return err
}

// bounds fills lower with lower bounds of all distances of the chunk.
func (s *search) bounds() error {
	q := len(s.best)
	s.lower = make([][]float64, len(s.machines))
	var shared []float32
	if !s.full {
		shared = product32(s.queries, s.basis)
	}
	rows := make([]float32, 0, q*s.columns)
	for i := range q {
		for _, v := range s.queries.RawRowView(i) {
			rows = append(rows, float32(v))
		}
	}
	return s.e.ParallelFor(s.ctx, len(s.machines), 1, func(b, _ int) error {
		m := s.machines[b]
		var sc screen
		c := s.columns
		if s.full {
			sc = newScreen(m, nil)
		} else {
			sc = s.screens[b]
			c = len(sc.centre)
		}
		lower := make([]float64, q)
		for lo := 0; lo < q; lo += queryTile {
			hi := min(lo+queryTile, q)
			z, size := s.screenQueries(b, sc, c, rows[lo*s.columns:hi*s.columns], shared, lo)
			out, err := m.run(s.ctx, s.e, sc.solutions, z, c, false)
			if err != nil {
				return err
			}
			for i := lo; i < hi; i++ {
				lower[i] = math.Inf(1)
			}
			for l := range m.layers {
				d := out[fmt.Sprintf("distance %d", l)].Data().([]float32)
				for i, v := range d {
					if math.IsInf(float64(v), 1) {
						// No image in float32: in the machine's own precision
						// there may be one.
						v = 0
					}
					lower[lo+i] = min(lower[lo+i], float64(v)-s.slack*size[i])
				}
			}
		}
		s.lower[b] = lower
		return nil
	})
}

// screenQueries returns [V(y−μ), G(y−μ)] for a machine, or [V(y−μ), y−μ], and
// the sizes ‖y−μ‖ of the queries.
func (s *search) screenQueries(b int, sc screen, c int, rows, shared []float32, first int) (*tensor.Dense, []float64) {
	p, dims := s.columns, s.machines[b].Dim()
	q := len(rows) / p
	cols := dims + c
	z, size := make([]float32, q*cols), make([]float64, q)
	centred := make([]float32, q*p)
	for i := range q {
		to, from := centred[i*p:(i+1)*p], rows[i*p:(i+1)*p]
		var sum float32
		for j, v := range from {
			d := v - sc.mean[j]
			to[j] = d
			sum += d * d
		}
		size[i] = math.Sqrt(float64(sum))
		if s.full {
			copy(z[i*cols+dims:], to)
			continue
		}
		for j, v := range shared[(first+i)*c : (first+i+1)*c] {
			z[i*cols+dims+j] = v - sc.centre[j]
		}
	}
	cpublas.Gemm(blas.NoTrans, blas.Trans, q, dims, p, 1, centred, p, sc.directions, p, 0, z, cols)
	return tensor.New(tensor.WithShape(q, cols), tensor.WithBacking(z)), size
}

// product32 is A Bᵀ in float32.
func product32(a, b *mat.Dense) []float32 {
	q, p := a.Dims()
	m, _ := b.Dims()
	x := make([]float32, 0, q*p)
	for i := range q {
		for _, v := range a.RawRowView(i) {
			x = append(x, float32(v))
		}
	}
	out := make([]float32, q*m)
	cpublas.Gemm(blas.NoTrans, blas.Trans, q, m, p, 1, x, p, convert[float32](b.RawMatrix().Data), p, 0, out, m)
	return out
}

// refine evaluates, in the machines' own precision, every pair whose bound is
// below the smallest distance of its group. It asks for the chunk to be done
// again where bounds of another kind are cheaper, or where the error of
// float32 is larger than assumed.
func (s *search) refine() (again bool, err error) {
	var evaluated int64
	done := make([][]bool, len(s.machines))
	for b := range done {
		done[b] = make([]bool, len(s.best))
	}
	for round := 0; ; round++ {
		work, left := s.candidates(done, round < 3)
		if left == 0 {
			break
		}
		pairs := int64(len(s.best)) * int64(len(s.machines))
		if round == 1 && !s.full && float64(left) > fullFrom*float64(pairs) {
			s.full = true // for the chunks that follow, too
			s.out.Evaluated += evaluated
			return true, nil
		}
		worst, err := s.evaluate(work)
		if err != nil {
			return false, err
		}
		for b := range work {
			evaluated += int64(len(work[b]))
			for _, i := range work[b] {
				done[b][i] = true
			}
		}
		if worst > s.slack/slackCheck {
			if s.slack *= slackGrow; s.slack > slackEnd {
				return false, errors.New("float32 does not resolve the distances of these machines; their samples may be nearly equal")
			}
			s.out.Evaluated += evaluated
			return true, nil
		}
	}
	pairs := int64(len(s.best)) * int64(len(s.machines))
	s.out.Pairs += pairs
	if s.full {
		evaluated = pairs
	}
	s.out.Evaluated += evaluated
	return false, nil
}

// group is the column of best that a machine belongs to.
func (s *search) group(b int) int {
	if s.opts.ByGroup {
		return s.groups[b]
	}
	return 0
}

// candidates lists for each machine the queries to evaluate next: with nearest
// set, for each query and group the machine with the lowest bound, otherwise
// all that are left. left counts all pairs that are left.
func (s *search) candidates(done [][]bool, nearest bool) (work [][]int, left int) {
	work = make([][]int, len(s.machines))
	_, groups := s.out.Distance.Dims()
	next := make([]int, groups)
	for i := range s.best {
		for g := range next {
			next[g] = -1
		}
		for b := range s.machines {
			g := s.group(b)
			if done[b][i] || s.lower[b][i] > s.best[i][g] {
				continue
			}
			left++
			if !nearest {
				work[b] = append(work[b], i)
			} else if next[g] < 0 || s.lower[b][i] < s.lower[next[g]][i] {
				next[g] = b
			}
		}
		if nearest {
			for _, b := range next {
				if b >= 0 {
					work[b] = append(work[b], i)
				}
			}
		}
	}
	return work, left
}

// evaluate computes the distances of the listed queries to each machine, and
// takes what is smaller than the best so far, of equal ones the machine that
// comes first. It returns by how much, relative to the size of a query, a
// distance fell below its bound without the slack.
func (s *search) evaluate(work [][]int) (worst float64, err error) {
	found := make([][]float64, len(work))
	excess, unsafe := make([]float64, len(work)), make([]int64, len(work))
	err = s.e.ParallelFor(s.ctx, len(work), 1, func(b, _ int) error {
		if len(work[b]) == 0 {
			return nil
		}
		m := s.machines[b]
		// A few more rows than needed make graphs of few different shapes.
		rows := mat.NewDense(padded(len(work[b])), s.columns, nil)
		for r := range rows.RawMatrix().Rows {
			rows.SetRow(r, s.queries.RawRowView(work[b][min(r, len(work[b])-1)]))
		}
		d, err := m.Distances(s.ctx, s.e, rows)
		if err != nil {
			return err
		}
		found[b] = make([]float64, len(work[b]))
		for r, i := range work[b] {
			layers := d.RawRowView(r)
			_, found[b][r] = NearestLayer(layers)
			if slices.ContainsFunc(layers, func(v float64) bool { return math.IsInf(v, 1) }) {
				unsafe[b]++
			}
			if s.lower != nil && !s.opts.Exhaustive {
				size := 0.0
				for j, v := range rows.RawRowView(r) {
					size += (v - m.mean[j]) * (v - m.mean[j])
				}
				// What the bound says without its slack must not be above the
				// distance; in all coordinates it must agree.
				size = math.Sqrt(size)
				above := s.lower[b][i] + s.slack*size - found[b][r]
				if size > 0 && !math.IsInf(found[b][r], 1) {
					excess[b] = max(excess[b], above/size)
				}
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	for b := range work {
		g := s.group(b)
		for r, i := range work[b] {
			if d := found[b][r]; d < s.best[i][g] || d == s.best[i][g] && b < s.at[i][g] {
				s.best[i][g], s.at[i][g] = d, b
			}
		}
		s.out.Unsafe += unsafe[b]
		worst = max(worst, excess[b])
	}
	return worst, nil
}

func padded(n int) int {
	if n <= 64 {
		return (n + 7) / 8 * 8
	}
	return (n + 31) / 32 * 32
}
