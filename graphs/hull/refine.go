package hull

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// take records the distance d of query i to machine b if it is the smallest of its group so far; of
// equal distances, that of the machine with the lowest index.
func (s *search) take(b, i int, d float64) {
	g := s.group(b)
	if d < s.best[i][g] || d == s.best[i][g] && b < s.at[i][g] {
		s.best[i][g], s.at[i][g] = d, b
	}
}

// compare returns the error of a float32 distance in units of the slack, relative to ‖y−μ‖ (size)
// plus the distance. A sharp one, in all coordinates, should equal the distance; one in screening
// coordinates should not exceed it.
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

// refine sharpens every bound that does not exceed the upper bound of its group, and then computes
// the remaining distances in the machines' own precision. It returns again where bounds in all
// coordinates are cheaper for the chunk.
//
// The first two rounds take one layer for each query and group, that of the lowest bound, because
// it is likely the nearest and its distance then excludes most others. The following rounds take
// all remaining layers.
func (s *search) refine() (again bool, err error) {
	pairs := int64(len(s.best)) * int64(len(s.machines))
	var evaluated int64
	for round := 0; !s.full; round++ {
		work, left := s.candidates(s.sharp, round < 2)
		if left == 0 {
			break
		}
		if round == 1 && float64(left) > fullFrom*float64(pairs) {
			s.full = true // also for later chunks
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

// probe compares the bounds of a few queries with their distances to every machine. It evaluates
// pairs that the bounds have excluded, because a slack that is too small for them would go unnoticed
// otherwise.
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

// group returns the column of best for machine b.
func (s *search) group(b int) int {
	if s.opts.ByGroup {
		return s.groups[b]
	}
	return 0
}

// task lists distances to one machine: that of query rows[r] to a layer if need[layer][r] is set.
type task struct {
	rows []int
	need [][]bool
}

// add appends a query with the given layers.
func (t *task) add(row int, layers []bool) {
	if t.need == nil {
		t.need = make([][]bool, len(layers))
	}
	t.rows = append(t.rows, row)
	for l, n := range layers {
		t.need[l] = append(t.need[l], n)
	}
}

// candidates returns a task for each machine with the layers that are not finished and not excluded
// by their bound: all of them or, if nearest is set, the one with the lowest bound for each query and
// group. left counts the pairs of a query and a machine with such a layer.
func (s *search) candidates(finished [][][]bool, nearest bool) (work []task, left int) {
	work = make([]task, len(s.machines))
	_, groups := s.out.Distance.Dims()
	type pair struct{ machine, layer int }
	next := make([]pair, groups)
	var need []bool
	for i := range s.best {
		for g := range next {
			next[g] = pair{-1, 0}
		}
		for b := range s.machines {
			g, some := s.group(b), false
			need = need[:0]
			for l, lower := range s.lower[b] {
				open := !finished[b][l][i] && lower[i] <= s.upper[i][g]
				need = append(need, open)
				some = some || open
				if n := next[g]; nearest && open && (n.machine < 0 || lower[i] < s.lower[n.machine][n.layer][i]) {
					next[g] = pair{b, l}
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

// sharpen replaces bounds by those from float32 distances in all coordinates, and compares the
// former with them. It returns the number of pairs of a query and a machine without a sharp bound
// before.
func (s *search) sharpen(work []task) (fresh int64, err error) {
	counts, worst := make([]int64, len(work)), make([]float64, len(work))
	err = s.e.ParallelFor(s.ctx, len(work), 1, func(b, _ int) error {
		t, m := work[b], s.machines[b]
		if len(t.rows) == 0 {
			return nil
		}
		d, err := chosenDistances[float32](s.ctx, m, s.e, rowsOf(s.queries, t.rows), t.need)
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

// keep stores the distances of a task where float32 is the machines' own precision.
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

// kept returns the distances of a task if all of them are known.
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

// evaluate computes the distances of tasks in the machines' own precision, unless they are known,
// and compares their bounds with them. The results are taken in the order of machines, so that they
// do not depend on the number of workers.
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

// rowsOf returns a copy of some rows of a.
func rowsOf(a *mat.Dense, rows []int) *mat.Dense {
	_, p := a.Dims()
	out := mat.NewDense(len(rows), p, nil)
	for r, i := range rows {
		out.SetRow(r, a.RawRowView(i))
	}
	return out
}
