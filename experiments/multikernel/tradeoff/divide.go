package tradeoff

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"privkern/experiments/learn"
	"privkern/experiments/multikernel/recognise"
)

// division describes the split of rows into those for training and for testing.
type division struct {
	folds int     // 1: hold out one part
	share float64 // of the part that is held out
	how   recognise.Split
}

// divide divides units: rows, or with groups (nil for none) all rows of a group together. The units of
// a cell, a combination of the labels of all columns, are divided separately, in the order of the file
// or, with SplitRandom, in a random order. The last ones are held out, the share of them rounded down
// and at least one of two, or they are cut into contiguous blocks, one for each fold. A group is in the
// cell of its first row's first label.
func (d division) divide(columns [][]int, groups []int, rng *rand.Rand) []learn.Fold {
	cells := cellsOf(columns, groups)
	part := make([]int, len(columns[0]))
	next := 0 // offset of a cell, so that not all small cells begin in the first fold
	for _, units := range cells {
		if d.how == recognise.SplitRandom {
			rng.Shuffle(len(units), func(i, j int) { units[i], units[j] = units[j], units[i] })
		}
		n := len(units)
		held := int(d.share * float64(n))
		if held == 0 && n > 1 {
			held = 1
		}
		for i, u := range units {
			of := 1 // training
			switch {
			case d.folds > 1:
				of = (next + i*d.folds/n) % d.folds
			case i >= n-held:
				of = 0
			}
			for _, row := range u.rows {
				part[row] = of
			}
		}
		next += n
	}
	return learn.FoldsOf(part, d.folds)
}

// unit is a set of rows that stay together.
type unit struct{ rows []int }

// cellsOf returns the units of each cell, in the order of its labels and of the file.
func cellsOf(columns [][]int, groups []int) [][]*unit {
	var keys [][]int
	cells, ofGroup := map[string][]*unit{}, map[int]*unit{}
	for row := range columns[0] {
		if groups != nil {
			if u := ofGroup[groups[row]]; u != nil {
				u.rows = append(u.rows, row)
				continue
			}
		}
		var key []int
		for _, c := range columns {
			key = append(key, c[row])
		}
		if groups != nil {
			key = key[:1]
		}
		name := fmt.Sprint(key)
		if cells[name] == nil {
			keys = append(keys, key)
		}
		u := &unit{[]int{row}}
		cells[name] = append(cells[name], u)
		if groups != nil {
			ofGroup[groups[row]] = u
		}
	}
	slices.SortFunc(keys, slices.Compare)
	out := make([][]*unit, len(keys))
	for i, key := range keys {
		out[i] = cells[fmt.Sprint(key)]
	}
	return out
}

// checkFold refuses a fold with too few rows of a class.
func (d *data) checkFold(f learn.Fold, s *Settings) error {
	if len(f.Test) == 0 || len(f.Train) == 0 {
		return fmt.Errorf("the split leaves %d rows to train on and %d to test on: take fewer folds, or smaller groups",
			len(f.Train), len(f.Test))
	}
	for _, c := range append(slices.Clone(d.utilities), d.privacy) {
		counts := make([]int, len(c.classes))
		for _, row := range f.Train {
			counts[c.labels[row]]++
		}
		for l, n := range counts {
			if n < fewestTrained && slices.Contains(c.labels, l) {
				hint := ""
				if s.Group != "" {
					hint = fmt.Sprintf(" (rows with one %s stay together)", s.Group)
				}
				if d.hidden {
					return fmt.Errorf("a class of %s has too few rows to train on%s; at least %d are needed%s", c.name, hint,
						fewestTrained, namedByJudging)
				}
				return fmt.Errorf("the class %q of %s has %d rows to train on%s; at least %d are needed", c.classes[l], c.name, n,
					hint, fewestTrained)
			}
		}
	}
	return nil
}
