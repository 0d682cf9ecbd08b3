package modelfile

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/schematest"
)

// kept is a file that version 1 wrote: run trial privacygp/regression dataset=csv:trajectory.csv
// inputs=time output=radius sensitive=time:1..1.5 --export, of 11 rows with
// given hyper-parameters.
var kept = filepath.Join("testdata", "version1.json")

// withCondition is a file of version 1 with what it keeps, strong noise with a kernel
// condition: sensitive=time:0.4..0.7 requirement=kernel h_lengthscales=0.3 h_variance=0.2.
var withCondition = filepath.Join("testdata", "condition.json")

var schema = filepath.Join("..", "..", "..", "docs", "formats", "privacygp-model.schema.json")

func read(t *testing.T) (*Model, []byte) {
	t.Helper()
	raw, err := os.ReadFile(kept)
	if err != nil {
		t.Fatal(err)
	}
	m, err := Decode(kept, raw)
	if err != nil {
		t.Fatal(err)
	}
	return m, raw
}

// The kept file is still read, and predictions from it are Eqs. (3) and (4), directly.
func TestKeptFile(t *testing.T) {
	m, raw := read(t)
	schematest.Check(t, schema, raw)
	again, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	schematest.Check(t, schema, again)
	f, err := PredictFormat.Read(kept, raw)
	if err != nil {
		t.Fatal(err)
	}
	at := mat.NewDense(3, 1, []float64{0.1, 1.25, 40})
	got, err := f.Predict(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	if all := strings.Join(got.Warnings, "\n"); !strings.Contains(all, `in 1 of 3 rows the input "time" is outside of`) {
		t.Errorf("warnings %q", all)
	}
	for i, row := range got.Rows {
		mean, sd, predictive := direct(t, m, at.RawRowView(i))
		for k, want := range []float64{mean, sd, predictive} {
			if math.Abs(row[k]-want) > 1e-6*math.Abs(want) {
				t.Errorf("row %d: %s is %.12g, directly %.12g", i, Reserved[k], row[k], want)
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

// A kept file that says what it keeps is read, keeps it, and is refused where it says what
// nothing can keep.
func TestKeptCondition(t *testing.T) {
	raw, err := os.ReadFile(withCondition)
	if err != nil {
		t.Fatal(err)
	}
	schematest.Check(t, schema, raw)
	m, err := Decode(withCondition, raw)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Condition.Places) < 3 || m.Condition.Kernel == nil || m.Condition.Kernel.Lengthscales[0] != 0.3 {
		t.Fatalf("%+v", m.Condition)
	}
	for i, place := range m.Condition.Places {
		if _, sd, _ := direct(t, m, place); sd*sd < m.Condition.Variance[i]*(1-1e-6) {
			t.Errorf("place %v keeps %g of %g", place, sd*sd, m.Condition.Variance[i])
		}
	}
	for _, c := range []struct {
		name   string
		change func(c *Condition)
		want   string
	}{
		{"places", func(c *Condition) { c.Places = c.Places[1:] }, "condition.variance: it has "},
		{"a place", func(c *Condition) { c.Places[1] = nil }, "condition.places[1]: it has 0 numbers for 1 inputs"},
		{"a variance", func(c *Condition) { c.Variance[1] = m.Kernel.Variance }, "condition.variance[1]: it is"},
		{"no variance", func(c *Condition) { c.Variance[0] = -1 }, "condition.variance[0]: it is -1"},
		{"family", func(c *Condition) { c.Kernel.Name = "matern42" }, `condition.kernel.name: unknown kernel "matern42"`},
		{"lengthscales", func(c *Condition) { c.Kernel.Lengthscales = nil }, "condition.kernel.lengthscales: there are 0"},
		{"a lengthscale", func(c *Condition) { c.Kernel.Lengthscales[0] = 0 }, "condition.kernel.lengthscales[0]: it is 0"},
		{"no H", func(c *Condition) { c.Kernel.Variance = 0 }, "condition.kernel.variance: it is 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			changed, err := Decode(withCondition, raw)
			if err != nil {
				t.Fatal(err)
			}
			c.change(changed.Condition)
			text, err := json.Marshal(changed)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Decode("m.json", text); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// direct is the prediction by a general solver, pair by pair.
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

func TestWrongFiles(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(m *Model)
		want   string
	}{
		{"format", func(m *Model) { m.Format = "privkern/privacygp-model/2" }, "format: it is"},
		{"no inputs", func(m *Model) { m.Inputs = nil }, "inputs: there are none"},
		{"reserved", func(m *Model) { m.Inputs[0] = "sd" }, `inputs[0]: "sd" cannot be the name`},
		{"kernel", func(m *Model) { m.Kernel.Name = "matern42" }, `kernel.name: unknown kernel "matern42"; did you mean`},
		{"privacy", func(m *Model) { m.Privacy = nil }, "privacy: it is missing"},
		{"lengthscales", func(m *Model) { m.Kernel.Lengthscales = []float64{1, 2} }, "there are 2 for 1 inputs"},
		{"lengthscale", func(m *Model) { m.Kernel.Lengthscales[0] = 0 }, "kernel.lengthscales[0]: it is 0"},
		{"variance", func(m *Model) { m.Kernel.Variance = -1 }, "kernel.variance: it is -1"},
		{"noise", func(m *Model) { m.Noise = -1 }, "noise_variance: it is -1"},
		{"no rows", func(m *Model) { m.X = nil }, "x: there are no rows"},
		{"outputs", func(m *Model) { m.Obfuscated = m.Obfuscated[1:] }, "obfuscated: it has"},
		{"rows", func(m *Model) { m.Covariance = m.Covariance[1:] }, "noise_covariance: it has"},
		{"a row", func(m *Model) { m.X[2] = nil }, "x[2]: it has 0 numbers for 1 inputs"},
		{"a row of the covariance", func(m *Model) { m.Covariance[1] = nil }, "noise_covariance[1]: it has 0 numbers"},
		{"a variance", func(m *Model) { m.Covariance[1][1] = -1 }, "noise_covariance[1][1]: it is -1"},
		{"asymmetric", func(m *Model) { m.Covariance[2][1]++ }, "with the indices exchanged"},
		{"indefinite", func(m *Model) {
			m.Covariance[2][1] = 10 * (m.Covariance[1][1] + m.Covariance[2][2])
			m.Covariance[1][2] = m.Covariance[2][1]
		}, "noise_covariance: it has a negative eigenvalue"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, _ := read(t)
			c.change(m)
			raw, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Decode("m.json", raw); err == nil || !strings.HasPrefix(err.Error(), "m.json: ") ||
				!strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	for text, want := range map[string]string{
		"{\n\"format\": \"privkern/privacygp-model/1\",\n\"mean\": \"x\"}": "m.json:3:9: mean: it is a text; a number",
		`{"format": "privkern/privacygp-model/1", "more": 1}`:              `unknown member "more"`,
		`{"format": "privkern/privacygp-model/1"`:                          "the file ends in the middle",
	} {
		if _, err := Decode("m.json", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// What overflows names the row.
func TestOverflow(t *testing.T) {
	m, _ := read(t)
	for i := range m.Obfuscated {
		m.Obfuscated[i] = math.MaxFloat64
	}
	m.Mean = -math.MaxFloat64
	_, err := used{m}.Predict(t.Context(), mat.NewDense(2, 1, []float64{50, 0}))
	if err == nil {
		t.Error("predictions that overflow")
	}
}
