package nearest

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/trialtest"
	"privkern/experiments/kahm/wide"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// formulaClasses is the number of classes of formulaData.
const formulaClasses = 3

// formulaData returns three classes of 90 samples of 12 columns, and 20 test points of
// each.
func formulaData() *classData {
	d := &classData{classes: formulaClasses, privacy: entry("one entry"), trainPoints: formulaClasses * 90}
	d.test = mat.NewDense(60, 12, nil)
	rng := rand.New(rand.NewPCG(11, 1))
	for c := range formulaClasses {
		all := mat.NewDense(110, 12, nil)
		all.Apply(func(_, j int, _ float64) float64 { return 1.5*math.Cos(float64(c+j)) + .5*rng.NormFloat64() }, all)
		d.train = append(d.train, wide.Source{Class: c, Samples: mat.DenseCopyOf(all.Slice(0, 90, 0, 12))})
		for i := range 20 {
			d.test.SetRow(20*c+i, all.RawRowView(90+i))
			d.testLabels = append(d.testLabels, c)
		}
	}
	return d
}

// smallClassifier returns the settings of a classifier for formulaData, with a change.
func smallClassifier(t *testing.T, change func(*ClassifierSettings)) *ClassifierSettings {
	t.Helper()
	s := Classifier().With(func(s *ClassifierSettings) {
		s.N, s.Layers, s.Branches, s.Epsilon = 4, 2, experiment.NumberOr[wide.Rounding](3), 4
		s.Points = trialtest.WordOr[int](wide.All)
		change(s)
	})
	if _, err := Classifier().Resolved(s); err != nil {
		t.Fatal(err)
	}
	return s
}

// evaluateFormula evaluates a classifier of formulaData.
func evaluateFormula(t *testing.T, workers int, s *ClassifierSettings) *evaluation {
	t.Helper()
	trial := trialtest.New(t, trialtest.Options{Seed: 3, Workers: workers})
	r, err := evaluate(context.Background(), trial, s.Data, &s.Pipeline, &s.Score, formulaData())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// untimed returns the metrics of a definition but for times, by name.
func untimed[S, M any](x *experiment.Definition[S, M], m any) map[string]float64 {
	values := experiment.MetricValues(m)
	for _, metric := range x.Metrics {
		if metric.Timing {
			delete(values, metric.Name)
		}
	}
	return values
}

// finiteMetrics fails the test where a metric is no number.
func finiteMetrics(t *testing.T, m any) {
	t.Helper()
	for name, v := range experiment.MetricValues(m) {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.Errorf("%s is %v", name, v)
		}
	}
}

// Every kind of classifier gives the same bits with one worker and with several,
// and finds most classes.
func TestClassifierOnFormulaData(t *testing.T) {
	for _, data := range []wide.Data{wide.Original, wide.Noisy, wide.Fabricated} {
		for _, variant := range []wide.Variant{wide.AsPublished, wide.Corrected} {
			t.Run(experiment.NameOf(data)+" "+experiment.NameOf(variant), func(t *testing.T) {
				s := smallClassifier(t, func(s *ClassifierSettings) { s.Data, s.Variant = data, variant })
				one, three := evaluateFormula(t, 1, s), evaluateFormula(t, 3, s)
				finiteMetrics(t, one.ClassifierMetrics)
				got, want := untimed(Classifier(), one.ClassifierMetrics), untimed(Classifier(), three.ClassifierMetrics)
				if !maps.Equal(got, want) {
					t.Errorf("with one worker %v, with three %v", got, want)
				}
				if one.Accuracy < .8 {
					t.Errorf("accuracy %g", one.Accuracy)
				}
				if one.Branches != 9 {
					t.Errorf("%g machines, want 3 classes × 3", one.Branches)
				}
				if (one.privacy != nil) != (data != wide.Original) {
					t.Errorf("privacy %+v", one.privacy)
				}
				if p := one.privacy; p != nil && (p.Guarantee != "") != (variant == wide.Corrected) {
					t.Errorf("%s: %q", p.Guarantee, p.Notes)
				}
			})
		}
	}
}

