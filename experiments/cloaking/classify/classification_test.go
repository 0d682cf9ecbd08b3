package classify

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/cloaking/internal/cloaktest"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/learn"
	"privkern/experiments/mechanism"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

func TestClassification(t *testing.T) {
	s := trialtest.Options{File: cloaktest.Classes(t)}
	clean := validated(t, s, ownClasses, func(s *classificationSettings) { noiseless(&s.ClassifierSettings) }).Metrics
	wantWarning(t, validated(t, s, ownClasses).Warnings, "2 of 62 rows have no value")
	if clean.UsedRows != 60 || clean.DroppedRows != 2 {
		t.Errorf("%g rows used, %g dropped", clean.UsedRows, clean.DroppedRows)
	}
	if clean.Accuracy < 0.8 || *clean.AUC < 0.8 || clean.Balanced < 0.8 || clean.Majority > 0.7 {
		t.Errorf("without noise: %+v", clean)
	}
	noisy := validated(t, s, ownClasses).Metrics
	if noisy.Accuracy >= clean.Accuracy {
		t.Errorf("accuracy %g with noise, %g without", noisy.Accuracy, clean.Accuracy)
	}
	if clean.Rank != nil || clean.Gap != nil || noisy.Rank == nil || noisy.Gap == nil {
		t.Errorf("rank and gap are %v and %v without noise, %v and %v with it", clean.Rank, clean.Gap, noisy.Rank,
			noisy.Gap)
	}
	secure := s
	secure.Secure = true
	r := validated(t, secure, ownClasses).Series
	if r["predictions"]["label"] != nil || r["folds"]["accuracy"] != nil || r["predictions"]["probability"] == nil {
		t.Errorf("a record that protects has %v", r)
	}
}

// Two folds of two draws each, by hand: the second draw has the first row wrong.
func TestSummaryOfFolds(t *testing.T) {
	s := Classification().With(func(s *classificationSettings) { s.Draws = 2 })
	c, err := newClassifier(trialtest.New(t, trialtest.Options{}), &s.ClassifierSettings, s.Method)
	if err != nil {
		t.Fatal(err)
	}
	v := &validation{
		classifier: c,
		data:       &problem{inputs: mat.NewDense(5, 1, nil), labels: []float64{1, -1, 1, -1, -1}, names: []string{"x"}},
		folds:      []learn.Fold{{Test: []int{0, 1}}, {Test: []int{2, 3, 4}}},
	}
	of := func(steps int, latent []float64, released ...cloak.Quality) *prediction {
		mean := mat.NewDense(len(latent)/2, 2, latent)
		return &prediction{mean: mean, variance: mean, steps: steps, releases: released}
	}
	out, err := v.summarise([]*prediction{
		of(3, []float64{1, -1, -1, -1}, cloak.Quality{Rank: 4, Gap: 0.1}, cloak.Quality{Rank: 3, Gap: 0.2}),
		of(2, []float64{2, 3, -1, -2, -3, -3}, cloak.Quality{Rank: 5, Gap: 0.05}),
	})
	if err != nil {
		t.Fatal(err)
	}
	m := out.Metrics
	each(t,
		checked{"accuracy", m.Accuracy, (0.75 + 1) / 2, 1e-15}, checked{"over folds", m.FoldSD, 0.125, 1e-15},
		checked{"balanced accuracy", m.Balanced, (1 + 0.75) / 2, 1e-15},
		checked{"area", *m.AUC, (1 + 5.5/6) / 2, 1e-15}, // -1 among the positive, and among the negative
		checked{"majority", m.Majority, 0.6, 0}, checked{"rows", m.UsedRows, 5, 0}, checked{"steps", m.Steps, 3, 0},
		checked{"rank", *m.Rank, 3, 0}, checked{"gap", *m.Gap, 0.2, 0},
	)
	folds, rows := out.Series["folds"], out.Series["predictions"]
	if !slices.Equal(folds["accuracy"], []float64{0.75, 1}) || !slices.Equal(folds["rows"], []float64{2, 3}) {
		t.Errorf("folds %v", folds)
	}
	if got := rows[columnProbability]; len(got) != 5 || got[2] != logistic(2) || got[4] != logistic(-3) {
		t.Errorf("probabilities of the first draw %v", got)
	}
}

