package hull

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// take keeps the distance of query i to machine b where it is the smallest of
// its group so far, of equal ones that of the machine that comes first.
func (s *search) take(b, i int, d float64) {
	g := s.group(b)
	if d < s.best[i][g] || d == s.best[i][g] && b < s.at[i][g] {
		s.best[i][g], s.at[i][g] = d, b
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

// refine sharpens every bound that is not above the smallest distance of its
// group, the lowest first, and then computes the distances that are left in
// the machines' own precision. It asks for the chunk to be done again where
// bounds in all coordinates are cheaper.
//
// The first two rounds look at one layer for each query and group, the one of the lowest
// bound: it is likely the nearest, and its distance is the upper bound that rules out
// most others. Only then is all that is left looked at.
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
// Pairs that were ruled out are never evaluated otherwise: without probes a slack that
// is too small for them would go unseen.
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

// add asks for those layers of a query.
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
		full, scores := m.solved32(t.need)
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
		s.keep(b, t, d)
		return nil
	})
	for b, c := range counts {
		fresh += c
		s.worst = max(s.worst, worst[b])
	}
	s.raise()
	return fresh, err
}

// keep keeps the distances that a task asked for where they are in the machines' own precision.
func (s *search) keep(b int, t task, d [][]float64) {
	if s.known == nil {
		return
	}
	if s.known[b] == nil {
		s.known[b] = make([][]float64, len(t.need))
	}
	for l, need := range t.need {
		for r, i := range t.rows {
			if !need[r] {
				continue
			}
			if s.known[b][l] == nil {
				s.known[b][l] = make([]float64, len(s.best))
				for j := range s.known[b][l] {
					s.known[b][l][j] = math.NaN()
				}
			}
			s.known[b][l][i] = d[l][r]
		}
	}
}

// kept are the distances that a task asks for, if all of them are known.
func (s *search) kept(b int, t task) ([][]float64, bool) {
	if s.known == nil || s.known[b] == nil {
		return nil, false
	}
	out := make([][]float64, len(t.need))
	for l, need := range t.need {
		out[l] = make([]float64, len(t.rows))
		for r, i := range t.rows {
			if !need[r] {
				continue
			}
			if s.known[b][l] == nil || math.IsNaN(s.known[b][l][i]) {
				return nil, false
			}
			out[l][r] = s.known[b][l][i]
		}
	}
	return out, true
}

// evaluate computes the distances that the tasks ask for in the machines' own
// precision, where they are not known, and holds their bounds against them.
// Each machine writes its own results; they are taken in the order of machines.
func (s *search) evaluate(work []task) error {
	found := make([][]float64, len(work))
	worst, unsafe := make([]float64, len(work)), make([]int64, len(work))
	err := s.e.ParallelFor(s.ctx, len(work), 1, func(b, _ int) error {
		t, m := work[b], s.machines[b]
		if len(t.rows) == 0 {
			return nil
		}
		d, ok := s.kept(b, t)
		if !ok {
			var err error
			if d, err = m.chosenDistances(s.ctx, s.e, rowsOf(s.queries, t.rows), t.need); err != nil {
				return err
			}
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

// rowsOf copies some rows of a.
func rowsOf(a *mat.Dense, rows []int) *mat.Dense {
	_, p := a.Dims()
	out := mat.NewDense(len(rows), p, nil)
	for r, i := range rows {
		out.SetRow(r, a.RawRowView(i))
	}
	return out
}
