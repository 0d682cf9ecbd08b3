package cloaking

import (
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"

	"privkern/experiments/internal/inert"
	"privkern/runner/experiment"
)

// A parameter does nothing exactly where its declaration says so.
func TestWhereParametersApply(t *testing.T) {
	folder := writeCensus(t)
	writeLoans(t, folder)
	pretendMNIST(t, folder)
	others := map[string][]any{
		"inputs": {inputsAgeWeight, inputsAge, inputsSynthetic, "z", "a"}, "method": {methodSparse, methodStandard},
		"epsilon": {0.5, "inf"}, "delta": {0.001}, "calibration": {"analytic", "hall"}, "sensitivity_cm": {90},
		"normalisation": {normalisationPublic, normalisationPublished}, "public_low_cm": {70}, "lengthscale": {20, 3},
		"kernel_variance": {1.5}, "noise_variance": {1}, "inducing": {4}, "inducing_points": {4}, "kde_bandwidth": {8},
		"kde_rows": {100}, "max_lengthscale": {50}, "solver": {solverGradient, solverCertified}, "rank": {2, 1},
		"iterations": {3, 50}, "solver_iterations": {1, 50}, "learning_rate": {0.01, 1}, "start": {0.3, 0.01, 3},
		"folds":       {3, 5},
		"fold_scheme": {"interleaved", "contiguous"}, "draws": {2, 1, 6}, "ages": {"0..60 step 20"}, "weight_kg": {40},
		"at_age":  {40, 30, 0},
		"weights": {"10,50", "5,10,50"}, "at_weight": {10}, "test_points": {"0..60 step 20"}, "output": {"z", "b"},
		"low": {10, 0}, "high": {170, 0}, "rows": {50}, "approximation": {approximationSoR},
		"probability": {probabilityAveraged, probabilityAtMean},
		"train":       {80}, "test": {30}, "points": {30}, "stripe_width": {4}, "jitter": {0.1}, "gradient": {0.2}, "at": {2},
		"lengthscales": {"5,30"}, "noise_variances": {"1,4"}, "kernel_variances": {"2"}, "selection_epsilon": {2},
		"sensitivity": {sensitivityPublished, sensitivityExact}, "threshold": {2, 1.2}, "sse_cut": {3, 10},
		"split": {splitAll},
	}
	predictions := []map[string]any{{}, {"epsilon": "inf"}, {"solver": solverGradient, "iterations": 20},
		{"method": methodSparse}, {"method": methodNonstationary}, {"normalisation": normalisationPublic}}
	// With full rank every solver ends where it starts: each direction has its input.
	classes := []map[string]any{{}, {"epsilon": "inf"}, {"solver": solverGradient, "solver_iterations": 20, "rank": 3},
		{"method": methodSparse}, {"method": methodSparse, "probability": probabilityAveraged}}
	var rows strings.Builder
	rows.WriteString("x,y,z\n")
	for i := range 40 {
		x := float64(i%9) / 2
		fmt.Fprintf(&rows, "%g,%g,%g\n", x, 25+20*math.Sin(x)+float64(i%7), 30-x*float64(i%5))
	}
	own := writeFile(t, rows.String())
	for _, c := range []struct {
		e     *experiment.Experiment
		small map[string]any
		bases []map[string]any
		file  string
		held  map[string]string
	}{
		{regression(), map[string]any{"folds": 4, "draws": 3}, append(predictions[:len(predictions):len(predictions)],
			maps.Clone(smallColumns)), own, map[string]string{"predict": "it is for a release", "dataset": "a base has it"}},
		{curve(), map[string]any{"ages": "0..60 step 30"}, append(predictions[:len(predictions):len(predictions)],
			map[string]any{"inputs": inputsAgeWeight}), "", nil},
		{surface(), map[string]any{"ages": "0,40,60", "weights": "10,50"}, predictions, "",
			map[string]string{"inputs": "there is one"}},
		{designs(), map[string]any{"test_points": "0..60 step 30"}, []map[string]any{{}, {"method": methodSparse},
			{"solver": solverGradient, "iterations": 20}}, "", nil},
		{hmeq(), map[string]any{"rows": 40, "draws": 3}, classes, "", nil},
		{digits(), map[string]any{"train": 60, "test": 40, "draws": 3, "method": methodStandard}, classes, "", nil},
		{stripes(), map[string]any{"points": 40, "draws": 3}, classes, "", nil},
		{classification(), map[string]any{"folds": 4, "draws": 3}, append(withAll(classColumns, classes),
			map[string]any{"rows": 60}), writeClasses(t),
			map[string]string{"predict": "it is for a release", "dataset": "a base has it"}},
		{reference(), nil, []map[string]any{{}, {"method": methodSparse}}, "", nil},
		{selection(), map[string]any{"lengthscales": "5,25", "noise_variances": "1", "kernel_variances": "1", "folds": 2},
			[]map[string]any{{}, {"epsilon": "inf"}, {"solver": solverGradient, "iterations": 20},
				{"normalisation": normalisationPublished}}, "", nil},
	} {
		t.Run(c.e.Name, func(t *testing.T) {
			inert.Trials{Experiment: c.e, Bases: withAll(c.small, c.bases), Others: others, Held: c.held,
				Run: func(p experiment.Params) (*experiment.Result, error) {
					return runParams(setup{folder: folder, file: c.file, workers: 2}, c.e, p)
				}}.Check(t)
		})
	}
}

// withAll lays each of the settings over the small ones.
func withAll(small map[string]any, settings []map[string]any) (out []map[string]any) {
	for _, s := range settings {
		all := maps.Clone(s)
		for name, value := range small {
			if _, ok := all[name]; !ok {
				all[name] = value
			}
		}
		out = append(out, all)
	}
	return out
}
