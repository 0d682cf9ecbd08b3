package classify

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/cloaking/cloak"
	"privkern/graphs/engine"
	"privkern/graphs/laplace"
	"privkern/runner/experiment"
)

// Ten inputs 0, 1, …, 9 and their labels, and the inducing inputs of the sparse
// approximation.
var (
	referenceLabels   = []float64{1, 1, -1, 1, 1, -1, -1, 1, -1, -1}
	referenceInducing = []float64{0, 3, 6, 9}
)

// Reference is a Laplace approximation at ten points.
var Reference = experiment.Of(experiment.Declaration[*referenceSettings, referenceMetrics]{
	Name:     "cloaking/reference",
	Version:  2,
	Summary:  "a Laplace approximation at ten points, to compare implementations to the last digits",
	Source:   "Smith, Álvarez and Lawrence 2019, Section 3; the data are this project's",
	Seedless: func(*referenceSettings) bool { return true },
	Run:      runReference,
})

// referenceInputs are the ten inputs (10×1).
func referenceInputs() *mat.Dense {
	x := mat.NewDense(len(referenceLabels), 1, nil)
	for i := range referenceLabels {
		x.Set(i, 0, float64(i))
	}
	return x
}

// covariances are those of the ten points with themselves and with the test input.
func (s *referenceSettings) covariances(ctx context.Context, e *engine.Engine, counts []float64) (*covariances, error) {
	k := s.EQ()
	x, test := referenceInputs(), mat.NewDense(1, 1, []float64{s.At})
	cov := &covariances{prior: []float64{s.KernelVariance}}
	if s.Method == cloak.Standard {
		return cov, cov.full(e, k, x, counts, test)
	}
	inducing := mat.NewDense(len(referenceInducing), 1, slices.Clone(referenceInducing))
	return cov, cov.sparse(ctx, e, k, inducing, x, counts, test, DTC)
}

func runReference(
	ctx context.Context, t *experiment.Trial, s *referenceSettings,
) (*experiment.Outcome[referenceMetrics], error) {
	e := engine.Of(t.Engine)
	counts := slices.Repeat([]float64{1}, len(referenceLabels))
	cov, err := s.covariances(ctx, e, counts)
	if err != nil {
		return nil, err
	}
	defer cov.model.Close()
	return s.fit(ctx, e, cov, convergedSteps)
}

// fit computes the mode in at most the given number of Newton steps.
func (s *referenceSettings) fit(
	ctx context.Context, e *engine.Engine, cov *covariances, most int,
) (*experiment.Outcome[referenceMetrics], error) {
	values, _, err := cov.model.Spectrum(ctx, make([]float64, len(referenceLabels)))
	if err != nil {
		return nil, err
	}
	square := 0.0
	for _, v := range values {
		square += v * v
	}
	m := referenceMetrics{FrobeniusC: math.Sqrt(square)}
	first, err := s.mode(ctx, e, cov, 1)
	if err != nil {
		return nil, err
	}
	m.StepLatent, m.StepMean = first.Latent[0], dot(mat.Col(nil, 0, cov.cross), first.Dual)
	at, err := s.mode(ctx, e, cov, most)
	if err != nil {
		return nil, err
	}
	if !converged(at, e) {
		return nil, short(at, e)
	}
	if at.Steps > 1 {
		m.ModeLatent, m.ModeMean = &at.Latent[0], new(dot(mat.Col(nil, 0, cov.cross), at.Dual))
	}
	part, err := cov.model.Variance(ctx, at.Latent, cov.cross)
	if err != nil {
		return nil, err
	}
	m.ModeVariance, m.Steps = cov.prior[0]+cov.sign*part[0], float64(at.Steps)
	return &experiment.Outcome[referenceMetrics]{Metrics: m, Warnings: e.Warnings()}, nil
}

// mode is where some Newton steps lead.
func (s *referenceSettings) mode(ctx context.Context, e *engine.Engine, cov *covariances,
	steps int) (*laplace.Mode, error) {
	modes, err := laplace.Modes(ctx, e, []laplace.Problem{{Model: cov.model, Sums: referenceLabels}}, steps)
	if err != nil {
		return nil, err
	}
	return &modes[0], modes[0].Err
}
