package hull

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
)

// Ensemble finds the machine that is nearest to a point: among the branches of a wide machine
// (Definitions 5 and 6), the classes of a classifier (Definition 7), or the parties of a federation
// (Eq. 104).
//
// Distances are exact, in the machines' own precision. A GPU computes all of them ([Resident]),
// because products are cheap there and waiting is not; the CPU computes few ([Bounded]).
//
// The bounded search first evaluates every machine in float32 in few coordinates, its principal
// scores and the leading principal directions of the queries, at a tenth of the cost. The distance
// in these coordinates is a lower bound. Layers that the bounds do not exclude are evaluated in
// float32 in all coordinates, and the nearest one and near ties in the machines' own precision.
// Where the bounds exclude too little, as with much noise in the samples, all machines are evaluated
// in all coordinates at once.
//
// The error of float32 is measured, not proven: bounds include a slack for it, and every bound whose
// distance becomes known, and those of some queries to every machine, are compared with the slack.
// Unless it holds with a margin, the search begins again with a larger one, and in the end computes
// in the machines' own precision alone.
type Ensemble struct {
	machines []*Machine
	groups   []int
	count    int // of groups
	columns  int
	device   placement
}

// NewEnsemble returns an ensemble of machines with equal numbers of columns. groups holds the group
// of each machine, such as its class, counted from 0.
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
	// Distance and Machine are the distance and the index of the nearest machine for each query
	// and group (q×groups, or q×1 over all); +Inf and −1 where no machine has an image.
	Distance *mat.Dense
	Machine  [][]int
	// Pairs counts the pairs of a query and a machine, Evaluated those that were evaluated in all
	// coordinates, and Unsafe the latter without an image in some layer.
	Pairs, Evaluated, Unsafe int64
}

// Method selects the algorithm of a search. All methods find the same machines, and distances that
// agree to the precision of the element type.
type Method int

const (
	// Automatic is Resident on a GPU, and Bounded on the CPU.
	Automatic Method = iota
	// Bounded computes lower bounds in float32, and only the distances that these do not exclude in
	// the machines' own precision: a tenth of the operations or less, in many runs with a wait each.
	Bounded
	// Resident computes all distances on constants that stay on the device, in a run for several
	// machines and thousands of queries. Only distances are copied back, and the host waits once.
	Resident
)

// Search holds the options of [Ensemble.Nearest].
type Search struct {
	// ByGroup asks for the nearest machine of every group, rather than of all.
	ByGroup bool
	// Method selects the algorithm; Automatic follows the backend.
	Method Method
	// Exhaustive evaluates every pair by [Machine.Distances] instead: the reference of tests and
	// benchmarks.
	Exhaustive bool
	// Progress, if not nil, is called with the number of queries done and in all.
	Progress func(done, total int)

	// chunk and slack replace searchChunk and slackStart in tests.
	chunk int
	slack float64
}

const (
	// searchChunk limits the queries of a chunk, which share one reading of a machine's solutions;
	// searchBounds limits their number of bounds.
	searchChunk  = 12288
	searchBounds = 32 << 20
	// screenSample limits the queries that determine the screening coordinates.
	screenSample = 2048
	// probes is the number of queries of a chunk whose bounds are compared with the distances to
	// every machine.
	probes = 4
	// slackStart is the first allowance for the error of a float32 distance, relative to the sum of
	// ‖y−μ‖ and the distance; on handwritten digits the error is 50 times smaller. An error above
	// 1/slackCheck of the slack multiplies it by slackGrow, up to slackEnd.
	slackStart = 1e-4
	slackCheck = 4.0
	slackGrow  = 16.0
	slackEnd   = 0.2
	// fullFrom is the share of remaining pairs beyond which float32 distances in all coordinates
	// are the cheaper bounds.
	fullFrom = 0.25
)

// search is the state of one call.
//
// Its invariant, if the slack holds: the distance of query i to layer l of machine b is at least
// lower[b][l][i], and the smallest distance of query i in group g is at most upper[i][g]. A pair
// whose lower bound exceeds the upper bound of its group has no part in the result.
type search struct {
	*Ensemble
	ctx     context.Context
	e       *engine.Engine
	opts    Search
	direct  bool       // compute all distances, on resident values
	full    bool       // screen in all coordinates
	basis   *mat.Dense // G of the screening coordinates, m×p, orthonormal rows
	origin  []float64  // the mean of the queries
	screens []screen
	project *mat.Dense // V and μ−origin of all machines, rows of p
	slack   float64
	worst   float64    // the largest error of a float32 distance so far, in units of slack
	queries *mat.Dense // of the chunk
	// lower bounds the distances, [machine][layer][query]. sharp marks bounds from all
	// coordinates, done distances that have been computed.
	lower       [][][]float64
	sharp, done [][][]bool
	// known holds the distances that sharpen has computed, [machine][layer][query], NaN for the
	// others; nil unless float32 is the machines' own precision.
	known [][][]float64
	// upper bounds the smallest distance of a query and group.
	upper [][]float64
	// best is the smallest distance of a query and group so far, at the index of its machine.
	best [][]float64
	at   [][]int
	out  *Nearest
}

// Nearest searches for the nearest machine of every query (q×p).
//
// It returns an error where the columns do not match or a query is not finite, and with [Resident]
// where the engine has another element type than the one that fitted the machines, or the device has
// no room for one machine and a few queries. Results do not depend on the number of workers, because
// machines are independent, and of equal distances that of the first machine is taken. The time is
// O(pairs × N(s+p)) at worst.
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

// all searches for all queries. enough is false if the slack was too small.
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

// reset discards the results of the chunk.
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
