package attack

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"privkern/experiments/internal/trialtest"
	"privkern/experiments/mechanism"
	"privkern/runner/experiment"
)

// game makes models of a number of pairs: of each a coin puts one unit among the members, whose statistic is normal
// with a mean that is larger by a lead.
func game(models, pairs int, lead float64) []*Model {
	rng := rand.New(rand.NewPCG(uint64(models), uint64(pairs)))
	base := make([]float64, 2*pairs) // units differ from each other
	for i := range base {
		base[i] = 3 * rng.NormFloat64()
	}
	var out []*Model
	for range models {
		m := &Model{}
		for p := range pairs {
			first := rng.IntN(2) == 0
			for _, member := range []bool{first, !first} {
				x := base[len(m.Pair)] + rng.NormFloat64()
				if member {
					x += lead
				}
				m.Pair, m.Member = append(m.Pair, p), append(m.Member, member)
				m.Statistic, m.Confidence = append(m.Statistic, x), append(m.Confidence, x)
			}
		}
		out = append(out, m)
	}
	return out
}

func judged(t *testing.T, models []*Model, g Guarantee) *Outcome {
	t.Helper()
	out, err := Judge(models, g)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Of normal statistics that differ by a lead the area is Φ(lead/√2) for one who knows the units, and the threshold of
// all units, which differ from each other, has less.
func TestLeadIsFound(t *testing.T) {
	const lead = 2
	out := judged(t, game(160, 100, lead), Guarantee{Epsilon: math.Inf(1)})
	want := distuv.UnitNormal.CDF(lead / math.Sqrt2)
	for _, a := range out.Attacks {
		switch a.Attack {
		case Threshold:
			if a.AUC.High > want-.1 {
				t.Errorf("threshold has the AUC %v", a.AUC)
			}
		default:
			trialtest.Near(t, a.Attack, a.AUC.Mean, want, .02)
		}
	}
	online := out.Attacks[2]
	for _, r := range online.Rates { // of normal scores: Φ(lead + Φ⁻¹(level)), known up to the error of 60 models
		found := distuv.UnitNormal.CDF(lead + distuv.UnitNormal.Quantile(r.Level))
		if r.Found.Mean < found/2 || r.Found.Mean > 1.3*found {
			t.Errorf("%g of members at %g, want about %g", r.Found.Mean, r.Level, found)
		}
	}
	if out.Best == Threshold || out.Proof.Epsilon < 2 {
		t.Errorf("best %s proves %v", out.Best, out.Proof)
	}
}

// Where models tell nothing, nothing is found.
func TestNothingIsFound(t *testing.T) {
	out := judged(t, game(64, 100, 0), Guarantee{Epsilon: 1, Delta: 1e-6})
	for _, a := range out.Attacks {
		if a.AUC.Low > .5 || a.AUC.High < .5 {
			t.Errorf("%s has the AUC %v", a.Attack, a.AUC)
		}
	}
	if out.Proof.Epsilon > 0 {
		t.Errorf("proved %v", out.Proof)
	}
}

// With few models there is no likelihood ratio, and no threshold for a rate that they do not tell.
func TestFewModels(t *testing.T) {
	out := judged(t, game(9, 100, 1), Guarantee{Epsilon: 1})
	if len(out.Attacks) != 2 || out.Attacks[1].Attack != Calibrated || out.Shadows != 7 || out.Targets != 2 {
		t.Errorf("%d attacks with %d shadow models, %d targets", len(out.Attacks), out.Shadows, out.Targets)
	}
	if got := out.Attacks[0].Rates; len(got) != 1 || got[0].Level != .1 {
		t.Errorf("rates %v of 200 others", got)
	}
	if _, err := Judge(game(3, 10, 1), Guarantee{}); err == nil {
		t.Error("three models are attacked")
	}
	short := game(8, 10, 1)
	short[2] = game(1, 9, 1)[0]
	_, err := Judge(short, Guarantee{})
	trialtest.Refuses(t, err, "different numbers")
	all := game(8, 10, 1)
	for i := range all[1].Member {
		all[1].Member[i] = true
	}
	_, err = Judge(all, Guarantee{})
	trialtest.Refuses(t, err, "no others")
}

// A shadow model is judged as if it were none.
func TestWithoutOne(t *testing.T) {
	models := game(12, 20, 1)
	const one = 5
	rest := slices.Concat(models[:one], models[one+1:])
	for _, name := range names {
		got := newAdversary(models).scores(name, models[one], one)
		want := newAdversary(rest).scores(name, models[one], none)
		for unit := range want {
			trialtest.Near(t, fmt.Sprintf("%s, unit %d", name, unit), got[unit], want[unit], 1e-9)
		}
	}
}

// The likelihood ratio of a unit by hand: medians, and with 64 shadow models deviations of its own.
func TestLikelihoodRatio(t *testing.T) {
	var models []*Model
	for k := range manyShadows + 4 {
		x := float64(k % 4)
		models = append(models, &Model{Pair: []int{0, 0}, Member: []bool{k%2 == 0, k%2 == 1},
			Statistic: []float64{x, -x}, Confidence: []float64{x, -x}})
	}
	// In are 0 and 2, with the median 1 and the deviation 1; out are 1 and 3, with 2 and 1.
	m := &Model{Member: []bool{true, false}, Statistic: []float64{1.5, 0}, Confidence: []float64{1.25, 0}}
	a := newAdversary(models)
	trialtest.Near(t, "online", a.scores(Online, m, none)[0], (-.25+.25)/2, 1e-12)
	trialtest.Near(t, "offline", a.scores(Offline, m, none)[0], 1.25-2, 1e-12)
	trialtest.Near(t, "online of the other", a.scores(Online, m, none)[1], (-4.0+1)/2, 1e-12)
}

// The calibrated confidence is that above the mean of shadow models, with the unit or not, but the one that is judged.
func TestCalibrated(t *testing.T) {
	var models []*Model
	for k, x := range []float64{1, 2, 6} {
		models = append(models, &Model{Pair: []int{0, 0}, Member: []bool{k == 0, k > 0}, Statistic: []float64{0, 0},
			Confidence: []float64{x, -x}})
	}
	a := newAdversary(models)
	for _, c := range []struct {
		without int
		want    float64
	}{{none, 7 - 3}, {2, 7 - 1.5}} {
		got := a.scores(Calibrated, &Model{Member: make([]bool, 2), Confidence: []float64{7, 0}}, c.without)
		trialtest.Near(t, fmt.Sprintf("without %d", c.without), got[0], c.want, 1e-12)
	}
}

func TestMoments(t *testing.T) {
	values := []observed{{1, 0}, {2, 1}, {4, 2}, {9, 3}}
	for _, c := range []struct {
		without         int
		n               int
		median, squares float64
	}{{none, 4, 3, 38}, {0, 3, 4, 26}, {3, 3, 2, 14.0 / 3}, {7, 4, 3, 38}} {
		n, median, squares := moments(values, c.without)
		if n != c.n || median != c.median || math.Abs(squares-c.squares) > 1e-12 {
			t.Errorf("without %d: %d, %g, %g", c.without, n, median, squares)
		}
	}
	if n, _, _ := moments(values[:1], 0); n != 0 {
		t.Errorf("%d values are left of one", n)
	}
}

// The area by its definition, with equal scores.
func TestAUC(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		n := 5 + rng.IntN(30)
		scores, member := make([]float64, n), make([]bool, n)
		for i := range scores {
			scores[i], member[i] = float64(rng.IntN(6)), i == 0 || i > 1 && rng.IntN(2) == 0
		}
		want, pairs := 0.0, 0.0
		for i := range scores {
			for j := range scores {
				if member[i] && !member[j] {
					pairs++
					switch {
					case scores[i] > scores[j]:
						want++
					case scores[i] == scores[j]:
						want += .5
					}
				}
			}
		}
		trialtest.Near(t, "AUC", auc(scores, member), want/pairs, 1e-12)
	}
}

