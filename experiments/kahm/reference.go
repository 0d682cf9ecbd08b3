package kahm

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/graphs/kahm"
	"privkern/runner/experiment"
)

func reference() *experiment.Experiment {
	return &experiment.Experiment{
		Name:    "kahm/reference",
		Version: 1,
		Summary: "machines of formula-generated data, to compare implementations to the last digits",
		Source:  "Kumar, Moser and Fischer, Definitions 1 to 4 and 7; the data are this project's",
		Params: []experiment.Param{
			count("rows", 40, 2, 2000, "samples of each of the three classes: Y_ij = sin(0.37ij + i + c) + 0.6c·cos(0.5j)"),
			count("dim", 12, 1, 2000, "columns"),
			count("n", 5, 1, maxDim, "subspace dimension"),
			count("layers", 3, 1, maxDim, "layers, at most n"),
		},
		Metrics: []experiment.Metric{
			{Name: "lambda_*", Doc: "lambda_c0_l1: regularisation parameter λ* of class 0, layer 1, found by the paper's iteration (43)"},
			{Name: "iterations_*", Doc: "iterations_c0_l1: how many iterations that took"},
			{Name: "gamma_*", Doc: "gamma_q1_c0: distance of query 1 to class 0 (Eq. 53)"},
			{Name: "class_*", Doc: "class_q1: class of query 1, from 0"},
		},
		Memory: referenceMemory,
		Check: func(p experiment.Params) error {
			if n, dim := p.Int("n"), p.Int("dim"); n > dim {
				return fmt.Errorf("n = %d: the samples have only %d columns", n, dim)
			}
			return checkPipeline(p)
		},
		Run: runReference,
	}
}

const referenceClasses = 3

// formulaClass returns the samples of class c, rows×dim.
func formulaClass(c, rows, dim int) *mat.Dense {
	y := mat.NewDense(rows, dim, nil)
	for i := range rows {
		for j := range dim {
			a, b := float64(i+1), float64(j+1)
			y.Set(i, j, math.Sin(.37*a*b+a+float64(c))+.6*float64(c)*math.Cos(.5*b))
		}
	}
	return y
}

// formulaQueries returns the five queries, 5×dim.
func formulaQueries(dim int) *mat.Dense {
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

func runReference(ctx context.Context, t *experiment.Trial) (result *experiment.Result, err error) {
	e, err := engine.Open(t.Backend, t.DType, t.Workers)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	p := t.Params
	queries := formulaQueries(p.Int("dim"))
	rows, _ := queries.Dims()
	nearest, class := make([]float64, rows), make([]int, rows)
	for i := range nearest {
		nearest[i] = math.Inf(1)
	}
	metrics := map[string]float64{}
	for c := range referenceClasses {
		m, err := kahm.Fit(ctx, e, formulaClass(c, p.Int("rows"), p.Int("dim")), kahm.Options{Dim: p.Int("n"), Layers: p.Int("layers"), Iteration: kahm.Picard})
		if err != nil {
			return nil, err
		}
		for l := range m.Layers() {
			metrics[fmt.Sprintf("lambda_c%d_l%d", c, l+1)] = m.Lambda(l)
			metrics[fmt.Sprintf("iterations_c%d_l%d", c, l+1)] = float64(m.Iterations(l))
		}
		distances, err := m.Distances(ctx, e, queries)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			_, d := kahm.NearestLayer(distances.RawRowView(i))
			metrics[fmt.Sprintf("gamma_q%d_c%d", i+1, c)] = d
			if d < nearest[i] {
				nearest[i], class[i] = d, c
			}
		}
	}
	for i, c := range class {
		metrics[fmt.Sprintf("class_q%d", i+1)] = float64(c)
	}
	return &experiment.Result{Metrics: metrics, Warnings: e.Warnings()}, nil
}
