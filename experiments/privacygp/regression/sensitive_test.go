package regression

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestSensitiveRows(t *testing.T) {
	x := mat.NewDense(6, 2, []float64{0, 5, 1, 5, 2, 5, 3, 6, 4, 6, 5, 6})
	names := []string{"lat", "kind=b:1"} // a name may have a colon
	for _, c := range []struct {
		text string
		want []int
		err  string
	}{
		{text: "rows:2", want: []int{1}},
		{text: "rows: 2 .. 4", want: []int{1, 2, 3}},
		{text: "rows:6,rows:1", want: []int{0, 5}},
		{text: "lat:1..3", want: []int{1, 2, 3}},
		{text: "lat:4..", want: []int{4, 5}},
		{text: "lat:..0", want: []int{0}},
		{text: "lat:-1e1..1", want: []int{0, 1}},
		{text: "lat:2", want: []int{2}},
		{text: "lat:2..+kind=b:1:6..6", want: []int{3, 4, 5}},
		{text: "lat:2.5.., lat:..0.5", want: []int{0, 3, 4, 5}},
		{text: "", err: "sensitive names no place"},
		{text: "lat", err: `"lat" is no set of places`},
		{text: ":1..2", err: "is no set of places"},
		{text: "lat:1..3,", err: `"" is no set of places`},
		{text: "lat:..", err: "bounds nothing"},
		{text: "lat:a..3", err: `"a" is no number`},
		{text: "lat:1..inf", err: `"inf" is no number`},
		{text: "lat:1..2..3", err: `"2..3" is no number`},
		{text: "lat:3..1", err: "the lower end 3 is above the upper end 1"},
		{text: "lat:1..2+lat:3..4", err: "bounds the input lat twice"},
		{text: "rows:", err: "is no row nor a range of rows"},
		{text: "rows:1.5", err: "is no row nor a range of rows"},
		{text: "rows:0..2", err: "rows are counted from 1"},
		{text: "rows:4..2", err: "ends before it begins"},
		{text: "rows:3..7", err: "there are 6 rows"},
		{text: "lat:1..3,lat:7..", err: "no row lies in lat:7..: widen it"},
		{text: "lad:1..3", err: `unknown input "lad"; did you mean "lat"?`},
	} {
		t.Run(c.text, func(t *testing.T) {
			s, err := parseSensitive(c.text)
			var got []int
			if err == nil {
				got, _, err = s.rowsOf(&rows{x: x, names: names}, make([]float64, len(s.terms)))
			}
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("%v, want %q", err, c.err)
				}
				return
			}
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("%v, %v; want %v", got, err, c.want)
			}
		})
	}
	if s, err := parseSensitive("csv:a,b+c.csv"); err != nil || s.file != "csv:a,b+c.csv" {
		t.Errorf("%+v, %v", s, err)
	}
}

// A place by the value of every input need not be that of a row.
func TestSensitivePlaces(t *testing.T) {
	x := mat.NewDense(3, 2, []float64{0, 5, 1, 5, 2, 6})
	for _, c := range []struct {
		text string
		want []float64
	}{
		{"b:7+a:0.5", []float64{0.5, 7}},
		{"a:1+b:5", []float64{1, 5}}, // once, though a row lies there
		{"a:1..,b:1+a:1,a:1+b:1", []float64{1, 5, 2, 6, 1, 1}},
		{"a:2", []float64{2, 6}}, // of all rows with that value
	} {
		s, err := parseSensitive(c.text)
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := s.of(&rows{x: x, names: []string{"a", "b"}}, make([]float64, len(s.terms)))
		if err != nil || !mat.Equal(got, mat.NewDense(len(c.want)/2, 2, c.want)) {
			t.Errorf("%s: %v, %v; want %v", c.text, got, err, c.want)
		}
	}
	s, err := parseSensitive("a:0.5")
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = s.of(&rows{x: x, names: []string{"a", "b"}}, []float64{0})
	if err == nil || !strings.Contains(err.Error(), "no row lies in a:0.5") {
		t.Errorf("%v", err)
	}
}

// Places that are named twice count once, as do 0 and -0.
func TestDistinct(t *testing.T) {
	got, tolerances := distinct(mat.NewDense(4, 2, []float64{1, 0, 2, 0, 1, negativeZero(), 1, 1}), []float64{1, 2, 3, 4})
	want := mat.NewDense(3, 2, []float64{1, 0, 2, 0, 1, 1})
	if !mat.Equal(got, want) || !slices.Equal(tolerances, []float64{3, 2, 4}) {
		t.Errorf("%v, tolerances %v", mat.Formatted(got), tolerances)
	}
	if placeKey([]float64{0}) != placeKey([]float64{negativeZero()}) {
		t.Error("0 and -0 are two places")
	}
}

func negativeZero() float64 { return math.Copysign(0, -1) }

func TestStep(t *testing.T) {
	for _, c := range []struct {
		y    []float64
		want float64
	}{
		{[]float64{1, 2, 30}, 1}, {[]float64{100, 200}, 100}, {[]float64{0.1, 0.25}, 0.01}, {[]float64{6813.41, -2.5}, 0.01},
		{[]float64{0, 0}, 0}, {[]float64{1e-5, 3e-5}, 1e-5}, {[]float64{1.0 / 3}, 0},
	} {
		t.Run(fmt.Sprint(c.y), func(t *testing.T) {
			if got := step(c.y); !(got > c.want*(1-1e-12) && got < c.want*(1+1e-12) || got == c.want) {
				t.Errorf("%g, want %g", got, c.want)
			}
		})
	}
}
