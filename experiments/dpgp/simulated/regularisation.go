package simulated

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dpgp/sparse"
	"privkern/graphs/engine"
	"privkern/graphs/sparsegp"
	"privkern/runner/experiment"
)

var regularisation = experiment.Of(experiment.Declaration[*regularisationSettings, regularisationMetrics]{
	Name:    "dpgp/regularisation",
	Version: 1,
	Summary: "how often the noise exceeds lambda, and the update is not positive definite, with lambda and without",
	Source:  "Honkela 2021, Section 3.3, Eq. (10); Wang 2018, Lemma 6",
	Check:   checkRegularisation,
	Memory:  func(s *regularisationSettings) int64 { return s.Memory(s.N, 5) },
	Run:     runRegularisation,
})

func (s *regularisationSettings) model() *sparse.Model {
	return s.InducingInputs.Model(s.EQKernel, s.Sigma, s.Jitter)
}

func (s *regularisationSettings) calibration(bound sparse.Bound) sparse.Calibration {
	return sparse.Calibration{Unit: 1, Epsilon: s.Epsilon, Delta: s.Delta, OutputBound: s.OutputBound, Ratio: s.Ratio,
		Bound: bound, Spacing: s.AssumedSpacing()}
}

func checkRegularisation(s *regularisationSettings) error {
	if err := s.CheckRows(s.N); err != nil {
		return err
	}
	_, err := s.model().Calibrate(s.calibration(s.CheapBound()))
	return err
}

// noiseSpectrum holds the eigenvalues of one draw.
type noiseSpectrum struct {
	norm   float64 // ‖E_b‖, the largest absolute eigenvalue
	update float64 // the smallest eigenvalue of K_ZZ + σ⁻²(B + E_b)
	sums   float64 // that of B
}

func runRegularisation(
	ctx context.Context, t *experiment.Trial, s *regularisationSettings,
) (*experiment.Outcome[regularisationMetrics], error) {
	model := s.model()
	noise, err := model.Calibrate(s.calibration(s.Bound))
	if err != nil {
		return nil, err
	}
	p := &sparse.Problem{Trial: t, Engine: engine.Of(t.Engine), Model: model, Noise: noise}
	draws, err := sparse.Repeat(ctx, p, s.Repeats, func(ctx context.Context, repeat int) (noiseSpectrum, error) {
		return s.drawOnce(ctx, p, repeat)
	})
	if err != nil {
		return nil, err
	}
	size, n := float64(s.Number()), float64(len(draws))
	bound := noise.SigmaB * math.Sqrt(size*math.Log(2*size*size/s.Rho))
	printed := noise.Ridge(model, s.Rho, sparse.RegularisationPrinted)
	corrected := noise.Ridge(model, s.Rho, sparse.RegularisationCorrected)
	share := func(holds func(noiseSpectrum) bool) float64 {
		count := 0
		for _, d := range draws {
			if holds(d) {
				count++
			}
		}
		return float64(count) / n
	}
	m := regularisationMetrics{
		BoundShare:        share(func(d noiseSpectrum) bool { return d.norm <= bound }),
		PrintedShare:      share(func(d noiseSpectrum) bool { return d.norm/model.Noise <= printed }),
		CorrectedShare:    share(func(d noiseSpectrum) bool { return d.norm/model.Noise <= corrected }),
		DefinitePrinted:   share(func(d noiseSpectrum) bool { return d.update+printed > 0 }),
		DefiniteCorrected: share(func(d noiseSpectrum) bool { return d.update+corrected > 0 }),
		DefiniteNaive:     share(func(d noiseSpectrum) bool { return d.update > 0 }),
		SigmaB:            noise.SigmaB,
	}
	for _, d := range draws {
		m.NormOverBound += d.norm / bound / n
		m.LeastEigenvalue += d.sums / n
	}
	return &experiment.Outcome[regularisationMetrics]{
		Metrics: m, Privacy: manyFits(), Warnings: p.Engine.Warnings(),
	}, nil
}

// drawOnce draws inputs and noise. Outputs have no part in B.
func (s *regularisationSettings) drawOnce(ctx context.Context, p *sparse.Problem, repeat int) (noiseSpectrum, error) {
	x := sparse.UniformInputs(s.N, p.Stream("inputs", repeat))
	sums, err := sparsegp.SumDouble(ctx, p.Engine, p.Model.Inducing, x, make([]float64, s.N), nil)
	if err != nil {
		return noiseSpectrum{}, err
	}
	size := s.Number()
	added := p.Noise.NoisyCopy(sparsegp.Sums{A: make([]float64, size), B: mat.NewDense(size, size, nil)},
		p.Stream("mechanism", repeat)).B
	var update mat.Dense
	update.Add(sums.B, added)
	update.Scale(1/p.Model.Noise, &update)
	for i, z := range s.Points() {
		for j, k := range p.Model.Vector([]float64{z}) {
			update.Set(i, j, update.At(i, j)+k)
		}
		update.Set(i, i, update.At(i, i)+p.Model.Inducing.Jitter)
	}
	var out noiseSpectrum
	low, high, err := extremeEigenvalues(added)
	if err != nil {
		return out, err
	}
	out.norm = max(-low, high)
	if out.update, _, err = extremeEigenvalues(&update); err != nil {
		return out, err
	}
	out.sums, _, err = extremeEigenvalues(sums.B)
	return out, err
}

// extremeEigenvalues returns the smallest and the largest eigenvalue of a symmetric matrix, in
// float64 on every engine, because their signs decide.
func extremeEigenvalues(a *mat.Dense) (low, high float64, err error) {
	n, _ := a.Dims()
	var eigen mat.EigenSym
	if !eigen.Factorize(mat.NewSymDense(n, mat.DenseCopyOf(a).RawMatrix().Data), false) {
		return 0, 0, errors.New("the eigenvalues of a symmetric matrix did not converge")
	}
	values := eigen.Values(nil)
	return values[0], values[n-1], nil
}
