package sgd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/experiments/baseline/ground"
	"privkern/experiments/baseline/internal/baselinetest"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/mechanism/loss"
	"privkern/experiments/method"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

func data(d *ground.Data, dataset, output string, epsilon float64) {
	d.Dataset, d.Inputs, d.Output, d.Epsilon, d.Delta = dataset, "a+b", output, epsilon, 1e-6
	d.Repeats = 2
	d.InputLow = method.Ends{Numbers: experiment.Several{-1, 0}}
	d.InputHigh = method.Ends{Numbers: experiment.Several{1, 10}}
}

// values are settings of a table with an output.
func values(dataset string, epsilon float64, more ...func(*RegressionSettings)) func(*RegressionSettings) {
	return func(s *RegressionSettings) {
		data(&s.Data, dataset, "y", epsilon)
		s.Low, s.High = experiment.NumberOr[method.None](0.0), experiment.NumberOr[method.None](100.0)
		for _, set := range more {
			set(s)
		}
	}
}

// classes are settings of a table of three classes.
func classes(dataset string, epsilon float64, more ...func(*ClassificationSettings)) func(*ClassificationSettings) {
	return func(s *ClassificationSettings) {
		data(&s.Data, dataset, "k[u|v|w]", epsilon)
		for _, set := range more {
			set(s)
		}
	}
}

func TestRegressionJudged(t *testing.T) {
	table := baselinetest.Regression(t, 1000)
	hidden := func(s *RegressionSettings) { s.Hidden = 8 }
	sampled := func(s *RegressionSettings) { s.Neighbours, s.Rate = ground.AddRemove, 0.2 }
	for _, c := range []struct {
		name    string
		epsilon float64
		most    float64 // of the error of the middle
		set     func(*RegressionSettings)
	}{
		{"much", 100, .15, func(*RegressionSettings) {}}, {"little", 1, .5, func(*RegressionSettings) {}},
		{"hidden", 100, .3, hidden}, {"sampled", 3, .4, sampled}, {"without", math.Inf(1), .15, func(*RegressionSettings) {}},
	} {
		m := trialtest.Compute(t, trialtest.Options{Workers: 2}, Regression.Experiment(),
			values(table, c.epsilon, c.set)).Metrics
		if m.RMSE > c.most*m.RMSECentre {
			t.Errorf("%s: rmse %g, of the middle %g", c.name, m.RMSE, m.RMSECentre)
		}
	}
}

func TestClassificationJudged(t *testing.T) {
	table := baselinetest.Classes(t, 1000)
	hidden := func(s *ClassificationSettings) { s.Hidden = 8 }
	for _, c := range []struct {
		name           string
		epsilon, least float64
		set            func(*ClassificationSettings)
	}{
		{"much", 100, .85, func(*ClassificationSettings) {}}, {"little", 1, .75, func(*ClassificationSettings) {}},
		{"hidden", 10, .85, hidden},
	} {
		m := trialtest.Compute(t, trialtest.Options{Workers: 2}, Classification.Experiment(),
			classes(table, c.epsilon, c.set)).Metrics
		if m.Accuracy < c.least || m.AccuracyLargest > .7 {
			t.Errorf("%s: accuracy %g, of the largest class %g", c.name, m.Accuracy, m.AccuracyLargest)
		}
	}
}

func TestReleased(t *testing.T) {
	for _, hidden := range []int{0, 6} {
		at := mat.NewDense(3, 2, []float64{-.8, 1, .8, 5, -.8, 9})
		p := baselinetest.Released(t, Classification, PredictClassification, classes(baselinetest.Classes(t, 500), 30,
			func(s *ClassificationSettings) { s.Hidden = hidden }), at)
		if !slices.Equal(p.Labels, []string{"u", "v", "w"}) {
			t.Errorf("%d hidden units: classes %v, want u, v, w", hidden, p.Labels)
		}
		p = baselinetest.Released(t, Regression, PredictRegression, values(baselinetest.Regression(t, 500), 30,
			func(s *RegressionSettings) { s.Hidden = hidden }), at)
		for i, want := range []float64{26, 66, 42} {
			if math.Abs(p.Rows[i][0]-want) > 6 {
				t.Errorf("%d hidden units: %g, want about %g", hidden, p.Rows[i][0], want)
			}
		}
	}
}

