package method

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privkern/experiments/dataset/table"
	"privkern/experiments/internal/trialtest"
	"privkern/runner/experiment"
)

// Ranges and numbers fit the inputs, or are refused.
func TestRange(t *testing.T) {
	none, of := Ends{IsWord: true}, func(v ...float64) Ends { return experiment.SeveralOf[None](v...) }
	plain := func(n int) []table.Input { return make([]table.Input, n) }
	category := []table.Input{{Name: "a"}, {Name: "kind", Levels: 2}}
	for _, c := range []struct {
		name   string
		r      InputRange
		inputs []table.Input
		needed bool
		want   string // low and high, or the refusal
	}{
		{"none", InputRange{Low: none, High: none}, plain(2), false, "[-1 -1] [1 1]"},
		{"none where one is needed", InputRange{Low: none, High: none}, plain(2), true, "are not given"},
		{"one end", InputRange{Low: of(1), High: none}, plain(2), false, "are not given"},
		{"one for all", InputRange{Low: of(1), High: of(2)}, plain(3), true, "[1 1 1] [2 2 2]"},
		{"one each", InputRange{Low: of(1, 2), High: of(3, 4)}, plain(2), true, "[1 2] [3 4]"},
		{"one for all and one each", InputRange{Low: of(1), High: of(3, 4)}, plain(2), true, "[1 1] [3 4]"},
		{"a category is one", InputRange{Low: of(1, 0), High: of(2, 1)}, category, true, "[1 0 0] [2 1 1]"},
		{"a category is not read", InputRange{Low: of(1, 5), High: of(9)}, category, true, "[1 0 0] [9 1 1]"},
		{"one for all is none of a category", InputRange{Low: of(-5), High: of(9)}, category, true, "[-5 0 0] [9 1 1]"},
		{"a category of one level", InputRange{Low: of(1, 0), High: of(2, 7)}, []table.Input{{Name: "a"},
			{Name: "kind", Levels: 1}}, true, "[1 0] [2 1]"},
		{"one each column", InputRange{Low: of(1, 2, 3), High: of(9)}, category, true, "[1 2 3] [9 9 9]"},
		{"too many with a category", InputRange{Low: of(1, 2, 3, 4), High: of(9)}, category, true,
			"input_low = [1,2,3,4]: these are 4 numbers for 2 inputs (a, kind); give one for all, or one for each; a " +
				"category is one"},
		{"two for one", InputRange{Low: of(1), High: of(4, 5)}, []table.Input{{Name: "a"}}, true,
			"input_high = [4,5]: these are 2 numbers for 1 input (a); give one for all"},
		{"too many", InputRange{Low: of(1, 2, 3), High: of(4)}, plain(2), true,
			"input_low = [1,2,3]: these are 3 numbers for 2 inputs"},
		{"reversed", InputRange{Low: of(1, 5), High: of(3, 4)}, plain(2), true, "input_low = 5 and input_high = 4"},
		{"empty", InputRange{Low: of(1), High: of(1)}, plain(1), true, "input_low must be below"},
		{"endless", InputRange{Low: of(-math.MaxFloat64), High: of(math.MaxFloat64)}, plain(1), true, "farther apart"},
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

// Inputs that are constant, nearly constant or beyond their range are warned of.
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
	c := Settings{Columns: Columns{Dataset: "csv:my.csv", Inputs: "a+b+c", Output: "y"}}
	rows, err := c.Load(&experiment.Trial{Dataset: func(string) string { return path }}, Regression, false)
	if err != nil {
		t.Fatal(err)
	}
	columns := []string{
		`computed but suspect: the input "c" has the same value in all rows, so that no prediction depends on it`,
		`computed but suspect: the input "b" has one value in 199 of 200 rows: hardly any prediction depends on it`,
	}
	if !slices.Equal(rows.Suspect, columns) {
		t.Errorf("%q", rows.Suspect)
	}
	const suspect = "computed but suspect: in %d of 200 rows the input %q is outside of the public range, %s: what is " +
		"predicted there is extrapolated"
	outside := func(rows int, name, ends string) string { return fmt.Sprintf(suspect, rows, name, ends) }
	for _, c := range []struct {
		name      string
		low, high []float64
		want      []string
	}{
		{"inside", []float64{0}, []float64{200}, nil},
		{"one end for all", []float64{1}, []float64{150},
			[]string{outside(50, "a", "1 to 150"), outside(1, "b", "1 to 150")}},
		{"one for each", []float64{0, 0, 8}, []float64{200, 1, 9}, []string{outside(200, "c", "8 to 9")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := InputRange{Low: experiment.SeveralOf[None](c.low...), High: experiment.SeveralOf[None](c.high...)}
			if got := r.Warnings(rows); !slices.Equal(got, c.want) {
				t.Errorf("%q", got)
			}
		})
	}
}
