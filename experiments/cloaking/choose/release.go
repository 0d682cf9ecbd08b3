package choose

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/learn"
	"privkern/experiments/method"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

// checkRelease refuses a release of a choice that has no guarantee.
func checkRelease(s *selectionSettings) error {
	switch {
	case s.Bound != Exact:
		return errors.New("with sensitivity=as-published the bound of Eq. (9) is none, and the choice has no guarantee; " +
			"use sensitivity=exact")
	case s.heights().Normalisation == cloak.AsPublished:
		return errors.New("with normalisation=as-published the clipping interval and the prior mean come from the " +
			"private heights; use normalisation=public")
	case !s.Cut.Is(method.Absent):
		return errors.New("sse_cut leaves out configurations by their errors on the private heights; use sse_cut=none")
	case s.Noiseless():
		return nil
	case !s.NoiseInErrors.Is(Expected):
		return errors.New("with noise_in_errors=" + s.NoiseInErrors.String() + " the draws multiply errors on the private " +
			"heights, which the sensitivity leaves out; use noise_in_errors=expected")
	}
	// The choice would be made for predictions that have no guarantee.
	return s.CheckGuarantee()
}

// utility is the negative sum of squared errors of a model without noise,
// −‖Az‖² for outputs z less the prior mean, in units of d, less what the noise
// adds to it in expectation. A, bound and the noise are public.
type utility struct {
	residuals *mat.Dense // A
	noise     float64
	change    float64 // how far one output moves it
	err       float64 // how far it may be off in floating point
}

// newUtility bounds sensitivity and rounding for |z_j| ≤ d/2.
func newUtility(a *mat.Dense, noise float64) utility {
	u := utility{residuals: a, noise: noise, change: exactSensitivity(a)}
	n, columns := a.Dims()
	gamma := float64(max(n, columns)+4) * 0x1p-52
	square, largest := 0.0, 0.0
	for i := range n {
		size := floats.Norm(a.RawRowView(i), 1) / 2
		off := 2 * gamma * size // of one residual
		u.err += off * (2*size + off)
		square += size * size
	}
	u.err += float64(n+4) * 0x1p-52 * (2*square + noise)
	// H = AᵀA is computed, too: each of its elements is off by no more than γ times
	// the norms of two columns.
	for j := range columns {
		largest = max(largest, floats.Norm(mat.Col(nil, j, a), 2))
	}
	u.change = u.change*(1+0x1p-30) + 8*float64(columns)*gamma*largest*largest
	return u
}

// of returns the utility for outputs less the prior mean, in units of d.
func (u utility) of(z []float64) float64 {
	sum := 0.0
	for i := range u.residuals.RawMatrix().Rows {
		miss := floats.Dot(u.residuals.RawRowView(i), z)
		sum += miss * miss
	}
	return -(sum + u.noise)
}

// selectionPlan has the public inputs of a choice: all but the heights.
type selectionPlan struct {
	*selector
	utilities []utility // of each distinct model; those that threshold leaves out have none
	choice    release.Choice
	warnings  []string
}

// Plan plans a release of a trial of cloaking/selection, for audits.
func Plan(ctx context.Context, t *experiment.Trial) (*release.Plan, error) {
	return plan(ctx, t, Selection().Settings(t.Params))
}

