package modelfile

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/modeltest"
	"privkern/experiments/model"
)

// kept returns a file that version 1 wrote: run trial privacygp/regression
// dataset=csv:trajectory.csv inputs=time output=radius sensitive=time:1..1.5 --export, of 11
// rows with given hyper-parameters.
func kept(t testing.TB) *Model {
	return modeltest.Read[*Model](t, PredictFormat, "testdata/version1.json")
}

// withCondition returns a file of version 1 with its condition, of strong noise with a kernel
// condition: sensitive=time:0.4..0.7 requirement=kernel h_lengthscales=0.3 h_variance=0.2.
func withCondition(t testing.TB) *Model {
	return modeltest.Read[*Model](t, PredictFormat, "testdata/condition.json")
}

// Predictions are Eqs. (3) and (4), directly.
func TestPredict(t *testing.T) {
	m := kept(t)
	at := mat.NewDense(3, 1, []float64{0.1, 1.25, 40})
	got := modeltest.Predict(t, at, m)
	if all := strings.Join(got.Warnings, "\n"); !strings.Contains(all, `in 1 of 3 rows the input "time" is outside of`) {
		t.Errorf("warnings %q", all)
	}
	for i, row := range got.Rows {
		mean, sd, predictive := direct(t, m, at.RawRowView(i))
		for k, want := range []float64{mean, sd, predictive} {
			if math.Abs(row[k]-want) > 1e-6*math.Abs(want) {
				t.Errorf("row %d: %s is %.12g, directly %.12g", i, model.RegressionColumns[k], row[k], want)
			}
		}
	}
	if far := got.Rows[2]; math.Abs(far[0]-m.Mean) > 1e-9 || math.Abs(far[1]-math.Sqrt(m.Kernel.Variance)) > 1e-9 {
		t.Errorf("far from all rows %v, want the prior", far)
	}
	if sd := got.Rows[1][1]; sd*sd < m.Kernel.Variance/2*(1-1e-9) {
		t.Errorf("the variance at a sensitive place is %g, and half of %g was to be kept", sd*sd, m.Kernel.Variance)
	}
}

// The condition of a kept file holds.
func TestCondition(t *testing.T) {
	m := withCondition(t)
	c := m.Condition
	if len(c.Places) < 3 || c.Kernel == nil || c.Kernel.Lengthscales[0] != 0.3 {
		t.Fatalf("%+v", c)
	}
	for i, place := range c.Places {
		if _, sd, _ := direct(t, m, place); sd*sd < c.Variance[i]*(1-1e-6) {
			t.Errorf("place %v keeps %g of %g", place, sd*sd, c.Variance[i])
		}
	}
}

// direct returns the prediction by a general solver, pair by pair.
func direct(t *testing.T, m *Model, at []float64) (mean, sd, predictive float64) {
	t.Helper()
	correlation := func(a, b []float64) float64 {
		s := 0.0
		for j := range a {
			r := (a[j] - b[j]) / m.Kernel.Lengthscales[j]
			s += r * r
		}
		return m.Kernel.Variance * math.Exp(-s/2)
	}
	n := len(m.X)
	c, k, w := mat.NewDense(n, n, nil), mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
	for i, x := range m.X {
		for j, z := range m.X {
			c.Set(i, j, correlation(x, z)+m.Covariance[i][j])
		}
		c.Set(i, i, c.At(i, i)+m.Noise)
		k.SetVec(i, correlation(x, at))
		w.SetVec(i, m.Obfuscated[i]-m.Mean)
	}
	var solved mat.VecDense
	if err := solved.SolveVec(c, k); err != nil {
		t.Fatal(err)
	}
	variance := m.Kernel.Variance - mat.Dot(k, &solved)
	return m.Mean + mat.Dot(w, &solved), math.Sqrt(variance), math.Sqrt(variance + m.Noise)
}

func TestCheck(t *testing.T) {
	modeltest.CheckRefused(t, PredictFormat, func() *Model { return kept(t) }, map[string]func(*Model){
		"inputs: there are none":                                  func(m *Model) { m.Inputs = nil },
		`inputs[0]: "sd" cannot be the name`:                      func(m *Model) { m.Inputs[0] = "sd" },
		`kernel.name: unknown kernel "matern42"; did you mean`:    func(m *Model) { m.Kernel.Name = "matern42" },
		"privacy: it is missing":                                  func(m *Model) { m.Privacy = nil },
		"kernel.lengthscales: there are 2 for 1 inputs":           func(m *Model) { m.Kernel.Lengthscales = []float64{1, 2} },
		"kernel.lengthscales[0]: it is 0":                         func(m *Model) { m.Kernel.Lengthscales[0] = 0 },
		"kernel.variance: it is -1":                               func(m *Model) { m.Kernel.Variance = -1 },
		"noise_variance: it is -1":                                func(m *Model) { m.Noise = -1 },
		"x: there are no rows":                                    func(m *Model) { m.X = nil },
		"x[2]: it has 0 numbers for 1 inputs":                     func(m *Model) { m.X[2] = nil },
		"obfuscated: it has":                                      func(m *Model) { m.Obfuscated = m.Obfuscated[1:] },
		"noise_covariance: it has":                                func(m *Model) { m.Covariance = m.Covariance[1:] },
		"noise_covariance[1]: it has 0 numbers for 11 rows of x":  func(m *Model) { m.Covariance[1] = nil },
		"noise_covariance[1][1]: it is -1; a variance is not neg": func(m *Model) { m.Covariance[1][1] = -1 },
		"noise_covariance[2][1]: it is":                           func(m *Model) { m.Covariance[2][1]++ },
		"noise_covariance: it has a negative eigenvalue (the": func(m *Model) {
			for i := range 3 { // correlations of -0.9
				for j := range i {
					m.Covariance[i][j] = -0.9 * math.Sqrt(m.Covariance[i][i]*m.Covariance[j][j])
					m.Covariance[j][i] = m.Covariance[i][j]
				}
			}
		},
	})
	prior := withCondition(t).Kernel.Variance
	modeltest.CheckRefused(t, PredictFormat, func() *Model { return withCondition(t) }, map[string]func(*Model){
		"condition.variance: it has ":                     func(m *Model) { m.Condition.Places = m.Condition.Places[1:] },
		"condition.places[1]: it has 0 numbers for 1 inp": func(m *Model) { m.Condition.Places[1] = nil },
		"condition.variance[1]: it is":                    func(m *Model) { m.Condition.Variance[1] = prior },
		"condition.variance[0]: it is -1":                 func(m *Model) { m.Condition.Variance[0] = -1 },
		`condition.kernel.name: unknown kernel "matern4`:  func(m *Model) { m.Condition.Kernel.Name = "matern42" },
		"condition.kernel.lengthscales: there are 0":      func(m *Model) { m.Condition.Kernel.Lengthscales = nil },
		"condition.kernel.lengthscales[0]: it is 0":       func(m *Model) { m.Condition.Kernel.Lengthscales[0] = 0 },
		"condition.kernel.variance: it is 0":              func(m *Model) { m.Condition.Kernel.Variance = 0 },
	})
}
