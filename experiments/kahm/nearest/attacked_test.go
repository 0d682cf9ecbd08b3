package nearest

import (
	"math"
	"slices"
	"testing"

	"privkern/experiments/internal/trialtest"
	"privkern/experiments/kahm/wide"
	"privkern/experiments/method"
)

// recorded are settings of a trial that records membership, with noise of a finite epsilon or without.
func recorded(epsilon float64) func(*ClassifierSettings) {
	return func(s *ClassifierSettings) {
		onOwn(s)
		s.Data, s.Epsilon, s.Score.Score = wide.Noisy, epsilon, false
		s.Holdout, s.SplitSource, s.Membership = .5, method.CommonSplits, true
	}
}

// Of each pair of two rows of one class one is trained on: what is told of others is what the trial judges.
func TestMembership(t *testing.T) {
	o := ownFile(t, ownRows()+"north,2,2,2,0,red\n") // 21 of one class
	out := trialtest.Compute(t, o, Classifier(), recorded(20))
	s, without := out.Series[method.SeriesMembership], out.Series[method.SeriesMembershipWithoutNoise]
	class := func(unit int) int {
		if unit == 60 {
			return 0
		}
		return unit % 3
	}
	pairs, members := map[float64][]int{}, map[int]int{}
	right, held := 0, 0
	for unit, p := range s["pair"] {
		if !math.IsNaN(p) {
			pairs[p] = append(pairs[p], unit)
		}
		if s["member"][unit] == 1 {
			members[class(unit)]++
			continue
		}
		held++
		if s["confidence"][unit] > 0 { // nearer to its class than to any other
			right++
		}
	}
	if len(pairs) != 30 || len(s["pair"]) != 61 || members[0] != 10 || members[1] != 10 || members[2] != 10 {
		t.Fatalf("%d pairs of %d rows, members %v", len(pairs), len(s["pair"]), members)
	}
	for p, units := range pairs {
		if len(units) != 2 || class(units[0]) != class(units[1]) || s["member"][units[0]] == s["member"][units[1]] {
			t.Errorf("pair %g has %v", p, units)
		}
	}
	if got := float64(right) / float64(held); got != out.Metrics.Accuracy || *out.Metrics.TrainRows != 30 {
		t.Errorf("%g of the rows that are held out are nearest to their class, of %g that are tested", got,
			out.Metrics.Accuracy)
	}
	if slices.Equal(s["confidence"], without["confidence"]) || !slices.Equal(s["confidence"], s["statistic"]) {
		t.Error("noise changes no confidence, or a score has another statistic")
	}
	exact := trialtest.Compute(t, o, Classifier(), recorded(math.Inf(1)))
	for _, name := range []string{method.SeriesMembership, method.SeriesMembershipWithoutNoise} {
		if !slices.Equal(exact.Series[name]["confidence"], without["confidence"]) {
			t.Errorf("%s of a trial without noise differs from that of one with noise", name)
		}
	}
}

func TestMembershipRefused(t *testing.T) {
	for name, c := range map[string]struct {
		rows, want string
		change     func(*ClassifierSettings)
	}{
		"persons": {ownPeople(), "leave person out", func(s *ClassifierSettings) {
			s.Person = method.Person{Person: "who", RowsPerPerson: 6}
		}},
		"own splits":   {ownRows(), "splits=common", func(s *ClassifierSettings) { s.SplitSource = method.OwnSplits }},
		"a fifth":      {ownRows(), "holdout=0.5", func(s *ClassifierSettings) { s.Holdout = .2 }},
		"a single row": {ownRows() + "north,1,1,1,0,violet\n", `"violet" has 1 of the rows`, func(*ClassifierSettings) {}},
		"one class":    {"a,b,c,kind\n1,2,3,x\n2,3,4,x\n", "nothing to tell apart", func(*ClassifierSettings) {}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := trialtest.Try(t, ownFile(t, c.rows), Classifier(), recorded(20), c.change)
			trialtest.Refuses(t, err, c.want)
		})
	}
}
