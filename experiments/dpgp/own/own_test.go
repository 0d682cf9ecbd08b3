package own

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset/table"
	"privkern/experiments/internal/trialtest"
	"privkern/runner/experiment"
)

func TestGrid(t *testing.T) {
	for _, c := range []struct {
		name      string
		n         int
		low, high []float64
		want      []float64 // row by row
	}{
		{"two dimensions", 3, []float64{0, 0}, []float64{10, 10},
			[]float64{0, 0, 0, 5, 0, 10, 5, 0, 5, 5, 5, 10, 10, 0, 10, 5, 10, 10}},
		{"a range each", 2, []float64{0, -4}, []float64{10, -2}, []float64{0, -4, 0, -2, 10, -4, 10, -2}},
		{"one point", 1, []float64{0, 0}, []float64{10, 2}, []float64{5, 1}},
		{"one dimension", 3, []float64{0}, []float64{10}, []float64{0, 5, 10}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := len(c.low)
			if z := Grid(c.n, c.low, c.high); !mat.Equal(z, mat.NewDense(len(c.want)/d, d, c.want)) {
				t.Errorf("%v", mat.Formatted(z))
			}
		})
	}
}

// Ranges and numbers fit the inputs, or are refused.
func TestRange(t *testing.T) {
	none, of := Ends{IsWord: true}, func(v ...float64) Ends { return experiment.SeveralOf[None](v...) }
	for _, c := range []struct {
		name   string
		r      Range
		inputs int
		needed bool
		want   string // low and high, or the refusal
	}{
		{"none", Range{none, none}, 2, false, "[-1 -1] [1 1]"},
		{"none where one is needed", Range{none, none}, 2, true, "are not given"},
		{"one end", Range{of(1), none}, 2, false, "are not given"},
		{"one for all", Range{of(1), of(2)}, 3, true, "[1 1 1] [2 2 2]"},
		{"one each", Range{of(1, 2), of(3, 4)}, 2, true, "[1 2] [3 4]"},
		{"one for all and one each", Range{of(1), of(3, 4)}, 2, true, "[1 1] [3 4]"},
		{"too many", Range{of(1, 2, 3), of(4)}, 2, true, "input_low = [1,2,3]: these are 3 numbers for 2 inputs"},
		{"reversed", Range{of(1, 5), of(3, 4)}, 2, true, "input_low = 5 and input_high = 4"},
		{"empty", Range{of(1), of(1)}, 1, true, "input_low must be below"},
		{"endless", Range{of(-math.MaxFloat64), of(math.MaxFloat64)}, 1, true, "input_low must be below"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.r.Check(c.inputs, c.needed)
			if err != nil {
				trialtest.Refuses(t, err, c.want)
				return
			}
			low, high, err := c.r.Of(c.inputs, 1)
			if got := fmt.Sprint(low, high); err != nil || got != c.want {
				t.Errorf("%s, %v; want %s", got, err, c.want)
			}
		})
	}
}

func TestCheckGrid(t *testing.T) {
	if err := CheckGrid(10, 6); err == nil {
		t.Error("a million points")
	}
	if err := CheckGrid(22, 2); err != nil {
		t.Error(err)
	}
}

// What is suspect about the inputs is said in the words of all methods; without a grid no range
// is looked at.
func TestWarnings(t *testing.T) {
	var text strings.Builder
	text.WriteString("a,b,c,y\n")
	for i := range 200 {
		fmt.Fprintf(&text, "%d,%d,7,1\n", i, min(i, 1))
	}
	path := filepath.Join(t.TempDir(), "my.csv")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	spec := table.Spec{Dataset: "csv:my.csv", Inputs: "a+b+c", Others: []string{"y"}}
	data, err := spec.LoadFrom(&experiment.Trial{}, path)
	if err != nil {
		t.Fatal(err)
	}
	columns := []string{
		`computed but suspect: the input "c" has the same value in all rows, so that no prediction depends on it`,
		`computed but suspect: the input "b" has one value in 199 of 200 rows: hardly any prediction depends on it`,
	}
	const suspect = "computed but suspect: in %d of 200 rows the input %q is outside of the public range, %s: what is " +
		"predicted there is extrapolated"
	outside := func(rows int, name, ends string) string { return fmt.Sprintf(suspect, rows, name, ends) }
	for _, c := range []struct {
		name      string
		low, high []float64
		grid      bool
		want      []string
	}{
		{"inside", []float64{0}, []float64{199}, true, nil},
		{"one end for all", []float64{1}, []float64{150}, true,
			[]string{outside(50, "a", "1 to 150"), outside(1, "b", "1 to 150")}},
		{"one for each", []float64{0, 0, 8}, []float64{199, 1, 9}, true, []string{outside(200, "c", "8 to 9")}},
		{"no grid", []float64{1}, []float64{150}, false, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := Range{Low: experiment.SeveralOf[None](c.low...), High: experiment.SeveralOf[None](c.high...)}
			if got := r.Warnings(data, c.grid); !slices.Equal(got, append(slices.Clone(columns), c.want...)) {
				t.Errorf("%q", got)
			}
		})
	}
}
