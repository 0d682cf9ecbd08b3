package experiment

import (
	"fmt"
	"testing"
)

// budgetTrials are trials with an epsilon, a delta and a seed each; those of an odd
// seed have the series "curve".
func budgetTrials(settings ...budget) []ObservationOf[budget, spread] {
	var out []ObservationOf[budget, spread]
	for i, s := range settings {
		t := ObservationOf[budget, spread]{Settings: &s, Metrics: new(spread), Seed: int64(i),
			Series: map[string]Series{"curve": {"x": nil}}}
		if i%2 == 1 {
			t.Series["curve"]["x"] = []float64{1}
		}
		out = append(out, t)
	}
	return out
}

func seedsOf(trials []ObservationOf[budget, spread]) (seeds []int64) {
	for _, t := range trials {
		seeds = append(seeds, t.Seed)
	}
	return seeds
}

func TestGroups(t *testing.T) {
	trials := budgetTrials(budget{2, .1}, budget{1, .1}, budget{2, .2}, budget{2, .1})
	for _, c := range []struct {
		name string
		got  func() [][]ObservationOf[budget, spread]
		want string
	}{
		{"by all settings", func() [][]ObservationOf[budget, spread] {
			return GroupBy(trials, func(b budget) budget { return b })
		}, "[[0 3] [1] [2]]"},
		{"but for one", func() [][]ObservationOf[budget, spread] {
			return GroupBy(trials, func(b budget) budget { b.Epsilon = 0; return b })
		}, "[[0 1 3] [2]]"},
		{"by a part", func() [][]ObservationOf[budget, spread] {
			return GroupBy(trials, func(b budget) bool { return b.Epsilon > 1 })
		}, "[[0 2 3] [1]]"},
		{"of none", func() [][]ObservationOf[budget, spread] {
			return GroupBy(trials[:0], func(b budget) budget { return b })
		}, "[]"},
		{"first of each", func() [][]ObservationOf[budget, spread] {
			return [][]ObservationOf[budget, spread]{FirstOfEach(trials)}
		}, "[[0 1 2]]"},
		{"with a series", func() [][]ObservationOf[budget, spread] {
			return [][]ObservationOf[budget, spread]{WithSeries(trials, "curve"), WithSeries(trials, "other")}
		}, "[[1 3] []]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			seeds := [][]int64{}
			for _, g := range c.got() {
				seeds = append(seeds, seedsOf(g))
			}
			if got := fmt.Sprint(seeds); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if trials[0].Settings.Epsilon != 2 {
				t.Error("a key changed the settings")
			}
		})
	}
}