// A threshold lets no more than the share of non-members exceed it, and the next lower score would.
func TestThresholds(t *testing.T) {
	var others []float64
	for i := range 1000 {
		others = append(others, float64(i*7%1000))
	}
	got := Thresholds(others, Levels)
	if want := []float64{998, 989, 899}; !slices.Equal(got, want) {
		t.Errorf("thresholds %v, want %v", got, want)
	}
	found, wrong := Rates([]float64{5, 1, 3, 4}, []bool{true, true, false, false}, 3)
	if found != .5 || wrong != .5 {
		t.Errorf("%g and %g exceed 3", found, wrong)
	}
}

// A curve is monotone and ends where all are named.
func TestCurve(t *testing.T) {
	m := game(1, 500, 1)[0]
	c := CurveOf(slices.Clone(m.Statistic), m.Member)
	last := len(c.FPR) - 1
	if !slices.IsSorted(c.FPR) || !slices.IsSorted(c.TPR) || c.FPR[last] != 1 || c.TPR[last] != 1 ||
		c.FPR[0] < Alarms/500. {
		t.Errorf("curve from (%g, %g) to (%g, %g)", c.FPR[0], c.TPR[0], c.FPR[last], c.TPR[last])
	}
}

func TestAllows(t *testing.T) {
	g := Guarantee{Epsilon: 1, Delta: 1e-5}
	trialtest.Near(t, "at .1 %", g.Allows(.001), .0027283, 1e-6)
	trialtest.Near(t, "at 60 %", g.Allows(.6), 1-math.Exp(-1)*(1-1e-5-.6), 1e-12)
	if got := (Guarantee{Epsilon: math.Inf(1)}).Allows(.1); got != 1 {
		t.Errorf("without a guarantee %g is allowed", got)
	}
	twice := guaranteeOf("", &experiment.Simulated{Epsilon: 1, Delta: 1e-5, Neighbours: "add-remove"},
		mechanism.Budget{Epsilon: 1, Delta: 1e-5})
	// A hundred entries of ε = .1 have 10 in sum, and by the composition of Gaussian noise that tells more about 4.3.
	entries := guaranteeOf("kahm/classifier", &experiment.Simulated{Epsilon: 10},
		mechanism.Budget{Epsilon: .1, Delta: 1e-5})
	if entries.Epsilon < 3 || entries.Epsilon > 5 || entries.Delta != 1e-5 {
		t.Errorf("a hundred entries have %v", entries)
	}
	if want := (1 + math.E) * 1e-5; twice.Epsilon != 2 || math.Abs(twice.Delta-want) > 1e-12 {
		t.Errorf("two steps have %v", twice)
	}
	// Two classes with the whole budget each, whose noise is Gaussian.
	classes := guaranteeOf("dpgp/classification", &experiment.Simulated{Epsilon: .6, Delta: .02, Neighbours: "add-remove"},
		mechanism.Budget{Epsilon: .3, Delta: .01})
	if want := (1 + math.Exp(.6)) * .02; classes.Epsilon != 1.2 || math.Abs(classes.Delta-want) > 1e-12 {
		t.Errorf("two classes have %v", classes)
	}
}

