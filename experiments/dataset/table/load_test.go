package table

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset/internal/filetest"
)

// The number of rows is exact where a header has it or a text is short, and near it for a
// long one; inputs are those that the setting makes.
func TestSize(t *testing.T) {
	long := func(rows int) string {
		var b strings.Builder
		b.WriteString("a,b,c\n")
		for i := range rows {
			fmt.Fprintf(&b, "%d,%.6g,x\n", i%100, math.Sqrt(float64(i)))
		}
		return b.String()
	}
	one, two := patient{Colour: "red"}, patient{Colour: "blue"}
	parquet := string(parquetOf(t, []patient{one, two, one, two, two}))
	for _, c := range []struct {
		name, file, content, inputs string
		rows, width                 int
		within                      float64
	}{
		{"a short text", "csv:t.csv", "a,b,c\n1,2,3\n4,5,6\n", "a+b", 2, 2, 0},
		{"a text without a last line end", "csv:t.csv", "a,b,c\n1,2,3", "a", 1, 1, 0},
		{"levels", "csv:t.csv", "a,b,c\n1,2,3\n", "a+b[x|y|z]", 1, 4, 0},
		{"every column", "csv:t.csv", "a,b,c\n1,2,3\n", "*", 1, 2, 0},
		{"a long text", "csv:t.csv", long(50_000), "a", 50_000, 1, 0.05},
		{"an empty table", "csv:t.csv", "a,b,c\n", "a", 0, 1, 0},
		{"Parquet", "parquet:t.parquet", parquet, "age", 5, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			if err := os.WriteFile(strings.SplitN(c.file, ":", 2)[1], []byte(c.content), 0o600); err != nil {
				t.Fatal(err)
			}
			rows, width, err := Spec{Dataset: c.file, Inputs: c.inputs, Others: []string{"c"}}.Size()
			if err != nil || width != c.width || math.Abs(float64(rows-c.rows)) > c.within*float64(c.rows) {
				t.Errorf("%d×%d, %v; want %d×%d", rows, width, err, c.rows, c.width)
			}
		})
	}
	for name, want := range map[string]string{
		"csv:none.csv": "none.csv: file does not exist", "csv:torn.csv": "torn.csv:3: 1 fields, expected 3",
		"rows.csv": "is no kind of data",
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			if err := os.WriteFile(filepath.Join(".", "torn.csv"), []byte("a,b,c\n1,2,3\n4\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			_, _, err := Spec{Dataset: name, Inputs: "a"}.Size()
			filetest.MustFail(t, err, want)
		})
	}
}

// Rows for a model have its inputs in its order, and a column besides; rows without a value are left out.
func TestReadRows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.csv")
	text := "kind,age,smoker,id\na,1,yes,7\nb,2,no,8\na,,no,8\nb,4,yes,9\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	names := []string{"smoker=no", "smoker=yes", "age"}
	spec := Spec{Dataset: "csv:" + path, Others: []string{"kind[a|b]"}, Person: "id"}
	d, err := spec.ReadRows(path, names)
	if err != nil {
		t.Fatal(err)
	}
	labels, classes, err := d.Labels("kind")
	if err != nil || fmt.Sprint(labels, classes, d.People.Of, d.Dropped, mat.Row(nil, 0, d.X), mat.Row(nil, 1, d.X)) !=
		"[0 1 1] [a b] [0 1 2] 1 [0 1 1] [1 0 2]" {
		t.Errorf("%v: %v %v %v %v", err, labels, classes, d.People, mat.Formatted(d.X))
	}
	for output, want := range map[string]string{"age": "one of the inputs, too", "kind[a|c]": `"b"`,
		"none": "unknown column"} {
		spec.Others = []string{output}
		if _, err := spec.ReadRows(path, names); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", output, err)
		}
	}
}
