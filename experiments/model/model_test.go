package model

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/runner/experiment"
)

// shelf is a payload of the tests, with members of all kinds. It predicts Scale times the
// first input.
type shelf struct {
	Format  string              `json:"format"`
	Inputs  []string            `json:"inputs"`
	Scale   float64             `json:"scale"`
	Rank    int                 `json:"rank,omitempty"`
	Books   []book              `json:"books"`
	Rows    [][]float64         `json:"rows,omitempty"`
	Owner   *book               `json:"owner"`
	Privacy *experiment.Privacy `json:"privacy"`
}

type book struct {
	Title string  `json:"title"`
	Lent  bool    `json:"lent"`
	Price float64 `json:"price"`
}

func (s *shelf) Envelope() Envelope {
	return Envelope{Inputs: s.Inputs, Reserved: []string{"scaled"}, Output: "y", Privacy: s.Privacy}
}

func (s *shelf) Check(c *Checker) { c.NotNegative("scale", s.Scale) }

func (s *shelf) Predict(_ context.Context, q *Query) (*Prediction, error) {
	p := &Prediction{Columns: []string{"scaled"}}
	for x := range q.Chunks() {
		n, _ := x.Dims()
		for i := range n {
			p.Rows, p.Labels = append(p.Rows, []float64{s.Scale * x.At(i, 0)}), append(p.Labels, "x,y")
		}
	}
	return p, nil
}

var formats = []Format{{[]string{"test/shelf/2", "test/shelf/3"}, func() Payload { return new(shelf) }}}

const minimal = `{"format": "test/shelf/2", "inputs": ["a", "b"], "scale": 2, "privacy": {"guarantee": "(1, 0)-DP"}}`

func TestRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "m.json")
	if err := os.WriteFile(path, []byte(minimal), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := Read(path, formats)
	if err != nil || m.Format != "test/shelf/2" || m.Files[0].Path != path || len(m.Envelope().Inputs) != 2 {
		t.Errorf("%+v, %v", m, err)
	}
	if _, err := Read(path+"x", formats); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, err := Read(dir, formats); err == nil || !strings.Contains(err.Error(), "it is not a regular file") {
		t.Error(err)
	}
}

// Predictions of more rows than a chunk, of two files.
func TestPredict(t *testing.T) {
	one, err := Decode("m.json", []byte(minimal), formats)
	if err != nil {
		t.Fatal(err)
	}
	other := &shelf{Privacy: &experiment.Privacy{Guarantee: "(2, 0)-DP"}}
	m := &Model{one.Format, append(one.Files, one.Files[0], File{"n.json", other})}
	x := mat.NewDense(Chunk+2, 2, nil)
	x.Set(Chunk, 0, 1.5)
	p, err := m.Predict(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Rows) != Chunk+2 || p.Rows[Chunk][0] != 3 || p.Output != "y" || p.Guarantee != "(1, 0)-DP, (2, 0)-DP" {
		t.Errorf("%d rows, %q, %q", len(p.Rows), p.Output, p.Guarantee)
	}
	for _, v := range []float64{math.MaxFloat64, math.NaN()} {
		x.Set(Chunk+1, 0, v)
		const want = "row 4098 of the inputs (counted from 1): scaled overflows"
		if p, err := m.Predict(t.Context(), x); p != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, %v", p, err)
		}
	}
}

func TestPrediction(t *testing.T) {
	for _, c := range []struct {
		inputs    bool
		csv, json string
	}{
		{true, "a,b,twice,class\n1,2,2,\"x,y\"\n0.1,4,0.2,\"x,y\"\n",
			`{"model":"f/1","columns":["a","b","twice"],"rows":[[1,2,2],[0.1,4,0.2]],"class":["x,y","x,y"]}` + "\n"},
		{false, "twice,class\n2,\"x,y\"\n0.2,\"x,y\"\n",
			`{"model":"f/1","columns":["twice"],"rows":[[2],[0.2]],"class":["x,y","x,y"]}` + "\n"},
	} {
		p := &Prediction{Format: "f/1", Columns: []string{"twice"}, Rows: [][]float64{{2}, {0.2}},
			Labels: []string{"x,y", "x,y"}, Warnings: []string{"w"}}
		if c.inputs {
			p.PrependInputs([]string{"a", "b"}, mat.NewDense(2, 2, []float64{1, 2, 0.1, 4}))
		}
		var csv, json bytes.Buffer
		if err := errors.Join(p.CSV(&csv), p.JSON(&json)); err != nil || csv.String() != c.csv || json.String() != c.json {
			t.Errorf("%q, %s, %v", csv.String(), json.String(), err)
		}
	}
}

func TestRows(t *testing.T) {
	x := mat.NewDense(2, 3, []float64{0, -1.5, 1e-300, math.MaxFloat64, 2, 3})
	part := x.Slice(0, 2, 1, 3).(*mat.Dense) // rows are apart in memory
	if !mat.Equal(Dense(Rows(part)), part) {
		t.Errorf("%v", Rows(part))
	}
}
