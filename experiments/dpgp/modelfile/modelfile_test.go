package modelfile

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/modeltest"
	"privkern/runner/experiment"
)

func example() *Model {
	return &Model{
		Format: Format, Inputs: []string{"a", "b"}, Output: Output{Name: "y", Centre: 50, Scale: 10},
		Kernel: Kernel{Name: "EQ", Lengthscale: 2, Variance: 1.5}, Noise: 0.25, Jitter: 0.01,
		Inducing: [][]float64{{0, 0}, {1, 2}}, Mean: []float64{0.5, -1}, Covariance: [][]float64{{0.3, 0.1}, {0.1, 0.2}},
		Privacy: &experiment.Privacy{Guarantee: "(1, 0.0001)-DP", RNG: "secure"},
	}
}

// withLengthscales gives the inputs a lengthscale each.
func withLengthscales(m *Model, lengthscales ...float64) {
	m.Format, m.Kernel.Lengthscale, m.Kernel.Lengthscales = FormatLengthscales, 0, lengthscales
}

// A lengthscale for each input is one for all of inputs in units of it; equal ones are the
// kernel of one.
func TestPredictWithLengthscales(t *testing.T) {
	predict := func(x []float64, change func(m *Model)) []float64 {
		m := example()
		change(m)
		return modeltest.Predict(t, mat.NewDense(1, 2, x), m).Rows[0]
	}
	for _, c := range []struct {
		name      string
		got, want []float64
	}{
		{"each its own", predict([]float64{0.5, 1}, func(m *Model) { withLengthscales(m, 2, 5) }),
			predict([]float64{0.25, 0.2}, func(m *Model) {
				m.Kernel.Lengthscale, m.Inducing = 1, [][]float64{{0, 0}, {0.5, 0.4}}
			})},
		{"equal ones", predict([]float64{0.5, 1}, func(m *Model) { withLengthscales(m, 2, 2) }),
			predict([]float64{0.5, 1}, func(*Model) {})},
	} {
		if math.Abs(c.got[0]-c.want[0]) > 1e-12 || math.Abs(c.got[1]-c.want[1]) > 1e-12 {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
}

// Means beyond the public range of the output are at its end; the spread is as it was.
func TestPredictWithinRange(t *testing.T) {
	m := example()
	m.Mean = []float64{3, -4}
	at := mat.NewDense(2, 2, []float64{0, 0, 1, 2})
	got, want := modeltest.Predict(t, at, m), modeltest.Predict(t, at, example())
	for i, mean := range []float64{60, 40} {
		if row := got.Rows[i]; row[0] != mean || row[1] != want.Rows[i][1] || row[2] != want.Rows[i][2] {
			t.Errorf("%v, want the mean %g and the spread of %v", row, mean, want.Rows[i])
		}
	}
}

// Predictions are Eq. (17), here for two inducing inputs by hand, in the unit of the output.
func TestPredict(t *testing.T) {
	p := modeltest.Predict(t, mat.NewDense(2, 2, []float64{0.5, 1, 30, 30}), example())
	k := func(d2 float64) float64 { return 1.5 * math.Exp(-d2/8) }
	a, b := 1.51, k(5)
	kx := k(1.25) // of both
	w := (a - b) * kx / (a*a - b*b)
	v := 1.5 - 2*kx*w + 0.3*w*w + 0.2*w*w + 0.2*w*w
	for i, want := range [][]float64{
		{50 + 10*(0.5*w-w), 10 * math.Sqrt(v), 10 * math.Sqrt(v+0.25)},
		{50, 10 * math.Sqrt(1.5), 10 * math.Sqrt(1.75)},
	} {
		half := 1.959963984540054 * want[2]
		want = append(want, want[0]-half, want[0]+half)
		for j, name := range p.Columns {
			if math.Abs(p.Rows[i][j]-want[j]) > 1e-10 {
				t.Errorf("row %d: %s is %g, want %g", i, name, p.Rows[i][j], want[j])
			}
		}
	}
	if p.Output != "y" || !slices.Equal(p.Columns, []string{"mean", "sd", "predictive_sd", "low95", "high95"}) {
		t.Errorf("%q: %q", p.Output, p.Columns)
	}
}

func TestCheck(t *testing.T) {
	modeltest.CheckRefused(t, PredictFormat, example, map[string]func(*Model){
		`kernel.lengthscales: a model of the version "dpgp/1" has one`: func(m *Model) {
			m.Kernel.Lengthscales = []float64{1, 2}
		},
		`kernel.lengthscale: a model of the version "dpgp/2" has kernel.lengthscales`: func(m *Model) {
			m.Format = FormatLengthscales
		},
		"kernel.lengthscales: there are 1 for 2 inputs":  func(m *Model) { withLengthscales(m, 1) },
		"kernel.lengthscales[1]: it is 0":                func(m *Model) { withLengthscales(m, 2, 0) },
		"kernel.lengthscale: it is 0; a positive number": func(m *Model) { m.Kernel.Lengthscale = 0 },
		"kernel.variance: it is 0":                       func(m *Model) { m.Kernel.Variance = 0 },
		`kernel.name: it is "RQ"; EQ is known`:           func(m *Model) { m.Kernel.Name = "RQ" },
		"inputs: there are none":                         func(m *Model) { m.Inputs = nil },
		`inputs[1]: "sd" cannot be the name`:             func(m *Model) { m.Inputs[1] = "sd" },
		"output.scale: it is -1":                         func(m *Model) { m.Output.Scale = -1 },
		"noise_variance: it is 0":                        func(m *Model) { m.Noise = 0 },
		"jitter: it is -1":                               func(m *Model) { m.Jitter = -1 },
		"inducing: there are none":                       func(m *Model) { m.Inducing = nil },
		"inducing[1]: it has 1 number for 2 inputs":      func(m *Model) { m.Inducing[1] = []float64{1} },
		"mean: it has 1 number for 2 inducing inputs":    func(m *Model) { m.Mean = m.Mean[:1] },
		"covariance: it has 1 rows":                      func(m *Model) { m.Covariance = m.Covariance[:1] },
		"covariance[1]: it has 1 number":                 func(m *Model) { m.Covariance[1] = m.Covariance[1][:1] },
		"covariance[1][0]: it is 0.2, and 0.1 with":      func(m *Model) { m.Covariance[1][0] = 0.2 },
		"covariance[1][0]: it is 9, and with the variances 0.3 and 0.2": func(m *Model) {
			m.Covariance[0][1], m.Covariance[1][0] = 9, 9
		},
		"privacy: it is missing": func(m *Model) { m.Privacy = nil },
	})
}

// Overflows are errors.
func TestOverflow(t *testing.T) {
	for want, change := range map[string]func(*Model){
		"row 2 of the inputs (counted from 1): mean overflows": func(m *Model) {
			m.Mean[0], m.Output.Centre, m.Output.Scale, m.Kernel.Variance, m.Noise = 1e200, 1e308, 1e308, 1e-4, 1e-4
		},
		"row 1 of the inputs (counted from 1): sd": func(m *Model) {
			m.Output.Scale, m.Kernel.Variance = 1e200, 1e300
		},
		"row 1 of the inputs (counted from 1): predictive_sd": func(m *Model) { m.Output.Scale, m.Noise = 1e200, 1e300 },
	} {
		m := example()
		change(m)
		x := mat.NewDense(2, 2, []float64{1e3, 1e3, 0.5, 1}) // the second is near the inducing inputs
		_, err := modeltest.Of(m).Predict(t.Context(), x)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// An impossible covariance is found in predictions, too.
func TestImpossibleCovariance(t *testing.T) {
	m := example()
	m.Jitter, m.Covariance = 0, [][]float64{{0.3, -9}, {-9, 0.2}}
	_ = modeltest.Predict(t, mat.NewDense(1, 2, []float64{10, -9}), m) // far away it does no harm
	at := mat.NewDense(1, 2, []float64{0.5, 1})
	if _, err := modeltest.Of(m).Predict(t.Context(), at); err == nil {
		t.Error("a negative variance is predicted")
	}
	m.Inducing[1] = []float64{0, 0}
	_, err := modeltest.Of(m).Predict(t.Context(), at)
	if err == nil || !strings.Contains(err.Error(), "cannot predict") {
		t.Errorf("equal inducing inputs: %v", err)
	}
}