// The sensitivity is reached, by rows with one input and opposite outputs.
func TestNeighbours(t *testing.T) {
	few := func(s *Training, hidden int) { s.Steps, s.Hidden = 5, hidden }
	for _, hidden := range []int{0, 4} {
		most := baselinetest.Neighbours(t, Regression, values(baselinetest.Regression(t, 40), 1,
			func(s *RegressionSettings) { few(&s.Training, hidden) }), func(row []float64, rng *rand.Rand) {
			row[2] = float64(rng.IntN(13)-6) * 100
		})
		if len(most) != 5 || most[0] < .9 {
			t.Errorf("Regression, %d hidden units: the queries move by %v of their sensitivity", hidden, most)
		}
		most = baselinetest.Neighbours(t, Classification, classes(baselinetest.Classes(t, 40), 1,
			func(s *ClassificationSettings) { few(&s.Training, hidden) }), func(row []float64, rng *rand.Rand) {
			row[0], row[1], row[2] = float64(rng.IntN(9)-4)/2, float64(rng.IntN(13)-1), float64(rng.IntN(3))
		})
		if len(most) != 5 || most[0] < .7 {
			t.Errorf("Classification, %d hidden units: the queries move by %v of their sensitivity", hidden, most)
		}
	}
}

// The gradients of a batch are the sum of those of its rows: each the derivatives of the loss, clipped.
func TestGradient(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const rows, step = 7, 1e-6
	for _, n := range []network{{3, 0, 1, false, nil}, {3, 4, 1, false, nil}, {3, 0, 3, true, nil}, {3, 5, 3, true, nil}} {
		x, targets, weights := mat.NewDense(rows, 4, nil), make([]float64, rows), n.start()
		for i := range weights {
			weights[i] += rng.NormFloat64()
		}
		for i := range rows {
			for j := range 4 {
				x.Set(i, j, rng.NormFloat64())
			}
			targets[i] = float64(rng.IntN(n.outputs + 1 - min(1, n.outputs-1)))
		}
		const clip = 0.8
		want, got := make([]float64, n.size()), make([]float64, n.size())
		clipped := 0
		for i := range rows {
			row, one := mat.NewDense(1, 4, x.RawRowView(i)), make([]float64, n.size())
			for k := range one {
				at := weights[k]
				weights[k] = at + step
				up := n.lossAt(weights, row, targets[i])
				weights[k] = at - step
				one[k] = (up - n.lossAt(weights, row, targets[i])) / (2 * step)
				weights[k] = at
			}
			if norm := floats.Norm(one, 2); norm > clip {
				floats.Scale(clip/norm, one)
				clipped++
			}
			floats.Add(want, one)
		}
		n.add(weights, x, targets, clip, got)
		if far := floats.Distance(got, want, 2); !(far < 1e-6) || clipped == 0 || clipped == rows {
			t.Errorf("%+v: gradients are off by %g; %d of %d rows are clipped", n, far, clipped, rows)
		}
	}
}

// The programs that judge have the sums of a release, in which rows are added one by one.
func TestProgram(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const rows, clip = 2100, 0.8
	e := engine.Of(trialtest.New(t, trialtest.Options{Workers: 2}).Engine)
	for _, n := range []network{{3, 0, 1, false, nil}, {3, 4, 1, false, nil}, {3, 0, 3, true, nil}, {3, 5, 3, true, nil},
		{3, 1, 1, false, nil}} {
		x, targets, weights := mat.NewDense(rows, 4, nil), make([]float64, rows), n.start()
		for i := range weights {
			weights[i] += rng.NormFloat64()
		}
		for i := range rows {
			x.SetRow(i, []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), 1})
			targets[i] = float64(rng.IntN(n.outputs + 1 - min(1, n.outputs-1)))
		}
		for _, c := range []struct {
			name   string
			sample []int // nil for all rows
			count  int
		}{{"all", nil, rows}, {"some", nil, 1023}, {"one", nil, 1}, {"none sampled", []int{}, rows},
			{"one sampled", []int{77}, rows}, {"sampled", rng.Perm(rows)[:300], rows}} {
			t.Run(fmt.Sprintf("%+v %s", n, c.name), func(t *testing.T) {
				a := &algorithm{Problem: &ground.Problem{Engine: e}, network: n, clip: clip}
				judged := &examples{algorithm: a, x: x.Slice(0, c.count, 0, 4).(*mat.Dense), targets: targets[:c.count]}
				defer judged.close()
				numbers := c.sample
				if numbers == nil {
					for i := range c.count {
						numbers = append(numbers, i)
					}
				}
				want := make([]float64, n.size())
				for _, i := range numbers {
					n.add(weights, mat.NewDense(1, 4, x.RawRowView(i)), targets[i:i+1], clip, want)
				}
				got, err := judged.programmed(t.Context(), weights, numbers, c.sample != nil)
				if err != nil {
					t.Fatal(err)
				}
				if far := floats.Distance(got, want, 2); !(far <= 1e-12*max(1, floats.Norm(want, 2))) {
					t.Errorf("the sum is off by %g, and has the norm %g", far, floats.Norm(want, 2))
				}
			})
		}
	}
}

