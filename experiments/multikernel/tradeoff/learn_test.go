package tradeoff

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/inert"
	"privkern/experiments/internal/modeltest"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/learn"
	"privkern/experiments/model"
	"privkern/experiments/multikernel/projectionfile"
	"privkern/experiments/multikernel/recognise"
	"privkern/runner/experiment"
)

func TestLearn(t *testing.T) {
	file := ownFile(t)
	marks := write(t, "b,a,c,d\n1,0,1,-1\n0,1,-1,1\n-1,-1,0,1\n2,0,0,-2\n0,0,0,0\n")
	for _, c := range []struct {
		name   string
		change func(*Settings)
		holds  func(m Metrics) bool
	}{
		{"one utility", func(*Settings) {}, func(m Metrics) bool {
			return m.Utilities == nil && m.Components == 2 && m.Rank == 6 && *m.Rho == 10 && m.TrainSamples == 72 &&
				m.TestSamples == 24
		}},
		{"two utilities, folds", func(s *Settings) { s.Utility, s.Folds = "kind+size", 3 }, func(m Metrics) bool {
			return math.Abs(m.Utility-(m.Utilities["kind"]+m.Utilities["size"])/2) < 1e-9 && m.TestSamples == 32 &&
				m.Utilities["size"] > m.UtilityBaselines["size"] && m.UtilityBaselines["size"] > 60
		}},
		{"principal components", func(s *Settings) { s.Projection, s.Kernels = pca, "linear+rbf:0.05" },
			func(m Metrics) bool { return m.Rho == nil && m.Rank == 4 }},
		{"desensitised", func(s *Settings) { s.Projection, s.Rho.Number = rdca, 1e-3 },
			func(m Metrics) bool { return *m.Rho == 1e-3 }},
		{"landmarks", func(s *Settings) { s.Landmarks = "csv:" + marks }, func(m Metrics) bool { return m.Rank == 6 }},
		{"drawn rows", func(s *Settings) { s.Nystrom = 20 }, func(m Metrics) bool { return m.Rank == 6 }},
		{"drawn rows, principal", func(s *Settings) { s.Nystrom, s.Projection = 30, pca }, func(m Metrics) bool {
			return m.Rank == 6
		}},
		{"drawn rows, desensitised", func(s *Settings) { s.Nystrom, s.Projection = 30, rdca }, func(m Metrics) bool {
			return m.Rank == 6
		}},
		{"groups", func(s *Settings) { s.Group, s.Split = "visit", recognise.SplitRandom },
			func(m Metrics) bool { return m.TestSamples > 0 }},
		{"gamma and rho are chosen", func(s *Settings) {
			s.Gamma, s.Kernels = crossValidated, "rbf:5+linear+rbf:7"
			s.Rho = trialtest.WordOr[float64](recognise.CrossValidated)
		}, func(m Metrics) bool {
			return slices.Contains([]float64{.1, 1, 10, 100}, *m.Rho) && m.Gamma["rbf_1"] != m.Gamma["rbf_2"] &&
				m.Gamma["rbf_1"] < 5
		}},
		{"one kernel of them", func(s *Settings) { s.Method = "single:rbf" },
			func(m Metrics) bool { return m.Weight["rbf"] == 1 && len(m.Weight) == 1 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := trialtest.Compute(t, trialtest.Options{Workers: 2}, Learn(), own(file), c.change)
			m := out.Metrics
			if m.Utility < 60 || m.UtilityBaseline > 60 || math.Abs(m.PrivacyBaseline-25) > 10 || !c.holds(m) {
				t.Errorf("%+v", m)
			}
			if m.LogLoss["kind"] > m.LogLossBaseline["kind"] || math.Abs(m.LogLossBaseline["who"]-math.Log(4)) > .1 {
				t.Errorf("losses %v, of shares %v", m.LogLoss, m.LogLossBaseline)
			}
			if m.Adversary != max(m.AdversarySVM, m.AdversaryNeighbours, m.AdversaryForest) && c.name != "two utilities, folds" {
				t.Errorf("the strongest adversary tells %g %%", m.Adversary)
			}
			if !strings.HasPrefix(out.Privacy.Statement(), "no guarantee: the kernels are compressed without noise") {
				t.Errorf("%+v", out.Privacy)
			}
			other := trialtest.Compute(t, trialtest.Options{Workers: 1}, Learn(), own(file), c.change)
			if !reflect.DeepEqual(out.Metrics, other.Metrics) {
				t.Errorf("another number of workers gives %+v", other.Metrics)
			}
		})
	}
}