// Test rows of one class have no area, and the share of that class for the balanced accuracy.
func TestRankingOfOneClass(t *testing.T) {
	var m classificationMetrics
	latent := mat.NewDense(4, 2, []float64{1, 1, 2, -1, -3, 1, 1, 1})
	if err := m.addRanking(latent, []float64{1, 1, 1, 1}); err != nil {
		t.Fatal(err)
	}
	if m.AUC != nil || m.Balanced != .75 {
		t.Errorf("area %v, balanced accuracy %g", m.AUC, m.Balanced)
	}
}

// noRows is a file without rows: settings are refused before it is read.
const noRows = ""

func TestClassificationBadInput(t *testing.T) {
	const sixRows = "a,class\n1,1\n2,1\n3,2\n4,2\n5,1\n6,2\n"
	none := trialtest.WordOr[float64](method.Absent)
	two := experiment.NumberOr[method.None](2.0)
	halves := func(scheme cloak.FoldScheme) cloak.Folds { return cloak.Folds{Folds: 2, FoldScheme: scheme} }
	for name, c := range map[string]struct {
		file, want string
		change     func(*classificationSettings)
	}{
		"three classes": {"a,class\n1,1\n2,2\n3,3\n4,1\n", "has the value 3: it is neither low = 1 nor high = 2", nil},
		"one class": {"a,class\n1,1\n2,1\n3,1\n4,1\n", `all 4 rows are of one class of "class"`,
			func(s *classificationSettings) { s.Folds = halves(cloak.Random) }},
		"words":    {"a,class\n1,perhaps\n", `"perhaps"`, nil},
		"few rows": {"a,class\n1,1\n2,2\n", "there cannot be more folds than rows", nil},
		"few drawn rows": {noRows, "there are 4 rows, and there cannot be more folds than rows",
			func(s *classificationSettings) { s.Rows = experiment.NumberOr[All](4) }},
		"rank of drawn rows": {noRows, "rank = 9: there are only 8 training rows", func(s *classificationSettings) {
			s.Rows, s.Rank = experiment.NumberOr[All](10), rank(9)
		}},
		"inducing inputs of drawn rows": {noRows, "9 inducing inputs, but there are only 8 training rows",
			func(s *classificationSettings) {
				s.Rows, s.Method, s.Inducing = experiment.NumberOr[All](10), cloak.Sparse, 9
			}},
		"no output":    {noRows, "output is not given", func(s *classificationSettings) { s.Output = "" }},
		"no labels":    {noRows, "the two values of class", func(s *classificationSettings) { s.Low = none }},
		"labels alike": {noRows, "low must be below high", func(s *classificationSettings) { s.Low = two }},
		"input twice":  {noRows, "named twice", func(s *classificationSettings) { s.Inputs = "a+a" }},
		"other set":    {noRows, `did you mean "hmeq"?`, func(s *classificationSettings) { s.Dataset = "hmqe" }},
		"hmeq's output": {noRows, "such as dataset=csv:PATH",
			func(s *classificationSettings) { s.Dataset = dataHMEQ }},
		"hmeq's outcome": {noRows, "BAD is what is predicted", func(s *classificationSettings) {
			s.ownData = Classification().Defaults().ownData
			s.Inputs = "DELINQ+BAD"
		}},
		"no name": {noRows, `inputs = "DELINQ+": write the names`, func(s *classificationSettings) {
			s.ownData = Classification().Defaults().ownData
			s.Inputs = "DELINQ+"
		}},
		"a file's name": {noRows, `did you mean "csv:my.csv"?`, func(s *classificationSettings) { s.Dataset = "my.csv" }},
		"Hall's range":  {noRows, "proved for epsilon <= 1", func(s *classificationSettings) { s.Epsilon = 1.2 }},
		"rank without noise": {noRows, "rank = 3 with epsilon = inf", func(s *classificationSettings) {
			noiseless(&s.ClassifierSettings)
			s.Rank = rank(3)
		}},
		"inducing": {sixRows, "6 inducing inputs, but there are only 3 different training inputs",
			func(s *classificationSettings) {
				s.Method, s.Inducing, s.Folds = cloak.Sparse, 6, halves(cloak.Interleaved)
			}},
		"rank": {sixRows, "numerical rank 3",
			func(s *classificationSettings) { s.Rank, s.Folds = rank(6), halves(cloak.Interleaved) }},
		"folds by class": {"a,class\n1,1\n2,1\n3,1\n4,2\n5,2\n6,2\n", "the other folds hold one class only; use more folds",
			func(s *classificationSettings) { s.Folds = halves(cloak.Contiguous) }},
		"query points": {"a,class\n1,1\n2,2\n3,1\n4,2\n", "predict is for a release",
			func(s *classificationSettings) { s.Predict = "csv:q.csv" }},
	} {
		t.Run(name, func(t *testing.T) {
			s := trialtest.Options{File: filepath.Join(t.TempDir(), "none.csv")}
			if c.file != noRows {
				s.File = cloaktest.File(t, c.file)
			}
			_, err := trialtest.Try(t, s, Classification(), ownClasses, func(s *classificationSettings) {
				s.Inputs = "a"
				if c.change != nil {
					c.change(s)
				}
			})
			trialtest.Refuses(t, err, c.want)
		})
	}
}

