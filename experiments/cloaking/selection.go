package cloaking

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/stat"

	"privkern/experiments/dataset"
	"privkern/experiments/learn"
	"privkern/experiments/mechanism"
	"privkern/experiments/release"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// Which rows the configuration is selected on.
const (
	splitFirst       = "first-144"
	splitLast        = "last-143"
	splitInterleaved = "interleaved"
	splitRandom      = "random"
	splitAll         = "all"
)

// normalisationAuto follows the sensitivity: an exact one needs constants.
const normalisationAuto = "auto"

// nearBest is how near "within 30 %" of the best is.
const nearBest = 1.3

func selection() *experiment.Experiment {
	params := []experiment.Param{
		choice("inputs", inputsAge, "what heights are predicted from", inputsAge, inputsAgeWeight),
		listOf("lengthscales", "1,5,25,125,625", "years or kg", "lengthscales of the grid"),
		listOf("noise_variances", "0.2,1,5,25", "", "variances of the observation noise of the grid"),
		listOf("kernel_variances", "1,5,25,125", "", "variances of the kernel of the grid; only their ratio to the noise's matters"),
		positive("selection_epsilon", 1.0, "", "privacy parameter of the exponential mechanism; epsilon and delta are those of the regression after it, whose noise counts in the errors"),
		choice("sensitivity", sensitivityExact, "bound on the change of a sum of squared errors: the exact one for outputs in an interval of length d = sensitivity_cm, or Eq. (9), which is no valid bound", sensitivityExact, sensitivityPublished),
		{Name: "threshold", Kind: experiment.Number, Default: "none", Unit: "d²", Words: []string{"none"}, Min: experiment.Bound(0), OpenMin: true, Doc: "configurations with a larger sensitivity are left out (Section 4); this uses public inputs only"},
		{Name: "sse_cut", Kind: experiment.Number, Default: "none", Unit: "d²", Words: []string{"none"}, Min: experiment.Bound(0), OpenMin: true, Doc: "configurations with a larger sum of squared errors, noise included, are left out, which is not private: what the zeros of Table 2 look like"},
		choice("split", splitFirst, "the rows that the configuration is selected on: the first half of the 287 rows, the second, every other one, a random half, or all", splitFirst, splitLast, splitInterleaved, splitRandom, splitAll),
		{Name: "folds", Kind: experiment.Integer, Default: 5, Min: experiment.Bound(2), Doc: "folds of the cross-validation inside these rows, at most as many as rows"},
		choice("fold_scheme", "contiguous", "how rows are put into folds", "contiguous", "interleaved", "random"),
	}
	for _, q := range mechanismParams() {
		if q.Name == "normalisation" {
			q = choice(q.Name, normalisationAuto, q.Doc+"; auto: public constants with sensitivity=exact, otherwise as published", normalisationAuto, normalisationPublished, normalisationPublic)
		}
		if q.Name == "epsilon" {
			q.Doc = "privacy parameter of the regression, whose noise counts in the errors; inf adds none. That of Algorithm 1 itself is selection_epsilon"
		}
		params = append(params, q)
	}
	params = experiment.When(params, []string{"public_low_cm"}, experiment.Condition{
		Params: []string{"normalisation", "sensitivity"}, Words: "normalisation is public, or auto with sensitivity=exact",
		Holds: func(p experiment.Params) bool { return resolvedNormalisation(p) == normalisationPublic },
	})
	return &experiment.Experiment{
		Name:    "cloaking/selection",
		Version: 2,
		Summary: "private choice of hyperparameters by cross-validated error and the exponential mechanism",
		Source:  "Smith, Álvarez and Lawrence 2019, Section 4, Algorithm 1; Section 5.7, Fig. 6; Appendix A, Table 2",
		Params:  append(params, noiseSolverParams(gradientSteps)...),
		Metrics: []experiment.Metric{
			{Name: "probability_*", Doc: "probability_l25_n0_2_v1: probability of choosing lengthscale 25, noise variance 0.2, kernel variance 1; 0 for what is left out"},
			{Name: "probability_lengthscale_*", Doc: "probability_lengthscale_25: probability of choosing lengthscale 25, whatever the variances"},
			{Name: "rmse_cm_*", Unit: "cm", Doc: "rmse_cm_l25_n0_2_v1: root mean square error of that configuration over all folds, with the noise of a release of each fold, against the clipped heights"},
			{Name: "holdout_rmse_cm_*", Unit: "cm", Doc: "holdout_rmse_cm_l25_n0_2_v1: the same on the rows outside the split, predicted from those inside it and released together (not with split=all)"},
			{Name: "expected_rmse_cm", Unit: "cm", Doc: "mean of the configurations' rmse_cm, weighted by probability"},
			{Name: "expected_holdout_rmse_cm", Unit: "cm", Doc: "mean of the configurations' holdout_rmse_cm, weighted by probability (not with split=all)"},
			{Name: "mean_rmse_cm", Unit: "cm", Doc: "unweighted mean of the rmse_cm of all configurations, also of those left out"},
			{Name: "best_rmse_cm", Unit: "cm", Doc: "smallest rmse_cm of all configurations"},
			{Name: "best_probability", Doc: "probability of the first configuration with the smallest rmse_cm"},
			{Name: "near_best", Doc: "number of configurations whose rmse_cm is at most 1.3 times the smallest"},
			{Name: "sensitivity_over_d2", Doc: "sensitivity of the utility, in units of sensitivity_cm squared: the largest of the configurations that are kept"},
			{Name: "configurations", Doc: "number of configurations"},
			{Name: "training_rows", Doc: "rows that a fold of the selection is trained on, the fewest"},
			{Name: "distinct", Doc: "number of configurations that differ in lengthscale or in the ratio of the variances, and so in their predictions"},
			{Name: "kept", Doc: "number of configurations that threshold and sse_cut leave"},
			{Name: "selected_lengthscale", Unit: "years or kg", Doc: "lengthscale of one choice by the mechanism"},
			{Name: "selected_noise_variance", Doc: "noise variance of that choice"},
			{Name: "selected_kernel_variance", Doc: "kernel variance of that choice"},
			{Name: "total_epsilon", Doc: "selection_epsilon + epsilon: what choosing and one release afterwards spend, by basic composition (with finite epsilon only)"},
			clippedMetric,
			{Name: "gap", Doc: "largest certificate over configurations and folds: " + gapMeaning + " (with noise only)"},
		},
		Datasets: func(experiment.Params) []string { return []string{dataKung} },
		Check:    checkSelection,
		Run:      runSelection,
		// In CheckRelease auto has not been resolved: with sensitivity=exact it is
		// public.
		CheckRelease: checkSelectionRelease,
		Release:      release.Planned(PlanSelection),
	}
}

