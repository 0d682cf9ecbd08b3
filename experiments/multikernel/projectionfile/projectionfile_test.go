package projectionfile

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/modeltest"
	"privkern/runner/experiment"
)

// example returns a model with a direct kernel and one with points.
func example() *Model {
	return &Model{
		Format: Format, InputNames: []string{"a", "b"}, Columns: []string{"z1", "z2"}, Utility: []string{"kind"},
		Hidden: "who", Projection: "dca", Method: "snr",
		Scaling: &Scaling{Mean: []float64{1, 2}, Scale: []float64{0.5, 2}},
		Points:  Points{Are: Landmarks, Rows: [][]float64{{1, 2}, {3, 2}, {1, 2.5}}},
		Kernels: []Kernel{
			{Name: "linear", Weight: 0.6, Scale: 2, Direct: true, Coefficients: [][]float64{{1}, {-1}}, Shift: []float64{0.25}},
			{Name: "rbf:0.5", Weight: 0.8, Scale: 3, Coefficients: [][]float64{{1}, {-2}, {0.5}}, Shift: []float64{0.125}},
		},
		Privacy: &experiment.Privacy{Notes: []string{"no guarantee: none"}},
	}
}

// Features are those that the format defines, here by hand.
func TestPredict(t *testing.T) {
	x := mat.NewDense(2, 2, []float64{3, 3, 0, 2})
	p := modeltest.Predict(t, x, example())
	rbf := func(p, q [2]float64) float64 {
		return math.Exp(-.5 * ((p[0]-q[0])*(p[0]-q[0]) + (p[1]-q[1])*(p[1]-q[1])))
	}
	for i, u := range [][2]float64{{1, 2}, {-.5, 0}} {
		k := rbf(u, [2]float64{0, 0}) - 2*rbf(u, [2]float64{1, 0}) + .5*rbf(u, [2]float64{0, 1})
		for j, want := range []float64{2 * (u[0] - u[1] - .25), 3 * (k - .125)} {
			if got := p.Rows[i][j]; math.Abs(got-want) > 1e-12 {
				t.Errorf("row %d: z%d = %g, want %g", i, j+1, got, want)
			}
		}
	}
	if x.At(0, 0) != 3 {
		t.Error("the samples were changed")
	}
	if !example().Envelope().Withheld || !strings.HasPrefix(p.Warnings[0], "features have no guarantee") {
		t.Errorf("%+v", p)
	}
}

// A file that was exported by the first version makes the features that it made then.
func TestExportedFile(t *testing.T) {
	m := modeltest.Read[*Model](t, PredictFormat, "testdata/exported-1.json")
	row := modeltest.Predict(t, mat.NewDense(1, 4, []float64{.1, .2, .3, .4}), m).Rows[0]
	want := []float64{-0.024379097305592217, 0.06321025233792558, 0.00929413591073433, 0.08704674400370517}
	for j, v := range want {
		if math.Abs(row[j]-v) > 1e-12*math.Abs(v) {
			t.Errorf("z%d = %g, want %g", j+1, row[j], v)
		}
	}
}

func TestCheck(t *testing.T) {
	modeltest.CheckRefused(t, PredictFormat, example, map[string]func(*Model){
		"inputs: there are none":                            func(m *Model) { m.InputNames = nil },
		`inputs[1]: "a" cannot`:                             func(m *Model) { m.InputNames[1] = "a" },
		`columns[1]: "z1" cannot`:                           func(m *Model) { m.Columns[1] = "z1" },
		"columns: there are 1 for the 2 features":           func(m *Model) { m.Columns = m.Columns[:1] },
		"scaling: it has 0 means and 2 scales for 2 inputs": func(m *Model) { m.Scaling.Mean = nil },
		`points.are: it is "rows"`:                          func(m *Model) { m.Points.Are = "rows" },
		`points.rows: there are 3`:                          func(m *Model) { m.Points.Are = NoPoints },
		"points.rows[2]: it has 1 number":                   func(m *Model) { m.Points.Rows[2] = []float64{1} },
		"kernels: there are none":                           func(m *Model) { m.Kernels = nil },
		`kernels[1].name: unknown kernel "rbff"`:            func(m *Model) { m.Kernels[1].Name = "rbff" },
		"kernels[1].direct: the kernel rbf:0.5 compares":    func(m *Model) { m.Kernels[1].Direct = true },
		"kernels[0].weight: it is -1":                       func(m *Model) { m.Kernels[0].Weight = -1 },
		"kernels[0].scale: it is 0":                         func(m *Model) { m.Kernels[0].Scale = 0 },
		"kernels[0].shift: it is empty":                     func(m *Model) { m.Kernels[0].Shift = nil },
		"kernels[1].coefficients: it has 2 rows for 3 points": func(m *Model) {
			m.Kernels[1].Coefficients = m.Kernels[1].Coefficients[1:]
		},
		"kernels[0].coefficients[1]: it has 2 numbers for 1 features": func(m *Model) {
			m.Kernels[0].Coefficients[1] = []float64{1, 2}
		},
		"privacy: it is missing": func(m *Model) { m.Privacy = nil },
	})
}
