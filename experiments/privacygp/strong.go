package privacygp

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/privacygp/process"
	"privkern/experiments/privacygp/region"
	"privkern/experiments/privacygp/sdp"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// strong is the strongly privacy-aware solution for any number of sensitive inputs, compared with
// the weak one.
var strong = experiment.Of(experiment.Declaration[*strongSettings, strongMetrics]{
	Name:     "privacygp/strong",
	Version:  1,
	Summary:  "strongly privacy-aware noise for many sensitive inputs, beside the weak one",
	Source:   source + "Eqs. (11) and (12), Theorem 2",
	Seedless: func(*strongSettings) bool { return true },
	Check:    checkStrong,
	Memory:   func(s *strongSettings) int64 { return matrixMemory(40, s.Points) },
	Run:      runStrong,
})

func checkStrong(s *strongSettings) error {
	if err := checkSensitive("sensitive_", s.SensitiveLow, s.SensitiveHigh, s.SensitiveCount); err != nil {
		return err
	}
	r := s.region()
	if s.Requirement == kernelMatrix && !r.Contains() {
		return fmt.Errorf("the kernel H = %v exp(-%v (x-y)^2) is inadmissible for K = exp(-%v (x-y)^2): "+
			"K - H must be positive definite, which needs xi < 1 and theta_h in [%v, %v] (Example 3)",
			r.C, r.Theta, r.Theta0, r.Low(), r.Theta0)
	}
	return checkTolerance("xi", s.Xi)
}

func (s *strongSettings) region() region.Region {
	return region.Region{C: s.Xi, Theta: s.ThetaH, Theta0: s.Theta, D: 1}
}

// remaining returns K_SS − Ξ and Ξ at the inputs. kss is K_SS, weak the solution of the
// weak problem.
func (s *strongSettings) remaining(
	e *engine.Engine, inputs []float64, kss *mat.Dense, weak *sdp.Solution,
) (q, xi *mat.Dense, err error) {
	q, xi = mat.DenseCopyOf(kss), &mat.Dense{}
	switch s.Requirement {
	case kernelMatrix:
		if q, err = s.region().Difference(e, process.Column(inputs)); err != nil {
			return nil, nil, err
		}
	case independently:
		for i := range inputs {
			q.Set(i, i, q.At(i, i)-s.Xi)
		}
	case asWeak:
		q = mat.DenseCopyOf(weak.Schur)
	}
	xi.Sub(kss, q)
	return q, xi, nil
}

func runStrong(
	ctx context.Context, t *experiment.Trial, settings *strongSettings,
) (*experiment.Outcome[strongMetrics], error) {
	s := linspace(settings.SensitiveLow, settings.SensitiveHigh, settings.SensitiveCount)
	e := engine.Of(t.Engine)
	p, err := process.New(e, settings.Theta, settings.NoiseVariance, grid(settings.Points))
	if err != nil {
		return nil, err
	}
	cross, err := p.Between(p.X, s)
	if err != nil {
		return nil, err
	}
	kss, err := p.Between(s, s)
	if err != nil {
		return nil, err
	}
	weak, err := sdp.SolveWeak(ctx, p.Covariance(), cross, slices.Repeat([]float64{1 - settings.Xi}, len(s)), solving(t))
	if err != nil {
		return nil, err
	}
	if err := checkGap("the weak SDP", weak, weakGap); err != nil {
		return nil, err
	}
	q, xi, err := settings.remaining(e, s, kss, weak)
	if err != nil {
		return nil, err
	}
	noise, err := p.StrongNoise(cross, q)
	if err != nil {
		return nil, err
	}
	m := strongMetrics{
		TraceStrong: noise.Trace, TraceWeak: weak.Trace, GapWeak: weak.Gap(), Rank: float64(noise.Rank),
		SensitiveRank: float64(noise.Sensitive), spectrum: spectrumOf(p),
	}
	if weak.Trace > 0 {
		m.TraceRatio = new(noise.Trace / weak.Trace)
	}
	if err := m.measure(p, s, xi, noise, weak); err != nil {
		return nil, err
	}
	if err := p.CheckMet("the strong noise", s[0], m.VarianceMin, settings.Xi); err != nil {
		return nil, err
	}
	warnings := append(p.Warnings(), exactWarning(p, settings.NoiseVariance, s)...)
	if m.RequirementMin < -1e-9 {
		warnings = append(warnings, fmt.Sprintf("Xi is not positive semi-definite (its least eigenvalue is %.3g) "+
			"and so not admissible (erratum 2 of Theorem 2)", m.RequirementMin))
	}
	return &experiment.Outcome[strongMetrics]{
		Metrics: m,
		Series: map[string]experiment.Series{
			"noise_variance": {"x": p.X, strongly.String(): diagonalOf(noise.Sigma), weakly.String(): diagonalOf(weak.Sigma)},
		},
		Privacy: privacy(
			fmt.Sprintf("Var[sum b_i f(s_i)|W] >= b'Xi b with diagonal %s at %d sensitive inputs from %s to %s",
				experiment.FormatNumber(settings.Xi), len(s), experiment.FormatNumber(s[0]),
				experiment.FormatNumber(s[len(s)-1])),
			"the outputs at the sensitive inputs and their linear combinations (prior variance 1)",
			len(p.X), noise.Rank, settings.NoiseVariance, recordHoldsNoOutputs),
		Warnings: warnings,
	}, nil
}

// measure adds the effect of the noise at the sensitive inputs s, and its comparison with the weak
// solution. xi is Ξ, γ×γ.
func (m *strongMetrics) measure(
	p *process.Process, s []float64, xi *mat.Dense, noise *process.Noise, weak *sdp.Solution,
) error {
	left, err := p.PredictiveCovariance(noise.Sigma, s)
	if err != nil {
		return err
	}
	variances := diagonalOf(left)
	m.VarianceMin, m.VarianceMax = slices.Min(variances), slices.Max(variances)
	var order mat.Dense
	order.Sub(noise.Sigma, weak.Sigma)
	left.Sub(left, xi)
	for _, x := range []struct {
		a           *mat.Dense
		least, most *float64
	}{{left, &m.CombinationMin, nil}, {xi, &m.RequirementMin, nil}, {&order, &m.OrderMin, &m.OrderMax}} {
		values, err := process.Eigenvalues(x.a)
		if err != nil {
			return err
		}
		*x.least = values[0]
		if x.most != nil {
			*x.most = values[len(values)-1]
		}
	}
	return nil
}
