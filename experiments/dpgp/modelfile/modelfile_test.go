package modelfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/schematest"
	models "privkern/experiments/model"
	"privkern/runner/experiment"
)

func model() *Model {
	return &Model{
		Format: Format, Inputs: []string{"a", "b"}, Output: Output{Name: "y", Centre: 50, Scale: 10},
		Kernel: Kernel{Name: "EQ", Lengthscale: 2, Variance: 1.5}, Noise: 0.25, Jitter: 0.01,
		Inducing: [][]float64{{0, 0}, {1, 2}}, Mean: []float64{0.5, -1}, Covariance: [][]float64{{0.3, 0.1}, {0.1, 0.2}},
		Privacy: &experiment.Privacy{Guarantee: "(1, 0.0001)-DP", RNG: "secure"},
	}
}

func text(t *testing.T, m *Model) []byte {
	t.Helper()
	b, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// several gives the inputs a lengthscale each.
func several(m *Model) {
	m.Format, m.Kernel.Lengthscale, m.Kernel.Lengthscales = FormatLengthscales, 0, []float64{2, 5}
}

// A lengthscale for each input is one for all of inputs in units of it; equal ones are
// the kernel of one.
func TestPredictWithLengthscales(t *testing.T) {
	predict := func(x []float64, change func(m *Model)) *Prediction {
		m := model()
		change(m)
		read, err := Decode("m.json", text(t, m))
		if err != nil {
			t.Fatal(err)
		}
		p, _, err := read.Predict(t.Context(), mat.NewDense(1, 2, x))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	scaled := func(m *Model) { m.Kernel.Lengthscale, m.Inducing = 1, [][]float64{{0, 0}, {0.5, 0.4}} }
	equal := func(m *Model) { several(m); m.Kernel.Lengthscales[1] = 2 }
	for _, c := range []struct {
		name      string
		got, want *Prediction
	}{
		{"each its own", predict([]float64{0.5, 1}, several), predict([]float64{0.25, 0.2}, scaled)},
		{"equal ones", predict([]float64{0.5, 1}, equal), predict([]float64{0.5, 1}, func(*Model) {})},
	} {
		t.Run(c.name, func(t *testing.T) {
			if math.Abs(c.got.Mean[0]-c.want.Mean[0]) > 1e-12 || math.Abs(c.got.SD[0]-c.want.SD[0]) > 1e-12 {
				t.Errorf("%+v, want %+v", c.got, c.want)
			}
		})
	}
}

// Files that were released are read as they were: of the first version, and of the second
// with a lengthscale for each input.
func TestReleasedFilesAreRead(t *testing.T) {
	for _, c := range []struct {
		file         string
		lengthscales int
	}{{"dpgp-1.json", 0}, {"dpgp-2.json", 2}} {
		t.Run(c.file, func(t *testing.T) {
			raw, err := os.ReadFile(filepath.Join("testdata", c.file))
			if err != nil {
				t.Fatal(err)
			}
			m, err := Decode(c.file, raw)
			if err != nil {
				t.Fatal(err)
			}
			x := mat.NewDense(1, len(m.Inputs), nil)
			p, _, err := m.Predict(t.Context(), x)
			if err != nil || len(p.Mean) != 1 || len(m.Kernel.Lengthscales) != c.lengthscales {
				t.Errorf("%+v, %v", p, err)
			}
		})
	}
}

// Released files, what is written of them again, and models without noise to allow for have
// the documented form; none that is spoilt has.
func TestDocumentedFormat(t *testing.T) {
	for _, c := range []struct{ file, schema string }{
		{"dpgp-1.json", "dpgp-model-1.schema.json"}, {"dpgp-2.json", "dpgp-model-2.schema.json"},
	} {
		t.Run(c.file, func(t *testing.T) {
			schema := filepath.Join("..", "..", "..", "docs", "formats", c.schema)
			raw, err := os.ReadFile(filepath.Join("testdata", c.file))
			if err != nil {
				t.Fatal(err)
			}
			schematest.CheckStrict(t, schema, raw)
			m, err := Decode(c.file, raw)
			if err != nil {
				t.Fatal(err)
			}
			schematest.Check(t, schema, text(t, m))
			m.Mechanism.Lambda = 0
			schematest.Check(t, schema, text(t, m))
		})
	}
}

// Predictions are Eq. (17), here for two inducing inputs by hand, in the unit of
// the output.
func TestPredict(t *testing.T) {
	m := model()
	x := mat.NewDense(2, 2, []float64{0.5, 1, 30, 30})
	p, _, err := m.Predict(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	k := func(d2 float64) float64 { return 1.5 * math.Exp(-d2/8) }
	a, b := 1.51, k(5)
	det := a*a - b*b
	kx := k(1.25) // of both
	w := []float64{(a - b) * kx / det, (a - b) * kx / det}
	mean := 50 + 10*(0.5*w[0]-w[1])
	v := 1.5 - 2*kx*w[0] + 0.3*w[0]*w[0] + 0.2*w[0]*w[0] + 0.2*w[0]*w[0]
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"mean", p.Mean[0], mean}, {"sd", p.SD[0], 10 * math.Sqrt(v)},
		{"predictive sd", p.Predictive[0], 10 * math.Sqrt(v+0.25)},
		{"mean far off", p.Mean[1], 50}, {"sd far off", p.SD[1], 10 * math.Sqrt(1.5)},
	} {
		t.Run(c.what, func(t *testing.T) {
			if math.Abs(c.got-c.want) > 1e-10 {
				t.Errorf("%g, want %g", c.got, c.want)
			}
		})
	}
}

// More rows than are predicted at a time give what each gives alone.
func TestPredictManyRows(t *testing.T) {
	m := model()
	n := chunk + 3
	x := mat.NewDense(n, 2, nil)
	for i := range n {
		x.SetRow(i, []float64{float64(i) / 1000, 1})
	}
	p, _, err := m.Predict(t.Context(), x)
	if err != nil || len(p.Mean) != n || len(p.SD) != n {
		t.Fatalf("%d of %d: %v", len(p.Mean), n, err)
	}
	for _, i := range []int{0, chunk - 1, chunk, n - 1} {
		t.Run(fmt.Sprintf("row %d", i), func(t *testing.T) {
			one, _, err := m.Predict(t.Context(), mat.DenseCopyOf(x.Slice(i, i+1, 0, 2)))
			if err != nil || math.Abs(one.Mean[0]-p.Mean[i]) > 1e-12 || math.Abs(one.SD[0]-p.SD[i]) > 1e-12 {
				t.Errorf("%g, alone %g, %v", p.Mean[i], one.Mean[0], err)
			}
		})
	}
}

func TestReadsWhatIsWritten(t *testing.T) {
	m, err := Decode("m.json", text(t, model()))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(text(t, m), text(t, model())) {
		t.Errorf("%s", text(t, m))
	}
}

// What run predict writes of a model's predictions.
func TestUse(t *testing.T) {
	m, format, err := models.Decode("m.json", text(t, model()), []models.Format{PredictFormat})
	if err != nil || format != Format {
		t.Fatalf("%q, %v", format, err)
	}
	x := mat.NewDense(1, 2, []float64{30, 30.5})
	p, err := m.Predict(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	table, err := models.NewTable(format, m, x, p, false)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := table.CSV(&b); err != nil || !strings.HasPrefix(b.String(), "a,b,mean,sd,predictive_sd\n30,30.5,50,12.24") {
		t.Errorf("%s, %v", b.String(), err)
	}
	b.Reset()
	want := `{"model":"dpgp/1","output":"y","guarantee":"(1, 0.0001)-DP",` +
		`"columns":["a","b","mean","sd","predictive_sd"],"rows":[[30,30.5,50,12.24`
	if err := table.JSON(&b); err != nil || !strings.HasPrefix(b.String(), want) {
		t.Errorf("%s, %v", b.String(), err)
	}
}

// Malformed files are refused with the place.
func TestMalformed(t *testing.T) {
	whole := string(text(t, model()))
	edit := func(f func(m *Model)) string {
		m := model()
		f(m)
		return string(text(t, m))
	}
	for _, c := range []struct{ name, text, want string }{
		{"cut off", whole[:len(whole)/2], "the file ends in the middle"},
		{"a comma too many", strings.Replace(whole, `"a",`, `"a",,`, 1), "m.json:5:7: inputs[1]: ',' does not belong here"},
		{"a number for a list", strings.Replace(whole, `"inputs": [
  "a",
  "b"
 ]`, `"inputs": 3`, 1), "inputs: it is a number; a list is required"},
		{"a later version", strings.Replace(whole, "dpgp/1", "dpgp/3", 1),
			`m.json: model: it is "dpgp/3"; this program reads "dpgp/1" and "dpgp/2": the file is of a later`},
		{"lengthscales in the first version", edit(func(m *Model) { m.Kernel.Lengthscales = []float64{1, 2} }),
			`kernel.lengthscales: a model of the version "dpgp/1" has one`},
		{"a lengthscale in the second one", strings.Replace(whole, "dpgp/1", "dpgp/2", 1),
			`kernel.lengthscale: a model of the version "dpgp/2" has kernel.lengthscales`},
		{"lengthscales of other inputs", edit(func(m *Model) { several(m); m.Kernel.Lengthscales = []float64{1} }),
			"kernel.lengthscales: there are 1 for 2 inputs"},
		{"a lengthscale of zero", edit(func(m *Model) { several(m); m.Kernel.Lengthscales[1] = 0 }),
			"kernel.lengthscales[1]: it is 0"},
		{"an unknown member", strings.Replace(whole, `"jitter"`, `"jittr"`, 1), `unknown member "jittr"; did you mean`},
		{"a text for a number", strings.Replace(whole, `"lengthscale": 2`, `"lengthscale": "2"`, 1),
			"kernel.lengthscale: it is a text; a number is required"},
		{"no inputs", edit(func(m *Model) { m.Inputs = nil }), "inputs: there are none"},
		{"an input named like a result", edit(func(m *Model) { m.Inputs[1] = "sd" }), `inputs[1]: "sd" cannot be the name`},
		{"an input twice", edit(func(m *Model) { m.Inputs[1] = "a" }), "inputs[1]"},
		{"another kernel", edit(func(m *Model) { m.Kernel.Name = "RQ" }), `kernel.name: it is "RQ"; EQ is known`},
		{"no lengthscale", edit(func(m *Model) { m.Kernel.Lengthscale = 0 }),
			"kernel.lengthscale: it is 0; a positive number"},
		{"no scale", edit(func(m *Model) { m.Output.Scale = -1 }), "output.scale: it is -1"},
		{"no noise", edit(func(m *Model) { m.Noise = 0 }), "noise_variance: it is 0"},
		{"jitter", edit(func(m *Model) { m.Jitter = -1 }), "jitter: it is -1"},
		{"no inducing inputs", edit(func(m *Model) { m.Inducing = nil }), "inducing: there are none"},
		{"a short inducing input", edit(func(m *Model) { m.Inducing[1] = []float64{1} }),
			"inducing[1]: it has 1 numbers for 2 inputs"},
		{"a short mean", edit(func(m *Model) { m.Mean = m.Mean[:1] }), "mean: it has 1 numbers for 2 inducing inputs"},
		{"a short covariance", edit(func(m *Model) { m.Covariance = m.Covariance[:1] }), "covariance: it has 1 rows"},
		{"a short row", edit(func(m *Model) { m.Covariance[1] = m.Covariance[1][:1] }), "covariance[1]: it has 1 numbers"},
		{"not symmetric", edit(func(m *Model) { m.Covariance[1][0] = 0.2 }),
			"covariance[1][0]: it is 0.2, and 0.1 with the indices exchanged"},
		{"a negative variance", edit(func(m *Model) { m.Covariance[0][0] = -0.3 }), "covariance[0][0]: it is -0.3"},
		{"no privacy", edit(func(m *Model) { m.Privacy = nil }), "privacy: it is missing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Decode("m.json", []byte(c.text))
			var at *models.Error
			if !errors.As(err, &at) || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "m.json") {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// Matrices that are no covariance are refused with their place, those that are
// one but for rounding are read, in any unit.
func TestCovarianceIsPositiveSemidefinite(t *testing.T) {
	three := func(a, b, c float64) [][]float64 { return [][]float64{{1, a, b}, {a, 1, c}, {b, c, 1}} }
	for _, tt := range []struct {
		name       string
		covariance [][]float64
		want       string // "" for none
	}{
		{"two points alike", [][]float64{{0.5, 0.5}, {0.5, 0.5}}, ""},
		{"one is known", [][]float64{{0.5, 0}, {0, 0}}, ""},
		{"nothing is unknown", [][]float64{{0, 0}, {0, 0}}, ""},
		{"to rounding", [][]float64{{0.5, 0.5 + 1e-12}, {0.5 + 1e-12, 0.5}}, ""},
		{"one is known to rounding", [][]float64{{0.5, 1e-10}, {1e-10, 0}}, ""},
		{"a pair", [][]float64{{0.3, 9}, {9, 0.2}}, "covariance[1][0]: it is 9, and with the variances 0.3 and 0.2"},
		{"a negative pair", [][]float64{{0.3, -9}, {-9, 0.2}}, "covariance[1][0]: it is -9"},
		{"barely", [][]float64{{0.5, 0.5001}, {0.5001, 0.5}}, "covariance[1][0]"},
		{"of what is known", [][]float64{{0.5, 0.1}, {0.1, 0}}, "covariance[1][0]"},
		{"of what is known at both", [][]float64{{0, 0.1}, {0.1, 0}}, "covariance[1][0]"},
		{"three that fit together", three(0.9, 0.8, 0.9), ""},
		{"three, each pair possible", three(0.9, -0.9, 0.9),
			"covariance: it has a negative eigenvalue (the smallest is -0.8)"},
	} {
		for _, unit := range []float64{1, 1e-300, 1e300} {
			t.Run(fmt.Sprintf("%s, in units of %g", tt.name, unit), func(t *testing.T) {
				m := model()
				m.Inducing, m.Mean = m.Inducing[:0], m.Mean[:0]
				for i, row := range tt.covariance {
					m.Inducing = append(m.Inducing, []float64{float64(i), 0})
					m.Mean = append(m.Mean, 0)
					for j := range row {
						row[j] *= unit
					}
				}
				m.Covariance = tt.covariance
				_, err := Decode("m.json", text(t, m))
				for _, row := range tt.covariance {
					for j := range row {
						row[j] /= unit
					}
				}
				if tt.want == "" && err != nil {
					t.Errorf("refused: %v", err)
				}
				var at *models.Error
				if want := tt.want; want != "" {
					if unit != 1 {
						want, _, _ = strings.Cut(want, ":")
					}
					if !errors.As(err, &at) || !strings.HasPrefix(err.Error(), "m.json: "+want) {
						t.Errorf("%v, want %q", err, want)
					}
				}
			})
		}
	}
}

// What overflows is an error with its row, also beyond those that are predicted
// at a time.
func TestOverflow(t *testing.T) {
	far := func(rows, near int) *mat.Dense { // of which one is near the inducing inputs
		x := mat.NewDense(rows, 2, nil)
		for i := range rows {
			x.SetRow(i, []float64{1e3, 1e3})
		}
		x.SetRow(near, []float64{0.5, 1})
		return x
	}
	for _, tt := range []struct {
		name   string
		change func(*Model)
		x      *mat.Dense
		want   string
	}{
		{"the mean", func(m *Model) { m.Mean[0], m.Output.Scale = 1e200, 1e200 }, far(3, 1),
			"row 2 of the inputs (counted from 1): mean overflows"},
		{"the deviation", func(m *Model) { m.Output.Scale, m.Kernel.Variance = 1e200, 1e300 }, far(2, 1),
			"row 1 of the inputs (counted from 1): sd"},
		{"the noise", func(m *Model) { m.Output.Scale, m.Noise = 1e200, 1e300 }, far(2, 1),
			"row 1 of the inputs (counted from 1): predictive_sd"},
		{"a late row", func(m *Model) { m.Mean[0], m.Output.Scale = 1e200, 1e200 }, far(chunk+2, chunk+1),
			"row 4098 of the inputs"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := model()
			tt.change(m)
			p, _, err := m.Predict(t.Context(), tt.x)
			if p != nil || err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

// A covariance that no model has is found when it predicts, too.
func TestImpossibleCovariance(t *testing.T) {
	m := model()
	m.Covariance = [][]float64{{0.3, 9}, {9, 0.2}}
	m.Jitter = 0
	if _, _, err := m.Predict(t.Context(), mat.NewDense(1, 2, []float64{10, -9})); err != nil {
		t.Errorf("far off it does no harm: %v", err)
	}
	m.Covariance[0][1], m.Covariance[1][0] = -9, -9
	if _, _, err := m.Predict(t.Context(), mat.NewDense(1, 2, []float64{0.5, 1})); err == nil {
		t.Error("a negative variance is predicted")
	}
	m.Inducing[1] = []float64{0, 0}
	_, _, err := m.Predict(t.Context(), mat.NewDense(1, 2, []float64{0.5, 1}))
	if err == nil || !strings.Contains(err.Error(), "cannot predict") {
		t.Errorf("equal inducing inputs: %v", err)
	}
}
