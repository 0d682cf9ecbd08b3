package model

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// doubler is a model of the tests.
type doubler struct{}

func (doubler) Inputs() []string { return []string{"a", "b"} }

func (doubler) Predict(_ context.Context, x *mat.Dense) (*Prediction, error) {
	n, _ := x.Dims()
	p := &Prediction{Columns: []string{"twice"}}
	for i := range n {
		p.Rows, p.Labels = append(p.Rows, []float64{2 * x.At(i, 0)}), append(p.Labels, "x,y")
	}
	return p, nil
}

var formats = []Format{
	{Name: "test/other/1", Read: func(string, []byte) (Model, error) { return nil, errors.New("the wrong format") }},
	{Name: "test/doubler/2", Read: func(string, []byte) (Model, error) { return doubler{}, nil }},
}

func TestDecode(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{"format": "test/doubler/2", "rest": [1, "2"]}`, ""},
		{` {"about": {"format": "x"}, "format": "test/doubler/2"}`, ""},
		{`{"model": "test/doubler/2"}`, ""},
		{`{"model": {"weights": [1]}, "format": "test/doubler/2"}`, ""},
		{`{"format": "test/doubler/2", what follows is the format's`, ""},
		{`{"format": "test/doubler/3"}`, `m.json: format: it is "test/doubler/3"; this program reads "test/doubler/2": ` +
			`the file is of a later version of the program, use that`},
		{`{"format": "test/doubler/1"}`, `m.json: format: it is "test/doubler/1"; this program reads "test/doubler/2": ` +
			`use an earlier version of the program, or ask for a new file`},
		{`{"format": "` + strings.Repeat("x", 1000) + `"}`, `m.json: format: unknown format "` + strings.Repeat("x", 40) +
			`..."; valid: test/other/1`},
		{`{"a": ` + strings.Repeat("[", 20000), `m.json:1:10006: lists are nested deeper than in any model`},
		{`{"format": "test/double/2"}`, `m.json: format: unknown format "test/double/2"; did you mean "test/doubler/2"?`},
		{`{"format": "test/doubler/x"}`, `m.json: format: unknown format "test/doubler/x"`},
		{`{"choice": "choice/1", "settings": {"lengthscale": 1}}`, `m.json: it is a choice of hyper-parameters, with ` +
			`which a model is made: run trial EXPERIMENT ... --release FILE --tuning THIS_FILE`},
		{`{"format": 3}`, `m.json: it is no released model, since it has no member "format"`},
		{`{}`, `m.json: it is no released model, since`},
		{`[]`, `m.json: it is no released model, which is a JSON object`},
		{``, `m.json: it is no released model, which is a JSON object`},
		{"a,b\n1,2\n", `m.json: it is no released model, which is a JSON object (a model is what run trial METHOD ` +
			`--release or --export writes; a released table is used as it is)`},
		{"{\n\"a\": [1, 2", `m.json:2:10: the file ends in the middle: it was cut off; get it again, whole`},
		{"{\n\"a\": [1,, 2]}", `m.json:2:9: ',' does not belong here: this is no JSON: the file was changed`},
		{`{"a": 1`, `m.json:1:7: the file ends in the middle: it was cut off; get it again, whole`},
		{`{`, `m.json:1:1: the file ends in the middle: it was cut off; get it again, whole`},
		{`{"a"`, `m.json:1:4: the file ends in the middle: it was cut off; get it again, whole`},
		{`{3: 4}`, `m.json:1:2: '3' does not belong here`},
	} {
		t.Run(c.text[:min(40, len(c.text))], func(t *testing.T) {
			m, name, err := Decode("m.json", []byte(c.text), formats)
			if c.want == "" {
				if _, ok := m.(doubler); !ok || name != "test/doubler/2" || err != nil {
					t.Errorf("%v, %q, %v", m, name, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v; want %s", err, c.want)
			}
		})
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "m.json")
	if err := os.WriteFile(path, []byte(`{"format": "test/doubler/2"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, name, err := Read(path, formats); err != nil || name != "test/doubler/2" {
		t.Errorf("%q, %v", name, err)
	}
	if _, _, err := Read(path+"x", formats); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if _, _, err := Read(dir, formats); err == nil || !strings.Contains(err.Error(), "it is not a regular file") {
		t.Errorf("%v", err)
	}
}

func TestTable(t *testing.T) {
	x := mat.NewDense(2, 2, []float64{1, 2, 0.1, 4})
	p, _ := doubler{}.Predict(t.Context(), x)
	for _, c := range []struct {
		alone     bool
		csv, json string
	}{
		{false, "a,b,twice,class\n1,2,2,\"x,y\"\n0.1,4,0.2,\"x,y\"\n",
			`{"model":"f/1","columns":["a","b","twice"],"rows":[[1,2,2],[0.1,4,0.2]],"class":["x,y","x,y"]}` + "\n"},
		{true, "twice,class\n2,\"x,y\"\n0.2,\"x,y\"\n",
			`{"model":"f/1","columns":["twice"],"rows":[[2],[0.2]],"class":["x,y","x,y"]}` + "\n"},
	} {
		table, err := NewTable("f/1", doubler{}, x, p, c.alone)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := table.CSV(&b); err != nil || b.String() != c.csv {
			t.Errorf("%q, %v", b.String(), err)
		}
		b.Reset()
		if err := table.JSON(&b); err != nil || b.String() != c.json {
			t.Errorf("%s, %v", b.String(), err)
		}
	}
	for _, wrong := range []*Prediction{
		{Columns: []string{"c"}, Rows: [][]float64{{1}}},
		{Columns: []string{"c"}, Rows: [][]float64{{1}, {1, 2}}},
		{Columns: []string{"c"}, Rows: [][]float64{{1}, {2}}, Labels: []string{"x"}},
	} {
		if _, err := NewTable("f/1", doubler{}, x, wrong, true); err == nil {
			t.Errorf("%+v was taken for two rows", wrong)
		}
	}
}
