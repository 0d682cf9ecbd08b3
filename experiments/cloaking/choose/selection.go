package choose

import (
	"context"
	"fmt"
	"math"
	"slices"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/dataset/readers"
	"privkern/experiments/learn"
	"privkern/experiments/mechanism"
	"privkern/experiments/release"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// selectionName is that of the experiment.
const selectionName = "cloaking/selection"

// Selection is a private choice of hyper-parameters, Algorithm 1.
var Selection = experiment.Of(experiment.Declaration[*selectionSettings, selectionMetrics]{
	Name:         selectionName,
	Version:      3,
	Summary:      "private choice of hyperparameters by cross-validated error and the exponential mechanism",
	Source:       "Smith, Álvarez and Lawrence 2019, Section 4, Algorithm 1; Section 5.7, Fig. 6; Appendix A, Table 2",
	Datasets:     func(*selectionSettings) []string { return []string{cloak.Census} },
	Check:        checkSelection,
	Rules:        []experiment.Rule[*selectionSettings]{publicLow},
	Run:          runSelection,
	CheckRelease: checkRelease,
	Written:      experiment.FormModel,
	Chooses:      "cloaking/regression",
	Release:      release.Planned(plan),
})

func checkSelection(s *selectionSettings) error {
	if err := s.candidates.check(); err != nil {
		return err
	}
	if err := cloak.CheckNoise(&s.GaussianBudget, &s.Solver); err != nil {
		return err
	}
	rows, folds := s.Split.rows(readers.KungFemales), s.Folds.Folds
	if folds > rows {
		return fmt.Errorf("folds = %d: split=%s has %d rows, and there cannot be more folds than rows", folds,
			experiment.NameOf(s.Split), rows)
	}
	if smallest := rows / folds; s.Directions() > smallest {
		return fmt.Errorf("rank = %s: a fold has only %d test rows; use 1 to %[2]d or full", s.Rank, smallest)
	}
	return nil
}

// rows is the number of rows, of n, that a configuration is selected on.
func (s Split) rows(n int) int {
	switch s {
	case All:
		return n
	case SecondHalf:
		return n / 2
	}
	return (n + 1) / 2
}

// of returns these rows of n, and the others, both in increasing order. A random half is
// drawn from the stream "split".
func (s Split) of(t *experiment.Trial, n int) (inside, outside []int) {
	order := learn.AllRows(n)
	switch s {
	case SecondHalf:
		slices.Reverse(order)
	case EveryOther: // even rows first
		slices.SortStableFunc(order, func(a, b int) int { return a%2 - b%2 })
	case RandomHalf:
		order = t.Stream("split").Perm(n)
	}
	rows := s.rows(n)
	inside, outside = order[:rows], order[rows:]
	slices.Sort(inside)
	slices.Sort(outside)
	return inside, outside
}

// selector is the state of a trial.
type selector struct {
	settings *selectionSettings
	heights  *cloak.Heights // of the settings, without auto
	t        *experiment.Trial
	e        *engine.Engine
	data     *cloak.Problem
	d        float64 // cm, the largest change of one height, and the unit of errors
	scale    float64 // over d: the calibration's factor; 0 for no noise
	steps    int     // cap on the steps of a design
	releases bool    // a release is planned
	grid     grid
	// rows are those that the configuration is selected on, folds splits of
	// their places, and heldOut the other rows.
	rows, heldOut []int
	folds         []learn.Fold
}

// newSelector reads the census.
func newSelector(t *experiment.Trial, settings *selectionSettings) (*selector, error) {
	heights := settings.heights()
	data, err := cloak.LoadCensus(t.Dataset(cloak.Census), settings.Inputs, heights)
	if err != nil {
		return nil, err
	}
	factor, err := settings.Factor()
	if err != nil {
		return nil, err
	}
	s := &selector{settings: settings, heights: heights, t: t, e: engine.Of(t.Engine), data: data,
		d: heights.Sensitivity, scale: factor, steps: cloak.DefaultCaps().Design, grid: settings.grid()}
	s.rows, s.heldOut = settings.Split.of(t, len(data.Output))
	s.folds, err = settings.Folds.Of(t, nil, len(s.rows))
	return s, err
}

func runSelection(
	ctx context.Context, t *experiment.Trial, settings *selectionSettings,
) (*experiment.Outcome[selectionMetrics], error) {
	s, err := newSelector(t, settings)
	if err != nil {
		return nil, err
	}
	return s.run(ctx)
}

// run evaluates the grid and chooses a configuration.
func (s *selector) run(ctx context.Context) (*experiment.Outcome[selectionMetrics], error) {
	models, err := s.evaluations(ctx)
	if err != nil {
		return nil, err
	}
	c, err := s.choose(models)
	if err != nil {
		return nil, err
	}
	return s.summarise(models, c), nil
}

// choice is the outcome of the exponential mechanism over the grid.
type choice struct {
	probability []float64 // for each configuration
	sensitivity float64   // over d², of the utility
	kept        []bool
	selected    configuration
}

// choose is Algorithm 1 after its loops: the utility of a configuration is −SSE,
// with one sensitivity for all that are kept, Eq. (10).
func (s *selector) choose(models []evaluation) (*choice, error) {
	out := &choice{kept: make([]bool, len(s.grid.of))}
	utilities := make([]float64, len(s.grid.of))
	lowest := math.Inf(1) // sensitivity
	least := math.Inf(1)  // SSE of those below the threshold
	for i, model := range s.grid.of {
		m := &models[model]
		utilities[i] = math.Inf(-1)
		lowest = min(lowest, m.sensitivity)
		if !within(m.sensitivity, s.settings.Threshold) {
			continue
		}
		least = min(least, m.sse())
		if within(m.sse(), s.settings.Cut) {
			out.kept[i] = true
			out.sensitivity = max(out.sensitivity, m.sensitivity)
			utilities[i] = -m.sse()
		}
	}
	switch {
	case slices.Contains(out.kept, true):
	case math.IsInf(least, 1):
		return nil, fmt.Errorf("threshold = %g leaves no configuration: the smallest sensitivity is %.6g d²",
			s.settings.Threshold.Number, lowest)
	default:
		return nil, fmt.Errorf("sse_cut = %g leaves no configuration: the smallest sum of squared errors is %.6g d²",
			s.settings.Cut.Number, least)
	}
	exponential := mechanism.Exponential{Epsilon: s.settings.SelectionEpsilon, Sensitivity: out.sensitivity}
	var err error
	if out.probability, err = exponential.Probabilities(utilities); err != nil {
		return nil, err
	}
	i, err := exponential.Choose(utilities, s.t.Stream("selection"))
	if err != nil {
		return nil, err
	}
	out.selected = s.grid.configurations[i]
	return out, nil
}
