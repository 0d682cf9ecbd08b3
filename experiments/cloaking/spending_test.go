package cloaking

import (
	"bytes"
	"cmp"
	"context"
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
	"privkern/experiments/mechanism"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

// planner plans releases.
type planner func(context.Context, *experiment.Trial) (*release.Plan, error)

// closedPlan is planOf with the plan closed.
func closedPlan(t *testing.T, plan planner, e *experiment.Experiment, s setup, given map[string]any) *release.Plan {
	t.Helper()
	p := planOf(t, plan, e, s, given)
	if p.Close != nil {
		t.Cleanup(func() {
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return p
}

// textOf is a file of rows with the columns x, z and y.
func textOf(rows [][3]float64) string {
	var b strings.Builder
	b.WriteString("x,z,y\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "%.17g,%.17g,%.17g\n", r[0], r[1], r[2])
	}
	return b.String()
}

// valued are rows with outputs inside [0, 50] and outside, and labelled ones with 3
// and 7.
func valued() (rows [][3]float64) {
	for i := range 24 {
		v := float64(i)
		y := 25 + 20*math.Sin(v) + 11*math.Cos(7*v)
		rows = append(rows, [3]float64{float64(i * 5 % 8), math.Floor(4 * math.Sin(v)), y})
	}
	return rows
}

func ofTwoClasses() (rows [][3]float64) {
	for i, r := range valued() {
		rows = append(rows, [3]float64{r[0], r[1], float64(3 + 4*(i*i%3))})
	}
	return rows
}

// accountOf is that of all rows with that number of their inputs.
func accountOf(rows [][3]float64, inputs int) string {
	x, y := mat.NewDense(len(rows), inputs, nil), make([]float64, len(rows))
	for i, r := range rows {
		x.SetRow(i, r[:inputs])
		y[i] = r[2]
	}
	return dataset.Canonical(x, y)
}

// muOf is the μ of T steps of Gaussian noise that share a budget.
func muOf(t *testing.T, c mechanism.Calibration, steps int, epsilon, delta float64) float64 {
	t.Helper()
	factor, err := mechanism.SafeFactor(c, epsilon/float64(steps), delta/float64(steps))
	if err != nil {
		t.Fatal(err)
	}
	return math.Sqrt(float64(steps)) / factor
}

var (
	ownValues = map[string]any{
		"dataset": "csv:my.csv", "delta": 1e-3, "inputs": "x", "output": "y", "low": 0, "high": 50, "lengthscale": 2,
	}
	ownClasses = with(ownValues, "low", 3, "high", 7)
	smallGrid  = map[string]any{
		"lengthscales": "5,25", "noise_variances": "1", "kernel_variances": "1", "folds": 3, "normalisation": "public",
	}
	censusValues = map[string]any{"normalisation": "public"}
)

// What a release takes is its guarantee, from the account of all rows as they are
// in the file: whatever is made of them, two releases of the same outputs share it.
func TestSpending(t *testing.T) {
	folder := writeCensus(t)
	kung, err := dataset.LoadKung(folder)
	if err != nil {
		t.Fatal(err)
	}
	var census [][3]float64 // weight and age, in either order: it has no part in the account
	for i := range kung.Age {
		census = append(census, [3]float64{kung.Age[i], kung.Weight[i], kung.Height[i]})
	}
	values, classes, clipped := valued(), ofTwoClasses(), valued()
	beyond := slices.IndexFunc(clipped, func(r [3]float64) bool { return r[2] > 50 })
	clipped[beyond][2] *= 2 // clipped to the same output
	if accountOf(values, 1) == accountOf(clipped, 1) {
		t.Error("another output has the same account")
	}
	const hall, analytic = mechanism.Hall, mechanism.Analytic
	type budget struct {
		calibration    mechanism.Calibration
		steps          int
		epsilon, delta float64
	}
	for _, c := range []struct {
		name   string
		e      *experiment.Experiment
		plan   planner
		rows   [][3]float64
		given  map[string]any
		over   []any
		inputs int
		budget budget
	}{
		{"defaults", regression(), PlanRegression, values, ownValues, nil, 1, budget{analytic, 1, 1, 1e-3}},
		{"another range", regression(), PlanRegression, values, ownValues, []any{"low", 20, "high", 21}, 1,
			budget{analytic, 1, 1, 1e-3}},
		{"another clipped output", regression(), PlanRegression, clipped, ownValues, nil, 1,
			budget{analytic, 1, 1, 1e-3}},
		{"other points", regression(), PlanRegression, values, ownValues, []any{"predict", "csv:my.csv"}, 1,
			budget{analytic, 1, 1, 1e-3}},
		{"another kernel", regression(), PlanRegression, values, ownValues, []any{"lengthscale", 1, "rank", 3}, 1,
			budget{analytic, 1, 1, 1e-3}},
		{"another method", regression(), PlanRegression, values, ownValues, []any{"method", "sparse", "inducing", 3}, 1,
			budget{analytic, 1, 1, 1e-3}},
		{"two inputs", regression(), PlanRegression, values, ownValues, []any{"inputs", "x+z"}, 2,
			budget{analytic, 1, 1, 1e-3}},
		{"another budget", regression(), PlanRegression, values, ownValues, []any{"epsilon", 0.5, "delta", 1e-7}, 1,
			budget{analytic, 1, 0.5, 1e-7}},
		{"another calibration", regression(), PlanRegression, values, ownValues, []any{"calibration", "hall"}, 1,
			budget{hall, 1, 1, 1e-3}},
		{"census", regression(), PlanRegression, census, censusValues, nil, 1, budget{hall, 1, 1, 0.01}},
		{"census, another range", regression(), PlanRegression, census, censusValues,
			[]any{"public_low_cm", 100, "sensitivity_cm", 30}, 1, budget{hall, 1, 1, 0.01}},
		{"census, two inputs", regression(), PlanRegression, census, censusValues,
			[]any{"inputs", "age+weight", "lengthscale", 60, "rank", 9}, 2, budget{hall, 1, 1, 0.01}},

		{"one step", classification(), PlanClassification, classes, ownClasses, nil, 1, budget{analytic, 1, 1, 1e-3}},
		{"two steps", classification(), PlanClassification, classes, ownClasses, []any{"iterations", 2}, 1,
			budget{analytic, 2, 1, 1e-3}},
		{"five steps", classification(), PlanClassification, classes, ownClasses,
			[]any{"iterations", 5, "epsilon", 3, "delta", 1e-5}, 1, budget{analytic, 5, 3, 1e-5}},
		{"drawn rows", classification(), PlanClassification, classes, ownClasses, []any{"rows", 10}, 1,
			budget{analytic, 1, 1, 1e-3}},
		{"other query points", classification(), PlanClassification, classes, ownClasses,
			[]any{"predict", "csv:my.csv"}, 1, budget{analytic, 1, 1, 1e-3}},
		{"sparse", classification(), PlanClassification, classes, ownClasses,
			[]any{"inputs", "x+z", "method", "sparse", "inducing", 3}, 2, budget{analytic, 1, 1, 1e-3}},

		{"choice", selection(), PlanSelection, census, smallGrid, nil, 1, budget{"", 0, 1, 0}},
		{"choice, another range", selection(), PlanSelection, census, smallGrid,
			[]any{"public_low_cm", 100, "sensitivity_cm", 30}, 1, budget{"", 0, 1, 0}},
		{"choice, other rows", selection(), PlanSelection, census, smallGrid, []any{"split", "last-143"}, 1,
			budget{"", 0, 1, 0}},
		{"choice, another budget", selection(), PlanSelection, census, smallGrid,
			[]any{"epsilon", 0.5, "delta", 1e-3, "selection_epsilon", 0.25}, 1, budget{"", 0, 0.25, 0}},
		{"choice, two inputs", selection(), PlanSelection, census, smallGrid, []any{"inputs", "age+weight"}, 2,
			budget{"", 0, 1, 0}},
	} {
		t.Run(c.e.Name+"/"+c.name, func(t *testing.T) {
			p := closedPlan(t, c.plan, c.e, setup{folder: folder, file: writeFile(t, textOf(c.rows))}, with(c.given, c.over...))
			want := experiment.Spending{
				Data: accountOf(c.rows, c.inputs), Units: []string{"output"}, Rows: len(c.rows),
				Epsilon: c.budget.epsilon, Delta: c.budget.delta,
			}
			if c.budget.steps > 0 {
				want.Mu = muOf(t, c.budget.calibration, c.budget.steps, c.budget.epsilon, c.budget.delta)
			}
			if !reflect.DeepEqual(p.Spending, want) {
				t.Errorf("%+v\nwant %+v", p.Spending, want)
			}
		})
	}
}

// The order of a file has no part in a release: it may follow the outputs.
func TestOrderTellsNothing(t *testing.T) {
	for _, c := range []struct {
		name  string
		e     *experiment.Experiment
		plan  planner
		rows  [][3]float64
		given map[string]any
	}{
		{"standard", regression(), PlanRegression, valued(), with(ownValues, "inputs", "x+z")},
		{"sparse", regression(), PlanRegression, valued(), with(ownValues, "method", "sparse", "inducing", 3)},
		{"nonstationary", regression(), PlanRegression, valued(), with(ownValues, "method", "nonstationary")},
		{"standard", classification(), PlanClassification, ofTwoClasses(), with(ownClasses, "inputs", "x+z")},
		{"drawn rows", classification(), PlanClassification, ofTwoClasses(), with(ownClasses, "rows", 10)},
		{"sparse", classification(), PlanClassification, ofTwoClasses(),
			with(ownClasses, "method", "sparse", "inducing", 3, "iterations", 2)},
	} {
		t.Run(c.e.Name+"/"+c.name, func(t *testing.T) {
			released := func(rows [][3]float64) (*release.Plan, []byte) {
				p := closedPlan(t, c.plan, c.e, setup{file: writeFile(t, textOf(rows))}, c.given)
				r, err := p.With(context.Background(), release.Unbooked(context.Background(), entropyOf(3)), p.Private)
				if err != nil {
					t.Fatal(err)
				}
				text, err := json.Marshal(r)
				if err != nil {
					t.Fatal(err)
				}
				return p, text
			}
			plan, want := released(c.rows)
			shuffled, sorted, reversed := slices.Clone(c.rows), slices.Clone(c.rows), slices.Clone(c.rows)
			rand.New(rand.NewPCG(1, 2)).Shuffle(len(shuffled), func(i, j int) {
				shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
			})
			slices.SortStableFunc(sorted, func(a, b [3]float64) int { return cmp.Compare(a[2], b[2]) })
			slices.Reverse(reversed)
			for name, order := range map[string][][3]float64{
				"shuffled": shuffled, "by output": sorted, "reversed": reversed,
			} {
				again, text := released(order)
				if !bytes.Equal(text, want) {
					t.Errorf("%s: %s\nwant %s", name, text, want)
				}
				if !reflect.DeepEqual(again.Spending, plan.Spending) {
					t.Errorf("%s: %+v, want %+v", name, again.Spending, plan.Spending)
				}
			}
		})
	}
}
