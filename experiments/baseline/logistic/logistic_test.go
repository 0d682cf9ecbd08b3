package logistic

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/baseline/ground"
	"privkern/experiments/baseline/internal/baselinetest"
	"privkern/experiments/baseline/internal/features"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/method"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

// own are settings of a table of three classes.
func own(dataset string, epsilon float64, kind features.Kind) func(*Settings) {
	return func(s *Settings) {
		s.Dataset, s.Inputs, s.Output, s.Epsilon, s.Delta = dataset, "a+b", "k[u|v|w]", epsilon, 1e-6
		s.InputLow = method.Ends{Numbers: experiment.Several{-1, 0}}
		s.InputHigh = method.Ends{Numbers: experiment.Several{1, 10}}
		s.Features, s.Repeats = kind, 3
		s.Frequencies = experiment.NumberOr[features.Auto](12)
	}
}

func TestJudged(t *testing.T) {
	data := baselinetest.Classes(t, 1000)
	for _, c := range []struct {
		kind           features.Kind
		epsilon, least float64
	}{{features.Linear, 100, .85}, {features.Fourier, 100, .88}, {features.Linear, 3, .75}, {features.Fourier, 3, .7}} {
		m := trialtest.Compute(t, trialtest.Options{Workers: 2}, Definition.Experiment(),
			own(data, c.epsilon, c.kind)).Metrics
		if m.Accuracy < c.least || m.AccuracyLargest > .7 {
			t.Errorf("features %d, epsilon = %g: accuracy %g, of the largest class %g", c.kind, c.epsilon, m.Accuracy,
				m.AccuracyLargest)
		}
	}
}

func TestReleased(t *testing.T) {
	for _, kind := range []features.Kind{features.Linear, features.Fourier} {
		p := baselinetest.Released(t, Definition, PredictFormat, own(baselinetest.Classes(t, 1000), 20, kind),
			mat.NewDense(3, 2, []float64{-.8, 1, .8, 5, -.8, 9}))
		for i, want := range []string{"u", "v", "w"} {
			if p.Labels[i] != want {
				t.Errorf("features %d: %v: class %s, want %s", kind, p.Rows[i], p.Labels[i], want)
			}
		}
	}
}

// Files of neighbours with equal noisy numbers are equal: the rest of a file is public. Only (ε, δ) is known.
func TestNeighbours(t *testing.T) {
	x, o := Definition.Experiment(), trialtest.New(t, trialtest.Options{Workers: 2})
	params, err := x.Resolved(x.With(own(baselinetest.Classes(t, 40), 1, features.Fourier)))
	if err != nil {
		t.Fatal(err)
	}
	o.Params, o.Secure = params, true
	plan, err := Definition.Plan(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if plan.Spending.Losses != nil || plan.Spending.Epsilon != 1 || plan.Spending.Delta != 1e-6 {
		t.Errorf("%+v", plan.Spending)
	}
	file := func(rows *mat.Dense, source *release.Source) []byte {
		out, err := plan.With(t.Context(), source, rows)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	var draws []release.Draw
	source := release.Unbooked(rand.NewChaCha8(sha256.Sum256([]byte("neighbours"))))
	source.Trace(&draws)
	want := file(plan.Private, source)
	if len(draws) != 2 {
		t.Fatalf("%d queries", len(draws))
	}
	for _, v := range draws[0].Query {
		if v != 0 {
			t.Error("the noise of the objective is added to something else")
		}
	}
	answers := append(draws[0].Output, draws[1].Output...)
	other := mat.DenseCopyOf(plan.Private)
	other.SetRow(3, []float64{1, 10, 2})
	other.SetRow(4, []float64{math.NaN(), math.NaN(), math.NaN()}) // an empty place
	if got := file(other, release.Replay(answers)); !bytes.Equal(got, want) {
		t.Errorf("%s\n%s", got, want)
	}
}

// The gradient is certified where the noise is far larger than all rows together, and without noise.
func TestExtremeBudgets(t *testing.T) {
	data := baselinetest.Classes(t, 40)
	for _, epsilon := range []float64{1e-5, 1e4, math.Inf(1)} {
		m := trialtest.Compute(t, trialtest.Options{Workers: 2}, Definition.Experiment(),
			own(data, epsilon, features.Linear)).Metrics
		if epsilon > 1 && m.Accuracy < .7 {
			t.Errorf("epsilon = %g: accuracy %g", epsilon, m.Accuracy)
		}
	}
}

func TestRefused(t *testing.T) {
	data := baselinetest.Classes(t, 40)
	_, err := trialtest.Try(t, trialtest.Options{Workers: 1}, Definition.Experiment(), func(s *Settings) {
		own(data, .1, features.Linear)(s)
		s.Regularisation = experiment.NumberOr[features.Auto](.1)
	})
	if err == nil || !strings.Contains(err.Error(), "use a larger one") {
		t.Errorf("the curvature of a row takes all of epsilon: %v", err)
	}
}

// A person's rows take more noise, and addition and removal less.
func TestUnits(t *testing.T) {
	sigma := func(rows int, n ground.Relation) float64 {
		p := perturbation{classes: 3, rows: rows, terms: rows}
		if n == ground.Substitute {
			p.terms *= 2
		}
		s, err := p.sigma(1, 1e-6, 50)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	one, three, add := sigma(1, ground.Substitute), sigma(3, ground.Substitute), sigma(1, ground.AddRemove)
	if !(three > 3*one && three < 5*one && add < .55*one && add > .45*one) {
		t.Errorf("sigma %g of a row, %g of three, %g of one that is added", one, three, add)
	}
}
