package kahm

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

// Ensemble finds, among many machines, the one that a point is nearest to: the
// branches of a wide machine (Definitions 5 and 6), the classes of a classifier
// (Definition 7), the parties of a federation (Eq. 104).
//
// Distances are exact, in the machines' own precision, but few are computed.
// Every machine is first evaluated in float32 in few coordinates (its principal
// scores, and the leading principal directions of the queries), which costs a
// tenth: the distance in these coordinates is a lower bound. What the bounds do
// not rule out, layer by layer and the lowest first, is evaluated in float32 in
// all coordinates, and only the winner and near ties in the machines' own
// precision. Where the bounds rule out too little, as with much noise in the
// samples, all machines are evaluated in all coordinates at once.
//
// How far float32 may be off is measured, not proven: a slack is allowed for it,
// and every bound whose distance becomes known, and those of some queries to
// every machine, are held against the slack. Where it does not hold by far, the
// search begins again with a larger one, and ends in the machines' own precision
// alone.
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
	centre     []float64       // basis·μ, m
}

// screenColumns is the number of columns of a machine in screening coordinates:
// its principal scores, the leading directions of the queries, the memberships.
// Products are fastest with a multiple of 32.
const (
	screenColumns = 96
	minScreenDims = 32
)

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

	// chunk and slack replace searchChunk and slackStart in tests.
	chunk int
	slack float64
}

const (
	// searchChunk bounds the queries that are searched at a time: the more there
	// are, the more of them share one reading of a machine's solutions.
	// searchBounds bounds their bounds.
	searchChunk  = 12288
	searchBounds = 32 << 20
	// screenSample bounds the queries from which the screening coordinates come.
	screenSample = 2048
	// probes is the number of queries of a chunk whose bounds are held against
	// the distances to every machine.
	probes = 4
	// slackStart is the first allowance for the error of a float32 distance,
	// relative to the size ‖y−μ‖ of the query and the distance; on handwritten
	// digits the error is 50 times smaller.
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
	worst   float64    // error of a float32 distance seen so far, as slack is measured
	queries *mat.Dense // of the chunk
	// lower bounds the distances: [machine][layer][query]. sharp marks the bounds
	// that come from all coordinates, done the distances that have been computed.
	lower       [][][]float64
	sharp, done [][][]bool
	// upper is above the smallest distance of a query and group.
	upper [][]float64
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
	run := &search{Ensemble: s, ctx: ctx, e: e, opts: opts, slack: slackStart}
	if opts.slack > 0 {
		run.slack = opts.slack
	}
	if err := run.prepare(queries); err != nil {
		return nil, err
	}
	for {
		enough, err := run.all(queries, groups)
		if err != nil {
			return nil, err
		}
		if enough {
			return run.out, nil
		}
		if run.slack *= slackGrow; run.slack > slackEnd {
			e.Warn("float32 does not resolve the distances to %d machines; all of them were computed in %s", len(s.machines), e.DType())
			run.opts.Exhaustive = true
		}
	}
}

// all searches for all queries. enough is false where the slack was too small.
func (s *search) all(queries *mat.Dense, groups int) (enough bool, err error) {
	q, p := queries.Dims()
	s.out, s.worst = &Nearest{Distance: mat.NewDense(q, groups, nil), Machine: make([][]int, q)}, 0
	layers := 0
	for _, m := range s.machines {
		layers += len(m.layers)
	}
	size := min(searchChunk, max(64, searchBounds/layers))
	if s.opts.chunk > 0 {
		size = s.opts.chunk
	}
	for lo := 0; lo < q; lo += size {
		hi := min(lo+size, q)
		s.queries = queries.Slice(lo, hi, 0, p).(*mat.Dense)
		if err := s.chunk(); err != nil {
			return false, err
		}
		if !s.opts.Exhaustive && s.worst > s.slack/slackCheck {
			return false, nil
		}
		for i := range hi - lo {
			copy(s.out.Distance.RawRowView(lo+i), s.best[i])
			s.out.Machine[lo+i] = s.at[i]
		}
		if s.opts.Progress != nil {
			s.opts.Progress(hi, q)
		}
	}
	return true, nil
}

// prepare chooses the screening coordinates from the queries, and brings the
// machines into them.
func (s *search) prepare(queries *mat.Dense) error {
	q, p := queries.Dims()
	dims := 0
	for _, m := range s.machines {
		dims = max(dims, m.Dim())
	}
	m := min(max(minScreenDims, screenColumns-dims-1), q-1)
	s.full = p <= 2*screenColumns || m < 1
	if s.opts.Exhaustive || s.full {
		return nil
	}
	sample := queries.Slice(0, min(q, screenSample), 0, p).(*mat.Dense)
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
	s.screens = make([]screen, len(s.machines))
	return s.e.ParallelFor(s.ctx, len(s.machines), 1, func(i, _ int) error {
		s.screens[i] = newScreen(s.machines[i], s.basis)
		return nil
	})
}

