package choose

import (
	"context"
	"strconv"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/internal/shared"
	"privkern/runner/experiment"
)

// perModel holds the numbers of an evaluation except its designs.
const perModel = 4

// evaluations cross-validates all models of the grid. Trials that differ in how one is chosen
// alone (threshold, cut, budget of the choice) have the same ones.
func (s *selector) evaluations(ctx context.Context) ([]evaluation, error) {
	models, sets := len(s.grid.distinct), s.rowSets()
	designs := len(sets) // of a model
	if s.scale == 0 {
		designs = 0
	}
	numbers, _, err := shared.Work(ctx, s.t, s.e, "evaluated models", func(in *experiment.Inputs) { s.digest(in, sets) },
		func() (shared.Numbers, error) {
			found, err := s.evaluateAll(ctx, sets)
			if err != nil {
				return nil, err
			}
			out := shared.Numbers{}
			for _, e := range found {
				out["values"] = append(out["values"], e.squares, e.noise, e.sensitivity, e.holdout)
				for _, q := range e.designs {
					out["designs"] = append(out["designs"], q.Numbers()...)
				}
			}
			return out, nil
		})
	if err != nil {
		return nil, err
	}
	values, err := numbers.Column("values", models*perModel)
	if err != nil {
		return nil, err
	}
	qualities, err := numbers.Column("designs", models*designs*cloak.QualityNumbers)
	if err != nil {
		return nil, err
	}
	out := make([]evaluation, models)
	for i := range out {
		v := values[i*perModel:]
		out[i] = evaluation{squares: v[0], noise: v[1], sensitivity: v[2], holdout: v[3]}
		for range designs {
			out[i].designs = append(out[i].designs, cloak.QualityOfNumbers(qualities))
			qualities = qualities[cloak.QualityNumbers:]
		}
	}
	return out, nil
}

// evaluateAll is evaluations without those of other trials.
func (s *selector) evaluateAll(ctx context.Context, sets []rowSet) ([]evaluation, error) {
	models := make([]evaluation, len(s.grid.distinct))
	counter := experiment.NewCounter(s.t.Progress, len(models), "models")
	err := s.predict(ctx, sets, func(i int, p *noisyPredictions) (err error) {
		// Excluding a model that fails would change the set of candidates.
		models[i], err = s.evaluate(sets, p)
		counter.Step()
		return err
	})
	return models, err
}

// digest adds all that the evaluations depend on.
func (s *selector) digest(in *experiment.Inputs, sets []rowSet) {
	shared.AddMatrix(in, s.data.Inputs)
	in.Numbers(s.data.Output...)
	in.Numbers(s.data.Prior, s.d, s.scale)
	for _, m := range s.grid.distinct {
		in.Numbers(m.lengthscale, m.ratio)
	}
	in.Whole(s.rows...)
	for _, set := range sets {
		in.Whole(set.train...)
		in.Whole(set.test...)
	}
	in.Text(experiment.NameOf(s.settings.Bound), experiment.NameOf(s.heights.Normalisation))
	if n := &s.settings.NoiseInErrors; !n.Is(Expected) && s.scale > 0 {
		in.Text(n.String(), strconv.FormatInt(s.t.Seed, 10))
	}
	w := &s.settings.Solver
	in.Text(experiment.NameOf(w.Algorithm), w.Rank.String())
	if w.Algorithm == cloak.Gradient {
		in.Text(w.Start.String(), experiment.NameOf(w.Columns), experiment.NameOf(w.Scaling),
			experiment.NameOf(w.Inverse), strconv.FormatInt(s.t.Seed, 10))
		in.Whole(w.Steps, w.Starts)
		in.Numbers(w.LearningRate, w.StartBelow)
	}
}
