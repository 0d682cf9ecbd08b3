package own

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset/table"
	"privkern/experiments/internal/trialtest"
)

func TestRegular(t *testing.T) {
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
			if z := Regular(c.n, c.low, c.high); !mat.Equal(z, mat.NewDense(len(c.want)/d, d, c.want)) {
				t.Errorf("%v", mat.Formatted(z))
			}
		})
	}
}

// A number is that of a grid in every column, or that of all points, and never both.
func TestLayout(t *testing.T) {
	for _, c := range []struct {
		count, columns, points int // 0 points: refused
		grid                   bool
	}{
		{9, 1, 9, true}, {500, 1, 500, true}, {9, 2, 81, true}, {22, 2, 484, true}, {23, 2, 23, false},
		{9, 3, 50, false}, {9, 11, 50, false}, {200, 11, 200, false}, {2, 8, 256, true}, {8, 3, 0, false},
		{22, 3, 0, false}, {1, 11, 1, true}, {501, 1, 0, false}, {501, 2, 0, false},
	} {
		t.Run(fmt.Sprintf("%d in %d columns", c.count, c.columns), func(t *testing.T) {
			points, grid, ok := Inducing{Count: c.count}.layout(c.columns)
			if ok != (c.points > 0) || points != c.points || grid != c.grid {
				t.Errorf("%d, %v, %v", points, grid, ok)
			}
		})
	}
}

// A description names the public things.
func TestPublic(t *testing.T) {
	for _, c := range []struct {
		of   Inducing
		want string
	}{
		{Inducing{Count: 2}, "the range of the inducing inputs, which are a grid"},
		{Inducing{Count: 9}, "the range of the inducing inputs, which are laid by 50 points of a Halton sequence"},
		{Inducing{File: "csv:a.csv"}, "the inducing inputs"}, {Inducing{Values: []float64{1}}, "the inducing inputs"},
		{Inducing{File: "csv:a.csv", Centres: 7}, "the points of which the inducing inputs are 7 centres, by k-means"},
	} {
		if got := c.of.Public(make([]table.Input, 5)); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// The refusal counts a category as one input.
func TestCheckCountsInputs(t *testing.T) {
	err := Inducing{Count: 8}.Check([]table.Input{{Name: "a"}, {Name: "kind", Levels: 3}})
	trialtest.Refuses(t, err, "inducing = 8: a grid in 2 inputs, with 4 columns for the levels of categories, has 4096 "+
		"points")
	trialtest.Refuses(t, err, "the number of all points, 23 to 500, such as inducing=100")
}

// Scattered points are the same every time, are in the box, fill it evenly, and have one level of a
// category each.
func TestScattered(t *testing.T) {
	inputs := []table.Input{{Name: "a"}, {Name: "kind", Levels: 3}, {Name: "b"}}
	low, high := []float64{-1, 0, 0, 0, 10}, []float64{1, 1, 1, 1, 40}
	z, err := scattered(90, inputs, low, high)
	if again, _ := scattered(90, inputs, low, high); err != nil || !mat.Equal(z, again) {
		t.Fatal(err)
	}
	halves, levels := map[[2]bool]int{}, [3]int{}
	for i := range 90 {
		row := z.RawRowView(i)
		if row[0] < -1 || row[0] > 1 || row[4] < 10 || row[4] > 40 || row[1]+row[2]+row[3] != 1 {
			t.Fatalf("%v", row)
		}
		halves[[2]bool{row[0] > 0, row[4] > 25}]++
		levels[slices.Index(row[1:4], 1)]++
	}
	// The third part of a Halton sequence in base 3 has every third point.
	if levels != [3]int{30, 30, 30} || len(halves) != 4 || slices.Min(slices.Collect(maps.Values(halves))) < 18 {
		t.Errorf("%v %v", levels, halves)
	}
	only, err := scattered(40, inputs[1:2], low[1:4], high[1:4])
	if rows, _ := only.Dims(); err != nil || rows != 3 {
		t.Errorf("%d points of three levels, %v", rows, err)
	}
	if _, err := scattered(40, make([]table.Input, 1001), make([]float64, 1001), make([]float64, 1001)); err == nil {
		t.Error("more inputs than a sequence has")
	}
}
