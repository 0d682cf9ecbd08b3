package method

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset/table"
	"privkern/experiments/internal/trialtest"
	"privkern/runner/experiment"
)

// membershipOf computes a trial of the mean of a table with the setting membership.
func membershipOf(t *testing.T, text string, seed uint64, more ...func(*meanSettings),
) (map[string][]float64, []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "my.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out := trialtest.Compute(t, trialtest.Options{File: path, Seed: seed}, means.Experiment(),
		func(s *meanSettings) {
			s.Dataset, s.Inputs, s.Output = "csv:my.csv", "x", "y"
			s.Low, s.High = End{Number: 0}, End{Number: 10}
			s.Epsilon, s.Repeats, s.Holdout, s.SplitSource, s.Membership = math.Inf(1), 1, .5, CommonSplits, true
			for _, change := range more {
				change(s)
			}
		})
	return out.Series[SeriesMembership], out.Warnings
}

// rows of n different outputs.
func linear(n int) string {
	var b strings.Builder
	b.WriteString("x,y\n")
	for i := range n {
		fmt.Fprintf(&b, "%d,%g\n", i, float64(i)*10/float64(n))
	}
	return b.String()
}

// Of each pair one unit is a member, which the fit was trained on, and a unit without a partner is none.
func TestMembershipPairs(t *testing.T) {
	for _, n := range []int{8, 9} {
		s, _ := membershipOf(t, linear(n), 3)
		members, alone, sum := map[float64][]float64{}, 0, 0.0
		for unit, p := range s["pair"] {
			if math.IsNaN(p) {
				alone++
				if s["member"][unit] != 0 {
					t.Errorf("n = %d: unit %d has no partner and is trained on", n, unit)
				}
				continue
			}
			members[p] = append(members[p], s["member"][unit])
			if s["member"][unit] == 1 {
				sum += float64(unit) * 10 / float64(n)
			}
		}
		if alone != n%2 || len(members) != n/2 {
			t.Errorf("n = %d: %d pairs, %d units without one", n, len(members), alone)
		}
		for p, m := range members {
			if slices.Sort(m); !slices.Equal(m, []float64{0, 1}) {
				t.Errorf("n = %d: pair %g has members %v", n, p, m)
			}
		}
		mean := sum / float64(n/2) // the fit, without noise
		for unit, got := range s["statistic"] {
			want := (float64(unit)*10/float64(n) - mean) / 5
			trialtest.Near(t, "statistic", got, want, 1e-12)
			trialtest.Near(t, "confidence", s["confidence"][unit], -math.Abs(want), 1e-12)
		}
	}
}

// The coins of pairs are fair, and those of two pairs independent.
func TestMembershipCoins(t *testing.T) {
	const n, seeds = 6, 400
	both := [4]int{}
	for seed := range seeds {
		order := commonOrder(int64(seed), 0, n)
		first, second := 0, 0
		if order[0] > order[3] {
			first = 1
		}
		if order[1] > order[4] {
			second = 1
		}
		both[2*first+second]++
	}
	for i, count := range both {
		if math.Abs(float64(count)-seeds/4) > 4*math.Sqrt(seeds*3/16) {
			t.Errorf("coins %02b: %d of %d", i, count, seeds)
		}
	}
}

// Coins of each class are drawn anew by each seed, and a pair is one place among the rows of its class.
func TestCoinsWithinClasses(t *testing.T) {
	classes := [][]int{{0, 3, 6, 8}, {1, 2, 4, 5, 7}}
	first := map[int]int{}
	for seed := range 400 {
		train, held := CoinsWithin(int64(seed), classes).Split()
		if len(train) != 4 || len(held) != 5 || !slices.Contains(classes[0], train[1]) ||
			!slices.Contains(classes[1], train[2]) {
			t.Fatalf("seed %d: %v are trained on, %v held out", seed, train, held)
		}
		first[train[0]]++
	}
	for _, row := range classes[0] {
		if n := first[row]; math.Abs(float64(n)-100) > 4*math.Sqrt(75) {
			t.Errorf("row %d is the first of its class %d times of 400", row, n)
		}
	}
}