// Standardised inputs have no unit: trained and tested rows are scaled alike.
func TestStandardise(t *testing.T) {
	for _, standardise := range []bool{true, false} {
		a := trialtest.Compute(t, trialtest.Options{}, Learn(), own(ownFile(t)),
			func(s *Settings) { s.Standardise = standardise })
		b := trialtest.Compute(t, trialtest.Options{}, Learn(), own(scaledFile(t, 1<<10)),
			func(s *Settings) { s.Standardise = standardise })
		if same := reflect.DeepEqual(a.Metrics, b.Metrics); same != standardise {
			t.Errorf("standardise=%t: %+v, of inputs in another unit %+v", standardise, a.Metrics, b.Metrics)
		}
	}
}

// Features that tell the utility no better than the largest class does are warned of, once a
// trial; those that do are not.
func TestUselessFeatures(t *testing.T) {
	for _, c := range []struct {
		utility, baseline float64
		warned            bool
	}{{40, 50, true}, {50, 50, true}, {50.1, 50, false}} {
		l := new(learner)
		l.warnUseless(&Metrics{Utility: c.utility, UtilityBaseline: c.baseline})
		if warned := len(l.warnings) == 1; warned != c.warned {
			t.Errorf("%g %% beside %g %%: warnings %q", c.utility, c.baseline, l.warnings)
		}
	}
	const want = "computed but suspect: the features tell the utility"
	count := func(change func(*Settings)) (n int) {
		for _, w := range trialtest.Compute(t, trialtest.Options{Workers: 1}, Learn(), own(ownFile(t)), change).Warnings {
			if strings.HasPrefix(w, want) {
				n++
			}
		}
		return n
	}
	if n := count(func(*Settings) {}); n != 0 {
		t.Errorf("%d warnings of features that tell the kinds", n)
	}
	// A third of the rows is small, and the input has nothing to do with which.
	if n := count(func(s *Settings) { s.Utility, s.Inputs, s.Kernels = "size", "other", "linear" }); n != 1 {
		t.Errorf("%d warnings of features that tell nothing", n)
	}
}

// A desensitised compression tells less of the private classes than principal components.
func TestDesensitisedTellsLess(t *testing.T) {
	told := func(p projection) float64 {
		return trialtest.Compute(t, trialtest.Options{Workers: 2}, Learn(), func(s *Settings) {
			s.Projection, s.Rho.Number, s.Kernels = p, 1e-3, "linear"
		}).Metrics.Adversary
	}
	if a, b := told(rdca), told(pca); a >= b {
		t.Errorf("%g %% of the persons are told, of principal components %g %%", a, b)
	}
}

// Sharing work between trials changes no result.
func TestSharedWork(t *testing.T) {
	kept := new(trialtest.Kept)
	for range 2 {
		with := trialtest.Compute(t, trialtest.Options{Keeper: kept}, Learn())
		without := trialtest.Compute(t, trialtest.Options{}, Learn())
		if !reflect.DeepEqual(with.Metrics, without.Metrics) {
			t.Errorf("%+v with shared work, %+v without", with.Metrics, without.Metrics)
		}
	}
	for _, p := range []projection{pca, rdca} { // other compressions
		trialtest.Compute(t, trialtest.Options{Keeper: kept}, Learn(), func(s *Settings) { s.Projection = p })
	}
	if n := kept.Done["compressed kernel of own data"]; n != 9 {
		t.Errorf("%d compressions, want 9", n)
	}
}

// exported exports a model of the file.
func exported(t *testing.T, changes ...func(*Settings)) (*projectionfile.Model, *experiment.Release) {
	t.Helper()
	s := Learn().With(changes...)
	p, err := Learn().Resolved(s)
	if err != nil {
		t.Fatal(err)
	}
	trial := trialtest.New(t, trialtest.Options{Workers: 2})
	trial.Experiment, trial.Params = Learn().Name, p
	r, err := Learn().Export(t.Context(), trial, p)
	if err != nil {
		t.Fatal(err)
	}
	return r.Model.(*projectionfile.Model), r
}