// listOf is a list of positive numbers.
func listOf(name, def, unit, doc string) experiment.Param {
	return experiment.Param{Name: name, Kind: experiment.Numbers, Default: def, Unit: unit, Doc: doc, Min: experiment.Bound(0), OpenMin: true}
}

func checkSelection(p experiment.Params) error {
	if err := checkGrid(p); err != nil {
		return err
	}
	if err := checkNoise(p); err != nil {
		return err
	}
	rows, folds := splitRows(p.Text("split"), dataset.KungFemales), p.Int("folds")
	if folds > rows {
		return fmt.Errorf("folds = %d: split=%s has %d rows, and there cannot be more folds than rows", folds, p.Text("split"), rows)
	}
	if smallest := rows / folds; rankOf(p) > smallest {
		return fmt.Errorf("rank = %d: a fold has only %d test rows; use 1 to %[2]d or full", rankOf(p), smallest)
	}
	return nil
}

// splitRows is the number of rows, of n, that a configuration is selected on.
func splitRows(split string, n int) int {
	switch split {
	case splitAll:
		return n
	case splitLast:
		return n / 2
	}
	return (n + 1) / 2
}

// splitOf returns these rows, and the others, both in increasing order.
func splitOf(t *experiment.Trial, n int) (inside, outside []int) {
	split := t.Params.Text("split")
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	switch split {
	case splitLast:
		slices.Reverse(order)
	case splitInterleaved: // even rows first
		slices.SortStableFunc(order, func(a, b int) int { return a%2 - b%2 })
	case splitRandom:
		order = t.Stream("split").Perm(n)
	}
	rows := splitRows(split, n)
	inside, outside = order[:rows], order[rows:]
	slices.Sort(inside)
	slices.Sort(outside)
	return inside, outside
}

