package recognise

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// division is the number of samples of each person at each activity for testing and for training.
// Train 0 stands for all that are not tested on.
type division struct{ test, train int }

// HAR: 20 people × 6 activities × 9 of 6,531 windows; MHEALTH: 10 × 6 × (15 of
// 95).
var (
	harDivision     = division{test: 9}
	mhealthDivision = division{test: 15, train: 80}
)

// split divides samples, which are in the order of time within each person at
// each activity, and returns the rows of both parts in ascending order.
//
// With SplitLast the last ones are tested on; where there are more than are used,
// those used are evenly spaced from the first to the last. With SplitRandom they
// are drawn.
func (d division) split(s Samples, how Split, rng *rand.Rand) (train, test []int, err error) {
	type group struct{ privacy, utility int }
	rows := map[group][]int{}
	var groups []group
	for i, u := range s.Utility {
		g := group{s.Privacy[i], u}
		if rows[g] == nil {
			groups = append(groups, g)
		}
		rows[g] = append(rows[g], i)
	}
	slices.SortFunc(groups, func(a, b group) int {
		return cmp.Or(cmp.Compare(a.privacy, b.privacy), cmp.Compare(a.utility, b.utility))
	})
	for _, g := range groups {
		of := rows[g]
		need := d.test + max(d.train, 1)
		if len(of) < need {
			return nil, nil, fmt.Errorf("person %d has %d samples at activity %d: %d are required for training and test",
				g.privacy, len(of), g.utility, need)
		}
		use := len(of)
		if d.train > 0 {
			use = d.train + d.test
		}
		if how == SplitRandom {
			rng.Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
			of = of[:use]
		} else if use < len(of) {
			of = spaced(of, use)
		}
		train, test = append(train, of[:use-d.test]...), append(test, of[use-d.test:]...)
	}
	slices.Sort(train)
	slices.Sort(test)
	return train, test, nil
}

// spaced returns n of the rows, evenly spaced from the first to the last.
func spaced(rows []int, n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = rows[i*(len(rows)-1)/max(n-1, 1)]
	}
	return out
}

// take returns some of the samples.
func (s Samples) take(rows []int) Samples {
	_, columns := s.X.Dims()
	out := Samples{X: mat.NewDense(len(rows), columns, nil), Utility: make([]int, len(rows)),
		Privacy: make([]int, len(rows))}
	for i, r := range rows {
		out.X.SetRow(i, s.X.RawRowView(r))
		out.Utility[i], out.Privacy[i] = s.Utility[r], s.Privacy[r]
	}
	return out
}
