package dpgp

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset/table"
	"privkern/experiments/dpgp/classmodel"
	"privkern/experiments/dpgp/regression"
	"privkern/experiments/dpgp/sparse"
	"privkern/experiments/dpgp/sparse/sparsetest"
	"privkern/experiments/internal/schematest"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/learn"
	"privkern/experiments/method"
	models "privkern/experiments/model"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

// writeRows writes a user's file: classes by the place in a square, and a smooth output.
func writeRows(t *testing.T, n int, other map[int]string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("a,b,y,kind,one\n")
	for i := range n {
		x, z := 10*math.Mod(float64(i)*0.6180339887, 1), 100*math.Mod(float64(i)*0.7548776662, 1)
		kind := "low"
		switch {
		case x > 5 && z > 50:
			kind = "high"
		case x > 5:
			kind = "middle"
		}
		row := fmt.Sprintf("%.4f,%.4f,%.4f,%s,same", x, z, math.Sin(x)+z/100, kind)
		if v := other[i]; v != "" {
			row = v
		}
		b.WriteString(row + "\n")
	}
	path := filepath.Join(t.TempDir(), "my.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func ownKinds(path string) func(*ClassificationSettings) {
	return func(s *ClassificationSettings) {
		s.Dataset, s.Inputs, s.Output, s.Delta, s.Epsilon = "csv:"+path, "a,b", "kind", 1e-5, 20
		s.InputLow, s.InputHigh = experiment.SeveralOf[method.None](0), experiment.SeveralOf[method.None](10, 100)
		s.Lengthscale.Numbers, s.Inducing, s.Repeats = experiment.Several{3, 30}, experiment.Points{Count: 4}, 2
		s.Bound, s.Regularisation, s.Jitter = sparse.Exact, sparse.RegularisationCorrected, 1e-8
		s.Probabilities = sharesForm
	}
}

// namedKinds names the classes, as a release needs it.
func namedKinds(s *ClassificationSettings) { s.Output = "kind[low|middle|high]" }

func ownOutputs(path string) func(*searchSettings) {
	return func(s *searchSettings) {
		s.Dataset, s.Inputs, s.Output, s.Epsilon, s.Repeats = "csv:"+path, "a", "y", 20, 4
		s.Features = sparse.WhitenedFeatures
		s.InputLow, s.InputHigh = experiment.SeveralOf[method.None](0), experiment.SeveralOf[method.None](10)
		s.OutputLow, s.OutputHigh = endAt(-1), endAt(2)
		s.Lengthscales, s.Sigmas = []float64{0.05, 1.5, 100}, []float64{0.3}
	}
}

func TestOwnClassification(t *testing.T) {
	out := trialtest.Compute(t, seed(1), classification(),
		ownKinds(writeRows(t, 1500, map[int]string{3: "1,,2,low,same"})))
	m := out.Metrics
	if m.Accuracy < 0.8 || *m.AccuracyWithoutNoise < m.Accuracy-0.05 || *m.AccuracyLargest > 0.6 ||
		m.AccuracyBest != nil ||
		*m.UsedRows != 1499 || *m.DroppedRows != 1 || *m.ClassCount != 3 || *m.InducingInputs != 16 {
		t.Errorf("%+v", m)
	}
	if out.Privacy.Guarantee != "(20, 1e-05)-DP" ||
		!strings.Contains(out.Privacy.Unit, "inputs (a, b) and class (kind)") ||
		!strings.Contains(fmt.Sprint(out.Privacy.Notes), "the classes are those of the data, which a release does not take") {
		t.Errorf("%+v", out.Privacy)
	}
	// Warnings name a class of one row, and an accuracy below the baseline.
	few := trialtest.Compute(t, seed(1), classification(),
		ownKinds(writeRows(t, 60, map[int]string{3: "1,2,2,rare,same"})),
		func(s *ClassificationSettings) { s.Epsilon = 0.01 })
	if text := fmt.Sprint(few.Warnings); !strings.Contains(text, "which are hardly learnt: rare (1)") {
		t.Errorf("%s", text)
	}
}

// The metric that results have is that of rows, and the rule of the warning that of persons.
func TestLargestClassOfPersons(t *testing.T) {
	var b strings.Builder
	b.WriteString("a,kind,id\n")
	for i := range 400 {
		fmt.Fprintf(&b, "%d,%s,%d\n", i%7, []string{"low", "high", "high"}[i%3], i)
	}
	path := filepath.Join(t.TempDir(), "persons.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	var largest []float64
	for _, most := range []int{1, 1000} {
		out := trialtest.Compute(t, seed(1), classification(), ownKinds(path), func(s *ClassificationSettings) {
			s.Inputs, s.InputHigh, s.Epsilon, s.Repeats = "a", experiment.SeveralOf[method.None](10), .5, 20
			s.Lengthscale.Numbers = experiment.Several{3}
			s.Person = method.Person{Person: "id", RowsPerPerson: most}
		})
		largest = append(largest, *out.Metrics.AccuracyLargest)
		if text := fmt.Sprint(out.Warnings); strings.Contains(text, "is below that of always the largest class") {
			t.Errorf("%d rows of a person: %g of such noise are no less than the rule has: %s", most, out.Metrics.Accuracy, text)
		}
	}
	if largest[0] < .6 || largest[1] != largest[0] {
		t.Errorf("always the largest class: %v", largest)
	}
}

// Rows outside of the public range are warned of where results are judged, and in no release.
func TestRowsBeyondThePublicRange(t *testing.T) {
	path := writeRows(t, 300, nil)
	const want = `rows the input "a" is outside of the public range, 2 to 10: what is predicted there is extrapolated`
	narrow := func(s *ClassificationSettings) { s.InputLow = experiment.SeveralOf[method.None](2, 0) }
	judged := trialtest.Compute(t, seed(1), classification(), ownKinds(path), narrow)
	if text := fmt.Sprint(judged.Warnings); !strings.Contains(text, want) {
		t.Errorf("%s", text)
	}
	r, err := releaseWith(t, classification(), 1, ownKinds(path), namedKinds, narrow)
	if err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprint(r.Warnings); strings.Contains(text, "range") {
		t.Errorf("a release says %s", text)
	}
	search := trialtest.Compute(t, seed(1), hyperparameters(), ownOutputs(path), func(s *searchSettings) {
		s.InputLow = experiment.SeveralOf[method.None](2)
	})
	if text := fmt.Sprint(search.Warnings); !strings.Contains(text, want) {
		t.Errorf("%s", text)
	}
}

// The exponential mechanism on counts: equal ones are as likely, and e^(ε/2) stands between
// counts that differ by one.
func TestLargestClass(t *testing.T) {
	p := method.LargestClass([]int{4, 5, 5}, 2)
	trialtest.Near(t, "the ratio", p[1]/p[0], math.E, 1e-12)
	trialtest.Near(t, "the sum", p[0]+p[1]+p[2], 1, 1e-12)
	if q := method.LargestClass([]int{4, 5, 1}, math.Inf(1)); !slices.Equal(q, []float64{0, 1, 0}) {
		t.Errorf("%v", q)
	}
}

// releaseWith makes a release with noise of a seed.
func releaseWith[S, M any](t *testing.T, x *experiment.Definition[S, M], n int64, changes ...func(*S),
) (*experiment.Release, error) {
	t.Helper()
	s := x.With(changes...)
	p, err := x.Resolved(s)
	if err != nil {
		return nil, err
	}
	trial := trialtest.New(t, trialtest.Options{Seed: uint64(n), Workers: 2})
	trial.Params, trial.Seed, trial.Secure = p, n, true
	var size experiment.Size
	trial.Book = func(s experiment.Spending) error { size = s.Size; return nil }
	trial.Entropy = rand.NewChaCha8(sha256.Sum256(fmt.Appendf(nil, "%d", n)))
	r, err := x.Release(t.Context(), trial, trial.Params)
	if err == nil {
		trialtest.WantSize(t, size, r)
	}
	return r, err
}

// A released classifier predicts from its file alone.
func TestReleasedClasses(t *testing.T) {
	r, err := releaseWith(t, classification(), 3, ownKinds(writeRows(t, 3000, nil)),
		namedKinds, func(s *ClassificationSettings) { s.Alpha = 0.5 })
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.MarshalIndent(r.Model, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	schematest.Check(t, filepath.Join("..", "..", "docs", "formats", "dpgp-classification-model.schema.json"), text)
	m, err := models.Decode("m.json", text, []models.Format{classmodel.PredictFormat})
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Predict(t.Context(), mat.NewDense(3, 2, []float64{2, 50, 8, 80, 8, 20}))
	if err != nil || !slices.Equal(p.Labels, []string{"low", "high", "middle"}) {
		t.Fatalf("%+v, %v", p, err)
	}
	for i, row := range p.Rows {
		sum := 0.0
		for _, v := range row {
			sum += v
		}
		if place := slices.Index(p.Columns, "p_"+p.Labels[i]); math.Abs(sum-1) > 1e-9 || row[place] != slices.Max(row) ||
			row[place] < 0.7 { // the softmax of such functions has 0.67 at most
			t.Errorf("%v of %v for %s", row, p.Columns, p.Labels[i])
		}
	}
	notes := fmt.Sprint(r.Privacy.Notes)
	if !strings.Contains(notes, "the classes are named in the settings") || r.Privacy.RNG != "secure" {
		t.Errorf("%+v", r.Privacy)
	}
}

// Probabilities of own data can be certain with the alpha that they have by default, which the softmax cannot: its loss
// is -ln 0.67 of three classes at least.
func TestJudgedProbabilities(t *testing.T) {
	path := writeRows(t, 3000, nil)
	loss := func(form probabilityForm) (loss, accuracy float64) {
		m := trialtest.Compute(t, seed(1), classification(), ownKinds(path), func(s *ClassificationSettings) {
			s.Alpha, s.Probabilities = 0.5, form
		}).Metrics
		return *m.LogLoss, m.Accuracy
	}
	shares, right := loss(sharesForm)
	softmax, same := loss(softmaxForm)
	if shares > 0.35 || softmax < 0.4 || right != same {
		t.Errorf("losses %g and %g of the softmax, accuracies %g and %g", shares, softmax, right, same)
	}
	_, err := releaseWith(t, classification(), 3, ownKinds(path), namedKinds, func(s *ClassificationSettings) {
		s.Probabilities = softmaxForm
	})
	if err == nil || !strings.Contains(err.Error(), "probabilities=softmax is for judging") {
		t.Errorf("error %v", err)
	}
}

// With equal noise, all that is released but means and covariances stays where a row is
// substituted, and noisy sums move by no more than the sensitivity.
func TestReleasedClassesOfNeighbours(t *testing.T) {
	of := func(other map[int]string) *classmodel.Model {
		r, err := releaseWith(t, classification(), 4, ownKinds(writeRows(t, 300, other)), namedKinds)
		if err != nil {
			t.Fatal(err)
		}
		return r.Model.(*classmodel.Model)
	}
	a, b := of(nil), of(map[int]string{7: "1e9,-4,0,middle,same"})
	if fmt.Sprint(a.Means) == fmt.Sprint(b.Means) {
		t.Error("the row has no effect")
	}
	a.Means, b.Means, a.Covariances, b.Covariances = nil, nil, nil, nil
	at, _ := json.Marshal(a)
	bt, _ := json.Marshal(b)
	if string(at) != string(bt) {
		t.Errorf("%s\n%s", at, bt)
	}
}

// The joint sensitivity of all classes bounds the change by a row, and is nearly attained.
func TestJointSumsOfSubstitutedRows(t *testing.T) {
	trial := trialtest.New(t, seed(1))
	s := classification().With(ownKinds(writeRows(t, 100, nil)))
	if _, err := classification().Resolved(s); err != nil {
		t.Fatal(err)
	}
	trial.Params, _ = classification().Resolved(s)
	c, rows, err := classifiers.Learner(t.Context(), trial, s)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	sums := func(x []float64, label int) (out []float64) {
		k := c.Model.Vector(x)
		d := c.classifier.labels
		for class := range rows.Classes {
			is := 0
			if class == label {
				is = 1
			}
			for i := range k {
				out = append(out, d.w[is]*d.y[is]*k[i])
				for j := range k {
					out = append(out, s.Ratio*d.w[is]*k[i]*k[j])
				}
			}
		}
		return out
	}
	largest := 0.0
	for range 4000 {
		a := sums([]float64{4 * rng.Float64(), 4 * rng.Float64()}, rng.IntN(3))
		b := sums([]float64{4 * rng.Float64(), 4 * rng.Float64()}, rng.IntN(3))
		square := 0.0
		for i := range a {
			square += (a[i] - b[i]) * (a[i] - b[i])
		}
		largest = max(largest, math.Sqrt(square))
	}
	if share := largest / c.Noise.Sensitivity; share > 1 || share < 0.8 {
		t.Errorf("a substitution moves the sums by %g of the sensitivity", share)
	}
}

// A choice finds the lengthscale that fits, and the release has nothing but the choice.
func TestOwnSearch(t *testing.T) {
	path := writeRows(t, 1200, nil)
	out := trialtest.Compute(t, seed(1), hyperparameters(), ownOutputs(path))
	if m := out.Metrics; m.Lengthscales["1_5"] != 1 || *m.RMSEChosen != *m.RMSEBest || *m.RMSEDrawn < *m.RMSEChosen ||
		*m.RMSECentre < *m.RMSEChosen || out.Privacy.Guarantee != "(20, 0)-DP" {
		t.Errorf("%+v, %v", out.Metrics, out.Privacy)
	}
	r, err := releaseWith(t, hyperparameters(), 5, ownOutputs(path))
	if err != nil {
		t.Fatal(err)
	}
	c := r.Model.(*release.Configuration)
	if c.Settings["lengthscale"] != 1.5 || c.Settings["sigma"] != 0.3 || len(c.Settings) != 2 || r.Metrics != nil ||
		r.Warnings != nil {
		t.Errorf("%+v", c)
	}
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	schematest.Check(t, filepath.Join("..", "..", "docs", "formats", "choice.schema.json"), text)
}

// The models that are scored are those that dpgp/regression releases with its defaults: their inducing inputs, kernel
// and noise. That noise has a part in the scores.
func TestOwnSearchScoresReleases(t *testing.T) {
	path := writeRows(t, 400, nil)
	own := func(more experiment.Params) experiment.Params {
		p := experiment.Params{"dataset": "csv:" + path, "inputs": "a+b", "output": "y", "input_low": 0.0,
			"input_high": 10.0, "epsilon": 0.5}
		maps.Copy(p, more)
		return p
	}
	trialOf := func(p experiment.Params, err error) *experiment.Trial {
		if err != nil {
			t.Fatal(err)
		}
		trial := trialtest.New(t, seed(1))
		trial.Params = p
		return trial
	}
	search := func(epsilon float64) *ownSearch {
		trial := trialOf(hyperparameters().Resolve(own(experiment.Params{"output_low": -1.0, "output_high": 2.0,
			"lengthscales": []float64{0.05, 1.5, 100}, "sigmas": []float64{0.3}, "epsilon": epsilon})))
		out, err := newOwnSearch(t.Context(), trial, hyperparameters().Settings(trial.Params), false)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	noisy, exact := search(0.5), search(math.Inf(1))
	trial := trialOf(regression.Experiment().Resolve(own(experiment.Params{"low": -1.0, "high": 2.0, "lengthscale": 1.5,
		"sigma": 0.3, "delta": releaseDelta})))
	r, err := regression.Experiment().Run(t.Context(), trial, trial.Params)
	if err != nil {
		t.Fatal(err)
	}
	p, metrics := regression.Experiment().Settings(trial.Params), r.Metrics
	c := noisy.candidates[1]
	if n, _ := noisy.z.Dims(); float64(n) != metrics["inducing_inputs"] || c.model.Variance != p.KernelVariance ||
		c.model.Inducing.Jitter != p.Jitter || c.noise.SigmaA != metrics["sigma_a"] {
		t.Errorf("%d inducing inputs, %+v; dpgp/regression has %v, %v", n, c.noise, p, metrics)
	}
	scores := func(s *ownSearch) []float64 {
		rows := learn.AllRows(s.rows.Len())
		u, err := s.utilities(t.Context(), s.rows.X, s.y, s.units(0, rows))
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	if a, b := scores(noisy), scores(exact); slices.Equal(a, b) {
		t.Errorf("with and without noise the scores are %v", a)
	}
}

// Judging warns of candidates that are all worthless, and of inputs of different scales under one lengthscale.
func TestOwnSearchWarns(t *testing.T) {
	var b strings.Builder
	b.WriteString("a,b,y\n")
	for i := range 400 {
		fmt.Fprintf(&b, "%d,%d,%d\n", i%10, 1000*(i/10), i*7919%3-1)
	}
	path := filepath.Join(t.TempDir(), "noise.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	warnings := func(inputs string) string {
		return strings.Join(trialtest.Compute(t, seed(1), hyperparameters(), ownOutputs(path), func(s *searchSettings) {
			s.Inputs, s.Lengthscales, s.OutputLow, s.OutputHigh = inputs, []float64{0.01, 0.02}, endAt(-1), endAt(1)
			s.Inducing = experiment.Points{Count: 2}
		}).Warnings, "\n")
	}
	if got := warnings("a+b"); !strings.Contains(got, "the predictions have an error of") ||
		!strings.Contains(got, "the middle of the public range") || !strings.Contains(got, `the input "b" extends over`) {
		t.Errorf("warnings %q", got)
	}
	if got := warnings("a"); strings.Contains(got, "extends over") {
		t.Errorf("one input: %q", got)
	}
	fits := trialtest.Compute(t, seed(1), hyperparameters(), ownOutputs(writeRows(t, 1200, nil)))
	if got := fmt.Sprint(fits.Warnings); strings.Contains(got, "the middle of") {
		t.Errorf("of a choice that fits: %s", got)
	}
}

// Any row moves each utility by 1 at most.
func TestUtilitiesOfSubstitutedRows(t *testing.T) {
	of := func(other map[int]string) []float64 {
		trial := trialtest.New(t, seed(1))
		s := hyperparameters().With(ownOutputs(writeRows(t, 200, other)))
		p, err := hyperparameters().Resolved(s)
		if err != nil {
			t.Fatal(err)
		}
		trial.Params = p
		search, err := newOwnSearch(t.Context(), trial, s, false)
		if err != nil {
			t.Fatal(err)
		}
		rows := learn.AllRows(search.rows.Len())
		units := search.units(0, rows)
		u, err := search.utilities(context.Background(), search.rows.X, search.y, units)
		if err != nil {
			t.Fatal(err)
		}
		steps := make([]int64, len(u))
		for b := range s.Blocks { // each scored by its own rows alone
			block := units[b*len(units)/s.Blocks : (b+1)*len(units)/s.Blocks]
			own, err := search.score(context.Background(), search.rows.X, search.y, block, b, len(units))
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range own {
				steps[i] += v
			}
		}
		for i, v := range u {
			if v != float64(steps[i])/scoreSteps {
				t.Errorf("candidate %d has the utility %g, its blocks alone %g", i, v, float64(steps[i])/scoreSteps)
			}
		}
		return u
	}
	u, moved := of(nil), false
	for _, row := range []string{"1e300,1,1e300,low,same", "2,1,-1e300,low,same", "-1e9,0,0,low,same", "5,5,2,low,same"} {
		for i, v := range of(map[int]string{57: row}) {
			if math.Abs(v-u[i]) > 1 {
				t.Errorf("%s moves a utility from %g to %g", row, u[i], v)
			}
			moved = moved || v != u[i]
		}
	}
	if !moved {
		t.Error("no row moves a utility: the test shows nothing")
	}
}

func TestOwnDataRefused(t *testing.T) {
	path := writeRows(t, 60, nil)
	for _, c := range []struct {
		name   string
		change func(*ClassificationSettings)
		want   string
	}{
		{"one class", func(s *ClassificationSettings) { s.Output = "one" }, "all rows are of one class"},
		{"too many classes", func(s *ClassificationSettings) { s.Output = "y" }, "at most 20 classes"},
		{"no such column", func(s *ClassificationSettings) { s.Output = "kinds" }, `did you mean "kind"?`},
		{"a column twice", func(s *ClassificationSettings) { s.Inputs = "a,a" }, `"a" is named twice`},
		{"no range", func(s *ClassificationSettings) { s.InputLow = method.Ends{IsWord: true} }, "are not given"},
		{"a reversed range", func(s *ClassificationSettings) { s.InputLow = experiment.SeveralOf[method.None](0, 200) },
			"input_low must be below input_high"},
		{"ranges of other inputs", func(s *ClassificationSettings) {
			s.InputLow = experiment.SeveralOf[method.None](0, 1, 2)
		},
			"these are 3 numbers for 2 inputs"},
		{"lengthscales of other inputs", func(s *ClassificationSettings) {
			s.Lengthscale = method.LengthscalesOf(1, 2, 3)
		},
			"these are 3 numbers for 2 inputs"},
		{"a large grid", func(s *ClassificationSettings) { s.Inducing.Count = 1000 }, "a grid in 2 inputs has 1e+06 points"},
		{"a list for two inputs", func(s *ClassificationSettings) { s.Inducing = sparsetest.Seven() },
			"which is for one input"},
		{"equal inducing inputs", func(s *ClassificationSettings) {
			s.Inputs, s.Lengthscale.Numbers, s.InputHigh = "a", experiment.Several{1}, experiment.SeveralOf[method.None](10)
			s.Inducing = experiment.Points{Values: []float64{1, 1}}
		}, "two inducing inputs are equal"},
		{"no own data", func(s *ClassificationSettings) { s.Dataset = "my.csv" }, "such as csv:PATH"},
		{"all rows for testing", func(s *ClassificationSettings) { s.Holdout = 0.999 }, "leaves 60 of 60 rows"},
		{"lengthscales of simulated data", func(s *ClassificationSettings) { s.Dataset = method.Simulated },
			"simulated data have one input"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := trialtest.Try(t, seed(1), classification(), ownKinds(path), c.change)
			trialtest.Refuses(t, err, c.want)
		})
	}
	t.Run("no delta", func(t *testing.T) {
		_, err := classification().Resolve(map[string]any{"dataset": "csv:" + path, "input_low": 0, "input_high": 1})
		trialtest.Refuses(t, err, "delta is not given")
	})
	for _, c := range []struct {
		name   string
		change func(*searchSettings)
		want   string
	}{
		{"no range of the output", func(s *searchSettings) { s.OutputLow = ownEnd{IsWord: true} },
			"output_low and output_high"},
		{"a reversed one", func(s *searchSettings) { s.OutputLow = endAt(3) }, "must be below"},
		{"many blocks", func(s *searchSettings) { s.Blocks = 16 },
			"blocks = 16: 60 rows are fewer than four in each; use at most 15 blocks"},
		{"many blocks for choosing", func(s *searchSettings) { s.Blocks = 15 },
			"blocks = 15: 48 rows for choosing are fewer than four in each; use at most 12 blocks"},
		{"a tiny lengthscale", func(s *searchSettings) { s.Lengthscales[0] = 1e-200 },
			"lengthscales: the square of 1e-200 is beyond double precision"},
		{"a huge sigma", func(s *searchSettings) { s.Sigmas[0] = 1e200 },
			"sigmas: the square of 1e+200 is beyond double precision"},
		{"texts", func(s *searchSettings) { s.Output = "kind" }, "expected a number"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := trialtest.Try(t, seed(1), hyperparameters(), ownOutputs(path), c.change)
			trialtest.Refuses(t, err, c.want)
		})
	}
}

func TestOwnReleasesRefused(t *testing.T) {
	path := writeRows(t, 60, nil)
	for _, c := range []struct {
		name   string
		change func(*ClassificationSettings)
		want   string
	}{
		{"no noise", func(s *ClassificationSettings) { s.Epsilon = math.Inf(1) }, "would protect nobody"},
		{"simulated", func(s *ClassificationSettings) { *s = *classification().Defaults() },
			"simulated data need no release"},
		{"split budgets", func(s *ClassificationSettings) { s.Composition = equalShares }, "use composition=joint"},
		{"rows as inducing inputs", func(s *ClassificationSettings) { s.InducingFile = s.Dataset }, "inducing_file names"},
		{"rows by another name", func(s *ClassificationSettings) {
			s.InducingFile = "csv:" + filepath.Dir(path) + "/./" + filepath.Base(path)
		}, "the inducing inputs are rows of the private data"},
		{"a copy of the rows", func(s *ClassificationSettings) { s.InducingFile = "csv:" + copied(t, path, "") },
			"the inducing inputs are rows of the private data"},
		{"a copy in another layout", func(s *ClassificationSettings) {
			s.InducingFile = "csv:" + anew(t, path, 60)
		}, "the inducing inputs are rows of the private data"},
		{"half of the rows", func(s *ClassificationSettings) { s.InducingFile = "csv:" + anew(t, path, 30) },
			"the inducing inputs are rows of the private data"},
		{"centres of half of the rows", func(s *ClassificationSettings) {
			s.InducingFile, s.InducingCentres = "csv:"+anew(t, path, 30), 5
		}, "whose centres are the inducing inputs are rows of the private data"},
		{"centres of the rows and another", func(s *ClassificationSettings) {
			s.InducingFile, s.InducingCentres = "csv:"+copied(t, path, "0.25,0.25,low,1,1\n"), 5
		}, "whose centres are the inducing inputs are rows of the private data"},
		{"half of the rows as a list", func(s *ClassificationSettings) {
			s.Inputs, s.Lengthscale, s.Inducing = "a", method.LengthscalesOf(3), listed(t, path, 30)
			s.InputHigh = experiment.SeveralOf[method.None](10)
		}, "inducing: the inducing inputs are rows of the private data"},
		{"unnamed inputs", func(s *ClassificationSettings) { s.Inputs = "*" }, "inputs = *: which columns are numbers"},
		{"a column named like classes", func(s *ClassificationSettings) {
			s.Dataset = "csv:" + writeText(t, "a,b,kind[low|high]\n1,2,secret\n3,4,low\n5,6,low\n")
			s.Output = "kind[low|high]"
		}, "output = kind[low|high]: the data have a column of that name"},
		{"unnamed classes", func(s *ClassificationSettings) { s.Output = table.NameOf(s.Output) },
			"its classes would be those of the private rows; name them: output="},
		{"levels of the data", func(s *ClassificationSettings) {
			s.Inputs, s.Lengthscale = "one", method.LengthscalesOf(1)
			s.InputHigh = experiment.SeveralOf[method.None](1)
		}, "the levels of \"one\" are read off the data"},
		{"how many levels the data have", func(s *ClassificationSettings) {
			s.Inputs, s.Lengthscale = "one", method.LengthscalesOf(1, 2, 3)
			s.InputHigh = experiment.SeveralOf[method.None](1)
		}, "the levels of \"one\" are read off the data"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := classification()
			s := e.With(ownKinds(path), namedKinds, c.change)
			p, err := e.Resolved(s)
			if err == nil {
				err = e.CheckRelease(p)
			}
			if err == nil {
				_, err = releaseWith(t, e, 1, ownKinds(path), namedKinds, c.change)
			}
			trialtest.Refuses(t, err, c.want)
		})
	}
}

func TestChoicesRefused(t *testing.T) {
	path := writeRows(t, 60, nil)
	for _, c := range []struct {
		name   string
		change func(*searchSettings)
		want   string
	}{
		{"no noise", func(s *searchSettings) { s.Epsilon = math.Inf(1) }, "would protect nobody"},
		{"rows by another name", func(s *searchSettings) {
			s.InducingFile = "csv:" + filepath.Dir(path) + "/./" + filepath.Base(path)
		}, "the inducing inputs are rows of the private data"},
		{"a copy in another layout", func(s *searchSettings) { s.InducingFile = "csv:" + anew(t, path, 60) },
			"the inducing inputs are rows of the private data"},
		{"a list of them", func(s *searchSettings) { s.Inducing = listed(t, path, 60) },
			"inducing: the inducing inputs are rows of the private data"},
		{"unnamed inputs", func(s *searchSettings) { s.Inputs = "*" }, "inputs = *: which columns are numbers"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := releaseWith(t, hyperparameters(), 1, ownOutputs(path), func(s *searchSettings) { s.Blocks = 3 },
				c.change)
			trialtest.Refuses(t, err, c.want)
		})
	}
}

// More than six inputs that are no grid have a bound that is proved, by default: of a file, of so many points in the
// range, and of the centres of a file's rows.
func TestManyInputs(t *testing.T) {
	rows, points := "a,b,c,d,e,f,g,kind\n", "a,b,c,d,e,f,g\n1,1,1,1,1,1,1\n2,1,2,1,2,1,2\n3,3,3,2,1,2,2\n"
	for i := range 40 {
		rows += fmt.Sprintf("%d.5,0,1,2,3,4,5,%s\n", i, []string{"low", "high"}[i%2])
	}
	given := map[string]any{"dataset": "csv:" + writeText(t, rows), "inputs": "a+b+c+d+e+f+g", "output": "kind[low|high]",
		"delta": 1e-5, "repeats": 1}
	file := writeText(t, points)
	for _, c := range []struct {
		name   string
		change map[string]any
		points float64
	}{
		{"a file", map[string]any{"inducing_file": "csv:" + file}, 3},
		{"centres", map[string]any{"inducing_file": "csv:" + file, "inducing_centres": 2}, 2},
		{"a number", map[string]any{"inducing": 30, "input_low": 0, "input_high": 40}, 30},
		{"the default", map[string]any{"input_low": 0, "input_high": 40}, 17},
	} {
		t.Run(c.name, func(t *testing.T) {
			settings := maps.Clone(given)
			maps.Copy(settings, c.change)
			p, err := classification().Resolve(settings)
			if err != nil {
				t.Fatal(err)
			}
			m := trialtest.Compute(t, seed(1), classification(),
				func(s *ClassificationSettings) { *s = *classification().Settings(p) }).Metrics
			if *m.InducingInputs != c.points || *m.NormSquared > c.points || *m.NormSquared < 1 {
				t.Errorf("%g inducing inputs, a norm of %g", *m.InducingInputs, *m.NormSquared)
			}
		})
	}
}

// Whether a few inducing inputs are rows of the data is no reason for a refusal, which would
// depend on single rows; a trial for judging warns of it.
func TestFewRowsAsInducingInputs(t *testing.T) {
	path := writeRows(t, 60, nil)
	few := func(s *ClassificationSettings) { s.InducingFile = "csv:" + anew(t, path, 20) }
	if _, err := releaseWith(t, classification(), 1, ownKinds(path), namedKinds, few); err != nil {
		t.Errorf("the release is refused: %v", err)
	}
	for _, c := range []struct {
		points string
		warned bool
	}{
		{anew(t, path, 20), true}, {anew(t, path, 2), false}, {writeText(t, "a,b\n1,10\n5,50\n9,90\n"), false},
	} {
		centres := trialtest.Compute(t, seed(1), classification(), ownKinds(path),
			func(s *ClassificationSettings) { s.InducingFile, s.InducingCentres = "csv:"+c.points, 2 })
		if warned := slices.ContainsFunc(centres.Warnings, func(w string) bool {
			return strings.HasPrefix(w, "all 20 points of the inducing inputs' file are rows of the data")
		}); warned != c.warned {
			t.Errorf("warned of centres: %v, want %v; %q", warned, c.warned, centres.Warnings)
		}
		out := trialtest.Compute(t, seed(1), classification(), ownKinds(path),
			func(s *ClassificationSettings) { s.InducingFile = "csv:" + c.points })
		warned := slices.ContainsFunc(out.Warnings, func(w string) bool {
			return strings.HasPrefix(w, "all 20 inducing inputs are rows of the data")
		})
		if warned != c.warned {
			t.Errorf("warned: %v, want %v; %q", warned, c.warned, out.Warnings)
		}
	}
	// A list is treated as a file.
	list := func(s *ClassificationSettings) {
		s.Inputs, s.Lengthscale, s.Inducing = "a", method.LengthscalesOf(3), listed(t, path, 20)
		s.InputHigh = experiment.SeveralOf[method.None](10)
	}
	if _, err := releaseWith(t, classification(), 1, ownKinds(path), namedKinds, list); err != nil {
		t.Errorf("the release with a list is refused: %v", err)
	}
	out := trialtest.Compute(t, seed(1), classification(), ownKinds(path), list)
	if !slices.ContainsFunc(out.Warnings, func(w string) bool {
		return strings.HasPrefix(w, "all 20 inducing inputs are rows of the data")
	}) {
		t.Errorf("a list of rows: warnings %q", out.Warnings)
	}
}

// listed are the inputs a of the first rows of a file of [writeRows], as a list of inducing
// inputs.
func listed(t *testing.T, path string, rows int) experiment.Points {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out experiment.Points
	for _, line := range strings.Split(string(content), "\n")[1 : rows+1] {
		cell, _, _ := strings.Cut(line, ",")
		v, err := strconv.ParseFloat(cell, 64)
		if err != nil {
			t.Fatal(err)
		}
		out.Values = append(out.Values, v)
	}
	return out
}

// anew writes the inputs of the last rows of a file of [writeRows] in another layout.
func anew(t *testing.T, path string, rows int) string {
	t.Helper()
	return trialtest.Rewritten(t, path, rows, "b", "a")
}

// copied is a copy of a file, with more lines.
func copied(t *testing.T, path, more string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return writeText(t, string(content)+more)
}

// writeText writes a file of its own folder.
func writeText(t *testing.T, text string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "file.csv")
	if err := os.WriteFile(out, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return out
}

// endAt is an end of a range that is given.
func endAt(v float64) ownEnd { return experiment.NumberOr[method.None](v) }
