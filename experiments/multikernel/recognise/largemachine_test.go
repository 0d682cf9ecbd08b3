package recognise

import (
	"math"
	"slices"
	"testing"

	"privkern/experiments/learn"
)

// TestLargeMachine: an adversary tells with matrices in float32 and blocks of test samples as much as with
// all in float64, where the blocks end within the test samples.
func TestLargeMachine(t *testing.T) {
	all := movements(8)
	train, test, err := division{test: 3}.split(all, SplitLast, nil)
	if err != nil {
		t.Fatal(err)
	}
	f := &Features{Train: all.take(train).X, Test: all.take(slices.Repeat(test, 5)).X} // 720 of them
	a := newAdversary(t.Context(), new(steps).trial(t, 2), f, all.take(train), all.take(slices.Repeat(test, 5)),
		func(string) {})
	if err := a.machine(); err != nil {
		t.Fatal(err)
	}
	want := a.disclosed
	a.disclosed = Disclosed{}
	if err := a.largeMachine(a.scaledTrain, a.scaledTest, a.train.Privacy); err != nil {
		t.Fatal(err)
	}
	if a.disclosed != want || want.SVM < 20 {
		t.Errorf("%+v, want %+v", a.disclosed, want)
	}
	a.machineRows, a.disclosed = 1000, Disclosed{}
	if err := a.machine(); err != nil || a.disclosed != want {
		t.Errorf("from at most 1,000: %+v, want %+v, %v", a.disclosed, want, err)
	}
	a.machineRows, a.disclosed = 200, Disclosed{}
	if err := a.machine(); err != nil || !(a.disclosed.SVM > 0) || a.disclosed == want {
		t.Errorf("from some rows: %+v, %v", a.disclosed, err)
	}
	a.scaledTest.Set(600, 0, math.NaN())
	if err := a.largeMachine(a.scaledTrain, a.scaledTest, a.train.Privacy); err == nil {
		t.Error("a test sample that is not finite has no error")
	}
}

func TestDrawnRows(t *testing.T) {
	labels := make([]int, 5000)
	for i := range labels[:1000] {
		labels[i] = 1
	}
	labels[4000], labels[4001] = 2, 2
	trial := new(steps).trial(t, 1)
	if rows := DrawnRows(labels, 5000, trial.Stream("rows")); rows != nil {
		t.Errorf("%d rows are drawn of as many", len(rows))
	}
	rows := DrawnRows(labels, 500, trial.Stream("rows"))
	counts := map[int]int{}
	for _, l := range learn.Select(labels, rows) {
		counts[l]++
	}
	if !slices.IsSorted(rows) || counts[0] != 399 || counts[1] != 100 || counts[2] != 2 {
		t.Errorf("%v", counts)
	}
}
