package own

import (
	"slices"
	"testing"

	"privkern/experiments/dataset/table"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/method"
)

// A common split is that of every other method: it follows from the seed and the number of rows alone, whichever
// classes they have.
func TestCommonSplit(t *testing.T) {
	d := &Table{Holdout: .2, CommonRows: method.CommonRows{SplitSource: method.CommonSplits}}
	r := &Rows{Data: &table.Data{}, Classes: []string{"a", "b"}, Labels: make([]int, 40)}
	for i := range r.Labels[:15] {
		r.Labels[i] = 1
	}
	train, test, err := d.divide(trialtest.New(t, trialtest.Options{Seed: 3}), r)
	if err != nil {
		t.Fatal(err)
	}
	want := method.CommonSplit(3, 0, 40, 8)
	if !slices.Equal(train, want.Train) || !slices.Equal(test, want.Test) {
		t.Errorf("tested are %v, want %v", test, want.Test)
	}
	r.Labels = make([]int, 40)
	r.Labels[want.Test[0]] = 1
	_, _, err = d.divide(trialtest.New(t, trialtest.Options{Seed: 3}), r)
	trialtest.Refuses(t, err, `class "b" has no row to train on in this split`)
}
