package fit

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/kahm/wide"
	"privkern/graphs/engine"
	"privkern/graphs/hull"
	"privkern/runner/experiment"
)

// Reference returns the experiment kahm/reference.
var Reference = experiment.Of(experiment.Declaration[*ReferenceSettings, ReferenceMetrics]{
	Name:     "kahm/reference",
	Version:  3,
	Summary:  "machines of formula-generated data, to compare implementations to the last digits",
	Source:   "Kumar, Moser and Fischer, Definitions 1 to 4 and 7; the data are this project's",
	Seedless: func(*ReferenceSettings) bool { return true },
	// That of three classes: 55, 116 and 281 MiB were measured for 40, 1,000 and
	// 2,000 rows.
	Memory: func(s *ReferenceSettings) int64 { n := int64(s.Rows); return process + 9*float*n*n },
	Check: func(s *ReferenceSettings) error {
		if s.N > s.Dim {
			return fmt.Errorf("n = %d: the samples have only %d columns", s.N, s.Dim)
		}
		return wide.CheckLayers(s.N, s.Layers)
	},
	Run: runReference,
})

// Constants of the estimates of memory, in bytes.
const (
	process = 100 << 20 // upper bound for a trial without data
	float   = 8
)

// FormulaClasses is the number of classes of the formulas.
const FormulaClasses = 3

// FormulaClass returns the samples of class c, from 0, of the formulas: rows×dim.
func FormulaClass(c, rows, dim int) *mat.Dense {
	y := mat.NewDense(rows, dim, nil)
	for i := range rows {
		for j := range dim {
			a, b := float64(i+1), float64(j+1)
			y.Set(i, j, math.Sin(.37*a*b+a+float64(c))+.6*float64(c)*math.Cos(.5*b))
		}
	}
	return y
}

// queriesOf returns the five queries, 5×dim. None is a sample: the first is .8 times a
// row between the seventh and the eighth of class 0, the last is constant.
func queriesOf(dim int) *mat.Dense {
	formulas := []func(j float64) float64{
		func(j float64) float64 { return .8 * math.Sin(.37*7.5*j+7.5) },
		func(j float64) float64 { return math.Sin(.9*j+1) + .6*math.Cos(.5*j) },
		func(j float64) float64 { return .3*math.Sin(1.7*j) + 1.2*math.Cos(.5*j) },
		func(j float64) float64 { return 1.5 * math.Cos(.11*j*j) },
		func(float64) float64 { return .25 },
	}
	q := mat.NewDense(len(formulas), dim, nil)
	for i, f := range formulas {
		for j := range dim {
			q.Set(i, j, f(float64(j+1)))
		}
	}
	return q
}

// runReference fits a machine to each class with the paper's iteration (43), and reports
// its parameters and the distances (Eq. 53) of the queries.
func runReference(ctx context.Context, t *experiment.Trial, s *ReferenceSettings,
) (*experiment.Outcome[ReferenceMetrics], error) {
	e := engine.Of(t.Engine)
	queries := queriesOf(s.Dim)
	rows, _ := queries.Dims()
	nearest, class := make([]float64, rows), make([]int, rows)
	for i := range nearest {
		nearest[i] = math.Inf(1)
	}
	out := ReferenceMetrics{Lambda: map[string]float64{}, Iterations: map[string]float64{},
		Gamma: map[string]float64{}, Class: map[string]float64{}}
	for c := range FormulaClasses {
		m, err := hull.Fit(ctx, e, FormulaClass(c, s.Rows, s.Dim),
			hull.Options{Dim: s.N, Layers: s.Layers, Iteration: hull.Picard})
		if err != nil {
			return nil, err
		}
		for l := range m.Layers() {
			of := fmt.Sprintf("c%d_l%d", c, l+1)
			out.Lambda[of], out.Iterations[of] = m.Lambda(l), float64(m.Iterations(l))
		}
		distances, err := m.Distances(ctx, e, queries)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			_, d := hull.NearestLayer(distances.RawRowView(i))
			out.Gamma[fmt.Sprintf("q%d_c%d", i+1, c)] = d
			if d < nearest[i] {
				nearest[i], class[i] = d, c
			}
		}
	}
	for i, c := range class {
		out.Class[fmt.Sprintf("q%d", i+1)] = float64(c)
	}
	return &experiment.Outcome[ReferenceMetrics]{Metrics: out, Warnings: e.Warnings()}, nil
}
