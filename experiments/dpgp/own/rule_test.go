package own

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset/table"
	"privkern/experiments/dpgp/sparse"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// numbers are inputs that are numbers.
func numbers(n int) []table.Input { return make([]table.Input, n) }

// between is a range with one end each for all inputs, or one for each.
func between(low, high []float64) method.InputRange {
	of := experiment.SeveralOf[method.None]
	return method.InputRange{Low: of(low...), High: of(high...)}
}

// The rule's inducing inputs, by the number of inputs and levels, and the lengthscale as a share of the range.
func TestRule(t *testing.T) {
	for _, c := range []struct {
		name         string
		inputs       []table.Input
		points       int
		centred      int // points with the middle
		lowest, next float64
		share        float64
	}{
		{"one input", numbers(1), 6, 6, 0, 0.2, 0.1},
		{"two", numbers(2), 9, 9, 0, 0.5, math.Sqrt2 / 4},
		{"three", numbers(3), 8, 9, 0.125, 0.875, math.Sqrt(3) / 4},
		{"four", numbers(4), 16, 17, 0.125, 0.875, 0.5},
		{"half of the corners", numbers(5), 16, 17, 0.125, 0.875, math.Sqrt(5) / 4},
		{"ten", numbers(10), 16, 17, 0.125, 0.875, math.Sqrt(10) / 4},
		{"fifteen", numbers(15), 16, 17, 0.125, 0.875, math.Sqrt(15) / 4},
		{"sixteen", numbers(16), 32, 33, 0.125, 0.875, 1},
		{"two numbers and a category", []table.Input{{}, {Levels: 7}, {}}, 63, 63, 0, 0.5, math.Sqrt(3) / 4},
		{"with too many levels", []table.Input{{}, {Levels: 8}, {}}, 16, 16, 0, 1, math.Sqrt(3) / 4},
		{"three and a category", []table.Input{{}, {}, {}, {Levels: 3}}, 24, 24, 0.125, 0.875, 0.5},
		{"a number and a category", []table.Input{{}, {Levels: 3}}, 18, 18, 0, 0.2, math.Sqrt2 / 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			i := Inducing{Auto: true, Range: between([]float64{0}, []float64{1})}
			z, err := i.overRange(c.inputs)
			if err != nil {
				t.Fatal(err)
			}
			i.Centred = true
			with, err := i.overRange(c.inputs)
			if err != nil {
				t.Fatal(err)
			}
			n, _ := z.Dims()
			if centred, _ := with.Dims(); n != c.points || centred != c.centred {
				t.Errorf("%d points, %d with the middle", n, centred)
			}
			values := slices.Compact(slices.Sorted(slices.Values(mat.Col(nil, 0, z))))
			if values[0] != c.lowest || math.Abs(values[1]-c.next) > 1e-15 {
				t.Errorf("values of the first input: %v", values)
			}
			if got, err := i.Lengthscales(method.Automatic(), c.inputs, z); err != nil || len(got) != 1 ||
				math.Abs(got[0]-c.share) > 1e-15 {
				t.Errorf("lengthscale %v, %v", got, err)
			}
		})
	}
}

// Of any two inputs each pair of values is there equally often, and of up to half as many as points any triple.
func TestCornersAreBalanced(t *testing.T) {
	for _, d := range []int{5, 6, 8, 9, 15, 16, 17, 32, 40} {
		z, err := design(numbers(d), make([]float64, d), slices.Repeat([]float64{1}, d), arrangement{})
		if err != nil {
			t.Fatal(err)
		}
		n, _ := z.Dims()
		of := func(columns ...int) (least, most int) {
			counts := make([]int, 1<<len(columns))
			for row := range n {
				at := 0
				for _, j := range columns {
					at *= 2
					if z.At(row, j) > 0.5 {
						at++
					}
				}
				counts[at]++
			}
			return slices.Min(counts), slices.Max(counts)
		}
		for i := range d {
			for j := range i {
				if least, most := of(i, j); least != most {
					t.Fatalf("%d inputs: inputs %d and %d: %d to %d times", d, j, i, least, most)
				}
				for k := range j {
					if least, most := of(i, j, k); 2*d <= n && least != most {
						t.Fatalf("%d inputs: inputs %d, %d and %d: %d to %d times", d, k, j, i, least, most)
					}
				}
			}
		}
	}
}

// Every level of a category of many inputs is there, once in each point.
func TestCornersHaveLevels(t *testing.T) {
	inputs := []table.Input{{}, {Levels: 3}, {}, {Levels: 5}, {}}
	low, high := make([]float64, 11), slices.Repeat([]float64{1}, 11)
	z, err := design(inputs, low, high, arrangement{centred: true})
	if err != nil {
		t.Fatal(err)
	}
	n, _ := z.Dims()
	for _, columns := range [][]int{{1, 2, 3}, {5, 6, 7, 8, 9}} {
		seen := make([]int, len(columns))
		for row := range n {
			sum := 0.0
			for k, j := range columns {
				if sum += z.At(row, j); z.At(row, j) == 1 {
					seen[k]++
				}
			}
			if sum != 1 {
				t.Fatalf("%v", z.RawRowView(row))
			}
		}
		if slices.Min(seen) == 0 {
			t.Errorf("levels are there %v times", seen)
		}
	}
	if _, _, distance := sparse.Nearest(z); distance == 0 {
		t.Error("two points are equal")
	}
}