// The guarantee is refuted exactly where private data are used without noise.
func TestGuaranteeOfClassifiers(t *testing.T) {
	for _, c := range []struct {
		name      string
		change    func(*ClassifierSettings)
		statement string
		reasons   int
	}{
		{"noisy, clusters of noisy samples", func(s *ClassifierSettings) { s.Data = wide.Noisy }, "(8, 1e-05)-DP", 0},
		{"noisy, private clusters", func(s *ClassifierSettings) {
			s.Data, s.Clusters = wide.Noisy, wide.OriginalClusters
		}, "no guarantee: the clusters (Eq. 98)", 1},
		{"noisy, private clusters, but one machine a class", func(s *ClassifierSettings) {
			s.Data, s.Clusters, s.Branches = wide.Noisy, wide.OriginalClusters, experiment.NumberOr[wide.Rounding](1)
		}, "(8, 1e-05)-DP", 0},
		{"noisy, as published", func(s *ClassifierSettings) { s.Data, s.Variant = wide.Noisy, wide.AsPublished },
			"no guarantee: the clusters (Eq. 98)", 1},
		{"noisy, as published with noisy clusters", func(s *ClassifierSettings) {
			s.Data, s.Variant, s.Clusters = wide.Noisy, wide.AsPublished, wide.NoisyClusters
		}, "(8, 1e-05)-DP", 0},
		{"fabricated, corrected", func(s *ClassifierSettings) { s.Data = wide.Fabricated }, "(8, 1e-05)-DP", 0},
		{"fabricated, as published with noisy clusters", func(s *ClassifierSettings) {
			s.Data, s.Variant, s.Clusters = wide.Fabricated, wide.AsPublished, wide.NoisyClusters
		}, "no guarantee: the fabrication stops at a radius (Eq. 96)", 1},
		{"fabricated, as published", func(s *ClassifierSettings) {
			s.Data, s.Variant = wide.Fabricated, wide.AsPublished
		}, "no guarantee: the clusters (Eq. 98)", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := evaluateFormula(t, 1, smallClassifier(t, func(s *ClassifierSettings) { s.Epsilon = 8; c.change(s) }))
			if got := r.privacy.Statement(); !strings.HasPrefix(got, c.statement) ||
				(r.privacy.Guarantee == "") != (c.reasons > 0) {
				t.Errorf("states %q, want %q", got, c.statement)
			}
			notes := strings.Join(r.privacy.Notes, "\n")
			claimed := strings.Contains(notes, "claimed by the paper: (8, 1e-05)-DP; it does not hold because")
			radius := strings.Contains(notes, "no guarantee: the clusters (Eq. 98) are computed from the private data "+
				"without noise, and the fabrication stops")
			if claimed != (c.reasons > 0) || radius != (c.reasons > 1) {
				t.Errorf("the notes are\n%s", notes)
			}
		})
	}
}

// The score is computed from the given number of training points.
func TestScorePoints(t *testing.T) {
	all := evaluateFormula(t, 1, smallClassifier(t, func(*ClassifierSettings) {}))
	for _, c := range []struct {
		name  string
		score Score
		same  bool
	}{
		{"more than there are", Score{Score: true, Points: experiment.NumberOr[wide.Whole](1000)}, true},
		{"fewer", Score{Score: true, Points: experiment.NumberOr[wide.Whole](50)}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := evaluateFormula(t, 1, smallClassifier(t, func(s *ClassifierSettings) { s.Score = c.score }))
			if (*r.MIS == *all.MIS) != c.same {
				t.Errorf("mis %g, of all points %g", *r.MIS, *all.MIS)
			}
		})
	}
	without := evaluateFormula(t, 1, smallClassifier(t, func(s *ClassifierSettings) { s.Score.Score = false }))
	if without.MIS != nil || without.AttackAUC != nil || without.series["distances"] != nil {
		t.Errorf("without the score: %+v", without.ClassifierMetrics)
	}
}

// Every image goes to exactly one party, in every scenario.
func TestShareLosesNothing(t *testing.T) {
	for _, c := range []struct{ scenario, parties, want int }{
		{classByParty, 10, 3}, {halvedClass, 10, 6}, {randomShares, 1, 3}, {randomShares, 7, 21}, {randomShares, 200, -1},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			d := formulaData()
			s := Federated().With(func(s *FederatedSettings) { s.Scenario, s.Parties = c.scenario, c.parties })
			shares, parties := share(trialtest.New(t, trialtest.Options{}), s, d)
			if c.want >= 0 && len(shares) != c.want {
				t.Errorf("%d pairs of a party and a class, want %d", len(shares), c.want)
			}
			rows, byParty := map[string]int{}, map[int]int{}
			for _, of := range shares {
				n, _ := of.Samples.Dims()
				byParty[of.Party] += n
				for i := range n {
					rows[fmt.Sprint(of.Class, of.Samples.RawRowView(i))]++
				}
			}
			for c := range formulaClasses {
				for i := range 90 {
					if k := fmt.Sprint(c, d.train[c].Samples.RawRowView(i)); rows[k] != 1 {
						t.Errorf("sample %d of class %d is with %d parties", i, c, rows[k])
					}
				}
			}
			if c.scenario != randomShares {
				return
			}
			if len(byParty) != c.parties {
				t.Errorf("%d parties have samples, want %d", len(byParty), c.parties)
			}
			sizes := slices.Sorted(maps.Values(byParty))
			if least, most := sizes[0], sizes[len(sizes)-1]; most-least > 1 {
				t.Errorf("parties have from %d to %d samples", least, most)
			}
			if parties != c.parties {
				t.Errorf("%d parties, want %d", parties, c.parties)
			}
		})
	}
}

