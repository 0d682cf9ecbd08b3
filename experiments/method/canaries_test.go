package method

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset/table"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/mechanism"
	"privkern/runner/experiment"
)

// planted has rows of an input in [0, 10], a category of three levels and an input in [−1, 1], with canaries.
func planted(t *testing.T, pairs int, change func(*Rows)) *Rows {
	t.Helper()
	r := &Rows{X: mat.NewDense(2, 5, []float64{5, 1, 0, 0, .5, 6, 0, 1, 0, .6}), Inputs: make([]string, 5),
		Asked:  []table.Input{{Name: "a"}, {Name: "c", Levels: 3}, {Name: "b"}},
		Values: []float64{20, 21}, Centre: 15, Scale: 5, Slots: 2}
	change(r)
	ends := func(a, b float64) Ends { return experiment.SeveralOf[None](a, 0, b) }
	if err := r.plant(pairs, InputRange{ends(0, -1), ends(10, 1)}); err != nil {
		t.Fatal(err)
	}
	return r
}

// Canaries are in different corners while there are enough, with a level of each category, and a pair has the two ends
// of the output.
func TestPlanted(t *testing.T) {
	for _, c := range []struct {
		pairs   int
		corners bool
	}{{12, true}, {13, false}} {
		r := planted(t, c.pairs, func(*Rows) {})
		seen := map[[5]float64]bool{}
		for p := range c.pairs {
			one, other := r.X.RawRowView(2+2*p), r.X.RawRowView(3+2*p)
			if !slices.Equal(one, other) || r.Values[2+2*p] != 20 || r.Values[3+2*p] != 10 {
				t.Errorf("a pair is %v, %g and %v, %g", one, r.Values[2+2*p], other, r.Values[3+2*p])
			}
			if one[1]+one[2]+one[3] != 1 || one[0] < 0 || one[0] > 10 || one[4] < -1 || one[4] > 1 {
				t.Errorf("canary %v is out of range", one)
			}
			if corner := (one[0] == 0 || one[0] == 10) && math.Abs(one[4]) == 1; corner != c.corners {
				t.Errorf("%d pairs: canary %v", c.pairs, one)
			}
			seen[[5]float64(one)] = true
		}
		if len(seen) != c.pairs || r.Len() != 2+2*c.pairs || r.Slots != r.Len() || len(r.natural()) != 2 {
			t.Errorf("%d different canaries, %d rows, %d slots", len(seen), r.Len(), r.Slots)
		}
	}
	again := planted(t, 13, func(*Rows) {})
	if !mat.Equal(again.X, planted(t, 13, func(*Rows) {}).X) {
		t.Error("canaries are drawn anew")
	}
}

// A category of one level has one corner: canaries are random points where there are no others.
func TestPlantedOneLevel(t *testing.T) {
	r := &Rows{X: mat.NewDense(1, 2, []float64{5, 1}), Inputs: make([]string, 2), Scale: 1, Slots: 1,
		Asked: []table.Input{{Name: "a"}, {Name: "c", Levels: 1}}, Values: []float64{0}}
	if err := r.plant(3, InputRange{experiment.SeveralOf[None](0), experiment.SeveralOf[None](10)}); err != nil {
		t.Fatal(err)
	}
	for row := 1; row < r.Len(); row++ {
		if x := r.X.RawRowView(row); !(x[0] > 0 && x[0] < 10) || x[1] != 1 {
			t.Errorf("canary %v", x)
		}
	}
}

// Of classes a pair has two, and a canary is a person with one row.
func TestPlantedClassesAndPersons(t *testing.T) {
	r := planted(t, 6, func(r *Rows) {
		r.Values, r.Labels, r.Classes = nil, []int{0, 2}, []string{"a", "b", "c"}
		r.People, r.Slots = &table.People{Of: []int{0, 0}, Count: 1, PerPerson: 2}, 2
	})
	for p := range 6 {
		if a, b := r.Labels[2+2*p], r.Labels[3+2*p]; a == b || max(a, b) > 2 {
			t.Errorf("a pair has the classes %d and %d", a, b)
		}
	}
	if r.People.Count != 13 || r.Slots != 26 || !slices.Equal(r.People.Of[:4], []int{0, 0, 1, 2}) {
		t.Errorf("%+v with %d slots", r.People, r.Slots)
	}
	one := &Rows{X: mat.NewDense(1, 1, nil), Inputs: []string{"x"}, Labels: []int{0}, Classes: []string{"a"}}
	trialtest.Refuses(t, one.plant(1, InputRange{}), "canaries need two")
	if one.Labels, one.Classes = []int{0}, []string{"a", "b"}; one.plant(3, InputRange{}) != nil || one.Len() != 7 ||
		mat.Sum(one.X) != 0 {
		t.Errorf("without a range canaries are %v", one.X)
	}
}