// plan plans a release: one configuration, chosen by the exponential mechanism.
func plan(ctx context.Context, t *experiment.Trial, settings *selectionSettings) (*release.Plan, error) {
	if err := checkRelease(settings); err != nil {
		return nil, err
	}
	s, err := newSelector(t, settings)
	if err != nil {
		return nil, err
	}
	s.releases = true
	p := &selectionPlan{selector: s, choice: release.Choice{
		What: "configuration", Epsilon: settings.SelectionEpsilon, Error: 0,
	}}
	sets := s.rowSets()[:len(s.folds)]
	all := make([][]cloak.Quality, len(s.grid.distinct))
	p.utilities = make([]utility, len(s.grid.distinct))
	counter := experiment.NewCounter(t.Progress, len(s.grid.distinct), "models")
	err = s.predict(ctx, sets, func(i int, predictions *noisyPredictions) error {
		all[i] = predictions.designs
		p.utilities[i] = newUtility(s.residuals(predictions.matrices), floats.Sum(predictions.variance))
		counter.Step()
		return nil
	})
	if err != nil {
		return nil, err
	}
	kept := 0
	for i, u := range p.utilities {
		if !within(u.change, settings.Threshold) {
			p.utilities[i] = utility{}
			continue
		}
		kept++
		p.choice.Change, p.choice.Error = max(p.choice.Change, u.change), max(p.choice.Error, u.err)
	}
	if kept == 0 {
		return nil, fmt.Errorf("threshold = %g leaves no configuration", settings.Threshold.Number)
	}
	p.warnings = slices.Concat(s.e.Warnings(), cloak.PrecisionWarnings(s.e, slices.Concat(all...),
		&settings.Solver), cloak.DesignWarnings(slices.Concat(all...)))
	return release.Data{Inputs: s.data.Inputs, Output: s.data.Raw}.Plan(experiment.UnitOutput,
		experiment.Spending{Dataset: cloak.Census, Epsilon: settings.SelectionEpsilon, Losses: []experiment.Loss{
			{Law: "exponential mechanism", Size: settings.SelectionEpsilon, Times: 1}}}, p.publish), nil
}

// publish chooses a configuration by the heights (N×1), which it clips.
func (p *selectionPlan) publish(
	_ context.Context, private *mat.Dense, source *release.Source,
) (*experiment.Release, error) {
	z := make([]float64, len(p.rows))
	for i, row := range p.rows {
		z[i] = (min(max(private.At(row, 0), p.data.Low), p.data.High) - p.data.Prior) / p.d
	}
	values := make([]float64, len(p.utilities))
	for i, u := range p.utilities {
		values[i] = math.Inf(-1)
		if u.residuals != nil {
			values[i] = u.of(z)
		}
	}
	utilities := learn.Select(values, p.grid.of)
	i, err := source.Choose(p.choice, utilities)
	if err != nil {
		return nil, err
	}
	c := p.grid.configurations[i]
	privacy := p.releasePrivacy()
	out := &release.Configuration{
		Format: release.ConfigurationFormat, Experiment: selectionName, Privacy: privacy,
		About: "Hyper-parameters chosen with differential privacy: give them to run trial cloaking/regression, with " +
			"--tuning THIS_FILE.",
		Settings: c.settings(),
	}
	metrics := releaseMetrics{
		boundMetrics{Sensitivity: p.choice.Change, Configurations: float64(len(utilities))},
		modelMetrics{Distinct: float64(len(p.utilities))},
	}
	return &experiment.Release{
		Model: out, Chosen: out.Settings, Metrics: experiment.MetricValues(metrics), Privacy: privacy, Warnings: p.warnings,
	}, nil
}

// settings are the configuration as a release publishes it: settings of
// cloaking/regression by name.
func (c configuration) settings() map[string]float64 {
	out := map[string]float64{}
	for name, value := range experiment.SettingValues(c.hyperparameters()) {
		out[name] = value.(float64)
	}
	return out
}

// releasePrivacy says what is protected, to those who get the choice.
func (p *selectionPlan) releasePrivacy() *experiment.Privacy {
	number := experiment.FormatNumber
	out := &experiment.Privacy{
		Unit: fmt.Sprintf("one height changed by at most %s cm", number(p.d)),
		Mechanism: "exponential mechanism (McSherry and Talwar 2007) over a grid, by cross-validated squared error with " +
			"its exact sensitivity",
		Notes: []string{
			"protects the heights only: ages, weights, who is in the data, and the grid are taken as public",
			fmt.Sprintf("heights were clipped to [%s, %s] cm", number(p.data.Low), number(p.data.High)),
			"the errors of the configurations, that of the chosen one included, are not released",
			"the choice is drawn by exact Bernoulli trials; the rounding error of the utilities is part of their sensitivity",
			"predictions made with the choice spend a budget of their own",
		},
	}
	out.State(p.choice.Epsilon, 0).Publish()
	return out
}
