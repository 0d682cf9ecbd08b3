package hull

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
)

// Ensemble finds, among many machines, the one that a point is nearest to: the
// branches of a wide machine (Definitions 5 and 6), the classes of a classifier
// (Definition 7), the parties of a federation (Eq. 104).
//
// Distances are exact, in the machines' own precision. On a GPU all of them are
// computed, see [Resident]: products are cheap there, and waiting for what the bounds
// leave is not. On the CPU few are, see [Bounded].
//
// With bounds every machine is first evaluated in float32 in few coordinates (its principal
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
	device   placement
}

// NewEnsemble returns an ensemble of machines of the same number of columns.
// groups gives each machine its group, such as its class, counted from 0: the
// nearest machine is sought in every group, or over all groups.
func NewEnsemble(machines []*Machine, groups []int) (*Ensemble, error) {
	if len(machines) == 0 || len(groups) != len(machines) {
		return nil, fmt.Errorf("an ensemble of %d machines in %d groups: it needs at least one machine, and a group for "+
			"each", len(machines), len(groups))
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

// Method is how an ensemble is searched. All methods find the same machines, and distances
// that are equal to the precision of the element type.
type Method int

const (
	// Automatic is Resident on a GPU, and Bounded on the CPU.
	Automatic Method = iota
	// Bounded computes lower bounds in float32 first, and in the machines' own precision
	// what they leave: a tenth of the operations and less, in many runs that wait.
	Bounded
	// Resident computes all distances, in one run for a machine and thousands of queries,
	// on constants that stay on the device. Only distances are copied back, and the host
	// waits once for all machines.
	Resident
)

// Search options.
type Search struct {
	// ByGroup asks for the nearest machine of every group, rather than of all.
	ByGroup bool
	// Method is how the machines are searched; Automatic follows the backend.
	Method Method
	// Exhaustive evaluates every pair by [Machine.Distances], whatever the method: the
	// reference for tests and benchmarks.
	Exhaustive bool
	// Progress, if not nil, is called with the number of queries done and in all.
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
//
// The invariant while it runs: the distance of query i to layer l of machine b is not
// below lower[b][l][i], if the slack holds, and the smallest distance of query i in
// group g is not above upper[i][g]. A pair whose lower bound is above the upper bound of
// its group has no part in the result.
type search struct {
	*Ensemble
	ctx     context.Context
	e       *engine.Engine
	opts    Search
	direct  bool       // compute all distances, on resident values
	full    bool       // screen in all coordinates
	basis   *mat.Dense // of the screening coordinates: m×p, orthonormal rows
	origin  []float64  // the mean of the queries
	screens []screen
	slack   float64
	worst   float64    // error of a float32 distance seen so far, as slack is measured
	queries *mat.Dense // of the chunk
	// lower bounds the distances: [machine][layer][query]. sharp marks the bounds
	// that come from all coordinates, done the distances that have been computed.
	lower       [][][]float64
	sharp, done [][][]bool
	// known are the distances that sharpen has computed, [machine][layer][query], NaN for the
	// others; nil where the machines' own precision is another one.
	known [][][]float64
	// upper is above the smallest distance of a query and group.
	upper [][]float64
	// best is the smallest distance per query and group so far, at its machine.
	best [][]float64
	at   [][]int
	out  *Nearest
}

// Nearest searches for the nearest machine of every query (q×p).
//
// It returns an error where the columns do not fit or a query is not finite, and with
// [Resident] where the engine has another element type than the one that fitted the
// machines, or the device has no room for one machine and a few queries. Results do
// not depend on the number of workers: machines are independent of one another, and of
// equal distances that of the first machine is taken. Time is O(pairs × N(s+p)) at
// worst.
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
	run.direct = !opts.Exhaustive && (opts.Method == Resident || opts.Method == Automatic && e.Backend() != "cpu")
	if run.direct {
		defer s.device.begin(e, s.machines)()
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
			e.Warn("float32 does not resolve the distances to %d machines; all of them were computed in %s", len(s.machines),
				e.DType())
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
	if s.direct {
		size = s.directRows(q)
	}
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

// chunk searches for the queries of one chunk.
func (s *search) chunk() error {
	for {
		s.reset()
		switch {
		case s.opts.Exhaustive:
			return s.everything()
		case s.direct:
			return s.directly(0, len(s.best))
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

// reset forgets what was found for the chunk.
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