// Units that are equal on both sides are counted.
func TestMembershipTwins(t *testing.T) {
	_, warnings := membershipOf(t, "x,y\n"+strings.Repeat("1,2\n", 8), 1)
	if !slices.ContainsFunc(warnings, func(w string) bool { return strings.HasPrefix(w, "4 of 4 units") }) {
		t.Errorf("warnings %q", warnings)
	}
	if _, warnings := membershipOf(t, linear(8), 1); slices.ContainsFunc(warnings, func(w string) bool {
		return strings.Contains(w, "are equal to one")
	}) {
		t.Errorf("warnings %q", warnings)
	}
}

func TestMembershipRefusals(t *testing.T) {
	for _, s := range []Splits{
		{Holdout: .5, Repeats: 1, Recorded: Recorded{true}},
		{Holdout: .5, Repeats: 2, Recorded: Recorded{true}, CommonRows: CommonRows{CommonSplits}},
		{Holdout: .2, Repeats: 1, Recorded: Recorded{true}, CommonRows: CommonRows{CommonSplits}},
	} {
		trialtest.Refuses(t, s.CheckMembership(), "splits=common holdout=0.5")
	}
	if err := (Splits{Holdout: .2, Repeats: 3}).CheckMembership(); err != nil {
		t.Error(err)
	}
}

// Confidences of classes, by probabilities and by scores, and of persons.
func TestClassConfidence(t *testing.T) {
	r := &Rows{Labels: []int{0, 1, 1}, Classes: []string{"a", "b", "c"}}
	groups := [][]int{{0}, {1, 2}}
	scores := [][]float64{{.5, .1, .2}, {.3, .7, .2}, {.2, .2, .6}}
	got, _ := r.Confidences(&Prediction{Scores: scores, Probabilities: scores}, groups)
	trialtest.Near(t, "even odds", got[0], 0, 1e-12)
	trialtest.Near(t, "person", got[1], (math.Log(.7/.3)+math.Log(.2/.8))/2, 1e-12)
	got, _ = r.Confidences(&Prediction{Scores: scores}, groups)
	trialtest.Near(t, "scores", got[0], .2, 1e-12)
	trialtest.Near(t, "scores of a person", got[1], (.5-.4)/2, 1e-12)
	if got, _ = r.Confidences(&Prediction{Scores: scores[:1]}, [][]int{{0}}); got[0] != .5 {
		t.Errorf("the only class has the confidence %g", got[0])
	}
	certain := [][]float64{{1, 0, 0}, {0, 1, 1}, {0, 0, 0}}
	if got, _ = r.Confidences(&Prediction{Scores: certain, Probabilities: certain}, groups); math.IsInf(got[0], 0) {
		t.Errorf("a certain class has the confidence %g", got[0])
	}
}

// A person has one number in all trials, whichever of her rows were drawn, and is a member where the fit is trained on
// her rows.
func TestMembershipOfPersons(t *testing.T) {
	people := &table.People{Of: []int{2, 0, 1, 2, 3}, Count: 4, PerPerson: 2}
	rows := &Rows{X: mat.NewDense(5, 1, []float64{1, 2, 3, 4, 5}), Values: []float64{20, 0, 10, 20, 30}, Scale: 1,
		People: people, Slots: 8}
	trial := &experiment.Trial{Identity: experiment.Identity{Seed: 3}}
	j := &judging{Splits: Splits{Holdout: .5, Repeats: 1, CommonRows: CommonRows{CommonSplits}}, t: trial, rows: rows}
	train, _, err := j.Split(trial, 0, 5, people)
	if err != nil {
		t.Fatal(err)
	}
	trained := map[int]float64{}
	for _, row := range train {
		trained[people.Of[row]] = 1
	}
	series, _, err := j.membership(t.Context(), zeroFit{})
	if err != nil {
		t.Fatal(err)
	}
	for person := range 4 {
		if s := series[SeriesMembership]; s["member"][person] != trained[person] ||
			s["statistic"][person] != float64(10*person) {
			t.Errorf("person %d: %v, trained on %v", person, s, trained)
		}
	}
	people.Count = 5
	_, _, err = j.membership(t.Context(), zeroFit{})
	trialtest.Refuses(t, err, "1 of 5 persons")
}

// zeroFit predicts 0, with noise and without.
type zeroFit struct{}

func (zeroFit) Predict(_ context.Context, x *mat.Dense) ([]Prediction, error) {
	p := Prediction{Mean: make([]float64, x.RawMatrix().Rows)}
	return []Prediction{p, p}, nil
}