// A constant column is computed, and warned of.
func TestClassificationConstantInput(t *testing.T) {
	s := trialtest.Options{File: cloaktest.File(t, "a,class\n5,1\n5,2\n5,1\n5,2\n5,2\n5,1\n")}
	r := validated(t, s, ownClasses, func(s *classificationSettings) {
		s.Inputs, s.Folds = "a", cloak.Folds{Folds: 2, FoldScheme: cloak.Interleaved}
	})
	wantWarning(t, r.Warnings, `the input "a" has the same value in all rows`)
}

// More different inputs than the method can have are refused, with the remedy.
func TestClassificationSize(t *testing.T) {
	var b strings.Builder
	b.WriteString("a,class\n")
	for i := range maxInputsStandard + 1 {
		fmt.Fprintf(&b, "%d,%d\n", i, 1+i%2)
	}
	s := trialtest.Options{File: cloaktest.File(t, b.String())}
	byA := func(s *classificationSettings) { s.Inputs = "a" }
	t.Run("all", func(t *testing.T) {
		_, err := trialtest.Try(t, s, Classification(), ownClasses, byA)
		trialtest.Refuses(t, err, "2001 different training inputs; at most 2000 are taken")
		trialtest.Refuses(t, err, "method=sparse")
	})
	t.Run("drawn", func(t *testing.T) {
		r := validated(t, s, ownClasses, byA, func(s *classificationSettings) {
			noiseless(&s.ClassifierSettings)
			s.Rows = experiment.NumberOr[All](40)
		})
		trialtest.Near(t, "used rows", r.Metrics.UsedRows, 40, 0)
	})
}

