package cloaking

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/graphs/kernel"
	"privkern/runner/experiment"
)

// Ten inputs 0, 1, …, 9 and their labels, and the inducing inputs of the sparse
// approximation.
var (
	referenceLabels   = []float64{1, 1, -1, 1, 1, -1, -1, 1, -1, -1}
	referenceInducing = []float64{0, 3, 6, 9}
)

func reference() *experiment.Experiment {
	return &experiment.Experiment{
		Name:    "cloaking/reference",
		Version: 1,
		Summary: "a Laplace approximation at ten points, to compare implementations to the last digits",
		Source:  "Smith, Álvarez and Lawrence 2019, Section 3; the data are this project's",
		Params: []experiment.Param{
			choice("method", methodStandard, "the GP, or its subset-of-regressors approximation with the inducing inputs 0, 3, 6 and 9 (Eq. 7)", methodStandard, methodSparse),
			positive("lengthscale", 2.0, "", "lengthscale of the EQ kernel"),
			positive("kernel_variance", 1.0, "", "variance of the kernel"),
			{Name: "at", Kind: experiment.Number, Default: 3.2, Doc: "test input"},
		},
		Metrics: []experiment.Metric{
			{Name: "frobenius_c", Doc: "Frobenius norm of the cloaking matrix C of the first Newton step, from f = 0 (Eq. 6)"},
			{Name: "f_0_step", Doc: "latent function at input 0 after one step"},
			{Name: "mean_step", Doc: "latent mean at the test input after one step"},
			{Name: "f_0_mode", Doc: "latent function at input 0 at the mode"},
			{Name: "mean_mode", Doc: "latent mean at the test input at the mode"},
			{Name: "variance_mode", Doc: "latent variance at the test input at the mode (DTC's with method=sparse)"},
			stepsMetric,
		},
		Run: runReference,
	}
}

func runReference(ctx context.Context, t *experiment.Trial) (result *experiment.Result, err error) {
	e, err := engine.Open(t.Backend, t.DType, t.Workers)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	n := len(referenceLabels)
	x := mat.NewDense(n, 1, nil)
	for i := range n {
		x.Set(i, 0, float64(i))
	}
	k := kernel.EQ(t.Params.Float("lengthscale"), t.Params.Float("kernel_variance"))
	cov := &covariances{prior: []float64{t.Params.Float("kernel_variance")}}
	test := mat.NewDense(1, 1, []float64{t.Params.Float("at")})
	counts := slices.Repeat([]float64{1}, n)
	if t.Params.Text("method") == methodStandard {
		err = cov.full(e, k, x, counts, test)
	} else {
		err = cov.sparse(ctx, e, k, mat.NewDense(len(referenceInducing), 1, slices.Clone(referenceInducing)), x, counts, test, approximationDTC)
	}
	if err != nil {
		return nil, err
	}
	values, _, err := cov.model.Spectrum(ctx, make([]float64, n))
	if err != nil {
		return nil, err
	}
	square := 0.0
	for _, v := range values {
		square += v * v
	}
	metrics := map[string]float64{"frobenius_c": math.Sqrt(square)}
	at, err := findMode(ctx, e, cov.model, referenceLabels, counts, convergedSteps, func(at *mode) {
		name := "mode"
		if at.steps == 1 {
			name = "step"
		}
		metrics["f_0_"+name], metrics["mean_"+name] = at.f[0], dot(mat.Col(nil, 0, cov.cross), at.dual)
	})
	if err != nil {
		return nil, err
	}
	if !at.converged() {
		return nil, at.short()
	}
	part, err := cov.model.Variance(ctx, at.f, cov.cross)
	if err != nil {
		return nil, err
	}
	metrics["variance_mode"] = cov.prior[0] + cov.sign*part[0]
	metrics[stepsMetric.Name] = float64(at.steps)
	return &experiment.Result{Metrics: metrics, Warnings: e.Warnings()}, nil
}