// A learnt model computes the features of a trial, row by row, and the file holds training rows only
// where it states so.
func TestExport(t *testing.T) {
	file := ownFile(t)
	marks := "csv:" + write(t, "a,b,c,d\n1,0,1,-1\n0,1,-1,1\n-1,-1,0,1\n2,0,0,-2\n0,0,0,0\n")
	for _, c := range []struct {
		name   string
		change func(*Settings)
		are    string
		points int
	}{
		{"kernels of points", func(*Settings) {}, projectionfile.TrainingRows, 96},
		{"principal", func(s *Settings) { s.Projection, s.Kernels = pca, "rbf:0.1" }, projectionfile.TrainingRows, 96},
		{"desensitised", func(s *Settings) { s.Projection = rdca }, projectionfile.TrainingRows, 96},
		{"linear", func(s *Settings) { s.Kernels = "linear" }, projectionfile.NoPoints, 0},
		{"landmarks", func(s *Settings) { s.Landmarks = marks }, projectionfile.Landmarks, 5},
		{"not scaled", func(s *Settings) { s.Standardise, s.Landmarks = false, marks }, projectionfile.Landmarks, 5},
		{"drawn rows", func(s *Settings) { s.Nystrom = 20 }, projectionfile.TrainingRows, 20},
		{"weights of zero", func(s *Settings) { s.Method = "single:linear" }, projectionfile.NoPoints, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, r := exported(t, own(file), c.change)
			if m.Points.Are != c.are || len(m.Points.Rows) != c.points {
				t.Errorf("%d points, %s", len(m.Points.Rows), m.Points.Are)
			}
			warned := slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, "training rows") })
			if warned != (c.are == projectionfile.TrainingRows) {
				t.Errorf("warnings %q", r.Warnings)
			}
			if r.Privacy.Guarantee != "" || !slices.Contains(r.Privacy.Notes, heldWords[c.are]) {
				t.Errorf("%+v", r.Privacy)
			}
			l, want := trained(t, Learn().With(own(file), c.change))
			got := model.Dense(modeltest.Predict(t, l.data.x, m).Rows)
			var d mat.Dense
			d.Sub(got, want)
			if worst := mat.Max(&d) - mat.Min(&d); worst > 1e-9*mat.Norm(want, 2) {
				t.Errorf("the features differ by %g", worst)
			}
			one := model.Dense(modeltest.Predict(t, learn.SelectRows(l.data.x, []int{17}), m).Rows)
			if !mat.EqualApprox(one, learn.SelectRows(got, []int{17}), 1e-12) {
				t.Errorf("row 17 alone is %v", one)
			}
		})
	}
}

// A model names its columns without the levels of the settings.
func TestExportNamesColumns(t *testing.T) {
	m, r := exported(t, own(ownFile(t)), func(s *Settings) {
		s.Utility, s.Privacy, s.Kernels = "kind[k0|k1|k2]", "who[w0|w1|w2|w3]", "linear"
	})
	if !slices.Equal(m.Utility, []string{"kind"}) || m.Hidden != "who" || strings.Contains(r.Privacy.Unit, "[") {
		t.Errorf("%q, hiding %q: %s", m.Utility, m.Hidden, r.Privacy.Unit)
	}
}

// trained returns the features of all rows as a trial that trains on all would have them.
func trained(t *testing.T, s *Settings) (*learner, *mat.Dense) {
	t.Helper()
	l, err := newLearner(trialtest.New(t, trialtest.Options{Workers: 2}), s)
	if err != nil {
		t.Fatal(err)
	}
	rows := learn.AllRows(len(l.data.joint))
	p, err := l.part(rows, s.Rho.Number)
	if err != nil {
		t.Fatal(err)
	}
	var factors []*mat.Dense
	for _, k := range l.spec.Kernels {
		z, _, err := p.features(t.Context(), k, p.train.X)
		if err != nil {
			t.Fatal(err)
		}
		factors = append(factors, z)
	}
	f, err := l.spec.Combine(t.Context(), l.e, factors, make([]*mat.Dense, len(factors)), p.train.Utility, p.train.Privacy)
	if err != nil {
		t.Fatal(err)
	}
	return l, f.Train
}

// The test rows do not influence the learnt compression: with others the features of the first stay.
func TestNothingIsLearntFromTestRows(t *testing.T) {
	l, _ := trained(t, Learn().Defaults())
	rows := learn.AllRows(180)
	p, err := l.part(rows, 10)
	if err != nil {
		t.Fatal(err)
	}
	k := l.spec.Kernels[1]
	few, a, err := p.features(t.Context(), k, learn.SelectRows(l.data.x, []int{180, 181, 182}))
	if err != nil {
		t.Fatal(err)
	}
	many, b, err := p.features(t.Context(), k, learn.SelectRows(l.data.x, []int{180, 181, 182, 200, 239}))
	if err != nil || !mat.Equal(few, many) || !mat.EqualApprox(a, b.Slice(0, 3, 0, 2), 1e-13) {
		t.Errorf("features depend on other test rows: %v", err)
	}
}

