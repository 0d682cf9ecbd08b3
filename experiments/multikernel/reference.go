package multikernel

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/graphs/multikernel"
	"privkern/runner/experiment"
)

func reference() *experiment.Experiment {
	return &experiment.Experiment{
		Name:    "multikernel/reference",
		Version: 1,
		Summary: "compressive kernels of formula-generated data, to compare implementations to the last digits",
		Source:  "Chanyaswad, Chang and Kung 2017, Eqs. (8), (13), (17), (20) and (21); the data are this project's",
		Params: append([]experiment.Param{
			count("rows", 60, minReferenceRows, maxReferenceRows, "samples: X_ij = sin(0.7i + 1.3j) + 0.1cos(ij) + 0.6sin(2(i mod 3) + j) + 0.4cos(3(i mod 4) + 2j), i and j from 0, with the utility label i mod 3 and the privacy label i mod 4"),
			count("features", 7, 1, 1000, "columns"),
			{Name: "kernels", Kind: experiment.Text, Default: "linear+rbf:0.01+laplacian:0.1", Doc: "kernels with + between them: " + kernelNotation},
		}, compressionParams(2, "two tell three classes apart")...),
		Metrics: []experiment.Metric{
			{Name: "trace_*", Doc: "trace_rbf: trace of the compressive kernel before it is scaled to one; kernels of one family are numbered from 1 in their order, as trace_rbf_1"},
			{Name: "snr0_*", Doc: "SNR with the ridge term 0 (Eq. 20)"},
			{Name: "snr01_*", Doc: "SNR with the ridge term 0.1"},
			{Name: "weight_*", Doc: "weight of the kernel, its share of the SNR with 0.1 (Eq. 21)"},
			{Name: "upr01_*", Doc: "utility-to-privacy ratio with the ridge term 0.1 (Eq. 23)"},
			{Name: "frobenius", Doc: "Frobenius norm of the multi-kernel with these weights"},
			{Name: "rank", Doc: "its rank"},
		},
		Memory: referenceMemory,
		Check: func(p experiment.Params) error {
			_, err := parseKernels(p.Text("kernels"))
			return err
		},
		Run: runReference,
	}
}

// The formula has three classes, and kernel matrices grow with the square of
// the rows.
const (
	minReferenceRows = 4
	maxReferenceRows = 5000
)

func formulaSamples(rows, features int) Samples {
	s := Samples{X: mat.NewDense(rows, features, nil), Utility: make([]int, rows), Privacy: make([]int, rows)}
	for i := range rows {
		s.Utility[i], s.Privacy[i] = i%3, i%4
		for j := range features {
			a, b, u, p := float64(i), float64(j), float64(i%3), float64(i%4)
			s.X.Set(i, j, math.Sin(.7*a+1.3*b)+.1*math.Cos(a*b)+.6*math.Sin(2*u+b)+.4*math.Cos(3*p+2*b))
		}
	}
	return s
}

// referenceRidge is the paper's ρ_snr other than zero.
const referenceRidge = .1

func runReference(ctx context.Context, t *experiment.Trial) (result *experiment.Result, err error) {
	e, err := engine.Open(t.Backend, t.DType, t.Workers)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	kernels, err := parseKernels(t.Params.Text("kernels"))
	if err != nil {
		return nil, err
	}
	samples := formulaSamples(t.Params.Int("rows"), t.Params.Int("features"))
	factors := make([]*mat.Dense, len(kernels))
	for l, k := range kernels {
		p, err := multikernel.Fit(ctx, e, k.kernel, samples.X, samples.Utility, compression(t.Params))
		if err != nil {
			return nil, err
		}
		factors[l] = p.Features
	}
	set, err := multikernel.NewSet(ctx, e, factors, samples.Utility, samples.Privacy)
	if err != nil {
		return nil, err
	}
	metrics, err := referenceMetrics(set, metricNames(kernels))
	if err != nil {
		return nil, err
	}
	return &experiment.Result{Metrics: metrics, Warnings: e.Warnings()}, nil
}

func referenceMetrics(set *multikernel.Set, names []string) (map[string]float64, error) {
	plain, err := set.SNR(0)
	if err != nil {
		return nil, err
	}
	ridged, err := set.SNR(referenceRidge)
	if err != nil {
		return nil, err
	}
	upr, err := set.UtilityToPrivacy(referenceRidge)
	if err != nil {
		return nil, err
	}
	weights, err := multikernel.UnitNorm(ridged)
	if err != nil {
		return nil, err
	}
	rank, err := set.Rank(weights)
	if err != nil {
		return nil, err
	}
	metrics := map[string]float64{"frobenius": set.Frobenius(weights), "rank": float64(rank)}
	for l, name := range names {
		metrics["trace_"+name], metrics["snr0_"+name], metrics["snr01_"+name] = set.Trace(l), plain[l], ridged[l]
		metrics["upr01_"+name], metrics["weight_"+name] = upr[l], weights[l]
	}
	return metrics, nil
}
