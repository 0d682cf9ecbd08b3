package recognise

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/multikernel/kernellist"
	"privkern/graphs/discriminant"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

var reference = experiment.Of(experiment.Declaration[*ReferenceSettings, ReferenceMetrics]{
	Name:     "multikernel/reference",
	Version:  2,
	Summary:  "compressive kernels of formula-generated data, to compare implementations to the last digits",
	Source:   "Chanyaswad, Chang and Kung 2017, Eqs. (8), (13), (17), (20) and (21); the data are this project's",
	Seedless: func(*ReferenceSettings) bool { return true },
	Memory:   referenceMemory,
	Check: func(s *ReferenceSettings) error {
		_, err := kernellist.Parse(s.Kernels)
		return err
	},
	Run: runReference,
})

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

func runReference(ctx context.Context, t *experiment.Trial,
	s *ReferenceSettings) (*experiment.Outcome[ReferenceMetrics], error) {
	e := engine.Of(t.Engine)
	kernels, err := kernellist.Parse(s.Kernels)
	if err != nil {
		return nil, err
	}
	samples := formulaSamples(s.Rows, s.Features)
	factors := make([]*mat.Dense, len(kernels))
	for l, k := range kernels {
		p, err := discriminant.Fit(ctx, e, k.Kernel, samples.X, samples.Utility, s.options())
		if err != nil {
			return nil, err
		}
		factors[l] = p.Features
	}
	set, err := discriminant.NewSet(ctx, e, factors, samples.Utility, samples.Privacy)
	if err != nil {
		return nil, err
	}
	metrics, err := referenceMetrics(set, kernellist.MetricNames(kernels))
	if err != nil {
		return nil, err
	}
	return &experiment.Outcome[ReferenceMetrics]{Metrics: metrics, Warnings: e.Warnings()}, nil
}

func referenceMetrics(set *discriminant.Set, names []string) (m ReferenceMetrics, err error) {
	plain, err := set.SNR(0)
	if err != nil {
		return m, err
	}
	ridged, err := set.SNR(referenceRidge)
	if err != nil {
		return m, err
	}
	upr, err := set.UtilityToPrivacy(referenceRidge)
	if err != nil {
		return m, err
	}
	weights, err := discriminant.UnitNorm(ridged)
	if err != nil {
		return m, err
	}
	rank, err := set.Rank(weights)
	if err != nil {
		return m, err
	}
	traces := make([]float64, len(names))
	for l := range traces {
		traces[l] = set.Trace(l)
	}
	family := func(values []float64) map[string]float64 {
		out := map[string]float64{}
		for l, name := range names {
			out[name] = values[l]
		}
		return out
	}
	return ReferenceMetrics{
		Trace: family(traces), SNR0: family(plain), SNR01: family(ridged), Weight: family(weights), UPR01: family(upr),
		Frobenius: set.Frobenius(weights), Rank: float64(rank),
	}, nil
}
