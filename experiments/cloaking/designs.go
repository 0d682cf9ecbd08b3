package cloaking

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/cloaking/design"
	"privkern/experiments/dataset"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

func designs() *experiment.Experiment {
	params := []experiment.Param{
		choice("inputs", inputsAge, "public training inputs: the ages of the !Kung females, or 120 ages from the formula 84·((i+1/2)/120)^(3/2), which needs no data", inputsAge, inputsSynthetic),
		{Name: "test_points", Kind: experiment.Numbers, Default: "0..84 step 7", Unit: "years", Doc: "inputs at which predictions are released"},
	}
	params = append(params, hyperparameters()...)
	params = append(params,
		choice("method", methodStandard, "GP or sparse GP (FITC)", methodStandard, methodSparse),
		experiment.Param{Name: "inducing_points", Kind: experiment.CountOrNumbers, Default: 5, Unit: "years", Doc: "sparse: the inducing inputs, or how many k-means places"}.Where(isSparse),
	)
	params = append(params, solverParams(gradientSteps)...)
	return &experiment.Experiment{
		Name:    "cloaking/design",
		Version: 3,
		Summary: "the noise covariance of the cloaking mechanism, with its certificate",
		Source:  "Smith, Álvarez and Lawrence 2019, Section 1.1, Eqs. (1), (2) and (4)",
		Params:  params,
		Metrics: []experiment.Metric{
			{Name: "frobenius_c", Doc: "Frobenius norm of the cloaking matrix C, one column per training row"},
			{Name: "rank", Doc: "number of released directions"},
			{Name: "logdet_m", Doc: "log-determinant of M on its range, in nats"},
			{Name: "logdet_range", Doc: "log-determinant of M in the whitened coordinates of the range of C"},
			{Name: "trace_m", Doc: "trace of M"},
			{Name: "max_column_norm_sq", Doc: "largest squared norm of a column of C: the variance that spherical noise needs"},
			{Name: "sum_lambda", Doc: "sum of the weights; the rank at the optimum"},
			{Name: "max_mahalanobis", Doc: "largest Mahalanobis norm of a column of the computed cloaking matrix, by which the noise is scaled"},
			{Name: "gap", Doc: "certificate for the computed cloaking matrix, after that scaling: " + gapMeaning},
			{Name: "iterations", Doc: "steps that the solver took"},
			{Name: "time_s", Unit: "s", Timing: true, Doc: "wall time of the solver; differs from run to run"},
		},
		Datasets: func(p experiment.Params) []string {
			if p.Text("inputs") == inputsSynthetic {
				return nil
			}
			return []string{dataKung}
		},
		Check: checkDesign,
		Run:   runDesign,
	}
}

func checkDesign(p experiment.Params) error {
	if err := checkPoints(p, "test_points"); err != nil {
		return err
	}
	rows := dataset.KungFemales
	if p.Text("inputs") == inputsSynthetic {
		rows, _ = syntheticInputs().Dims()
	}
	return checkInducing(p, "inducing_points", rows)
}

func runDesign(ctx context.Context, t *experiment.Trial) (result *experiment.Result, err error) {
	p := t.Params
	train := syntheticInputs()
	if p.Text("inputs") != inputsSynthetic {
		kung, err := dataset.LoadKung(t.Dataset(dataKung))
		if err != nil {
			return nil, err
		}
		train = inputsOf(kung, inputsAge)
	}
	e, err := engine.Open(t.Backend, t.DType, t.Workers)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	m := modelOf(p, train)
	if m.method == methodSparse {
		if m.inducing, err = inducingInputs(ctx, p.Points("inducing_points"), train, t.Stream("k-means")); err != nil {
			return nil, err
		}
	}
	points := p.Numbers("test_points")
	c, err := m.matrix(e, train, mat.NewDense(len(points), 1, points))
	if err != nil {
		return nil, err
	}
	start := time.Now()
	ranges, solved, err := solveDesigns(ctx, e, []*mat.Dense{c}, p, func(done, total int) { t.Progress(done, total, "steps") })
	if err != nil {
		return nil, err
	}
	elapsed := time.Since(start).Seconds()
	r, d := ranges[0], solved[0]
	_, n := c.Dims()
	largest := 0.0
	for j := range n {
		largest = max(largest, mat.Norm(c.ColView(j), 2))
	}
	return &experiment.Result{
		Metrics: map[string]float64{
			"frobenius_c":        mat.Norm(c, 2),
			"rank":               float64(len(r.Scale)),
			"logdet_m":           d.LogDet,
			"logdet_range":       d.LogDetRange,
			"trace_m":            d.Trace,
			"max_column_norm_sq": largest * largest,
			"sum_lambda":         d.SumLambda,
			"max_mahalanobis":    d.MaxMahalanobis,
			"gap":                d.Gap,
			"iterations":         float64(d.Iterations),
			"time_s":             elapsed,
		},
		Series: map[string]experiment.Series{
			"noise_over_age":   {"x": points, "noise_sd": noiseSD(d, 1)},
			"weights_over_age": weightsOverAge(train, r, d),
		},
		Warnings: slices.Concat(e.Warnings(), rankWarnings(r), precisionWarnings(e, []quality{qualityOf(r, d)}, p), designWarnings([]quality{qualityOf(r, d)})),
	}, nil
}

// weightsOverAge lists the weight of every distinct input.
func weightsOverAge(train *mat.Dense, r *design.Range, d *design.Design) experiment.Series {
	var x, weight []float64
	for _, column := range r.Distinct() {
		x = append(x, train.At(column, 0))
		weight = append(weight, d.Lambda[column])
	}
	return experiment.Series{"x": x, "lambda": weight}
}

// rankWarnings says what a release leaves out.
func rankWarnings(r *design.Range) []string {
	if r.Dropped == 0 {
		return nil
	}
	points, rank := r.U.Dims()
	return []string{fmt.Sprintf("rank %d of %d: what is released is the projection of the predictions; the largest direction left out has singular value %.3g of %.3g", rank, points, r.Dropped, r.Scale[0])}
}
