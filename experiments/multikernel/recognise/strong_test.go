package recognise

import (
	"slices"
	"testing"

	"privkern/experiments/learn"
)

// With all adversaries the chosen one has an interval, over people, about the test samples.
func TestAllAdversaries(t *testing.T) {
	all, d := movements(4), division{test: 3}
	few, err := recogniseHAR(t.Context(), t, 2, new(steps), all, d, defaults[HARSettings])
	if err != nil {
		t.Fatal(err)
	}
	var reported steps
	out, err := recogniseHAR(t.Context(), t, 2, &reported, all, d, func(s *HARSettings) { s.Adversaries = AllAdversaries })
	if err != nil {
		t.Fatal(err)
	}
	m := out.Metrics
	if few.Metrics.Chosen != nil || m.Adversary != few.Metrics.Adversary ||
		m.AdversaryPerson != few.Metrics.AdversaryPerson {
		t.Errorf("metrics of few %+v, of all %+v", few.Metrics, m)
	}
	if got := reported[len(reported)-1]; got != "9/9 adversary: network" && got != "14/14 adversary: network" {
		t.Errorf("progress ends with %q", got)
	}
	for _, c := range []struct {
		name           string
		low, got, high *float64
		least          float64
	}{
		{"of samples", m.ChosenLow, m.Chosen, m.ChosenHigh, 60},
		{"of people", m.ChosenPersonLow, m.ChosenPerson, m.ChosenPersonHigh, 100},
	} {
		if c.got == nil || *c.got < c.least || *c.low >= *c.got || *c.high < *c.got || *c.low < 20 {
			t.Errorf("%s: %g in [%g, %g]", c.name, *c.got, *c.low, *c.high)
		}
	}
	if *m.ChosenHigh >= 100 && *m.Chosen < 90 {
		t.Errorf("the interval ends at %g %%", *m.ChosenHigh)
	}
}

// Blocks are parts of neighbouring samples of each person at each activity.
func TestBlocks(t *testing.T) {
	var s Samples
	for range 7 { // in turns, as samples of two people may come
		s.Privacy, s.Utility = append(s.Privacy, 0, 1, 0), append(s.Utility, 0, 0, 1)
	}
	folds := blocks(s)
	if len(folds) != 3 {
		t.Fatalf("%d parts", len(folds))
	}
	tested := make([]int, len(s.Privacy))
	for part, f := range folds {
		for _, row := range f.Test {
			tested[row]++
			if place := row / 3; place*3/7 != part {
				t.Errorf("sample %d of 7 is in part %d", place, part)
			}
		}
		both := slices.Concat(f.Train, f.Test)
		slices.Sort(both)
		if !slices.Equal(both, seq(len(s.Privacy))) || !slices.IsSorted(f.Train) || !slices.IsSorted(f.Test) {
			t.Errorf("part %d: %v", part, f)
		}
	}
	for row, n := range tested {
		if n != 1 {
			t.Errorf("sample %d is in %d parts", row, n)
		}
	}
	if got := blocks(Samples{Privacy: []int{0, 1}, Utility: []int{0, 0}}); len(got) != 1 {
		t.Errorf("one sample each: %v", got)
	}
}

func seq(n int) []int {
	return learn.AllRows(n)
}