// A trial reads its data, and a release the points that it predicts at.
func TestClassificationDatasets(t *testing.T) {
	for _, c := range []struct {
		name    string
		own     bool
		predict string
		want    []string
	}{
		{"hmeq", false, cloak.AtTraining, []string{dataHMEQ}},
		{"hmeq, points", false, "csv:q.csv", []string{dataHMEQ, "csv:q.csv"}},
		{"file", true, cloak.AtTraining, []string{"csv:my.csv"}},
		{"file, its points", true, "csv:my.csv", []string{"csv:my.csv"}},
		{"file, points", true, "csv:q.csv", []string{"csv:my.csv", "csv:q.csv"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := Classification().Resolved(Classification().With(func(s *classificationSettings) {
				if c.own {
					ownClasses(s)
				}
				s.Predict = c.predict
			}))
			if err != nil {
				t.Fatal(err)
			}
			if got := Classification().Datasets(p); !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// Own data name δ and are calibrated exactly; the paper's data keep their defaults.
func TestOwnDataCompleteTheirBudget(t *testing.T) {
	own := func(more map[string]any) map[string]any {
		out := map[string]any{"dataset": "csv:my.csv", "inputs": "x", "output": "y", "low": 0, "high": 1}
		maps.Copy(out, more)
		return out
	}
	for _, c := range []struct {
		name        string
		given       map[string]any
		calibration mechanism.Calibration
		composition cloak.Composition
		refusal     string
	}{
		{"no delta", own(nil), 0, 0, "delta is not given"},
		{"no delta, no noise", own(map[string]any{"epsilon": "inf"}), mechanism.Hall, 0, ""},
		{"delta", own(map[string]any{"delta": 1e-6}), mechanism.Analytic, 0, ""},
		{"calibration", own(map[string]any{"delta": 1e-6, "calibration": "hall"}), mechanism.Hall, 0, ""},
		{"large epsilon", own(map[string]any{"delta": 1e-6, "epsilon": 4}), mechanism.Analytic, 0, ""},
		{"steps", own(map[string]any{"delta": 1e-6, "iterations": 2}), mechanism.Analytic, cloak.Gaussian, ""},
		{"basic steps", own(map[string]any{"delta": 1e-6, "iterations": 2, "composition": "basic"}), mechanism.Analytic, 0,
			""},
		{"steps of Hall", own(map[string]any{"delta": 1e-6, "iterations": 2, "calibration": "hall"}), mechanism.Hall, 0, ""},
		{"steps without noise", own(map[string]any{"delta": 1e-6, "iterations": 2, "epsilon": "inf"}), mechanism.Hall, 0,
			""},
		{"steps of hmeq", map[string]any{"iterations": 2, "calibration": "analytic"}, mechanism.Analytic, 0, ""},
		{"other mistakes come first", own(map[string]any{"low": 2}), 0, 0, "low must be below high"},
		{"hmeq", nil, mechanism.Hall, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := Classification().Resolve(c.given)
			switch {
			case c.refusal != "":
				trialtest.Refuses(t, err, c.refusal)
			case err != nil:
				t.Error(err)
			case Classification().Settings(p).Composition != c.composition:
				t.Errorf("composition %s", experiment.NameOf(Classification().Settings(p).Composition))
			case Classification().Settings(p).Calibration != c.calibration:
				t.Errorf("calibration %s, want %s", Classification().Settings(p).Calibration, c.calibration)
			}
		})
	}
}

// As many fits have their modes found together as their covariances leave room for, one at
// least.
func TestFitsTogether(t *testing.T) {
	for _, c := range []struct {
		method     cloak.Method
		rows, want int
	}{{cloak.Standard, 1000, 8}, {cloak.Standard, 5000, 1}, {cloak.Sparse, 5000, 167}} {
		f := &classifier{method: c.method, settings: &ClassifierSettings{Inducing: 10}}
		if got := f.together(c.rows); got != c.want {
			t.Errorf("%v, %d rows: %d together, want %d", c.method, c.rows, got, c.want)
		}
	}
}

// A common fold holds out the rows that every method holds out, and all measures are those of these rows.
func TestClassificationCommonFold(t *testing.T) {
	file := "a,class\n"
	for i := range 40 {
		file += fmt.Sprintf("%d,%d\n", i, 1+i*i%3%2)
	}
	r := validated(t, trialtest.Options{File: cloaktest.File(t, file), Seed: 6}, ownClasses,
		func(s *classificationSettings) {
			noiseless(&s.ClassifierSettings)
			s.Inputs, s.Folds = "a", cloak.Folds{Folds: 5, FoldScheme: cloak.Common}
		})
	rows := method.CommonSplit(6, 0, 40, 8).Test
	p := r.Series["predictions"]
	right, positive := 0.0, 0.0
	for i, row := range rows {
		want := 2*float64(row*row%3%2) - 1
		if p["x"][i] != float64(row) || p["label"][i] != want {
			t.Errorf("row %d is at %g with the label %g", row, p["x"][i], p["label"][i])
		}
		if (p[columnProbability][i] > .5) == (want > 0) {
			right += 1. / 8
		}
		positive += (want + 1) / 16
	}
	trialtest.Near(t, "accuracy", r.Metrics.Accuracy, right, 1e-12)
	trialtest.Near(t, "majority", r.Metrics.Majority, max(positive, 1-positive), 1e-12)
	confused := 0.0
	for _, n := range r.Metrics.Confusion {
		confused += n
	}
	trialtest.Near(t, "rows", confused, 8, 0)
}