// normalised returns the trial with the normalisation that auto stands for.
func normalised(t *experiment.Trial) *experiment.Trial {
	out := *t
	out.Params = maps.Clone(t.Params)
	out.Params["normalisation"] = resolvedNormalisation(t.Params)
	return &out
}

// resolvedNormalisation is the normalisation, also where it is auto.
func resolvedNormalisation(p experiment.Params) string {
	switch given := p.Text("normalisation"); {
	case given != normalisationAuto:
		return given
	case p.Text("sensitivity") == sensitivityExact:
		return normalisationPublic
	}
	return normalisationPublished
}

// selector is what a trial works with.
type selector struct {
	t     *experiment.Trial
	e     *engine.Engine
	data  *problem
	d     float64 // cm, the largest change of one height, and the unit of errors
	scale float64 // over d: the calibration's factor; 0 for no noise
	grid  grid
	// rows are those that the configuration is selected on, folds splits of
	// their places, and heldOut the other rows.
	rows, heldOut []int
	folds         []learn.Fold
}

// newSelector reads the census and opens the engine, which the caller closes.
func newSelector(t *experiment.Trial) (*selector, error) {
	t = normalised(t)
	data, err := loadCensus(t.Dataset(dataKung), t.Params)
	if err != nil {
		return nil, err
	}
	factor, err := noiseFactor(t.Params)
	if err != nil {
		return nil, err
	}
	s := &selector{t: t, data: data, d: t.Params.Float("sensitivity_cm"), scale: factor, grid: gridOf(t.Params)}
	s.rows, s.heldOut = splitOf(t, len(data.output))
	if s.folds, err = foldsOf(t, len(s.rows)); err != nil {
		return nil, err
	}
	s.e, err = engine.Open(t.Backend, t.DType, t.Workers)
	return s, err
}

func runSelection(ctx context.Context, t *experiment.Trial) (result *experiment.Result, err error) {
	s, err := newSelector(t)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.e.Close()) }()

	// The loop over a model's folds is inside this one: both share the workers.
	models := make([]evaluation, len(s.grid.distinct))
	var mu sync.Mutex
	done := 0
	err = s.e.ParallelFor(ctx, len(models), 1, func(i, _ int) (err error) {
		if models[i], err = s.evaluate(ctx, s.grid.distinct[i]); err != nil {
			// Leaving it out instead would change what is chosen from.
			return fmt.Errorf("%s: %w", s.grid.first(i), err)
		}
		mu.Lock()
		defer mu.Unlock()
		done++
		t.Progress(done, len(models), "models")
		return nil
	})
	if err != nil {
		return nil, err
	}
	chosen, err := s.choose(models)
	if err != nil {
		return nil, err
	}
	return s.summarise(models, chosen), nil
}

// first is the first configuration that has the distinct model.
func (g *grid) first(model int) configuration {
	return g.configurations[slices.Index(g.of, model)]
}

// outcome is what the exponential mechanism makes of the grid.
type outcome struct {
	probability []float64 // for each configuration
	sensitivity float64   // over d², of the utility
	kept        []bool
	selected    configuration
}

