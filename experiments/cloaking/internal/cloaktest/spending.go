package cloaktest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset"
	"privkern/experiments/dataset/readers"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/mechanism"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

// Rows are those of a user's file: x and z, two inputs, and y, the output.
type Rows [][3]float64

// Values are rows with outputs inside [0, 50] and outside.
func Values() (rows Rows) {
	for i := range 24 {
		v := float64(i)
		y := 25 + 20*math.Sin(v) + 11*math.Cos(7*v)
		rows = append(rows, [3]float64{float64(i * 5 % 8), math.Floor(4 * math.Sin(v)), y})
	}
	return rows
}

// TwoClasses are rows with the outputs 3 and 7.
func TwoClasses() (rows Rows) {
	for i, r := range Values() {
		rows = append(rows, [3]float64{r[0], r[1], float64(3 + 4*(i*i%3))})
	}
	return rows
}

// File writes a user's file with the columns x, z and y.
func (rows Rows) File(t *testing.T) (path string) {
	t.Helper()
	var b strings.Builder
	b.WriteString("x,z,y\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "%.17g,%.17g,%.17g\n", r[0], r[1], r[2])
	}
	return File(t, b.String())
}

// CensusRows are the ages, weights and heights of the census in a folder. Which of the
// inputs is first has no part in an account.
func CensusRows(t *testing.T, folder string) (rows Rows) {
	t.Helper()
	kung, err := readers.LoadKung(folder)
	if err != nil {
		t.Fatal(err)
	}
	for i := range kung.Age {
		rows = append(rows, [3]float64{kung.Age[i], kung.Weight[i], kung.Height[i]})
	}
	return rows
}

// Account is that of all rows with that number of their inputs.
func (rows Rows) Account(inputs int) string {
	x, y := mat.NewDense(len(rows), inputs, nil), make([]float64, len(rows))
	for i, r := range rows {
		x.SetRow(i, r[:inputs])
		y[i] = r[2]
	}
	return dataset.Canonical(x, y)
}

// Spending is the expected spending of a release from the account of its rows.
type Spending struct {
	Calibration    mechanism.Calibration
	Steps          int // of Gaussian noise that compose exactly; 0 for a choice
	Epsilon, Delta float64
	Points         string // file of the points; "" for the training inputs
}

// Check compares the spending of a plan with the expected one.
func (s Spending) Check(t *testing.T, p *release.Plan, rows Rows, inputs int) {
	t.Helper()
	want := experiment.Spending{
		Dataset: p.Spending.Dataset,
		Data:    rows.Account(inputs), Units: []string{experiment.UnitOutput}, Rows: len(rows),
		Epsilon: s.Epsilon, Delta: s.Delta, Size: p.Spending.Size, // see WantNoOrder
		Points: s.Points,
	}
	if s.Steps == 0 {
		want.Losses = []experiment.Loss{{Law: "exponential mechanism", Size: s.Epsilon, Times: 1}}
	} else {
		want.Publishes = []string{experiment.UnitInputs} // of the file itself
		factor, err := mechanism.SafeFactor(s.Calibration, s.Epsilon, s.Delta)
		if err != nil {
			t.Fatal(err)
		}
		// Rounding is outward: of √T, of its product with the factor, and of 1/factor.
		want.Losses = p.Spending.Losses
		if l := want.Losses; len(l) != 1 || l[0].Law != "gaussian" || l[0].Times != s.Steps ||
			math.Abs(l[0].Size*factor*math.Sqrt(float64(s.Steps))-1) > 1e-14 {
			t.Errorf("losses %+v", l)
		}
	}
	if !reflect.DeepEqual(p.Spending, want) {
		t.Errorf("%+v\nwant %+v", p.Spending, want)
	}
}

// WantNoOrder fails where the order of the rows influences a release of their file or its spending.
func WantNoOrder(t *testing.T, rows Rows, planned func(t *testing.T, file string) *release.Plan) {
	t.Helper()
	published := func(t *testing.T, rows Rows) (*release.Plan, []byte) {
		p := planned(t, rows.File(t))
		r, err := p.With(t.Context(), release.Unbooked(Entropy(3)), p.Private)
		if err != nil {
			t.Fatal(err)
		}
		trialtest.WantSize(t, p.Spending.Size, r)
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return p, text
	}
	plan, want := published(t, rows)
	shuffled, sorted, reversed := slices.Clone(rows), slices.Clone(rows), slices.Clone(rows)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(shuffled), func(i, j int) {
		shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
	})
	slices.SortStableFunc(sorted, func(a, b [3]float64) int { return cmp.Compare(a[2], b[2]) })
	slices.Reverse(reversed)
	for name, order := range map[string]Rows{"shuffled": shuffled, "by output": sorted, "reversed": reversed} {
		t.Run(name, func(t *testing.T) {
			again, text := published(t, order)
			if !bytes.Equal(text, want) {
				t.Errorf("%s\nwant %s", text, want)
			}
			if !reflect.DeepEqual(again.Spending, plan.Spending) {
				t.Errorf("%+v, want %+v", again.Spending, plan.Spending)
			}
		})
	}
}
