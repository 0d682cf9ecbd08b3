package classmodel

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/schematest"
	models "privkern/experiments/model"
	"privkern/runner/experiment"
)

func model() *Model {
	return &Model{
		Format: Format, Inputs: []string{"a"}, Output: "y", Classes: []string{"no", "yes"},
		Kernel: Kernel{Name: "EQ", Lengthscales: []float64{2}, Variance: 1}, Jitter: 1e-6,
		Inducing: [][]float64{{0}, {10}}, Means: [][]float64{{1, -1}, {-1, 1}},
		Covariances: [][][]float64{{{0.3, 0.1}, {0.1, 0.2}}, {{0.3, 0}, {0, 0.2}}},
		Privacy:     &experiment.Privacy{Guarantee: "(1, 0.0001)-DP", RNG: "secure"},
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

// At an inducing input the class with the larger mean is said; far from all of them
// nothing is known, and classes are as likely.
func TestPredict(t *testing.T) {
	m, _, err := models.Decode("m.json", text(t, model()), []models.Format{PredictFormat})
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Predict(t.Context(), mat.NewDense(3, 1, []float64{0, 10, 1000}))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(p.Labels[:2], []string{"no", "yes"}) || !slices.Equal(p.Columns, []string{"p_no", "p_yes"}) {
		t.Errorf("%+v", p)
	}
	for i, want := range []float64{0, 0, 0.5} {
		row := p.Rows[i]
		if math.Abs(row[0]+row[1]-1) > 1e-12 || i == 2 && math.Abs(row[0]-want) > 0.01 {
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
	again, err := m.Predict(t.Context(), mat.NewDense(1, 1, []float64{10}))
	if err != nil || !slices.Equal(again.Rows[0], p.Rows[1]) {
		t.Errorf("%v alone, %v among others, %v", again.Rows, p.Rows[1], err)
	}
}

// A file that was released is read as it was.
func TestReleasedFileIsRead(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("testdata", "dpgp-classification-model-1.json"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := PredictFormat.Read("m.json", raw)
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Predict(t.Context(), mat.NewDense(1, 2, []float64{2, 25}))
	if err != nil || len(p.Rows[0]) != 3 || p.Labels[0] != "middle" {
		t.Errorf("%+v, %v", p, err)
	}
	// It has the documented form, written again, too; none that is spoilt has.
	schema := filepath.Join("..", "..", "..", "docs", "formats", "dpgp-classification-model.schema.json")
	schematest.CheckStrict(t, schema, raw)
	schematest.Check(t, schema, text(t, m.(used).Model))
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
		{"a later version", strings.Replace(whole, "model/1", "model/2", 1), `format: it is "dpgp/classification-model/2"`},
		{"an unknown member", strings.Replace(whole, `"jitter"`, `"jittr"`, 1), `unknown member "jittr"; did you mean`},
		{"no inputs", edit(func(m *Model) { m.Inputs = nil }), "inputs: there are none"},
		{"one class", edit(func(m *Model) { m.Classes = m.Classes[:1] }), "classes: there are 1"},
		{"a class twice", edit(func(m *Model) { m.Classes[1] = "no" }), `classes[1]: "no" cannot be the name`},
		{"an input like a probability", edit(func(m *Model) { m.Inputs[0] = "p_yes" }), `inputs[0]: "p_yes" cannot`},
		{"another kernel", edit(func(m *Model) { m.Kernel.Name = "RQ" }), `kernel.name: it is "RQ"`},
		{"no lengthscale", edit(func(m *Model) { m.Kernel.Lengthscales[0] = 0 }), "kernel.lengthscales[0]: it is 0"},
		{"lengthscales of others", edit(func(m *Model) { m.Kernel.Lengthscales = nil }), "there are 0 for 1 inputs"},
		{"no variance", edit(func(m *Model) { m.Kernel.Variance = 0 }), "kernel.variance: it is 0"},
		{"jitter", edit(func(m *Model) { m.Jitter = -1 }), "jitter: it is -1"},
		{"no inducing inputs", edit(func(m *Model) { m.Inducing = nil }), "inducing: there are none"},
		{"a long inducing input", edit(func(m *Model) { m.Inducing[1] = []float64{1, 2} }), "inducing[1]: it has 2 numbers"},
		{"a missing mean", edit(func(m *Model) { m.Means = m.Means[:1] }), "means: there are 1 for 2 classes"},
		{"a short mean", edit(func(m *Model) { m.Means[1] = m.Means[1][:1] }), "means[1]: it has 1 numbers"},
		{"a missing covariance", edit(func(m *Model) { m.Covariances = nil }), "covariances: there are 0"},
		{"a short covariance", edit(func(m *Model) { m.Covariances[0] = m.Covariances[0][:1] }),
			"covariances[0]: it has 1 rows"},
		{"a short row", edit(func(m *Model) { m.Covariances[0][1] = m.Covariances[0][1][:1] }),
			"covariances[0][1]: it has 1"},
		{"not symmetric", edit(func(m *Model) { m.Covariances[1][1][0] = 0.1 }), "covariances[1][1][0]: it is 0.1, and 0"},
		{"a negative variance", edit(func(m *Model) { m.Covariances[1][1][1] = -1 }), "covariances[1][1][1]: it is -1"},
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
