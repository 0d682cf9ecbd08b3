package projectionfile

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/schematest"
	"privkern/experiments/model"
	"privkern/runner/experiment"
)

// kept was exported by the first version that could.
const kept = "testdata/exported-1.json"

var schema = filepath.Join("..", "..", "..", "docs", "formats", "multikernel-model.schema.json")

// example has a direct kernel and one with points.
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

func text(t *testing.T, m *Model) []byte {
	t.Helper()
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Features are what the format says, here by hand.
func TestCompress(t *testing.T) {
	x := mat.NewDense(2, 2, []float64{3, 3, 0, 2})
	z, err := example().Compress(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	rbf := func(p, q [2]float64) float64 {
		return math.Exp(-.5 * ((p[0]-q[0])*(p[0]-q[0]) + (p[1]-q[1])*(p[1]-q[1])))
	}
	for i, u := range [][2]float64{{1, 2}, {-.5, 0}} {
		k := rbf(u, [2]float64{0, 0}) - 2*rbf(u, [2]float64{1, 0}) + .5*rbf(u, [2]float64{0, 1})
		for j, want := range []float64{2 * (u[0] - u[1] - .25), 3 * (k - .125)} {
			if got := z.At(i, j); math.Abs(got-want) > 1e-12 {
				t.Errorf("row %d: z%d = %g, want %g", i, j+1, got, want)
			}
		}
	}
	if x.At(0, 0) != 3 {
		t.Error("the samples were changed")
	}
	if _, err := example().Compress(t.Context(), mat.NewDense(1, 3, nil)); err == nil {
		t.Error("three columns for two inputs")
	}
	p, err := example().Predict(t.Context(), x)
	if err != nil || !p.Alone || len(p.Rows) != 2 || p.Rows[1][0] != z.At(1, 0) {
		t.Errorf("%+v, %v: the features alone are written", p, err)
	}
}

// A file of the first version is read, fits its schema, and makes the features that it made
// then.
func TestKeptFile(t *testing.T) {
	raw, err := os.ReadFile(kept)
	if err != nil {
		t.Fatal(err)
	}
	schematest.Check(t, schema, raw)
	m, err := Decode(kept, raw)
	if err != nil {
		t.Fatal(err)
	}
	z, err := m.Compress(t.Context(), mat.NewDense(1, 4, []float64{.1, .2, .3, .4}))
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{-0.024379097305592217, 0.06321025233792558, 0.00929413591073433, 0.08704674400370517}
	for j, v := range want {
		if math.Abs(z.At(0, j)-v) > 1e-12*math.Abs(v) {
			t.Errorf("z%d = %g, want %g", j+1, z.At(0, j), v)
		}
	}
}

func TestReadsWhatIsWritten(t *testing.T) {
	raw := text(t, example())
	schematest.Check(t, schema, []byte(strings.Replace(string(raw), `"notes":`, `"notes": `, 1)))
	m, err := Decode("m.json", raw)
	if err != nil || string(text(t, m)) != string(raw) {
		t.Errorf("%s, %v", text(t, m), err)
	}
}

func TestMalformed(t *testing.T) {
	whole := string(text(t, example()))
	edit := func(f func(m *Model)) string {
		m := example()
		f(m)
		return string(text(t, m))
	}
	for _, c := range []struct{ name, text, want string }{
		{"cut off", whole[:len(whole)/2], "the file ends in the middle"},
		{"another format", `{"format": "dpgp/1"}`, `format: unknown format "dpgp/1"`},
		{"a later version", strings.Replace(whole, "model/1", "model/2", 1), "the file is of a later version"},
		{"an unknown member", strings.Replace(whole, `"hidden"`, `"hiden"`, 1), `unknown member "hiden"; did you mean`},
		{"a text for a number", strings.Replace(whole, `"weight":0.6`, `"weight":"0.6"`, 1),
			"kernels[0].weight: it is a text; a number is required"},
		{"no inputs", edit(func(m *Model) { m.InputNames = nil }), "inputs: there are none"},
		{"an input twice", edit(func(m *Model) { m.InputNames[1] = "a" }), `inputs[1]: "a" cannot`},
		{"a feature twice", edit(func(m *Model) { m.Columns[1] = "z1" }), `columns[1]: "z1" cannot`},
		{"too few features", edit(func(m *Model) { m.Columns = m.Columns[:1] }), "columns: there are 1 for the 2 features"},
		{"a short scaling", edit(func(m *Model) { m.Scaling.Mean = nil }),
			"scaling: it has 0 means and 2 scales for 2 inputs"},
		{"unknown points", edit(func(m *Model) { m.Points.Are = "rows" }), `points.are: it is "rows"`},
		{"points that are none", edit(func(m *Model) { m.Points.Are = NoPoints }), `points.rows: there are 3`},
		{"a short point", edit(func(m *Model) { m.Points.Rows[2] = []float64{1} }), "points.rows[2]: it has 1 numbers"},
		{"no kernels", edit(func(m *Model) { m.Kernels = nil }), "kernels: there are none"},
		{"an unknown kernel", edit(func(m *Model) { m.Kernels[1].Name = "rbff" }), `kernels[1].name: unknown kernel "rbff"`},
		{"a direct one of points", edit(func(m *Model) { m.Kernels[1].Direct = true }), "kernels[1].direct"},
		{"a negative weight", edit(func(m *Model) { m.Kernels[0].Weight = -1 }), "kernels[0].weight: it is -1"},
		{"no scale", edit(func(m *Model) { m.Kernels[0].Scale = 0 }), "kernels[0].scale: it is 0"},
		{"no shift", edit(func(m *Model) { m.Kernels[0].Shift = nil }), "kernels[0].shift: it is empty"},
		{"coefficients of others", edit(func(m *Model) { m.Kernels[1].Coefficients = m.Kernels[1].Coefficients[1:] }),
			"kernels[1].coefficients: it has 2 rows for 3 points"},
		{"a long coefficient", edit(func(m *Model) { m.Kernels[0].Coefficients[1] = []float64{1, 2} }),
			"kernels[0].coefficients[1]: it has 2 numbers for 1 features"},
		{"no privacy", edit(func(m *Model) { m.Privacy = nil }), "privacy: it is missing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Decode("m.json", []byte(c.text))
			var at *model.Error
			if !errors.As(err, &at) || !strings.HasPrefix(err.Error(), "m.json") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// Whatever the text of a file, it is refused with its place, or what was read is read again
// and compresses.
func FuzzDecode(f *testing.F) {
	whole, err := json.Marshal(example())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[:len(whole)/3])
	f.Add([]byte(`{"format":"privkern/multikernel-model/1","inputs":["a"],"kernels":[{}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := Decode("m.json", raw)
		if err != nil {
			var at *model.Error
			if !errors.As(err, &at) {
				t.Errorf("an error without a place: %v", err)
			}
			return
		}
		if _, err := Decode("m.json", text(t, m)); err != nil {
			t.Fatalf("%s is read, but not what is written of it: %v", raw, err)
		}
		if len(m.InputNames) <= 8 && len(m.Points.Rows) <= 8 && len(m.Columns) <= 8 {
			_, _ = m.Compress(t.Context(), mat.NewDense(1, len(m.InputNames), nil)) // an error is allowed, a panic not
		}
	})
}