// lossAt is half the squared error at one row, or the cross entropy of the softmax.
func (n *network) lossAt(weights []float64, x *mat.Dense, target float64) float64 {
	first, last := n.split(weights)
	outputs, _ := forward(first, last, x, 1/math.Sqrt(float64(n.hidden)))
	if row := outputs.RawRowView(0); n.classes {
		return floats.LogSumExp(row) - row[int(target)]
	}
	miss := outputs.At(0, 0) - target
	return miss * miss / 2
}

// Noise on samples is the least with which the steps compose to the budget, to a thousandth of ε.
func TestSampled(t *testing.T) {
	for _, c := range []struct {
		neighbours ground.Relation
		law        string
		change     float64
		rate       float64
		steps      int
	}{
		{ground.AddRemove, "subsampled gaussian", 1, .01, 1000},
		{ground.AddRemove, "subsampled gaussian", 1, .1, 100},
		{ground.AddRemove, "subsampled gaussian", 1, .5, 10},
		{ground.Substitute, "substituted subsampled gaussian", 2, .01, 1000},
		{ground.Substitute, "substituted subsampled gaussian", 2, .5, 10},
	} {
		d := ground.Data{Neighbours: c.neighbours}
		d.Epsilon, d.Delta = 2, 1e-5
		noise, err := d.Subsampled(ground.Query{What: "gradients", Coordinates: 3, Norm: 1, Largest: 1, Rows: 100,
			Times: c.steps}, c.rate)
		if err != nil {
			t.Fatal(err)
		}
		epsilon, err := loss.Epsilon([]experiment.Loss{{Law: c.law, Size: c.change / noise.Scale(), Times: c.steps,
			Rate: c.rate}}, d.Delta)
		if err != nil {
			t.Fatal(err)
		}
		if epsilon > 2 || epsilon < 1.998 {
			t.Errorf("%+v: the noise %g has ε = %g, want 2", c, noise.Scale(), epsilon)
		}
	}
}

func TestRefused(t *testing.T) {
	table := baselinetest.Regression(t, 20)
	for _, c := range []struct {
		name, trial, release string // parts of the errors; empty for none
		set                  func(*RegressionSettings)
	}{
		{"all rows", "", "", func(*RegressionSettings) {}},
		{"samples", "", "samples are for judging", func(s *RegressionSettings) { s.Rate = .5 }},
		{"samples of persons", "a person has several", "", func(s *RegressionSettings) {
			s.Rate, s.Person.Person = .5, "who"
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			params, err := Regression.Experiment().Resolved(Regression.Experiment().With(values(table, 1, c.set)))
			if !isError(err, c.trial) {
				t.Fatalf("error %v, want %q", err, c.trial)
			}
			if err != nil {
				return
			}
			if err := Regression.Experiment().CheckRelease(params); !isError(err, c.release) {
				t.Errorf("release: error %v, want %q", err, c.release)
			}
		})
	}
}

// isError reports whether an error has a text, or is none where that is empty.
func isError(err error, text string) bool {
	return err == nil && text == "" || err != nil && text != "" && strings.Contains(err.Error(), text)
}
