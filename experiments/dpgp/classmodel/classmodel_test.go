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
		Centre: -0.6, Mechanism: Mechanism{Alpha: 0.5},
		Covariances: [][][]float64{{{0.3, 0.1}, {0.1, 0.2}}, {{0.3, 0}, {0, 0.2}}},
		Privacy:     &experiment.Privacy{Guarantee: "(1, 0.0001)-DP", RNG: "secure"},
	}
}

// At an inducing input the class with the larger mean is predicted; far from all of them
// classes are equally likely. Probabilities are averages of the share that a function stands for.
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
	// Variances 0.3 of both classes at the first inducing input count as 0.39: the mean share at 1 and -1, by
	// quadrature (trapezoids, 2,001 points).
	inverse := func(f float64) float64 { // the root p of its function, by bisection
		low, high := 0.0, 1.0
		for range 60 {
			p := (low + high) / 2
			w0, w1 := 1/math.Log(3), 1/math.Log(5.0/3)
			y0, y1 := math.Log(0.5)-1/(2*w0)+0.6, math.Log(1.5)-1/(2*w1)+0.6
			if (p*w1*y1+(1-p)*w0*y0)/(p*w1+(1-p)*w0) < f {
				low = p
			} else {
				high = p
			}
		}
		return low
	}
	no, yes, weights := 0.0, 0.0, 0.0
	for i := range 2001 {
		z := -8 + 16*float64(i)/2000
		w, sd := math.Exp(-z*z/2), math.Sqrt(0.39)
		no, yes, weights = no+w*inverse(1+sd*z), yes+w*inverse(-1+sd*z), weights+w
	}
	if got, want := p.Rows[0][0], no/(no+yes); math.Abs(got-want) > 0.005 || want < 0.9 {
		t.Errorf("probability %g, want %g", got, want)
	}
	alone := modeltest.Predict(t, mat.NewDense(1, 1, []float64{10}), example())
	if !slices.Equal(alone.Rows[0], p.Rows[1]) {
		t.Errorf("%v alone, %v among others", alone.Rows, p.Rows[1])
	}
}

// Of eight classes one that is certain has nearly all of the probability, one of which little is known does not, and
// the order is that of the means. No probability is 0.
func TestProbabilities(t *testing.T) {
	l := NewLabels(0.5, -0.6)
	mean, variance := slices.Repeat([]float64{l.Y[0] - 1}, 8), make([]float64, 8)
	mean[3] = l.Y[1] + 1
	if p := l.inverted(mean, variance); p[3] < 0.99 || slices.Min(p) < 9e-4 {
		t.Errorf("certain: %v", p)
	}
	for i := range variance {
		variance[i] = 100 * float64(i)
	}
	if p := l.inverted(mean, variance); p[3] > 0.2 || p[3] != slices.Max(p) || p[0] != p[7] {
		t.Errorf("with a large variance: %v", p)
	}
}

// The softmax is taken for small alphas, with which it can be certain, and is E softmax(f).
func TestSoftmax(t *testing.T) {
	for _, c := range []struct {
		alpha    float64
		classes  int
		inverted bool
	}{{0.5, 2, true}, {0.1, 2, false}, {0.1, 3, false}, {0.1, 8, true}, {0.01, 20, false}} {
		if got := NewLabels(c.alpha, 0).Inverted(c.classes); got != c.inverted {
			t.Errorf("alpha = %g, %d classes: shares %t", c.alpha, c.classes, got)
		}
	}
	// E sigmoid(2 + √0.6 z) for z ~ N(0, 1), by quadrature (trapezoids, 20,001 points).
	sum, weights := 0.0, 0.0
	for i := range 20001 {
		z := -8 + 16*float64(i)/20000
		w := math.Exp(-z * z / 2)
		sum, weights = sum+w/(1+math.Exp(-2-math.Sqrt(0.6)*z)), weights+w
	}
	m := example()
	m.Mechanism.Alpha = 0.01
	m.Covariances[1][0][0], m.Covariances[1][0][1], m.Covariances[1][1][0] = 0.3, 0, 0
	if got := modeltest.Predict(t, mat.NewDense(1, 1, []float64{0}), m).Rows[0][0]; math.Abs(got-sum/weights) > 0.01 {
		t.Errorf("probability %g, want %g", got, sum/weights)
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
		"mechanism.alpha: it is 0":             func(m *Model) { m.Mechanism.Alpha = 0 },
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
		"covariances[1][1][0]: it is 9, and with the variances": func(m *Model) {
			m.Covariances[1][0][1], m.Covariances[1][1][0] = 9, 9
		},
		"privacy: it is missing": func(m *Model) { m.Privacy = nil },
	})
}
