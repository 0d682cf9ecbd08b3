package privacygp

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/privacygp/process"
	"privkern/experiments/privacygp/sdp"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// example1 is the paper's Example 1 and Figure 1: one sensitive input, with optimal noise,
// independent noise and none.
var example1 = experiment.Of(experiment.Declaration[*example1Settings, example1Metrics]{
	Name:     "privacygp/example1",
	Version:  5,
	Summary:  "one sensitive input: optimal noise, independent noise, no noise",
	Source:   source + "Example 1, Figure 1",
	Seedless: func(*example1Settings) bool { return true },
	Check:    func(s *example1Settings) error { return checkTolerance("xi", s.Xi) },
	Memory:   func(s *example1Settings) int64 { return matrixMemory(22, s.Points) },
	Run:      runExample1,
})

func runExample1(
	ctx context.Context, t *experiment.Trial, s *example1Settings,
) (*experiment.Outcome[example1Metrics], error) {
	p, err := process.New(engine.Of(t.Engine), s.Theta, s.NoiseVariance, grid(s.Points))
	if err != nil {
		return nil, err
	}
	cross, err := p.Between(p.X, []float64{s.S})
	if err != nil {
		return nil, err
	}
	best, err := p.StrongNoise(cross, mat.NewDense(1, 1, []float64{1 - s.Xi}))
	if err != nil {
		return nil, err
	}
	independent, err := sdp.SolveDiagonal(ctx, p.Covariance(), mat.Col(nil, 0, cross), 1-s.Xi, solving(t))
	if err != nil {
		return nil, err
	}
	if err := checkGap("the diagonal SDP", independent, diagonalGap); err != nil {
		return nil, err
	}

	m := example1Metrics{
		TraceOptimal: best.Trace, RankOptimal: float64(best.Rank),
		TraceDiagonal: independent.Trace, GapDiagonal: independent.Gap(),
		VarianceAtS: byMethod{}, VarianceAt0: byMethod{},
		noiseShape: nearAndFar(p.X, s.S, best.Sigma), spectrum: spectrumOf(p),
	}
	if best.Trace > 0 {
		m.TraceInflation = new(independent.Trace / best.Trace)
	}
	at := append([]float64{s.S, 0}, linspace(0, 1, 101)...)
	curves := experiment.Series{"x": at[2:]}
	for _, c := range []struct {
		method
		sigma mat.Matrix
	}{{unsecured, nil}, {optimal, best.Sigma}, {diagonal, independent.Sigma}} {
		name := c.method.String()
		variance, err := p.PredictiveVariance(c.sigma, at)
		if err != nil {
			return nil, fmt.Errorf("predictive variance, %s: %w", name, err)
		}
		if c.sigma != nil {
			if err := p.CheckMet("the "+name+" noise", s.S, variance[0], s.Xi); err != nil {
				return nil, err
			}
		}
		m.VarianceAtS[name], m.VarianceAt0[name] = variance[0], variance[1]
		curves[name] = variance[2:]
	}
	return &experiment.Outcome[example1Metrics]{
		Metrics: m,
		Series: map[string]experiment.Series{
			"covariance": matrixSeries(p.X, best.Sigma),
			"noise_variance": {"x": p.X, optimal.String(): diagonalOf(best.Sigma),
				diagonal.String(): diagonalOf(independent.Sigma)},
			"predictive_variance": curves,
		},
		Privacy: privacy(
			fmt.Sprintf("Var[f(s)|W] >= %s at s = %s", experiment.FormatNumber(s.Xi), experiment.FormatNumber(s.S)),
			"the output at the sensitive input s (prior variance 1)",
			len(p.X), best.Rank, s.NoiseVariance, recordHoldsNoOutputs),
		Warnings: append(p.Warnings(), exactWarning(p, s.NoiseVariance, []float64{s.S})...),
	}, nil
}

// nearAndFar measures where the optimal noise lies and how it is correlated:
// within 0.2 of s, the inputs 0.3 to 0.7 of the paper's example, and outside.
func nearAndFar(x []float64, s float64, sigma *mat.Dense) noiseShape {
	var near []int
	least, most, correlation := math.Inf(1), 0.0, 1.0
	for i := range x {
		if math.Abs(x[i]-s) <= 0.2+1e-9 {
			near = append(near, i)
			least = math.Min(least, sigma.At(i, i))
		} else {
			most = math.Max(most, sigma.At(i, i))
		}
	}
	if len(near) == 0 {
		least = 0
	}
	for _, i := range near {
		for _, j := range near {
			c := 0.0 // no noise, no correlation
			if scale := math.Sqrt(sigma.At(i, i) * sigma.At(j, j)); scale > 0 {
				c = math.Abs(sigma.At(i, j)) / scale
			}
			correlation = math.Min(correlation, c)
		}
	}
	return noiseShape{NearMin: least, FarMax: most, CorrelationMin: correlation}
}

func diagonalOf(a mat.Matrix) []float64 {
	n, _ := a.Dims()
	out := make([]float64, n)
	for i := range out {
		out[i] = a.At(i, i)
	}
	return out
}

// matrixSeries keeps a matrix, n×n, over the inputs x as a series. The names of its
// columns sort as the columns do.
func matrixSeries(x []float64, a mat.Matrix) experiment.Series {
	s := experiment.Series{"x": x}
	for j := range x {
		s[fmt.Sprintf("column_%04d", j+1)] = mat.Col(nil, j, a)
	}
	return s
}
