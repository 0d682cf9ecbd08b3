package method

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset/table"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/learn"
	"privkern/runner/experiment"
)

// Rows of one person are in one part of every split.
func TestSplitByPerson(t *testing.T) {
	people := &table.People{Of: []int{3, 0, 3, 1, 0, 3, 4}, Count: 6, PerPerson: 3}
	trial := &experiment.Trial{Stream: func(purpose string) *rand.Rand {
		return rand.New(rand.NewPCG(uint64(len(purpose)), uint64(purpose[len(purpose)-1])))
	}}
	for repeat := range 9 {
		train, test, err := Splits{Holdout: 0.5}.Split(trial, repeat, 7, people)
		if err != nil {
			t.Fatal(err)
		}
		persons := map[int]bool{}
		for _, row := range test {
			persons[people.Of[row]] = true
		}
		if len(persons) != 2 || len(train)+len(test) != 7 || slices.ContainsFunc(train, func(row int) bool {
			return persons[people.Of[row]]
		}) {
			t.Errorf("%v, %v", train, test)
		}
	}
	_, _, err := Splits{Holdout: 0.1}.Split(trial, 0, 7, people)
	trialtest.Refuses(t, err, "holdout = 0.1 leaves 0 of 4 persons for testing")

	folds, err := Folds(people, 7, func(n int) ([]learn.Fold, error) { return learn.ContiguousFolds(n, 2) })
	if got := fmt.Sprint(folds); err != nil || got != "[{[3 6] [0 1 2 4 5]} {[0 1 2 4 5] [3 6]}]" {
		t.Errorf("%s, %v", got, err)
	}
}

// Rows that are left out are counted among all rows of the file.
func TestDroppedRows(t *testing.T) {
	rows := &Rows{X: mat.NewDense(3, 1, nil), Dropped: 5, People: &table.People{LeftOut: 2}}
	if got := rows.Warnings("x")[0]; got != "5 of 10 rows have no value in x and were left out" {
		t.Error(got)
	}
}

// A column of persons may be in quotation marks, as any other.
func TestQuotedPerson(t *testing.T) {
	p := Person{Person: `"a+b"`, RowsPerPerson: 2}
	if got := p.Of(table.Spec{}).Person; got != "a+b" || p.Column() != "a+b" || p.Whom() !=
		"one person (a+b) with at most 2 rows" {
		t.Errorf("%q, %q", got, p.Whom())
	}
}
