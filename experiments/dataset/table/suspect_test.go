package table

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestColumnWarnings(t *testing.T) {
	var b strings.Builder
	b.WriteString("a,b,c,d,y\n")
	for i := range 300 {
		fmt.Fprintf(&b, "%d,%d,7,%s,%d\n", min(i, 3)/3, min(i, 4)/4, map[bool]string{true: "rare", false: "often"}[i == 5], i)
	}
	d, err := loadText(t, b.String(), "a+b+c+d", "y")
	if err != nil {
		t.Fatal(err)
	}
	got := d.ColumnWarnings()
	if len(got) != 2 || !strings.Contains(got[0], `input "c" has the same value in all rows`) ||
		!strings.Contains(got[1], `input "a" has one value in 297 of 300 rows`) {
		t.Errorf("%q", got)
	}
}

func TestFitAndCoverageWarnings(t *testing.T) {
	got := FitWarning(2, Constants{Middle: 1.5, Mean: .1, Tests: 100}, "do better")
	if got != "computed but suspect: the predictions have an error of 2, and the middle of the public range, which costs "+
		"no privacy, has 1.5; do better" {
		t.Error(got)
	}
	got = FitWarning(2, Constants{Middle: 90, Mean: 1, Tests: 100}, "do better")
	if got != "computed but suspect: the predictions have an error of 2, and the mean of the outputs has 1; do better" {
		t.Error(got)
	}
	for _, c := range []struct {
		err  float64
		than Constants
		want bool
	}{
		{1.4, Constants{1.5, 1.4, 1000}, false}, {1.5, Constants{1.5, 1.4, 1000}, true},
		{1.1, Constants{9, 1, 1000}, true}, {1.04, Constants{9, 1, 1000}, false}, // chance, and a little
		{1.1, Constants{9, 1, 100}, false}, {2, Constants{9, 1, 10}, false}, {3, Constants{9, 1, 10}, true},
		{3, Constants{9, 1, 9}, false}, {3, Constants{9, 0, 100}, false}, {math.NaN(), Constants{9, 1, 100}, false},
	} {
		if got := FitWarning(c.err, c.than, ""); (got != "") != c.want {
			t.Errorf("%g, %v: %q", c.err, c.than, got)
		}
	}
	for _, c := range []struct {
		share float64
		n     int
		want  string
	}{
		{0.95, 1000, ""}, {0.9, 1000, ""}, {0.84, 1000, "too few of the 1000 test outputs, 84 %: " +
			"the standard deviations are too small; narrow"}, {0.84, 20, ""},
		{1, 1000, "too many of the 1000 test outputs, 100 %: the standard deviations are too large; wide"},
		{1, 20, ""}, {0.99, 1e6, ""},
	} {
		got := CoverageWarning(c.share, CoverageError(c.n), c.n, "narrow", "wide")
		if c.want == "" && got != "" || !strings.HasSuffix(got, c.want) {
			t.Errorf("%g of %d: %q, want %q", c.share, c.n, got, c.want)
		}
	}
}

func TestClippingWarning(t *testing.T) {
	c := Clipping{Outside: 193, Of: 300, Outputs: "heights", Low: -1.5, High: 10, Unit: " cm"}
	const want = "193 of 300 heights are outside [-1.5, 10] cm and were clipped; errors are measured against "
	if got := c.String(); got != want+"the clipped heights" {
		t.Error(got)
	}
	c.AsRead = true
	got := c.Warning(.6)
	if !strings.HasPrefix(got, "computed but suspect: "+want+"those that were read; a wider") || !IsClipping(got) ||
		IsClipping(got[1+strings.Index(got, ";"):]) || c.Warning(.65) != "" {
		t.Error(got)
	}
}

// Numbers that are compared have digits that tell them apart.
func TestAccuracyWarning(t *testing.T) {
	for _, c := range []struct {
		accuracy, rule float64
		want           string
	}{
		{0.9524, 0.9521, ""},
		{0.5, 0.75, "computed but suspect: the accuracy of 0.5 is below the rule's, 0.75; do"},
		{0.9521, 0.9524, "computed but suspect: the accuracy of 0.9521 is below the rule's, 0.9524; do"},
		{0.5, 0.5, "computed but suspect: the accuracy of 0.5 is equal to the rule's; do"},
		{math.NaN(), 0.5, ""},
	} {
		if got := AccuracyWarning(c.accuracy, c.rule, "the rule's", "do"); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestBeyondWarnings(t *testing.T) {
	x := mat.NewDense(3, 2, []float64{0, 1, 5, 2, -1, 3})
	got := BeyondWarnings(x, []string{"a", "b"}, []float64{0, 1}, []float64{4, 3}, "the public range")
	want := []string{`computed but suspect: in 2 of 3 rows the input "a" is outside of the public range, 0 to 4: what ` +
		`is predicted there is extrapolated`}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if low, high := Ranges(x); !slices.Equal(low, []float64{-1, 1}) || !slices.Equal(high, []float64{5, 3}) {
		t.Errorf("%v %v", low, high)
	}
}

// A range is taken for one of the data where an end is an extreme that is not round.
func TestReadOffWarning(t *testing.T) {
	x := mat.NewDense(3, 5, []float64{0, 18, -1.5, 100, 0, 9, 30, 2, 9, 25, 4, 88, 3, 9, 11})
	names := []string{"a", "b", "c", "d", "e"}
	got := ReadOffWarning(x, names, []float64{0, 18, -1.5, 9, -1}, []float64{9, 88, 4, 100, 25})
	const want = `computed but suspect: the public range of "b" is 18 to 88, the smallest and the largest value; ` +
		`that of "c" begins at -1.5, the smallest value; that of "e" ends at 25, the largest value of the data: a range`
	if !strings.HasPrefix(got, want) {
		t.Error(got)
	}
	if got := ReadOffWarning(x, names[:2], []float64{-0.1, 17}, []float64{9.5, 89}); got != "" {
		t.Error(got)
	}
	x.Set(1, 1, math.NaN()) // of a missing value, which hides no extreme
	got = ReadOffWarning(x, names[:2], []float64{-0.1, 18}, []float64{9.5, 89})
	if !strings.Contains(got, "begins at 18") {
		t.Error(got)
	}
}
