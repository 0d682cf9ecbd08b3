package compression

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"privkern/experiments/learn"
	"privkern/experiments/learn/infer"
)

// blocks is the number of blocks into which the rows of a person are cut.
const blocks = 10

// division are the rows that are known, and that are attacked.
type division struct {
	known, attacked []int
	folds           []learn.Fold // of places in known; nil for parts that are drawn
	units           []int        // of the attacked rows
}

// divide divides the rows by a random stream.
func (r *Request) divide(d *data, rng *rand.Rand) (*division, error) {
	var out *division
	n, _ := d.x.Dims()
	switch {
	case r.Kind == Person:
		out = r.byBlocks(d, rng)
	case d.persons != nil:
		out = r.byPersons(d, rng)
	default:
		labels := d.hidden
		if labels == nil {
			labels = make([]int, n)
		}
		of := r.shared(infer.GroupsOf(labels), rng)
		out = &division{known: of[0], attacked: of[1], units: of[1]}
	}
	slices.Sort(out.known)
	if len(out.known) == 0 || len(out.attacked) == 0 {
		return nil, fmt.Errorf("the split leaves %d rows known and %d attacked: more rows are needed, or another holdout",
			len(out.known), len(out.attacked))
	}
	if units := len(infer.GroupsOf(out.units)); units < 2 {
		return nil, errors.New("the split attacks a single person or row; at least two are needed for an interval: take " +
			"more, or another holdout")
	}
	return out, nil
}

// held is how many of n are attacked: at least one of two.
func (r *Request) held(n int) int {
	return max(min(1, n-1), min(n-1, int(math.Round(r.Settings.Holdout*float64(n)))))
}

// shared divides the elements of each list at random into those that are known and those that are attacked.
func (r *Request) shared(lists [][]int, rng *rand.Rand) (out [2][]int) {
	for _, list := range lists {
		list = slices.Clone(list)
		rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		k := r.held(len(list))
		out[1], out[0] = append(out[1], list[:k]...), append(out[0], list[k:]...)
	}
	slices.Sort(out[1])
	return out
}

// byBlocks attacks some of the blocks of each person; the others are dealt to the parts in which adversaries are tuned.
// Persons with a single row are left out.
func (r *Request) byBlocks(d *data, rng *rand.Rand) *division {
	out := &division{}
	single := 0
	part := map[int]int{} // of a known row
	for _, rows := range infer.GroupsOf(d.persons) {
		if len(rows) == 1 {
			single++
			continue
		}
		cut := make([][]int, min(blocks, len(rows)))
		numbers := make([]int, len(cut))
		for i := range cut {
			numbers[i], cut[i] = i, rows[i*len(rows)/len(cut):(i+1)*len(rows)/len(cut)]
		}
		of := r.shared([][]int{numbers}, rng)
		for i, b := range of[0] {
			out.known = append(out.known, cut[b]...)
			for _, row := range cut[b] {
				part[row] = i % foldParts
			}
		}
		for _, b := range of[1] {
			out.attacked = append(out.attacked, cut[b]...)
		}
	}
	if note := fmt.Sprintf("%d persons with a single row are left out", single); single > 0 &&
		!slices.Contains(d.notes, note) {
		d.notes = append(d.notes, note)
	}
	slices.Sort(out.known)
	out.units = learn.Select(d.persons, out.attacked)
	out.folds = partsOf(out.known, func(row int) int { return part[row] })
	return out
}

// byPersons attacks some of the persons, with all their rows, of those whose first rows are of one class.
func (r *Request) byPersons(d *data, rng *rand.Rand) *division {
	rows := infer.GroupsOf(d.persons)
	first := make([]int, len(rows))
	if d.hidden != nil {
		for p, own := range rows {
			first[p] = d.hidden[own[0]]
		}
	}
	of := r.shared(infer.GroupsOf(first), rng)
	out := &division{}
	for i, list := range [2]*[]int{&out.known, &out.attacked} {
		for _, p := range of[i] {
			*list = append(*list, rows[p]...)
		}
	}
	out.units = learn.Select(d.persons, out.attacked)
	slices.Sort(out.known)
	var order []int // known persons, those of one class together
	for _, list := range infer.GroupsOf(learn.Select(first, of[0])) {
		rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		for _, i := range list {
			order = append(order, d.persons[rows[of[0][i]][0]])
		}
	}
	if len(order) >= foldParts { // others are too few
		out.folds = partsOf(out.known, func(row int) int { return slices.Index(order, d.persons[row]) % foldParts })
	}
	return out
}

// foldParts is the number of parts in which adversaries are tuned.
const foldParts = 3

// partsOf has the places of rows by the part of each.
func partsOf(rows []int, of func(row int) int) []learn.Fold {
	parts := make([]int, len(rows))
	for i, row := range rows {
		parts[i] = of(row)
	}
	return learn.FoldsOf(parts, foldParts)
}