// choose is Algorithm 1 after its loops: the utility of a configuration is −SSE,
// with one sensitivity for all that are kept, Eq. (10).
func (s *selector) choose(models []evaluation) (*outcome, error) {
	p := s.t.Params
	out := &outcome{kept: make([]bool, len(s.grid.of))}
	within := func(value float64, bound string) bool { return p.Text(bound) == "none" || value <= p.Float(bound) }
	utilities := make([]float64, len(s.grid.of))
	lowest := math.Inf(1) // sensitivity
	least := math.Inf(1)  // SSE of those below the threshold
	for i, model := range s.grid.of {
		m := &models[model]
		utilities[i] = math.Inf(-1)
		lowest = min(lowest, m.sensitivity)
		if !within(m.sensitivity, "threshold") {
			continue
		}
		least = min(least, m.sse())
		if within(m.sse(), "sse_cut") {
			out.kept[i] = true
			out.sensitivity = max(out.sensitivity, m.sensitivity)
			utilities[i] = -m.sse()
		}
	}
	switch {
	case slices.Contains(out.kept, true):
	case math.IsInf(least, 1):
		return nil, fmt.Errorf("threshold = %g leaves no configuration: the smallest sensitivity is %.6g d²", p.Float("threshold"), lowest)
	default:
		return nil, fmt.Errorf("sse_cut = %g leaves no configuration: the smallest sum of squared errors is %.6g d²", p.Float("sse_cut"), least)
	}
	exponential := mechanism.Exponential{Epsilon: p.Float("selection_epsilon"), Sensitivity: out.sensitivity}
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

func (s *selector) fewestTrainingRows() int {
	fewest := len(s.rows)
	for _, f := range s.folds {
		fewest = min(fewest, len(f.Train))
	}
	return fewest
}

func (s *selector) summarise(models []evaluation, o *outcome) *experiment.Result {
	configurations, of := s.grid.configurations, s.grid.of
	n := len(configurations)
	metrics := map[string]float64{
		"sensitivity_over_d2":      o.sensitivity,
		"configurations":           float64(n),
		"training_rows":            float64(s.fewestTrainingRows()),
		"distinct":                 float64(len(s.grid.distinct)),
		"selected_lengthscale":     o.selected.lengthscale,
		"selected_noise_variance":  o.selected.noise,
		"selected_kernel_variance": o.selected.kernel,
		clippedMetric.Name:         float64(s.data.clipped),
	}
	series := experiment.Series{}
	for _, name := range []string{"x", "lengthscale", "noise_variance", "kernel_variance", "probability", "rmse_cm", "sse_over_d2", "noise_over_d2", "sensitivity_over_d2", "kept"} {
		series[name] = make([]float64, n)
	}
	rmse := series["rmse_cm"]
	for i, c := range configurations {
		m := &models[of[i]]
		rmse[i] = s.d * math.Sqrt(m.sse()/float64(len(s.rows)))
		series["x"][i] = float64(i)
		series["lengthscale"][i], series["noise_variance"][i], series["kernel_variance"][i] = c.lengthscale, c.noise, c.kernel
		series["probability"][i] = o.probability[i]
		series["sse_over_d2"][i] = m.sse()
		series["noise_over_d2"][i] = m.noise
		series["sensitivity_over_d2"][i] = m.sensitivity
		if o.kept[i] {
			series["kept"][i] = 1
			metrics["kept"]++
		}
		metrics["probability_"+c.name()] = o.probability[i]
		metrics["rmse_cm_"+c.name()] = rmse[i]
		metrics["probability_lengthscale_"+nameOf(c.lengthscale)] += o.probability[i]
	}
	metrics["expected_rmse_cm"] = stat.Mean(rmse, o.probability)
	metrics["mean_rmse_cm"] = stat.Mean(rmse, nil)
	best := slices.Min(rmse)
	metrics["best_rmse_cm"] = best
	metrics["best_probability"] = o.probability[slices.Index(rmse, best)]
	metrics["near_best"] = 0
	for _, v := range rmse {
		if v <= nearBest*best {
			metrics["near_best"]++
		}
	}
	if len(s.heldOut) > 0 {
		holdout := make([]float64, n)
		for i, c := range configurations {
			holdout[i] = s.d * math.Sqrt(models[of[i]].holdout/float64(len(s.heldOut)))
			metrics["holdout_rmse_cm_"+c.name()] = holdout[i]
		}
		metrics["expected_holdout_rmse_cm"] = stat.Mean(holdout, o.probability)
		series["holdout_rmse_cm"] = holdout
	}
	if s.scale > 0 {
		metrics["gap"] = 0
		for i := range models {
			for _, d := range models[i].designs {
				metrics["gap"] = max(metrics["gap"], d.gap)
			}
		}
		metrics["total_epsilon"] = s.t.Params.Float("selection_epsilon") + s.t.Params.Float("epsilon")
	}
	return &experiment.Result{
		Metrics:  metrics,
		Series:   map[string]experiment.Series{"configurations": series},
		Privacy:  s.privacy(),
		Warnings: s.warnings(models),
	}
}
