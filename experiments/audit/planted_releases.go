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
	plantedDraws      = 50_000
	plantedSlowDraws  = 12_000
	plantedFewDraws   = 2500
	plantedBlockDraws = 1500
)

// ReleaseFaults returns this project's releases with planted faults, one fault each,
// and the same releases without.
func ReleaseFaults(ctx context.Context) ([]Fault, error) {
	regression := func(planted fault.Faults) (Subject, error) {
		return cloakingRegression(ctx, mechanism.Analytic, planted)
	}
	model := func(planted fault.Faults) (Subject, error) { return sparseGP(ctx, planted) }
	classes := func(planted fault.Faults) (Subject, error) {
		return cloakingClassification(ctx, 2, [][]float64{oneInput}, planted)
	}
	rows := func(planted fault.Faults) (Subject, error) { return hullRelease(ctx, planted) }
	inputs := func(planted fault.Faults) (Subject, error) { return sparseGPInputs(ctx, planted) }
	classifier := func(planted fault.Faults) (Subject, error) { return sparseClassifier(ctx, planted) }
	blocks := func(planted fault.Faults) (Subject, error) { return sparseChoice(ctx, 3, planted) }
	choice := func(planted fault.Faults) (Subject, error) { return cloakingSelection(ctx, planted) }
	float := fault.Faults{Float: rand.New(rand.NewPCG(1, 1))} // each release seeds its own
	var faults []Fault
	for _, f := range []struct {
		name    string
		draws   int
		of      func(fault.Faults) (Subject, error)
		planted fault.Faults
	}{
		{"none: predictions", plantedDraws, regression, fault.Faults{}},
		{"predictions: noise ×.9", plantedDraws, regression, fault.Faults{NoiseTimes: 0.9}},
		{"predictions: noise ×.5", plantedDraws, regression, fault.Faults{NoiseTimes: 0.5}},
		{"predictions: δ×10", plantedDraws, regression, fault.Faults{DeltaTimes: 10}},
		{"predictions: sensitivity of one coordinate for six", plantedDraws, regression, fault.Faults{PerCoordinate: true}},
		{"predictions: data-dependent rank", plantedDraws, regression, fault.Faults{RankOfData: true}},
		{"predictions: clipping after the fit", plantedDraws, regression, fault.Faults{Unclipped: true}},
		{"predictions: reused noise", plantedDraws, regression, fault.Faults{Reused: true}},
		{"predictions: floating-point sampler", plantedDraws, regression, float},
		{"none: a model", plantedSlowDraws, model, fault.Faults{}},
		{"model: noise ×.9", plantedSlowDraws, model, fault.Faults{NoiseTimes: 0.9}},
		{"model: noise ×.5", plantedSlowDraws, model, fault.Faults{NoiseTimes: 0.5}},
		{"model: δ×10", plantedSlowDraws, model, fault.Faults{DeltaTimes: 10}},
		{"model: sensitivity of one coordinate for nine", plantedSlowDraws, model, fault.Faults{PerCoordinate: true}},
		{"model: clipping after the fit", plantedSlowDraws, model, fault.Faults{Unclipped: true}},
		{"model: reused noise", plantedSlowDraws, model, fault.Faults{Reused: true}},
		{"model: floating-point sampler", plantedSlowDraws, model, float},
		{"none: classes, two steps", plantedSlowDraws, classes, fault.Faults{}},
		{"classes: composition forgotten", plantedSlowDraws, classes, fault.Faults{StepsForgotten: true}},
		{"none: rows", plantedSlowDraws, rows, fault.Faults{}},
		{"rows: noise ×.5", plantedSlowDraws, rows, fault.Faults{NoiseTimes: 0.5}},
		{"rows: clipping after the noise", plantedSlowDraws, rows, fault.Faults{Unclipped: true}},
		{"rows: reused noise", plantedSlowDraws, rows, fault.Faults{Reused: true}},
		{"none: a choice", plantedSlowDraws, choice, fault.Faults{}},
		{"choice: returns its score", plantedSlowDraws, choice, fault.Faults{Scored: true}},
		{"none: a model of two inputs", plantedFewDraws, inputs, fault.Faults{}},
		{"two inputs: sensitivity of one coordinate for all", plantedFewDraws, inputs, fault.Faults{PerCoordinate: true}},
		{"none: a classifier", plantedFewDraws, classifier, fault.Faults{}},
		{"classifier: sensitivity of one class for three", plantedFewDraws, classifier, fault.Faults{StepsForgotten: true}},
		{"none: a choice by three blocks", plantedBlockDraws, blocks, fault.Faults{}},
		{"choice by blocks: each scored by all rows", plantedBlockDraws, blocks, fault.Faults{BlocksShared: true}},
	} {
		s, err := f.of(f.planted)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		s.Draws = f.draws
		faults = append(faults, Fault{Name: f.name, Subject: s, Honest: f.planted == (fault.Faults{})})
	}
	return faults, nil
}
