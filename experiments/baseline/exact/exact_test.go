package exact

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/baseline/ground"
	"privkern/experiments/baseline/internal/baselinetest"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/method"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
	"privkern/tests/tier"
)

// own are settings of a table of two inputs.
func own(dataset, output string) func(*ground.Data) {
	return func(d *ground.Data) {
		d.Dataset, d.Inputs, d.Output, d.Repeats = dataset, "a+b", output, 2
		d.InputLow = method.Ends{Numbers: experiment.Several{-1, 0}}
		d.InputHigh = method.Ends{Numbers: experiment.Several{1, 10}}
	}
}

// The outputs have noise of standard deviation 1 about a plane.
func TestRegression(t *testing.T) {
	m := trialtest.Compute(t, trialtest.Options{Workers: 2}, Regression.Experiment(), func(s *Settings) {
		own(baselinetest.Regression(t, 400), "y")(&s.Data.Data)
		s.Low, s.High = method.End{Number: 0}, method.End{Number: 100}
	}).Metrics
	if m.RMSE != m.RMSEWithoutNoise || m.RMSE > 1.15 || m.RMSE < .85 || m.RMSECentre < 12 {
		t.Errorf("RMSE %g, without noise %g, of the middle %g", m.RMSE, m.RMSEWithoutNoise, m.RMSECentre)
	}
}

// The classes follow from the inputs.
func TestClassification(t *testing.T) {
	tier.Sequential(t)
	m := trialtest.Compute(t, trialtest.Options{Workers: 2}, Classification.Experiment(), func(s *Data) {
		own(baselinetest.Classes(t, 400), "k")(&s.Data)
	}).Metrics
	if m.Accuracy != m.AccuracyWithoutNoise || m.Accuracy < .94 || *m.LogLoss > .3 {
		t.Errorf("accuracy %g, without noise %g, log loss %g", m.Accuracy, m.AccuracyWithoutNoise, *m.LogLoss)
	}
}

// A fit that is no better than a rule has advice for methods without noise.
func TestPoor(t *testing.T) {
	var cells [][]string
	for i := range 60 {
		class := map[bool]string{true: "v", false: "u"}[i%10 == 0]
		cells = append(cells, []string{fmt.Sprint(i % 7), fmt.Sprint(i % 4), class})
	}
	warnings := trialtest.Compute(t, trialtest.Options{Workers: 2}, Classification.Experiment(), func(s *Data) {
		own(baselinetest.Table(t, "a,b,k", cells), "k")(&s.Data)
	}).Warnings
	if !slices.ContainsFunc(warnings, func(w string) bool { return strings.HasSuffix(w, "; "+advice) }) {
		t.Errorf("%q", warnings)
	}
}

// A budget is refused, and a release is none.
func TestRefused(t *testing.T) {
	x := Classification.Experiment()
	_, err := x.Resolved(x.With(func(s *Data) { s.Epsilon = 3 }))
	if err == nil || !strings.Contains(err.Error(), "without privacy") {
		t.Errorf("epsilon = 3: %v", err)
	}
	if x.Release != nil || Regression.Experiment().Release != nil {
		t.Error("there is a release")
	}
}

// made are n rows of two inputs, with the outputs of a function or labels by its sign.
func made(n, classes int, f func(a, b float64) float64) *rows {
	rng := rand.New(rand.NewPCG(5, uint64(n)))
	r := &rows{x: mat.NewDense(n, 2, nil), classes: classes}
	for i := range n {
		a, b := 2*rng.Float64()-1, 2*rng.Float64()-1
		r.x.SetRow(i, []float64{a, b})
		if v := f(a, b); classes == 0 {
			r.y = append(r.y, v+.05*rng.NormFloat64())
		} else if v > 0 {
			r.labels = append(r.labels, 1)
		} else {
			r.labels = append(r.labels, 0)
		}
	}
	return r
}

// Each family is chosen where it is the best: ridge for a plane, trees for steps, a process for waves.
func TestChoose(t *testing.T) {
	tier.Sequential(t)
	e := engine.Of(trialtest.New(t, trialtest.Options{Workers: 2}).Engine)
	for _, c := range []struct {
		name    string
		classes int
		f       func(a, b float64) float64
		want    func(m ground.Evaluator) bool
	}{
		{"steps", 0, func(a, b float64) float64 { return math.Copysign(.4, a) + math.Copysign(.4, b-.3) },
			func(m ground.Evaluator) bool { _, ok := m.(trees); return ok }},
		{"waves", 0, func(a, b float64) float64 { return .8 * math.Sin(5*a) * math.Cos(3*b) },
			func(m ground.Evaluator) bool { _, ok := m.(*posterior); return ok }},
		{"a line", 2, func(a, b float64) float64 { return a - b/3 },
			func(m ground.Evaluator) bool { _, ok := m.(*planes); return ok }},
		{"squares", 2, func(a, b float64) float64 { return math.Copysign(1, a-.2) * math.Copysign(1, b+.1) },
			func(m ground.Evaluator) bool { _, ok := m.(trees); return ok }},
	} {
		r, test := made(300, c.classes, c.f), made(200, c.classes, c.f)
		p, err := newProcess(t.Context(), e, r)
		if err != nil {
			t.Fatal(err)
		}
		families := []family{p, ridge{}, boosted{few}, boosted{many}}
		if c.classes > 0 {
			families[1] = logistic{}
		}
		m, err := choose(t.Context(), r, families...)
		if err != nil {
			t.Fatal(err)
		}
		if !c.want(m) {
			t.Errorf("%s: %T is chosen", c.name, m)
		}
		predicted, err := m.Evaluate(t.Context(), e, test.x)
		if err != nil {
			t.Fatal(err)
		}
		if loss := test.loss(predicted) / 200; loss > .12 || c.classes == 0 && loss > .03 {
			t.Errorf("%s: the mean loss is %g", c.name, loss)
		}
	}
}