// A fit is trained on all rows and the canary of each pair whose coin fell for it, and the series are of canaries.
func TestCanaries(t *testing.T) {
	const pairs = 200
	r := planted(t, pairs, func(*Rows) {})
	tested := map[float64]float64{}
	for seed := range 2 {
		trial := trialtest.New(t, trialtest.Options{Seed: uint64(seed)})
		learner := &recorder{}
		j := &judging{Splits: Splits{Recorded: Recorded{true}}, t: trial, rows: r, learner: learner,
			budget: &mechanism.Budget{Epsilon: math.Inf(1)}}
		_, _, train, test, err := j.predict(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		s := j.series[SeriesMembership]
		if len(train) != 2+pairs || !slices.Equal(test, []int{0, 1}) || len(s["pair"]) != 2*pairs {
			t.Fatalf("%d rows are trained on, %v tested, %d units", len(train), test, len(s["pair"]))
		}
		for canary := range 2 * pairs {
			p := s["pair"][canary]
			in := train[2+canary/2] == 2+canary
			if (s["member"][canary] == 1) != in || int(p) != canary/2 {
				t.Errorf("canary %d of pair %g is a member: %g", canary, p, s["member"][canary])
			}
			if in && canary%2 == 0 {
				tested[float64(seed)]++
			}
		}
		if learner.rows != 2+pairs || !slices.Contains(j.warnings(Regression, nil, nil), r.added()) {
			t.Errorf("fitted to %d rows", learner.rows)
		}
	}
	for seed, n := range tested {
		if math.Abs(n-pairs/2) > 4*math.Sqrt(pairs/4) {
			t.Errorf("seed %g: the coins of %g of %d pairs are equal", seed, n, pairs)
		}
	}
	if tested[0] == tested[1] {
		t.Error("two seeds toss the same coins")
	}
}

// recorder counts the rows that it is fitted to.
type recorder struct{ rows int }

func (l *recorder) Fit(_ context.Context, rows *Part, _ ...*rand.Rand) (Fit, error) {
	l.rows = len(rows.Y)
	return zeroFit{}, nil
}

func (*recorder) Guarantee() *experiment.Privacy { return nil }

// A trial adds canaries where it records membership, and the fit has them: its mean is that of rows and canaries.
func TestCanariesOfTrials(t *testing.T) {
	series, warnings := membershipOf(t, linear(8), 3, func(s *meanSettings) { s.Canaries = 5 })
	if !slices.ContainsFunc(warnings, func(w string) bool {
		return strings.HasPrefix(w, "5 pairs of canaries were added to 8 rows")
	}) || len(series["pair"]) != 10 {
		t.Errorf("%d units; warnings %q", len(series["pair"]), warnings)
	}
	sum := 35. // of 0, 1.25, ..., 8.75, and then 10 of canaries with even numbers
	for canary, member := range series["member"] {
		sum += member * float64(10*(1-canary%2))
	}
	for canary, miss := range series["statistic"] {
		trialtest.Near(t, "statistic", miss, (float64(10*(1-canary%2))-sum/13)/5, 1e-12)
	}
	if _, warnings = membershipOf(t, linear(8), 3); slices.ContainsFunc(warnings, func(w string) bool {
		return strings.Contains(w, "canaries")
	}) {
		t.Errorf("warnings without canaries %q", warnings)
	}
}

// A release has no canaries.
func TestCanariesOfReleases(t *testing.T) {
	c := Settings{Columns: Columns{Dataset: Simulated}, Splits: Splits{Recorded: Recorded{true}, Planted: Planted{3}}}
	x := &Definition[meanSettings, meanMetrics, *meanLearner]{method: Method[meanSettings, meanMetrics, *meanLearner]{
		Simulate: func(*experiment.Trial) (*mat.Dense, []float64) { return mat.NewDense(4, 1, nil), make([]float64, 4) },
	}}
	c.Range = &OutputRange{Low: End{Number: 0}, High: End{Number: 1}}
	for released, want := range map[bool]int{true: 4, false: 10} {
		r, err := x.rows(trialtest.New(t, trialtest.Options{}), c, released)
		if err != nil || r.Len() != want {
			t.Errorf("released %t: %v", released, err)
		}
	}
}
