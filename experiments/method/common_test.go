package method

import (
	"fmt"
	"slices"
	"testing"

	"privkern/experiments/dataset/table"
	"privkern/runner/experiment"
)

// A common split depends on seed, repeat and number of rows, and on nothing else.
func TestCommonSplit(t *testing.T) {
	const n, tests = 50, 10
	first := CommonSplit(3, 0, n, tests)
	for _, c := range []struct {
		name             string
		seed             int64
		repeat, n, tests int
		same             bool
	}{
		{"the same", 3, 0, n, tests, true},
		{"another seed", 4, 0, n, tests, false},
		{"another repeat", 3, 1, n, tests, false},
		{"another number of rows", 3, 0, n + 1, tests, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := CommonSplit(c.seed, c.repeat, c.n, c.tests)
			if got := fmt.Sprint(f.Test) == fmt.Sprint(first.Test); got != c.same {
				t.Errorf("tested %v, first %v", f.Test, first.Test)
			}
			all := slices.Sorted(slices.Values(slices.Concat(f.Train, f.Test)))
			if len(f.Test) != c.tests || len(all) != c.n || all[0] != 0 || len(slices.Compact(all)) != c.n ||
				!slices.IsSorted(f.Train) || !slices.IsSorted(f.Test) {
				t.Errorf("no split of %d rows: %v", c.n, f)
			}
		})
	}
}

// With common splits a trial asks for no stream: experiments of any name hold out the same rows, whole persons
// where rows have some.
func TestSplitIsCommon(t *testing.T) {
	trial := &experiment.Trial{Identity: experiment.Identity{Seed: 5}}
	s := Splits{Holdout: .25, CommonRows: CommonRows{CommonSplits}}
	_, test, err := s.Split(trial, 2, 40, nil)
	if want := CommonSplit(5, 2, 40, 10).Test; err != nil || !slices.Equal(test, want) {
		t.Errorf("%v, %v; want %v", test, err, want)
	}
	people := &table.People{Of: []int{0, 1, 2, 3, 0, 1, 2, 3}, Count: 4, PerPerson: 2}
	_, test, err = s.Split(trial, 0, 8, people)
	person := CommonSplit(5, 0, 4, 1).Test[0]
	if want := []int{person, person + 4}; err != nil || !slices.Equal(test, want) {
		t.Errorf("%v, %v; want %v", test, err, want)
	}
}