// The gradient of logistic regression is zero at its minimum.
func TestLogistic(t *testing.T) {
	r := made(200, 2, func(a, b float64) float64 { return math.Sin(9*a) + b })
	m, err := fitPlanes(t.Context(), r, .01, nil)
	if err != nil {
		t.Fatal(err)
	}
	value := func(change float64, c, j int) float64 {
		moved := planes{m.standard, mat.DenseCopyOf(m.weights)}
		moved.weights.Set(c, j, moved.weights.At(c, j)+change)
		predicted, _ := moved.Evaluate(t.Context(), nil, r.x)
		total := r.loss(predicted) / 200
		for k := range 2 {
			for _, w := range moved.weights.RawRowView(k)[:2] {
				total += .01 / 2 * w * w
			}
		}
		return total
	}
	for c := range 2 {
		for j := range 3 {
			if slope := (value(1e-5, c, j) - value(-1e-5, c, j)) / 2e-5; math.Abs(slope) > 1e-4 {
				t.Errorf("the derivative by weight %d of class %d is %g", j, c, slope)
			}
		}
	}
}

// Rows that tell nothing are no error: constant inputs, outputs that are all equal, two rows.
func TestDegenerate(t *testing.T) {
	e := engine.Of(trialtest.New(t, trialtest.Options{Workers: 2}).Engine)
	for _, n := range []int{2, 5, 40} {
		for _, classes := range []int{0, 2} {
			r := made(n, classes, func(float64, float64) float64 { return 1 })
			r.y = make([]float64, len(r.y))
			for i := range n {
				r.x.Set(i, 0, 3)
			}
			if classes > 0 {
				r.labels[0] = 0
			}
			p, err := newProcess(context.Background(), e, r)
			if err != nil {
				t.Fatal(err)
			}
			families := []family{p, ridge{}, boosted{few}}
			if classes > 0 {
				families[1] = logistic{}
			}
			m, err := choose(t.Context(), r, families...)
			if err != nil {
				t.Fatalf("%d rows of %d classes: %v", n, classes, err)
			}
			predicted, err := m.Evaluate(t.Context(), e, r.x)
			if loss := r.loss(predicted) / float64(n); err != nil || !(loss < 1) {
				t.Errorf("%d rows of %d classes: the mean loss is %g: %v", n, classes, loss, err)
			}
		}
	}
}

// Classes far apart make the search of hyper-parameters step so far that these are no numbers, which is no failure.
func TestSeparated(t *testing.T) {
	e := engine.Of(trialtest.New(t, trialtest.Options{Workers: 2}).Engine)
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 8))
		r := &rows{x: mat.NewDense(mostEstimated, 2, nil), classes: 3}
		for i := range mostEstimated {
			label := []int{0, 0, 0, 0, 1, 1, 2}[i%7]
			sin, cos := math.Sincos(2 * math.Pi * float64(label) / 3)
			r.x.SetRow(i, []float64{.6*cos + .1*rng.NormFloat64(), .6*sin + .1*rng.NormFloat64()})
			r.labels = append(r.labels, label)
		}
		p, err := newProcess(t.Context(), e, r)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if beyond(p.h) {
			t.Errorf("seed %d: %+v", seed, p.h)
		}
	}
}

// Predictions of many rows, in chunks, are those of each row alone.
func TestChunks(t *testing.T) {
	e := engine.Of(trialtest.New(t, trialtest.Options{Workers: 2}).Engine)
	for _, classes := range []int{0, 2} {
		r := made(50, classes, func(a, b float64) float64 { return a - b })
		p, err := newProcess(t.Context(), e, r)
		if err != nil {
			t.Fatal(err)
		}
		m, err := p.fit(t.Context(), r, 0)
		if err != nil {
			t.Fatal(err)
		}
		many := made(2*evaluated+3, classes, func(a, b float64) float64 { return a - b })
		all, err := m.Evaluate(t.Context(), e, many.x)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range []int{0, evaluated, 2*evaluated + 2} {
			one, err := m.Evaluate(t.Context(), e, mat.DenseCopyOf(many.x.Slice(i, i+1, 0, 2)))
			if err != nil {
				t.Fatal(err)
			}
			trialtest.Near(t, fmt.Sprintf("row %d of %d classes", i, classes), all[0][i], one[0][0], 1e-12)
		}
	}
}

// Of more rows than are learned from a sample is.
func TestSample(t *testing.T) {
	r := made(30, 2, func(a, b float64) float64 { return a - b })
	if some := drawn(r, 20); some.len() != 20 || len(some.labels) != 20 || drawn(r, 30) != r {
		t.Errorf("%d rows of 20, %d of 30", some.len(), drawn(r, 30).len())
	}
}
