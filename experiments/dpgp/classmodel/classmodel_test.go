package classmodel

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/modeltest"
	"privkern/runner/experiment"
)

func example() *Model {
	return &Model{
		Format: Format, Inputs: []string{"a"}, Output: "y", Classes: []string{"no", "yes"},
		Kernel: Kernel{Name: "EQ", Lengthscales: []float64{2}, Variance: 1}, Jitter: 1e-6,
		Inducing: [][]float64{{0}, {10}}, Means: [][]float64{{1, -1}, {-1, 1}},
		Covariances: [][][]float64{{{0.3, 0.1}, {0.1, 0.2}}, {{0.3, 0}, {0, 0.2}}},
		Privacy:     &experiment.Privacy{Guarantee: "(1, 0.0001)-DP", RNG: "secure"},
	}
}

// At an inducing input the class with the larger mean is predicted; far from all of them
// classes are equally likely.
func TestPredict(t *testing.T) {
	p := modeltest.Predict(t, mat.NewDense(3, 1, []float64{0, 10, 1000}), example())
	if !slices.Equal(p.Labels[:2], []string{"no", "yes"}) || !slices.Equal(p.Columns, []string{"p_no", "p_yes"}) {
		t.Errorf("%+v", p)
	}
	for i, row := range p.Rows {
		if math.Abs(row[0]+row[1]-1) > 1e-12 || i == 2 && math.Abs(row[0]-0.5) > 0.01 {
			t.Errorf("row %d: %v", i, row)
		}
	}
	// E sigmoid(2 + √0.6 z) for z ~ N(0, 1): 0.862, by quadrature (trapezoids, 20,001 points).
	sum, weights := 0.0, 0.0
	for i := range 20001 {
		z := -8 + 16*float64(i)/20000
		w := math.Exp(-z * z / 2)
		sum, weights = sum+w/(1+math.Exp(-2-math.Sqrt(0.6)*z)), weights+w
	}
	if got := p.Rows[0][0]; math.Abs(got-sum/weights) > 0.01 {
		t.Errorf("probability %g, want %g", got, sum/weights)
	}
	alone := modeltest.Predict(t, mat.NewDense(1, 1, []float64{10}), example())
	if !slices.Equal(alone.Rows[0], p.Rows[1]) {
		t.Errorf("%v alone, %v among others", alone.Rows, p.Rows[1])
	}
}

// A released file predicts as it did.
func TestReleasedFile(t *testing.T) {
	m := modeltest.Read[*Model](t, PredictFormat, "testdata/dpgp-classification-model-1.json")
	if p := modeltest.Predict(t, mat.NewDense(1, 2, []float64{2, 25}), m); p.Labels[0] != "middle" {
		t.Errorf("%+v", p)
	}
}

func TestCheck(t *testing.T) {
	modeltest.CheckRefused(t, PredictFormat, example, map[string]func(*Model){
		"inputs: there are none":               func(m *Model) { m.Inputs = nil },
		"classes: there are 1":                 func(m *Model) { m.Classes = m.Classes[:1] },
		`classes[1]: "no" cannot be the name`:  func(m *Model) { m.Classes[1] = "no" },
		`inputs[0]: "p_yes" cannot`:            func(m *Model) { m.Inputs[0] = "p_yes" },
		`inputs[0]: "class" cannot`:            func(m *Model) { m.Inputs[0] = "class" },
		`kernel.name: it is "RQ"`:              func(m *Model) { m.Kernel.Name = "RQ" },
		"kernel.lengthscales[0]: it is 0":      func(m *Model) { m.Kernel.Lengthscales[0] = 0 },
		"kernel.variance: it is 0":             func(m *Model) { m.Kernel.Variance = 0 },
		"jitter: it is -1":                     func(m *Model) { m.Jitter = -1 },
		"inducing: there are none":             func(m *Model) { m.Inducing = nil },
		"inducing[1]: it has 2 numbers":        func(m *Model) { m.Inducing[1] = []float64{1, 2} },
		"means: there are 1 for 2 classes":     func(m *Model) { m.Means = m.Means[:1] },
		"means[1]: it has 1 number":            func(m *Model) { m.Means[1] = m.Means[1][:1] },
		"covariances: there are 0":             func(m *Model) { m.Covariances = nil },
		"covariances[0]: it has 1 rows":        func(m *Model) { m.Covariances[0] = m.Covariances[0][:1] },
		"covariances[0][1]: it has 1":          func(m *Model) { m.Covariances[0][1] = m.Covariances[0][1][:1] },
		"covariances[1][1][0]: it is 0.1, and": func(m *Model) { m.Covariances[1][1][0] = 0.1 },
		"covariances[1][1][1]: it is -1":       func(m *Model) { m.Covariances[1][1][1] = -1 },
		"privacy: it is missing":               func(m *Model) { m.Privacy = nil },
	})
}