// Lengthscales are in the units of the inputs, at least half the spacing of a number of points that is given, and of a
// file by the extremes of its points.
func TestLengthscales(t *testing.T) {
	one, two := numbers(1), []table.Input{{Name: "a"}, {Name: "b"}}
	root := math.Sqrt2 / 4
	for _, c := range []struct {
		name   string
		of     Inducing
		inputs []table.Input
		z      *mat.Dense
		want   []float64
	}{
		{"by range", Inducing{Auto: true, Range: between([]float64{200, 4}, []float64{1000, 8})}, two, nil,
			[]float64{800 * root, 4 * root}},
		{"one for equal ranges", Inducing{Auto: true, Range: between([]float64{-1}, []float64{7})}, two, nil,
			[]float64{8 * root}},
		{"few points", Inducing{Count: 3, Range: between([]float64{0}, []float64{90})}, one, nil, []float64{22.5}},
		{"many points", Inducing{Count: 100, Range: between([]float64{0}, []float64{90})}, one, nil, []float64{9}},
		{"a single point", Inducing{Count: 1, Range: between([]float64{0}, []float64{90})}, one, nil, []float64{45}},
		{"a file", Inducing{File: "csv:a.csv"}, two, mat.NewDense(3, 2, []float64{0, 5, 3, 7, 10, 6}),
			[]float64{10 * root, 2 * root}},
		{"a category", Inducing{Auto: true, Range: between([]float64{0, 0}, []float64{10, 1})},
			[]table.Input{{Name: "a"}, {Name: "k", Levels: 2}}, nil, []float64{10 * root, root}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.of.Lengthscales(method.Automatic(), c.inputs, c.z)
			if err != nil || len(got) != len(c.want) {
				t.Fatalf("%v, %v", got, err)
			}
			for i, v := range c.want {
				if math.Abs(got[i]-v) > 1e-12*v {
					t.Errorf("%v, want %v", got, c.want)
				}
			}
		})
	}
	_, err := Inducing{File: "csv:a.csv"}.Lengthscales(method.Automatic(), two, mat.NewDense(2, 2, []float64{0, 5, 3, 5}))
	trialtest.Refuses(t, err, "all inducing inputs have the same b; give lengthscale")
}

// The setting has numbers as soon as the inputs and their range are known, and stays as it is otherwise.
func TestKnown(t *testing.T) {
	given := method.LengthscalesOf(3)
	with := Inducing{Auto: true, Range: between([]float64{0}, []float64{1})}
	for _, c := range []struct {
		name    string
		of      Inducing
		setting method.Lengthscale
		inputs  []table.Input
		want    string
	}{
		{"known", with, method.Automatic(), numbers(4), "0.5"},
		{"given", with, given, numbers(4), "3"},
		{"all columns", with, method.Automatic(), nil, "auto"},
		{"no range", Inducing{Auto: true, Range: method.InputRange{Low: experiment.SeveralOr[method.None]{IsWord: true},
			High: experiment.SeveralOr[method.None]{IsWord: true}}}, method.Automatic(), numbers(4), "auto"},
		{"a file", Inducing{File: "csv:a.csv"}, method.Automatic(), numbers(4), "auto"},
		{"a range of other inputs", Inducing{Auto: true, Range: between([]float64{0, 0}, []float64{1, 1})},
			method.Automatic(),
			numbers(4), "auto"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.of.Known(c.setting, c.inputs).String(); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// A star has the middle, the ends of each number and the levels of each category one at a time, where it is small
// enough; the lengthscales are longer.
func TestStar(t *testing.T) {
	for _, c := range []struct {
		name   string
		inputs []table.Input
		points int
		share  float64
	}{
		{"one input", numbers(1), 6, 0.1},
		{"four", numbers(4), 17, 0.7},
		{"five", numbers(5), 11, 0.35 * math.Sqrt(5)},
		{"eleven", numbers(11), 23, 0.35 * math.Sqrt(11)},
		{"twelve", numbers(12), 17, 0.35 * math.Sqrt(12)},
		{"four and two categories", append(numbers(4), table.Input{Levels: 3}, table.Input{Levels: 2}), 14,
			0.35 * math.Sqrt(6)},
	} {
		t.Run(c.name, func(t *testing.T) {
			i := Inducing{Auto: true, Centred: true, Whitened: true, Range: between([]float64{0}, []float64{2})}
			z, err := i.overRange(c.inputs)
			if err != nil {
				t.Fatal(err)
			}
			if n, _ := z.Dims(); n != c.points {
				t.Errorf("%d points", n)
			}
			i.Range = between([]float64{0}, []float64{1})
			got, err := i.Lengthscales(method.Automatic(), c.inputs, z)
			if err != nil || math.Abs(got[0]-c.share) > 1e-12 {
				t.Errorf("lengthscale %v, %v", got, err)
			}
		})
	}
	z := star([]table.Input{{}, {Levels: 4}}, []float64{2, 0, 0, 0, 0}, []float64{4, 1, 1, 1, 1})
	want := mat.NewDense(7, 5, []float64{3, .25, .25, .25, .25, 2, .25, .25, .25, .25, 4, .25, .25, .25, .25,
		3, 1, 0, 0, 0, 3, 0, 1, 0, 0, 3, 0, 0, 1, 0, 3, 0, 0, 0, 1})
	if !mat.Equal(z, want) {
		t.Errorf("%v", mat.Formatted(z))
	}
}