// Classes that a party lacks are infinitely far from it; all test points are classified.
func TestClassesThatPartiesLack(t *testing.T) {
	s := Federated().With(func(s *FederatedSettings) {
		s.Scenario, s.Parties, s.Data = randomShares, 30, wide.Original
		s.N, s.Layers, s.Branches = 4, 2, experiment.NumberOr[wide.Rounding](1)
	})
	trial, d := trialtest.New(t, trialtest.Options{}), formulaData()
	b, err := wide.NewBuilder(trial, engine.Of(trial.Engine), s.Data, &s.Pipeline)
	if err != nil {
		t.Fatal(err)
	}
	shares, _ := share(trial, s, d)
	parties, err := classifyBy(t.Context(), trial, b, shares, d)
	if err != nil {
		t.Fatal(err)
	}
	if parties.accuracy < .8 {
		t.Errorf("accuracy %g with 30 parties", parties.accuracy)
	}
	if len(shares) == 90 || parties.machines != len(shares) {
		t.Errorf("%d machines of %d classes of 30 parties", parties.machines, len(shares))
	}
	for i, m := range parties.nearest.Machine {
		if m[0] < 0 {
			t.Errorf("test point %d has no class", i)
		}
	}
}

// One party with all samples has the accuracy of the central classifier.
func TestFederatedOfOneParty(t *testing.T) {
	s := Federated().With(func(s *FederatedSettings) {
		s.Scenario, s.Parties, s.Data = randomShares, 1, wide.Original
		s.N, s.Layers, s.Branches = 4, 2, experiment.NumberOr[wide.Rounding](1)
	})
	out, err := federateDigits(t.Context(), trialtest.New(t, trialtest.Options{}), s, formulaData())
	if err != nil {
		t.Fatal(err)
	}
	finiteMetrics(t, out.Metrics)
	if m := out.Metrics; m.Accuracy < .9 || *m.Change != 0 || *m.AccuracyCentralised != m.Accuracy || m.Branches != 3 ||
		m.MissingClasses != 0 || m.SmallestClass != 90 {
		t.Errorf("%v", experiment.MetricValues(m))
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		x     *experiment.Experiment
		given map[string]any
		want  string
	}{
		{Classifier().Experiment, map[string]any{"n": 785, "layers": 5}, "the data have only 784 columns"},
		{Classifier().Experiment, map[string]any{"n": 3, "layers": 4}, "at most n = 3 layers"},
		{Classifier().Experiment, map[string]any{"test": 1}, "use more test images"},
		{Classifier().Experiment, map[string]any{"epsilon": 0}, "epsilon"},
		{Classifier().Experiment, map[string]any{"delta": 1}, "delta"},
		{Classifier().Experiment, map[string]any{"d": 0}, `"d"`},
		{Classifier().Experiment, map[string]any{"branches": 0}, "branches"},
		{Classifier().Experiment, map[string]any{"branches": "floor"}, "round, ceil"},
		{Classifier().Experiment, map[string]any{"train": 60001}, "train"},
		{Classifier().Experiment, map[string]any{"data": "synthetic"}, "original, noisy, fabricated"},
		{Classifier().Experiment, map[string]any{"score_points": 5}, "score_points"},
		{Federated().Experiment, map[string]any{"scenario": 3, "parties": 20, "train": 10}, "only 10 training images"},
		{Federated().Experiment, map[string]any{"scenario": 4}, "scenario"},
	} {
		t.Run(fmt.Sprint(c.x.Name, c.given), func(t *testing.T) {
			_, err := c.x.Resolve(c.given)
			trialtest.Refuses(t, err, c.want)
		})
	}
}