// The frontier has the settings that none beats, and the figure all of them.
func TestFrontier(t *testing.T) {
	at := func(x, y float64) *setting { return &setting{adversary: x, utility: y} }
	got := frontier([]*setting{at(50, 90), at(30, 80), at(40, 70), at(30, 60), at(60, 90), at(20, 10)})
	var text [][2]float64
	for _, s := range got {
		text = append(text, [2]float64{s.adversary, s.utility})
	}
	if want := [][2]float64{{20, 10}, {30, 80}, {50, 90}}; !slices.Equal(text, want) {
		t.Errorf("%v, want %v", text, want)
	}
	var trials []experiment.Observation
	for seed, p := range []projection{dca, dca, pca, rdca} {
		s := Learn().With(func(s *Settings) { s.Projection, s.Kernels = p, "linear" })
		out, err := Learn().Compute(t.Context(), trialtest.New(t, trialtest.Options{}), s)
		if err != nil {
			t.Fatal(err)
		}
		trials = append(trials, trialtest.Observe(Learn(), s, int64(seed), out))
	}
	panels := Frontier().Draw(trials)
	if len(panels) != 1 || len(panels[0].Points) != 4 || len(panels[0].Points[0].X) != 1 || panels[0].Points[3].Y[0] > 34 {
		t.Errorf("%+v", panels)
	}
}

// A setting has no effect exactly where its declaration states so.
func TestWhereSettingsApply(t *testing.T) {
	trial := trialtest.New(t, trialtest.Options{Workers: 2})
	file := ownFile(t)
	marks := "csv:" + write(t, "a,b,c,d\n1,0,1,-1\n0,1,-1,1\n-1,-1,0,1\n2,0,0,-2\n0,0,0,0\n")
	cv := trialtest.WordOr[float64](recognise.CrossValidated)
	number := experiment.NumberOr[recognise.CrossValidation, float64]
	inert.Conditions[Settings, Metrics]{
		Of:     Learn(),
		Common: func(s *Settings) { s.Kernels, s.GammaGrid, s.C = "linear+rbf:0.1", []float64{.01, 1}, number(1e4) },
		Bases: map[string]func(*Settings){
			"formula": func(*Settings) {},
			"own":     own(file),
			"chosen":  func(s *Settings) { s.Gamma, s.Rho, s.RhoGrid = crossValidated, cv, []float64{1, 100} },
			"pca":     func(s *Settings) { s.Projection, s.Method, s.Folds = pca, "uniform", 2 },
			"rdca":    func(s *Settings) { s.Projection, s.Method = rdca, "upr" },
		},
		Others: func(s *Settings) []inert.Setting {
			return []inert.Setting{
				inert.Held(&s.Dataset, "the bases have both"), inert.Values(&s.Inputs, "a+b"), inert.Values(&s.Utility, "size"),
				inert.Values(&s.Privacy, "size", "kind"), inert.Values(&s.Group, "visit"),
				inert.Values(&s.Split, recognise.SplitRandom), inert.Values(&s.Folds, 3), inert.Values(&s.TestShare, .5),
				inert.Values(&s.Kernels, "linear"), inert.Values(&s.Gamma, crossValidated, given),
				inert.Values(&s.GammaGrid, []float64{.05, .2}), inert.Values(&s.Projection, dca, pca, rdca),
				inert.Values(&s.Rho, number(.01), number(1e4)), inert.Values(&s.RhoGrid, []float64{.03}),
				inert.Values(&s.RhoPrime, .5), inert.Values(&s.Components, experiment.NumberOr[ofClasses](1)),
				inert.Values(&s.Landmarks, marks), inert.Values(&s.Nystrom, 20),
				inert.Values(&s.Method, "single:linear", "alignment"),
				inert.Values(&s.RhoSNR, 5), inert.Values(&s.C, cv, number(1)), inert.Values(&s.Standardise, false),
			}
		},
		Run: func(s *Settings) (*experiment.Outcome[Metrics], error) { return Learn().Compute(t.Context(), trial, s) },
	}.Check(t)
}