// Thresholds of shadow models, each by the others, hold for the targets at any number of models: below and above the
// number from which on units have deviations of their own.
func TestThresholdsHold(t *testing.T) {
	for _, models := range []int{84, 85, 86, 87, 88} {
		all := game(models, 60, 1)
		for _, m := range all { // units differ in how much they vary
			for unit := range m.Statistic {
				m.Statistic[unit] *= 1 + float64(unit%4)
				m.Confidence[unit] = m.Statistic[unit]
			}
		}
		for _, a := range judged(t, all, Guarantee{Epsilon: 1}).Attacks {
			last := a.Rates[len(a.Rates)-1]
			if last.Level != .1 || math.Abs(last.Alarms.Mean-.1) > .03 {
				t.Errorf("%d models: %s names %g of others at %g", models, a.Attack, last.Alarms.Mean, last.Level)
			}
		}
	}
}

// A model that failed leaves the others in their roles, and the pairs of a target that failed count.
func TestFailedModels(t *testing.T) {
	all := game(40, 30, 2)
	whole := judged(t, all, Guarantee{Epsilon: 1, Delta: 1e-3})
	all[3], all[35] = nil, nil
	got := judged(t, all, Guarantee{Epsilon: 1, Delta: 1e-3})
	if got.Shadows != whole.Shadows-1 || got.Targets != whole.Targets-1 || got.Proof.Pairs != whole.Proof.Pairs {
		t.Errorf("%d shadow models, %d targets, %d pairs; of all %d, %d, %d", got.Shadows, got.Targets, got.Proof.Pairs,
			whole.Shadows, whole.Targets, whole.Proof.Pairs)
	}
	for i := 30; i < 39; i++ {
		all[i] = nil
	}
	_, err := Judge(all, Guarantee{})
	trialtest.Refuses(t, err, "too few models")
}

// Guesses are about the first pairs, and equal scores are none; pairs are sorted by how much their scores differ.
func TestGuess(t *testing.T) {
	ahead := []float64{3, -2, .5, -.1, 0, 0}
	for n, want := range map[int]int{1: 1, 2: 1, 3: 2, 6: 2} {
		if got := guess(ahead, n); got != want {
			t.Errorf("%d of %d guesses are right, want %d", got, n, want)
		}
	}
	m := &Model{Pair: []int{0, 0, 1, 1, 2, 2}, Member: []bool{true, false, true, false, true, false}}
	if got := leads([]*Model{m}, [][]float64{{1, .5, 0, 2, 3, 0}}); !slices.Equal(got, []float64{3, -2, .5}) {
		t.Errorf("leads %v", got)
	}
}
