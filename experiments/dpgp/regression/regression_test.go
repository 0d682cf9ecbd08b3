package regression

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"privkern/experiments/dpgp/modelfile"
	"privkern/experiments/dpgp/sparse"
	"privkern/experiments/internal/modeltest"
	"privkern/experiments/internal/schematest"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/method"
	"privkern/experiments/model"
	"privkern/graphs/sparsegp"
	"privkern/runner/experiment"
)

// writeOwn writes a user's file: y = 50 + 30 sin(x/4) + a cosine that stands for
// noise, at n points on [0, 20], with other values where they are given.
func writeOwn(t *testing.T, n int, other map[int]string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("name,x,y\n")
	for i := range n {
		x := 20 * math.Mod(float64(i)*0.6180339887, 1)
		row := fmt.Sprintf("%.4f,%.4f", x, 50+30*math.Sin(x/4)+3*math.Cos(97*float64(i)))
		if v := other[i]; v != "" {
			row = v
		}
		fmt.Fprintf(&b, "n%d,%s\n", i, row)
	}
	path := filepath.Join(t.TempDir(), "my.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// given is an end of a range.
func given(v float64) method.End { return experiment.NumberOr[method.None](v) }

// givenAll are the ends of a range in each input.
func givenAll(v ...float64) method.Ends { return experiment.SeveralOf[method.None](v...) }

// ownSettings are the public settings for [writeOwn].
func ownSettings(path string) func(*Settings) {
	return func(s *Settings) {
		s.Dataset, s.Delta, s.Low, s.High = "csv:"+path, 1e-4, given(0), given(100)
		s.InputLow, s.InputHigh, s.Lengthscale = givenAll(0), givenAll(20), method.LengthscalesOf(4)
	}
}

// ownTrial is a trial of dpgp/regression, and its settings.
func ownTrial(t *testing.T, n int64, changes ...func(*Settings)) (*experiment.Trial, *Settings) {
	t.Helper()
	s := Experiment().With(changes...)
	p, err := Experiment().Resolved(s)
	if err != nil {
		t.Fatal(err)
	}
	trial := trialtest.New(t, trialtest.Options{Seed: uint64(n), Workers: 2})
	trial.Params, trial.Seed = p, n
	return trial, s
}

// regress computes a trial.
func regress(t *testing.T, n int64, changes ...func(*Settings)) *experiment.Outcome[Metrics] {
	t.Helper()
	return trialtest.Compute(t, trialtest.Options{Seed: uint64(n), Workers: 2}, Experiment(), changes...)
}

// releaseTrial is one of a release with noise of its seed.
func releaseTrial(t *testing.T, n int64, changes ...func(*Settings)) *experiment.Trial {
	t.Helper()
	trial, _ := ownTrial(t, n, changes...)
	trial.Secure = true
	trial.Book = func(experiment.Spending) error { return nil }
	trial.Entropy = rand.NewChaCha8(sha256.Sum256(fmt.Appendf(nil, "%d", n)))
	return trial
}

// released makes a release.
func released(t *testing.T, n int64, changes ...func(*Settings)) (*modelfile.Model, *experiment.Release) {
	t.Helper()
	trial := releaseTrial(t, n, changes...)
	r, err := Experiment().Release(t.Context(), trial, trial.Params)
	if err != nil {
		t.Fatal(err)
	}
	return r.Model.(*modelfile.Model), r
}

func TestRegression(t *testing.T) {
	out := regress(t, 1, ownSettings(writeOwn(t, 1500, map[int]string{3: "1,", 5: "2,140"})),
		func(s *Settings) { s.Epsilon = 3 })
	m := out.Metrics
	// The cosine has a standard deviation of 3/√2.
	if m.RMSEWithoutNoise < 2 || m.RMSEWithoutNoise > 6 || m.RMSE < m.RMSEWithoutNoise || m.RMSE > 7 || m.RMSECentre < 15 {
		t.Errorf("%+v", m)
	}
	if m.UsedRows != 1499 || m.DroppedRows != 1 || m.ClippedFraction != 1.0/1499 || m.InducingInputs != 9 {
		t.Errorf("%+v", m)
	}
	if m.Coverage95 < 0.8 || out.Privacy.Guarantee != "(3, 0.0001)-DP" ||
		!strings.Contains(out.Privacy.Unit, "inputs (x) and output (y)") {
		t.Errorf("%+v, %v", m, out.Privacy)
	}
	if m := regress(t, 1).Metrics; m.UsedRows != 1024 || m.RMSE > 0.3 {
		t.Errorf("simulated: %+v", m)
	}
}

// A unit of another size changes predictions and errors by its size, and nothing
// else.
func TestOutputUnit(t *testing.T) {
	path := writeOwn(t, 300, nil)
	a := regress(t, 2, ownSettings(path)).Metrics
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	for i, line := range lines[1:] {
		f := strings.Split(line, ",")
		var y float64
		if _, err := fmt.Sscan(f[2], &y); err != nil {
			t.Fatal(err)
		}
		lines[i+1] = fmt.Sprintf("%s,%s,%.10g", f[0], f[1], 1000*y-7)
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	b := regress(t, 2, ownSettings(path), func(s *Settings) { s.Low, s.High = given(-7), given(99993) }).Metrics
	trialtest.Near(t, "ratio of the errors", b.RMSE/a.RMSE, 1000, 1e-6)
	trialtest.Near(t, "ratio of the standard deviations", b.MeanSD/a.MeanSD, 1000, 1e-6)
	if a.Coverage95 != b.Coverage95 || a.SigmaA != b.SigmaA {
		t.Errorf("%+v and %+v", a, b)
	}
}

// A released model predicts well from its file alone.
func TestReleasedModel(t *testing.T) {
	m, r := released(t, 3, ownSettings(writeOwn(t, 3000, map[int]string{3: "1,", 5: "2,140"})),
		func(s *Settings) { s.Epsilon = 5 })
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	schematest.Check(t, filepath.Join("..", "..", "..", "docs", "formats", "dpgp-model-1.schema.json"), text)
	read, err := model.Decode("m.json", text, []model.Format{modelfile.PredictFormat})
	if err != nil {
		t.Fatal(err)
	}
	x := mat.NewDense(3, 1, []float64{3, 10, 17})
	p, err := read.Predict(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range p.Rows {
		mean, sd, predictive := row[0], row[1], row[2]
		at := x.At(i, 0)
		trialtest.Near(t, fmt.Sprintf("mean at %g", at), mean, 50+30*math.Sin(at/4), 6)
		// σ = 0.1 of half the range.
		trialtest.Near(t, fmt.Sprintf("predictive sd at %g", at), predictive, math.Hypot(sd, 5), 1e-9)
	}
	if m.Privacy.RNG != "secure" || m.Privacy.Guarantee != "(5, 0.0001)-DP" || math.Abs(m.Noise-0.01) > 1e-15 ||
		m.Output != (modelfile.Output{Name: "y", Centre: 50, Scale: 50}) {
		t.Errorf("%+v", m)
	}
	// Numbers computed from the data without noise, such as counts and errors, are left out.
	public := slices.Sorted(maps.Keys(experiment.MetricValues(publicMetrics{})))
	if got := slices.Sorted(maps.Keys(r.Metrics)); !slices.Equal(got, public) {
		t.Errorf("the release has the metrics %q, want %q", got, public)
	}
	if r.Rows != nil || len(r.Warnings) != 0 {
		t.Errorf("%+v", r)
	}
}

// With equal noise, all that is released but the mean and the covariance stays where a
// row is substituted.
func TestReleaseOfNeighbours(t *testing.T) {
	for _, row := range []string{"19.5,100", "0.5,-1e9", "-400,0"} {
		t.Run(row, func(t *testing.T) {
			a, ra := released(t, 4, ownSettings(writeOwn(t, 200, nil)))
			b, rb := released(t, 4, ownSettings(writeOwn(t, 200, map[int]string{7: row})))
			if fmt.Sprint(a.Mean) == fmt.Sprint(b.Mean) {
				t.Error("the row has no effect")
			}
			a.Mean, b.Mean, a.Covariance, b.Covariance = nil, nil, nil, nil
			at, _ := json.Marshal(a)
			bt, _ := json.Marshal(b)
			if string(at) != string(bt) || fmt.Sprint(ra.Metrics, ra.Warnings) != fmt.Sprint(rb.Metrics, rb.Warnings) {
				t.Errorf("%s\n%s", at, bt)
			}
		})
	}
}

// sumsOf are the sums over all rows of a file of 200, without noise.
func sumsOf(t *testing.T, other map[int]string) (sparsegp.Sums, *Learner) {
	t.Helper()
	return sumsOfTrial(t, ownSettings(writeOwn(t, 200, other)))
}

// sumsOfTrial are those over all rows of a trial's data, without noise.
func sumsOfTrial(t *testing.T, changes ...func(*Settings)) (sparsegp.Sums, *Learner) {
	t.Helper()
	trial, s := ownTrial(t, 0, changes...)
	r, rows, err := definition.Learner(t.Context(), trial, s)
	if err != nil {
		t.Fatal(err)
	}
	all := rows.All()
	sums, err := sparsegp.Sum(t.Context(), r.Engine, r.Model.Inducing, all.X, all.Y, nil)
	if err != nil {
		t.Fatal(err)
	}
	return sums, r
}

// Predicted means of own data are within the public range of the output, in the unit of half of it from its middle;
// with noise some were beyond it. Variances are those of the posterior.
func TestMeansWithinTheRange(t *testing.T) {
	trial, s := ownTrial(t, 0, ownSettings(writeOwn(t, 200, nil)), func(s *Settings) {
		s.Low, s.High, s.Epsilon = given(45), given(55), 20
	})
	l, rows, err := definition.Learner(t.Context(), trial, s)
	if err != nil {
		t.Fatal(err)
	}
	f, err := l.Fit(t.Context(), rows.All(), rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	p, err := f.Predict(t.Context(), rows.X)
	if err != nil {
		t.Fatal(err)
	}
	mean, variances, err := f.(*fit).posteriors[0].Predict(t.Context(), l.Engine, l.scaling.Apply(rows.X))
	if err != nil {
		t.Fatal(err)
	}
	if lowest, highest := floats.Min(mean), floats.Max(mean); !(max(-lowest, highest) > 1) {
		t.Fatalf("means from %g to %g: the test shows nothing", lowest, highest)
	}
	for i, v := range p[0].Mean {
		if want := max(-1, min(1, mean[i])); v != want || p[0].Variance[i] != variances[0][i] {
			t.Errorf("row %d: mean %g of %g, variance %g of %g", i, v, want, p[0].Variance[i], variances[0][i])
		}
	}
}

// A substituted row moves the sums by no more than the sensitivity.
func TestSumsOfSubstitutedRows(t *testing.T) {
	a, r := sumsOf(t, nil)
	for _, row := range []string{"19.5,100", "0.5,-1e9", "10,1e9", "-400,0"} {
		t.Run(row, func(t *testing.T) {
			b, _ := sumsOf(t, map[int]string{7: row})
			square := 0.0
			for i := range a.A {
				square += (a.A[i] - b.A[i]) * (a.A[i] - b.A[i])
				for j := range a.A {
					square += (a.B.At(i, j) - b.B.At(i, j)) * (a.B.At(i, j) - b.B.At(i, j))
				}
			}
			if d := math.Sqrt(square); d == 0 || d > r.Noise.Sensitivity {
				t.Errorf("it moves the sums by %g, the sensitivity is %g", d, r.Noise.Sensitivity)
			}
		})
	}
}

// fewInducing are the settings of a model with much noise.
func fewInducing(s *Settings) { s.Inducing, s.Epsilon = "3", 2 }

// The sums get the noise that the model states.
func TestNoiseOfTheSums(t *testing.T) {
	sums, r := sumsOfTrial(t, ownSettings(writeOwn(t, 50, nil)), fewInducing)
	rng := rand.New(rand.NewPCG(5, 6))
	var a, diagonal, beside []float64
	const draws = 4000
	for range draws {
		n := r.Noise.NoisyCopy(sums, rng)
		for i := range n.A {
			a, diagonal = append(a, n.A[i]-sums.A[i]), append(diagonal, n.B.At(i, i)-sums.B.At(i, i))
			for j := range i {
				if n.B.At(i, j) != n.B.At(j, i) {
					t.Fatal("B is not symmetric")
				}
				beside = append(beside, n.B.At(i, j)-sums.B.At(i, j))
			}
		}
	}
	for _, c := range []struct {
		what   string
		values []float64
		sigma  float64
	}{
		{"A", a, r.Noise.SigmaA}, {"diagonal of B", diagonal, r.Noise.SigmaB},
		{"beside it", beside, r.Noise.SigmaB / math.Sqrt2},
	} {
		t.Run(c.what, func(t *testing.T) {
			mean, sd := stat.MeanStdDev(c.values, nil)
			k := math.Sqrt(float64(len(c.values)))
			if math.Abs(mean) > 5*c.sigma/k || math.Abs(sd/c.sigma-1) > 5/k {
				t.Errorf("mean %g, sd %g, want 0 and %g", mean, sd, c.sigma)
			}
		})
	}
}

// Repeated releases vary as their own standard deviations say.
func TestReleaseNoise(t *testing.T) {
	path := writeOwn(t, 50, nil)
	x := mat.NewDense(1, 1, []float64{10})
	var means, sds []float64
	for n := range int64(60) {
		m, _ := released(t, n, ownSettings(path), fewInducing)
		row := modeltest.Predict(t, x, m).Rows[0]
		means, sds = append(means, row[0]), append(sds, row[1])
	}
	if _, sd := stat.MeanStdDev(means, nil); sd == 0 || sd > 2*stat.Mean(sds, nil) {
		t.Errorf("the means of releases vary by %g; their sd is %g", sd, stat.Mean(sds, nil))
	}
}

// Inputs of two dimensions, on a lattice and from a file.
func TestTwoInputs(t *testing.T) {
	folder := t.TempDir()
	path, points := filepath.Join(folder, "d.csv"), filepath.Join(folder, "z.csv")
	text := "a,b,y\n"
	for i := range 100 {
		text += fmt.Sprintf("%d,%d,%d\n", i%10, i/10, i%10+i/10)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(points, []byte("b,a\n0,0\n0,9\n9,0\n9,9\n5,4\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	two := func(s *Settings) {
		s.Dataset, s.Delta, s.Inputs, s.Low, s.High = "csv:"+path, 1e-4, "a+b", given(0), given(18)
		s.Lengthscale = method.LengthscalesOf(8)
	}
	t.Run("from a file", func(t *testing.T) {
		m, _ := released(t, 1, two, func(s *Settings) { s.Inducing = "csv:" + points })
		want := "[[0 0] [9 0] [0 9] [9 9] [4 5]]"
		if m.Mechanism.Bound != sparse.Exact.String() || fmt.Sprint(m.Inducing) != want {
			t.Errorf("%+v", m)
		}
	})
	t.Run("on a lattice", func(t *testing.T) {
		m, _ := released(t, 1, two, func(s *Settings) {
			s.InputLow, s.InputHigh, s.Inducing = givenAll(0), givenAll(9), "3"
		})
		if len(m.Inducing) != 9 || len(m.Inducing[0]) != 2 {
			t.Errorf("%+v", m)
		}
	})
}

// A lengthscale and a range for each input is one of columns in units of them, to the
// last bit.
func TestLengthscaleOfEachInput(t *testing.T) {
	write := func(a, b float64) string {
		text := "a,b,y\n"
		for i := range 60 {
			text += fmt.Sprintf("%g,%g,%d\n", float64(i%10)/a, float64(3*i%17)/b, i%10)
		}
		path := filepath.Join(t.TempDir(), "d.csv")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	of := func(path string, lengthscale experiment.Several, high method.Ends) func(*Settings) {
		return func(s *Settings) {
			s.Dataset, s.Delta, s.Inputs, s.Low, s.High = "csv:"+path, 1e-4, "a+b", given(0), given(9)
			s.Lengthscale.Numbers, s.Inducing, s.InputLow, s.InputHigh = lengthscale, "3", givenAll(0), high
			s.Repeats, s.Epsilon = 2, 20
		}
	}
	each := of(write(1, 1), experiment.Several{8, 4}, givenAll(9, 16))
	scaled := of(write(8, 4), experiment.Several{1}, givenAll(9.0/8, 4))
	if a, b := regress(t, 1, each).Metrics, regress(t, 1, scaled).Metrics; !equal(a, b) {
		t.Errorf("%+v\n%+v", a, b)
	}
	m, _ := released(t, 1, each)
	n, _ := released(t, 1, scaled)
	if fmt.Sprint(m.Mean, m.Covariance, m.Mechanism) != fmt.Sprint(n.Mean, n.Covariance, n.Mechanism) {
		t.Errorf("%v\n%v", m.Mean, n.Mean)
	}
	if m.Format != modelfile.FormatLengthscales || n.Format != modelfile.Format ||
		fmt.Sprint(m.Inducing[8], m.Kernel.Lengthscales) != "[9 16] [8 4]" {
		t.Errorf("%+v, %+v", m, n)
	}
	p := modeltest.Predict(t, mat.NewDense(1, 2, []float64{4, 10}), m)
	q := modeltest.Predict(t, mat.NewDense(1, 2, []float64{0.5, 2.5}), n)
	if !slices.Equal(p.Rows[0], q.Rows[0]) {
		t.Errorf("%v, %v", p.Rows, q.Rows)
	}
	if m.Mechanism.Bound != sparse.Exact.String() || m.Mechanism.NormSquared > 2.6 { // of 9, and 8.4 of Eq. (8)
		t.Errorf("%+v", m.Mechanism)
	}
}

// equal compares all metrics, bit by bit.
func equal(a, b Metrics) bool {
	return maps.Equal(experiment.MetricValues(a), experiment.MetricValues(b))
}

func TestRegressionWorkers(t *testing.T) {
	own := ownSettings(writeOwn(t, 120, nil))
	of := func(workers int) Metrics {
		return trialtest.Compute(t, trialtest.Options{Seed: 2, Workers: workers}, Experiment(), own).Metrics
	}
	if one, three := of(1), of(3); !equal(one, three) {
		t.Errorf("%+v with one worker, %+v with three", one, three)
	}
}

func TestRegressionSettingsRefused(t *testing.T) {
	none := trialtest.WordOr[float64](method.Absent)
	path := writeOwn(t, 20, nil)
	for _, c := range []struct {
		name   string
		change func(*Settings)
		want   string
	}{
		{"no low", func(s *Settings) { s.Low = none },
			"low and high are not given: they are the public range of the output"},
		{"no range of the inputs", func(s *Settings) {
			s.InputLow, s.InputHigh = method.Ends{IsWord: true}, method.Ends{IsWord: true}
		},
			"input_low and input_high are not given"},
		{"an empty range", func(s *Settings) { s.Low, s.High = given(5), given(5) }, "low must be below high"},
		{"no data set", func(s *Settings) { s.Dataset = "my.csv" }, "simulated or data of your own"},
		{"an input twice", func(s *Settings) { s.Inputs = "x+x" }, `"x" is named twice`},
		{"an input that is the output", func(s *Settings) { s.Inputs = "x+y" }, "is one of the inputs, too"},
		{"an input without a name", func(s *Settings) { s.Inputs = "x+" }, "write the names"},
		{"no number of inducing inputs", func(s *Settings) { s.Inducing = "many" }, "or csv:PATH, a file of them"},
		{"no inducing inputs", func(s *Settings) { s.Inducing = "0" },
			`parameter "inducing": 0 is outside [1, 500]`},
		{"a large grid", func(s *Settings) { s.Inputs, s.Inducing = "x+name", "501" },
			"is outside [1, 500]"},
		{"a bound for one input", func(s *Settings) { s.Inputs, s.Bound = "x+name", givenBound(sparse.Eq7) },
			"bound = eq7 is for one input"},
		{"one end of the inputs", func(s *Settings) { s.InputHigh = method.Ends{IsWord: true} },
			"input_low and input_high are not given"},
		{"ends of more inputs", func(s *Settings) { s.InputLow = givenAll(0, 0) },
			"input_low = [0,0]: these are 2 numbers for 1 input (x);"},
		{"lengthscales of more inputs", func(s *Settings) { s.Lengthscale.Numbers = experiment.Several{1, 2} },
			"lengthscale = [1,2]: these are 2 numbers for 1 input (x);"},
		{"a range of the second input that is reversed", func(s *Settings) {
			s.Inputs, s.Inducing, s.InputLow, s.InputHigh = "x+name", "3", givenAll(0, 5), givenAll(20, -5)
		}, "input_low = 5 and input_high = -5: input_low must be below input_high"},
		{"a grid of a million", func(s *Settings) { s.Inputs, s.Inducing = "a+b+c+d+e+f", "10" },
			"a grid in 6 inputs has 1e+06 points"},
		{"a person without a name", func(s *Settings) { s.Person.Person = "" }, "person is empty"},
		{"simulated inputs", func(s *Settings) { *s = *Experiment().Defaults(); s.Inputs = "a+b" },
			"simulated data have one input"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := Experiment().With(ownSettings(path))
			c.change(s)
			_, err := Experiment().Resolved(s)
			trialtest.Refuses(t, err, c.want)
		})
	}
	t.Run("no delta", func(t *testing.T) {
		_, err := Experiment().Resolve(map[string]any{
			"dataset": "csv:" + path, "low": 0, "high": 1, "input_low": 0, "input_high": 1,
		})
		trialtest.Refuses(t, err, "delta is not given")
	})
}

func TestRegressionFails(t *testing.T) {
	path := writeOwn(t, 20, nil)
	for _, c := range []struct {
		name   string
		change func(*Settings)
		want   string
	}{
		{"no such input", func(s *Settings) { s.Inputs = "z" }, `unknown column "z"`},
		{"an output that is no number", func(s *Settings) { s.Output = "name" }, "expected a number"},
		{"no row for testing", func(s *Settings) { s.Holdout = 0.01 }, "leaves 0 of 20 rows"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := trialtest.Try(t, trialtest.Options{}, Experiment(), ownSettings(path), c.change)
			trialtest.Refuses(t, err, c.want)
		})
	}
}

// Whether a few inducing inputs are rows of the data is no reason for a refusal, which would
// depend on single rows; a trial for judging warns of it.
func TestFewRowsAsInducingInputs(t *testing.T) {
	path := writeOwn(t, 20, nil)
	few := func(s *Settings) { s.Inducing = "csv:" + trialtest.Rewritten(t, path, 9, "x") }
	released(t, 0, ownSettings(path), few)
	const want = "all 9 inducing inputs are rows of the data, and a release hands them over"
	out := regress(t, 0, ownSettings(path), few)
	if !slices.ContainsFunc(out.Warnings, func(w string) bool { return strings.HasPrefix(w, want) }) {
		t.Errorf("warnings %q", out.Warnings)
	}
}

func TestReleasesRefused(t *testing.T) {
	path := writeOwn(t, 20, nil)
	link := filepath.Join(t.TempDir(), "link.csv")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		change func(*Settings)
		want   string
	}{
		{"no noise", func(s *Settings) { s.Epsilon = math.Inf(1) }, "would protect nobody"},
		{"simulated data", func(s *Settings) { *s = *Experiment().Defaults() }, "simulated data need no release"},
		{"rows as inducing inputs", func(s *Settings) { s.Inducing = "csv:" + path },
			"inducing names the file of the data"},
		{"rows by another name", func(s *Settings) {
			s.Inducing = "csv:" + filepath.Dir(path) + "/./" + filepath.Base(path)
		}, "the inducing inputs are rows of the private data"},
		{"rows by a link", func(s *Settings) { s.Inducing = "csv:" + link },
			"the inducing inputs are rows of the private data"},
		{"a copy in another layout", func(s *Settings) { s.Inducing = "csv:" + trialtest.Rewritten(t, path, 20, "x") },
			"the inducing inputs are rows of the private data"},
		{"added or removed", func(s *Settings) { s.Neighbours.Neighbours = method.AddRemove },
			"the number of rows would have to be private"},
		{"unnamed inputs", func(s *Settings) { s.Inputs = "*" }, "inputs = *: which columns are numbers"},
		{"a column of predictions", func(s *Settings) { s.Inputs = "mean" }, `predictions have a column "mean"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			trial := releaseTrial(t, 0, ownSettings(path), c.change)
			_, err := Experiment().Release(t.Context(), trial, trial.Params)
			trialtest.Refuses(t, err, c.want)
		})
	}
}

// givenBound returns the setting that names a bound.
func givenBound(b sparse.Bound) boundOrAuto { return boundOrAuto(b) + 1 }

// Where a row is added or removed, the noise is that of the norm of its contribution, which no row exceeds.
func TestAddRemove(t *testing.T) {
	for name, change := range map[string]func(*Settings){"kernel vectors": func(*Settings) {}, "features": whitened} {
		t.Run(name, func(t *testing.T) {
			judge := func(r method.Relation, path string) (sparsegp.Sums, *Learner) {
				return sumsOfTrial(t, ownSettings(path), change, func(s *Settings) { s.Neighbours.Neighbours = r })
			}
			_, substituted := judge(method.Substitute, writeOwn(t, 20, nil))
			most := 0.0
			var l *Learner
			for _, row := range []string{"10,100", "2.5,0", "11,1e9", "-400,0", "0.5,50"} {
				var one sparsegp.Sums
				one, l = judge(method.AddRemove, writeOwn(t, 1, map[int]string{0: row}))
				if w := l.Model.Whitened; w != nil {
					one = w.Sums(one)
				}
				square := floats.Dot(one.A, one.A) + math.Pow(l.settings.Ratio*mat.Norm(one.B, 2), 2)
				most = max(most, math.Sqrt(square)/l.Noise.Sensitivity)
			}
			if most > 1+1e-6 || most < 0.9 {
				t.Errorf("a row adds at most %g of the sensitivity", most)
			}
			if got, than := l.Noise.Sensitivity, substituted.Noise.Sensitivity; got > 0.8*than {
				t.Errorf("sensitivity %g, of a substituted row %g", got, than)
			}
			p := l.Guarantee()
			if p.Simulated.Neighbours != "add-remove" || !strings.HasSuffix(p.Unit, ", added or removed") {
				t.Errorf("%+v", p)
			}
		})
	}
}