// newScreen brings a machine into screening coordinates: those of the rows of
// basis (m×p), or all where it is nil.
func newScreen(m *Machine, basis *mat.Dense) screen {
	out := screen{directions: convert[float32](m.directions.RawMatrix().Data)}
	var rows []float32
	if basis != nil {
		dims, _ := basis.Dims()
		out.centre = make([]float64, dims)
		mat.NewVecDense(dims, out.centre).MulVec(basis, mat.NewVecDense(m.columns, m.mean))
		rows = convert[float32](basis.RawMatrix().Data)
	}
	for _, l := range m.layers {
		all := asType(l.solutions, tensor.Float32)
		if rows == nil {
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
		cpublas.Gemm(blas.NoTrans, blas.Trans, m.samples, c, p, 1, from[s:], wide, rows, p, 0, b[s:], narrow)
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
		if s.full {
			s.raise()
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
	s.best, s.at, s.upper = make([][]float64, q), make([][]int, q), make([][]float64, q)
	for i := range q {
		s.best[i], s.at[i], s.upper[i] = make([]float64, groups), make([]int, groups), make([]float64, groups)
		for g := range groups {
			s.best[i][g], s.at[i][g], s.upper[i][g] = math.Inf(1), -1, math.Inf(1)
		}
	}
}

// everything evaluates all pairs in full.
func (s *search) everything() error {
	q, pairs := len(s.best), int64(len(s.best))*int64(len(s.machines))
	s.out.Pairs, s.out.Evaluated = s.out.Pairs+pairs, s.out.Evaluated+pairs
	found, unsafe := make([][]float64, len(s.machines)), make([]int64, len(s.machines))
	err := s.e.ParallelFor(s.ctx, len(s.machines), 1, func(b, _ int) error {
		d, err := s.machines[b].Distances(s.ctx, s.e, s.queries)
		if err != nil {
			return err
		}
		found[b] = make([]float64, q)
		for i := range q {
			_, found[b][i] = NearestLayer(d.RawRowView(i))
			if slices.ContainsFunc(d.RawRowView(i), func(v float64) bool { return math.IsInf(v, 1) }) {
				unsafe[b]++
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for b := range s.machines {
		for i, d := range found[b] {
			s.take(b, i, d)
		}
		s.out.Unsafe += unsafe[b]
	}
	return nil
}

// take keeps the distance of query i to machine b where it is the smallest of
// its group so far, of equal ones that of the machine that comes first.
func (s *search) take(b, i int, d float64) {
	g := s.group(b)
	if d < s.best[i][g] || d == s.best[i][g] && b < s.at[i][g] {
		s.best[i][g], s.at[i][g] = d, b
	}
}

// bounds fills lower with lower bounds of the distances of the chunk's queries
// to all layers of all machines.
func (s *search) bounds() error {
	q := len(s.best)
	s.lower, s.sharp, s.done = make([][][]float64, len(s.machines)), make([][][]bool, len(s.machines)), make([][][]bool, len(s.machines))
	var shared mat.Dense // q×m, the screening coordinates of the queries
	if !s.full {
		shared.Mul(s.queries, s.basis.T())
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
		s.lower[b], s.sharp[b], s.done[b] = make([][]float64, len(m.layers)), make([][]bool, len(m.layers)), make([][]bool, len(m.layers))
		for l := range m.layers {
			s.lower[b][l], s.sharp[b][l], s.done[b][l] = make([]float64, q), make([]bool, q), make([]bool, q)
		}
		for lo := 0; lo < q; lo += queryTile {
			hi := min(lo+queryTile, q)
			z, size := s.screenQueries(b, sc, c, &shared, lo, hi)
			out, err := m.run(s.ctx, s.e, sc.solutions, z, c, 0, len(m.layers), false)
			if err != nil {
				return err
			}
			for l := range m.layers {
				d := out[fmt.Sprintf("distance %d", l)].Data().([]float32)
				for i, v := range d {
					s.bound(b, l, lo+i, float64(v), size[i], s.full)
				}
			}
		}
		return nil
	})
}

// screenQueries returns [V(y−μ), G(y−μ)] of the queries from lo to hi for a
// machine, or [V(y−μ), y−μ], and the sizes ‖y−μ‖. They are rounded once they are
// differences: a common offset costs no accuracy.
func (s *search) screenQueries(b int, sc screen, c int, shared *mat.Dense, lo, hi int) (*tensor.Dense, []float64) {
	m, p := s.machines[b], s.columns
	dims, q := m.Dim(), hi-lo
	cols := dims + c
	z, size := make([]float32, q*cols), make([]float64, q)
	centred := make([]float32, q*p)
	for i := range q {
		to, sum := centred[i*p:(i+1)*p], 0.0
		for j, v := range s.queries.RawRowView(lo + i) {
			d := v - m.mean[j]
			to[j] = float32(d)
			sum += d * d
		}
		size[i] = math.Sqrt(sum)
		if s.full {
			copy(z[i*cols+dims:], to)
			continue
		}
		for j, v := range shared.RawRowView(lo + i) {
			z[i*cols+dims+j] = float32(v - sc.centre[j])
		}
	}
	cpublas.Gemm(blas.NoTrans, blas.Trans, q, dims, p, 1, centred, p, sc.directions, p, 0, z, cols)
	return tensor.New(tensor.WithShape(q, cols), tensor.WithBacking(z)), size
}

// bound notes the float32 distance of query i to a layer, less the slack.
// Without an image, or beyond the range of float32, there is no bound: in the
// machine's own precision there may be a distance.
func (s *search) bound(b, l, i int, d, size float64, sharp bool) {
	if math.IsInf(d, 1) || math.IsNaN(d) || math.IsInf(size, 1) {
		d, size = math.Inf(-1), 0
	}
	s.lower[b][l][i], s.sharp[b][l][i] = d-s.slack*(size+max(d, 0)), sharp
}

// single is the float32 distance that bound took.
func (s *search) single(b, l, i int, size float64) float64 {
	return (s.lower[b][l][i] + s.slack*size) / (1 - s.slack)
}

// raise sets upper from the sharp bounds.
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

// compare holds a float32 distance against a better one. In some coordinates
// only, it must not be larger; in all of them it must agree. What it returns is
// measured as the slack is.
func compare(single, distance, size float64, sharp bool) float64 {
	if math.IsInf(single, 0) || math.IsInf(distance, 0) || size+distance == 0 {
		return 0
	}
	excess := single - distance
	if sharp {
		excess = math.Abs(excess)
	}
	return max(0, excess) / (size + distance)
}

// size is ‖y−μ‖ of query i for a machine.
func (s *search) size(b, i int) float64 {
	sum := 0.0
	for j, v := range s.queries.RawRowView(i) {
		d := v - s.machines[b].mean[j]
		sum += d * d
	}
	return math.Sqrt(sum)
}

// refine sharpens every bound that is not above the smallest distance of its
// group, the lowest first, and then computes the distances that are left in
// the machines' own precision. It asks for the chunk to be done again where
// bounds in all coordinates are cheaper.
func (s *search) refine() (again bool, err error) {
	pairs := int64(len(s.best)) * int64(len(s.machines))
	var evaluated int64
	for round := 0; !s.full; round++ {
		work, left := s.candidates(s.sharp, round < 2)
		if left == 0 {
			break
		}
		if round == 1 && float64(left) > fullFrom*float64(pairs) {
			s.full = true // for the chunks that follow, too
			return true, nil
		}
		fresh, err := s.sharpen(work)
		if err != nil {
			return false, err
		}
		evaluated += fresh
	}
	if s.full {
		evaluated = pairs
	}
	work, _ := s.candidates(s.done, false)
	if err := s.evaluate(work); err != nil {
		return false, err
	}
	s.out.Pairs, s.out.Evaluated = s.out.Pairs+pairs, s.out.Evaluated+evaluated
	return false, s.probe()
}

// probe holds the bounds of a few queries against their distances to every
// machine, most of which were ruled out.
func (s *search) probe() error {
	q := len(s.best)
	var rows []int
	for i := range min(probes, q) {
		rows = append(rows, i*q/min(probes, q))
	}
	worst := make([]float64, len(s.machines))
	err := s.e.ParallelFor(s.ctx, len(s.machines), 1, func(b, _ int) error {
		d, err := s.machines[b].Distances(s.ctx, s.e, rowsOf(s.queries, rows))
		if err != nil {
			return err
		}
		for r, i := range rows {
			size := s.size(b, i)
			for l := range s.machines[b].layers {
				worst[b] = max(worst[b], compare(s.single(b, l, i, size), d.At(r, l), size, s.sharp[b][l][i]))
			}
		}
		return nil
	})
	s.worst = max(s.worst, slices.Max(worst))
	return err
}

// group is the column of best that a machine belongs to.
func (s *search) group(b int) int {
	if s.opts.ByGroup {
		return s.groups[b]
	}
	return 0
}

// task is what to evaluate of one machine: need[layer][r] for the query rows[r].
type task struct {
	rows []int
	need [][]bool
}

func (t *task) add(row int, layers []bool) {
	if t.need == nil {
		t.need = make([][]bool, len(layers))
	}
	t.rows = append(t.rows, row)
	for l, n := range layers {
		t.need[l] = append(t.need[l], n)
	}
}

// candidates lists for each machine what to look at next, of the layers that are
// not finished: with nearest set, for each query and group the layer with the
// lowest bound, otherwise every layer whose bound does not rule it out. left
// counts the pairs of a query and a machine with such a layer.
func (s *search) candidates(finished [][][]bool, nearest bool) (work []task, left int) {
	work = make([]task, len(s.machines))
	_, groups := s.out.Distance.Dims()
	type place struct{ machine, layer int }
	next := make([]place, groups)
	var need []bool
	for i := range s.best {
		for g := range next {
			next[g] = place{-1, 0}
		}
		for b := range s.machines {
			g, some := s.group(b), false
			need = need[:0]
			for l, lower := range s.lower[b] {
				open := !finished[b][l][i] && lower[i] <= s.upper[i][g]
				need = append(need, open)
				some = some || open
				if n := next[g]; nearest && open && (n.machine < 0 || lower[i] < s.lower[n.machine][n.layer][i]) {
					next[g] = place{b, l}
				}
			}
			if some {
				left++
				if !nearest {
					work[b].add(i, need)
				}
			}
		}
		for _, n := range next {
			if n.machine >= 0 {
				one := make([]bool, len(s.lower[n.machine]))
				one[n.layer] = true
				work[n.machine].add(i, one)
			}
		}
	}
	return work, left
}

// sharpen takes the float32 distances in all coordinates for bounds, and holds
// those before against them. It returns how many pairs of a query and a machine
// it is the first to look at.
func (s *search) sharpen(work []task) (fresh int64, err error) {
	counts, worst := make([]int64, len(work)), make([]float64, len(work))
	err = s.e.ParallelFor(s.ctx, len(work), 1, func(b, _ int) error {
		t, m := work[b], s.machines[b]
		if len(t.rows) == 0 {
			return nil
		}
		full, scores := m.solved32()
		d, err := chosenDistances[float32](s.ctx, m, s.e, full, scores, rowsOf(s.queries, t.rows), t.need)
		if err != nil {
			return err
		}
		for r, i := range t.rows {
			size, first := s.size(b, i), true
			for l := range m.layers {
				first = first && !s.sharp[b][l][i]
			}
			if first {
				counts[b]++
			}
			for l := range m.layers {
				if t.need[l][r] {
					worst[b] = max(worst[b], compare(s.single(b, l, i, size), d[l][r], size, false))
					s.bound(b, l, i, d[l][r], size, true)
				}
			}
		}
		return nil
	})
	for b, c := range counts {
		fresh += c
		s.worst = max(s.worst, worst[b])
	}
	s.raise()
	return fresh, err
}

// evaluate computes the distances that the tasks ask for in the machines' own
// precision, and holds their bounds against them.
func (s *search) evaluate(work []task) error {
	found := make([][]float64, len(work))
	worst, unsafe := make([]float64, len(work)), make([]int64, len(work))
	err := s.e.ParallelFor(s.ctx, len(work), 1, func(b, _ int) error {
		t, m := work[b], s.machines[b]
		if len(t.rows) == 0 {
			return nil
		}
		d, err := m.chosenDistances(s.ctx, s.e, rowsOf(s.queries, t.rows), t.need)
		if err != nil {
			return err
		}
		found[b] = make([]float64, len(t.rows))
		for r, i := range t.rows {
			size, without := s.size(b, i), false
			found[b][r] = math.Inf(1)
			for l := range m.layers {
				if !t.need[l][r] {
					continue
				}
				s.done[b][l][i] = true
				found[b][r] = min(found[b][r], d[l][r])
				without = without || math.IsInf(d[l][r], 1)
				worst[b] = max(worst[b], compare(s.single(b, l, i, size), d[l][r], size, s.sharp[b][l][i]))
			}
			if without {
				unsafe[b]++
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for b, t := range work {
		for r, i := range t.rows {
			s.take(b, i, found[b][r])
		}
		s.out.Unsafe += unsafe[b]
		s.worst = max(s.worst, worst[b])
	}
	return nil
}

func rowsOf(a *mat.Dense, rows []int) *mat.Dense {
	_, p := a.Dims()
	out := mat.NewDense(len(rows), p, nil)
	for r, i := range rows {
		out.SetRow(r, a.RawRowView(i))
	}
	return out
}
