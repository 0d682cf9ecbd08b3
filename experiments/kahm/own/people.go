package own

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"privkern/experiments/learn"
	"privkern/experiments/method"
)

// mostSplits is how many orders of persons are tried for a split.
const mostSplits = 100

// splitPeople is a split of whole persons. Those who are tested have about as many rows of each class as tests,
// and each class has rows on both sides.
func (r *Rows) splitPeople(tests []int, rng *rand.Rand) (train, test []int, err error) {
	folds, err := method.Folds(r.People, len(r.Labels), func(persons int) ([]learn.Fold, error) {
		counts, holders := make([][]int, persons), make([]int, len(r.Classes))
		for i, rows := range r.People.Groups() {
			counts[i] = make([]int, len(r.Classes))
			for c, of := range groups(rows, r.Labels, len(r.Classes)) {
				if counts[i][c] = len(of); of != nil {
					holders[c]++
				}
			}
		}
		for c, n := range holders {
			if n < 2 {
				return nil, fmt.Errorf("class %q has rows of one person (%s), who cannot be both trained on and tested: leave "+
					"the class out, or give rows of more persons", r.Classes[c], r.People.Column)
			}
		}
		for range mostSplits {
			if fold, ok := stratified(counts, tests, rng); ok {
				return []learn.Fold{fold}, nil
			}
		}
		return nil, fmt.Errorf("%d random splits of persons (%s) have a class with no row to train on, or none to test: "+
			"leave rare classes out, or give rows of more persons", mostSplits, r.People.Column)
	})
	if err != nil {
		return nil, nil, err
	}
	return folds[0].Train, folds[0].Test, nil
}

// stratified goes through persons in a random order. A person, with counts of rows of each class, is tested if that
// brings the numbers of tested rows nearer to tests, in the sum of magnitudes; persons with one row each make
// them equal. Then somebody is added for each class that has no row yet. ok reports whether every class has rows on
// both sides.
func stratified(counts [][]int, tests []int, rng *rand.Rand) (fold learn.Fold, ok bool) {
	missing, trained := slices.Clone(tests), make([]int, len(tests)) // rows of each class
	for _, count := range counts {
		for c, n := range count {
			trained[c] += n
		}
	}
	all, tested := slices.Clone(trained), make([]bool, len(counts))
	order := rng.Perm(len(counts))
	add := func(person int, wanted func(nearer int) bool) {
		nearer := 0
		for c, n := range counts[person] {
			if n > 0 && n == trained[c] {
				return // nobody would be left to train on
			}
			nearer += magnitude(missing[c]) - magnitude(missing[c]-n)
		}
		if tested[person] || !wanted(nearer) {
			return
		}
		tested[person] = true
		for c, n := range counts[person] {
			missing[c] -= n
			trained[c] -= n
		}
	}
	for _, person := range order {
		add(person, func(nearer int) bool { return nearer > 0 })
	}
	for c := range tests {
		for _, person := range order {
			add(person, func(int) bool { return trained[c] == all[c] && counts[person][c] > 0 })
		}
		if trained[c] == all[c] {
			return learn.Fold{}, false
		}
	}
	for person, t := range tested {
		if t {
			fold.Test = append(fold.Test, person)
		} else {
			fold.Train = append(fold.Train, person)
		}
	}
	return fold, true
}

func magnitude(n int) int { return max(n, -n) }
