package audit

import (
	"context"
	"fmt"
	"math/rand/v2"

	"privkern/experiments/internal/fault"
	"privkern/experiments/mechanism"
)

// Draws of each data set for the table of faults in releases: a multiple of what
// finds them, and few of those that take long.
const (
	plantedDraws     = 50_000
	plantedSlowDraws = 12_000
)

// ReleaseFaults returns this project's releases with planted faults, one fault each,
// and the same releases without.
func ReleaseFaults(ctx context.Context) ([]Fault, error) {
	regression := func(planted fault.Plan) (Subject, error) {
		return cloakingRegression(ctx, mechanism.Analytic, planted)
	}
	model := func(planted fault.Plan) (Subject, error) { return sparseGP(ctx, planted) }
	classes := func(planted fault.Plan) (Subject, error) {
		return cloakingClassification(ctx, 2, [][]float64{oneInput}, planted)
	}
	choice := func(planted fault.Plan) (Subject, error) { return cloakingSelection(ctx, planted) }
	float := fault.Plan{Float: rand.New(rand.NewPCG(1, 1))} // each release seeds its own
	var faults []Fault
	for _, f := range []struct {
		name    string
		draws   int
		of      func(fault.Plan) (Subject, error)
		planted fault.Plan
	}{
		{"none: predictions", plantedDraws, regression, fault.Plan{}},
		{"predictions: noise ×.9", plantedDraws, regression, fault.Plan{NoiseTimes: 0.9}},
		{"predictions: noise ×.5", plantedDraws, regression, fault.Plan{NoiseTimes: 0.5}},
		{"predictions: δ×10", plantedDraws, regression, fault.Plan{DeltaTimes: 10}},
		{"predictions: sensitivity of one coordinate for six", plantedDraws, regression, fault.Plan{PerCoordinate: true}},
		{"predictions: data-dependent rank", plantedDraws, regression, fault.Plan{RankOfData: true}},
		{"predictions: clipping after the fit", plantedDraws, regression, fault.Plan{Unclipped: true}},
		{"predictions: reused noise", plantedDraws, regression, fault.Plan{Reused: true}},
		{"predictions: floating-point sampler", plantedDraws, regression, float},
		{"none: a model", plantedSlowDraws, model, fault.Plan{}},
		{"model: noise ×.9", plantedSlowDraws, model, fault.Plan{NoiseTimes: 0.9}},
		{"model: noise ×.5", plantedSlowDraws, model, fault.Plan{NoiseTimes: 0.5}},
		{"model: δ×10", plantedSlowDraws, model, fault.Plan{DeltaTimes: 10}},
		{"model: sensitivity of one coordinate for nine", plantedSlowDraws, model, fault.Plan{PerCoordinate: true}},
		{"model: clipping after the fit", plantedSlowDraws, model, fault.Plan{Unclipped: true}},
		{"model: reused noise", plantedSlowDraws, model, fault.Plan{Reused: true}},
		{"model: floating-point sampler", plantedSlowDraws, model, float},
		{"none: classes, two steps", plantedSlowDraws, classes, fault.Plan{}},
		{"classes: composition forgotten", plantedSlowDraws, classes, fault.Plan{StepsForgotten: true}},
		{"none: a choice", plantedSlowDraws, choice, fault.Plan{}},
		{"choice: returns its score", plantedSlowDraws, choice, fault.Plan{Scored: true}},
	} {
		s, err := f.of(f.planted)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		s.Draws = f.draws
		faults = append(faults, Fault{Name: f.name, Subject: s, Honest: f.planted == (fault.Plan{})})
	}
	return faults, nil
}
