package privacygp

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/privacygp/process"
	"privkern/experiments/privacygp/region"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// nested is G(S) of Eq. (13) for finer and finer finite subsets S of an interval, Theorems
// 3 and 4.
//
// Its limit is known. K − H is a kernel whose functions are analytic, so that those on an
// interval determine those on the line with their norms, and G of the interval is G(R) of
// Proposition 2 (erratum 4).
var nested = experiment.Of(experiment.Declaration[*nestedSettings, nestedMetrics]{
	Name:     "privacygp/nested",
	Version:  1,
	Summary:  "noise for finer and finer sets of sensitive inputs, and their limit",
	Source:   source + "Section 4.4, Eq. (13), Theorems 3 and 4",
	Seedless: func(*nestedSettings) bool { return true },
	Check:    checkNested,
	Memory:   func(s *nestedSettings) int64 { return matrixMemory(24, max(s.Points, 1<<s.Levels+1)) },
	Run:      runNested,
})

func (s *nestedSettings) region() region.Region {
	return region.Region{C: s.C, Theta: s.Theta, Theta0: s.Theta0, D: 1}
}

func checkNested(s *nestedSettings) error {
	if err := checkSensitive("", s.Low, s.High, 1<<s.Levels+1); err != nil {
		return err
	}
	return checkUniform(s.region())
}

func runNested(
	ctx context.Context, t *experiment.Trial, settings *nestedSettings,
) (*experiment.Outcome[nestedMetrics], error) {
	e, r := engine.Of(t.Engine), settings.region()
	p, err := process.New(e, r.Theta0, 0, grid(settings.Points))
	if err != nil {
		return nil, err
	}
	limit, _, err := innerProducts(ctx, r, settings.Points)
	if err != nil {
		return nil, err
	}
	uniformly, err := p.PSDNoise(limit)
	if err != nil {
		return nil, err
	}
	a := &ascent{Process: p, limit: limit, uniformly: uniformly,
		metrics: nestedMetrics{TraceUniform: uniformly.Trace, IncreaseMin: math.Inf(1),
			conditioning: conditioning{p.Condition}}}
	var last *process.Noise
	for level := 1; level <= settings.Levels; level++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		t.Progress(level-1, settings.Levels, "sets of inputs")
		if last, err = a.add(e, r, linspace(settings.Low, settings.High, 1<<level+1)); err != nil {
			return nil, err
		}
	}
	m := &a.metrics
	if settings.Levels == 1 {
		m.IncreaseMin = 0
	}
	if m.NormUniform, err = norm(limit); err != nil {
		return nil, err
	}
	return &experiment.Outcome[nestedMetrics]{
		Metrics: *m,
		Series:  map[string]experiment.Series{"levels": a.series},
		Privacy: privacy(
			fmt.Sprintf("Var[f(s)|W] >= %s at %d inputs from %s to %s", experiment.FormatNumber(r.C),
				1<<settings.Levels+1, experiment.FormatNumber(settings.Low), experiment.FormatNumber(settings.High)),
			"the outputs at these inputs, and linear combinations of outputs (prior variance 1)",
			len(p.X), last.Rank, 0, recordHoldsNoOutputs),
		Warnings: p.Warnings(),
	}, nil
}

// ascent follows G(S) up to its limit.
type ascent struct {
	*process.Process
	limit     *mat.Dense // n×n
	uniformly *process.Noise
	before    *mat.Dense // G of the set before; nil for none
	metrics   nestedMetrics
	series    experiment.Series
}

// add takes the next set of inputs, which holds those before, and returns its noise.
func (a *ascent) add(e *engine.Engine, r region.Region, s []float64) (*process.Noise, error) {
	cross, err := a.Between(a.X, s)
	if err != nil {
		return nil, err
	}
	q, err := r.Difference(e, process.Column(s))
	if err != nil {
		return nil, err
	}
	g, known, err := a.Inner(cross, q)
	if err != nil {
		return nil, err
	}
	noise, err := a.PSDNoise(g)
	if err != nil {
		return nil, err
	}
	m := &a.metrics
	scale := a.limit.At(0, 0)
	m.Distance = distance(g, a.limit) / scale
	m.NoiseDistance = distance(noise.Sigma, a.uniformly.Sigma) / scale
	m.Trace, m.Points, m.SensitiveRank = noise.Trace, float64(len(s)), float64(known)
	if m.BelowMin, err = leastDifference(a.limit, g); err != nil {
		return nil, err
	}
	if m.Norm, err = norm(g); err != nil {
		return nil, err
	}
	if a.before == nil {
		m.DistanceFirst = m.Distance
		a.series = experiment.Series{"points": nil, "trace": nil, "distance": nil, "noise_distance": nil}
	} else {
		increase, err := leastDifference(g, a.before)
		if err != nil {
			return nil, err
		}
		m.IncreaseMin = math.Min(m.IncreaseMin, increase)
	}
	a.before = g
	for name, v := range map[string]float64{"points": m.Points, "trace": m.Trace, "distance": m.Distance,
		"noise_distance": m.NoiseDistance} {
		a.series[name] = append(a.series[name], v)
	}
	return noise, nil
}

// distance is the largest difference of two matrices' entries.
func distance(a, b mat.Matrix) float64 {
	var d mat.Dense
	d.Sub(a, b)
	return math.Max(mat.Max(&d), -mat.Min(&d))
}

// leastDifference is the least eigenvalue of a − b.
func leastDifference(a, b *mat.Dense) (float64, error) {
	var d mat.Dense
	d.Sub(a, b)
	values, err := process.Eigenvalues(&d)
	if err != nil {
		return 0, err
	}
	return values[0], nil
}

// norm is the largest eigenvalue of a positive semi-definite matrix: t·I − a is positive
// semi-definite for the t from it up.
func norm(a *mat.Dense) (float64, error) {
	values, err := process.Eigenvalues(a)
	if err != nil {
		return 0, err
	}
	return values[len(values)-1], nil
}
