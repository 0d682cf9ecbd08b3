package cloaking

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"privkern/experiments/cloaking/design"
	"privkern/runner/experiment"
)

// Cross-validated errors without noise on the formula census; numpy with a
// dense solve per fold.
func TestRegressionWithoutNoise(t *testing.T) {
	census := setup{folder: writeCensus(t)}
	for _, c := range []struct {
		inputs, method, normalisation string
		rmse, sd                      float64
	}{
		{"age", "standard", "as-published", 6.387178069379074, 0.5835329167609764},
		{"age", "nonstationary", "as-published", 9.612904858676009, 1.0143566146326068},
		{"age", "standard", "public", 6.311167948449099, 0.39558597700993214},
		{"age", "nonstationary", "public", 9.29152824831601, 0.8658515046766617},
		{"age+weight", "standard", "as-published", 4.626050873011539, 0.3878583629967943},
		{"age+weight", "nonstationary", "as-published", 5.426823627945582, 0.4919303909722748},
		{"age+weight", "standard", "public", 4.798279478225104, 0.42091486944941914},
		{"age+weight", "nonstationary", "public", 5.503518172399693, 0.4197924793988838},
	} {
		r := runTrial(t, census, regression(), map[string]any{"inputs": c.inputs, "method": c.method, "normalisation": c.normalisation, "epsilon": "inf"})
		what := strings.Join([]string{c.inputs, c.method, c.normalisation}, ", ")
		near(t, what+": rmse_cm", r.Metrics["rmse_cm"], c.rmse, 1e-8)
		near(t, what+": rmse_fold_sd_cm", r.Metrics["rmse_fold_sd_cm"], c.sd, 1e-8)
		if _, ok := r.Metrics["gap"]; ok || r.Metrics["noise_sd_cm"] != 0 || r.Privacy != nil {
			t.Errorf("%s: a trial without noise reports a design or privacy", what)
		}
	}
}

// The noise adds its variance to the squared error of a draw.
func TestRegressionNoiseAddsVariance(t *testing.T) {
	census := setup{folder: writeCensus(t)}
	for _, method := range []string{methodStandard, methodSparse, methodNonstationary} {
		given := map[string]any{"method": method, "folds": 2, "draws": 20000, "inputs": "age+weight"}
		clean := runTrial(t, census, regression(), with(given, "epsilon", "inf"))
		noisy := runTrial(t, census, regression(), given)
		noise := noisy.Metrics["noise_sd_cm"]
		// By Jensen's inequality the mean over draws of a root is below the
		// root of the mean; here the noise varies little from draw to draw.
		upper := math.Hypot(clean.Metrics["rmse_cm"], noise)
		if got := noisy.Metrics["rmse_cm"]; got > 1.02*upper || got < 0.85*upper {
			t.Errorf("%s: error %.3f with noise of %.3f, %.3f without", method, got, noise, clean.Metrics["rmse_cm"])
		}
	}
}

func TestRegressionNoiseScales(t *testing.T) {
	census := setup{folder: writeCensus(t)}
	noise := func(over ...any) float64 {
		return runTrial(t, census, regression(), with(map[string]any{"draws": 1, "normalisation": "public"}, over...)).Metrics["noise_sd_cm"]
	}
	base := noise()
	near(t, "noise at half the epsilon", noise("epsilon", 0.5), 2*base, 1e-9*base)
	near(t, "noise at half the sensitivity", noise("sensitivity_cm", 50), base/2, 1e-9*base)
	// σ/Δ at (1, 0.01) by the two calibrations.
	near(t, "noise with the analytic calibration", noise("calibration", "analytic"), base*1.877875560907386/3.2552472614, 1e-8*base)
	if rank3 := noise("rank", 3); !(rank3 < base) {
		t.Errorf("releasing 3 directions needs noise %g, all directions %g", rank3, base)
	}
}

// The gradient descent ends near the certified design, and says how near.
func TestRegressionSolvers(t *testing.T) {
	census := setup{folder: writeCensus(t)}
	given := map[string]any{"folds": 3, "draws": 1, "lengthscale": 5}
	certified := runTrial(t, census, regression(), given)
	gradient := runTrial(t, census, regression(), with(given, "solver", "gradient", "iterations", 3000))
	gap := gradient.Metrics["gap"]
	if certified.Metrics["gap"] > 1e-8 || gap > 0.05 || gap < certified.Metrics["gap"] {
		t.Errorf("gaps: certified %g, gradient %g", certified.Metrics["gap"], gap)
	}
	near(t, "noise by gradient descent", gradient.Metrics["noise_sd_cm"]/certified.Metrics["noise_sd_cm"], 1, 0.02)
}

// A descent that ended early says so, once for all folds.
func TestRegressionWarnsOfItsDesigns(t *testing.T) {
	census := setup{folder: writeCensus(t)}
	r := runTrial(t, census, regression(), map[string]any{"rank": 6, "solver": "gradient", "iterations": 5, "draws": 1})
	if r.Metrics["gap"] < 0.1 || len(r.Warnings) != 2 || !strings.Contains(r.Warnings[0], "an upper bound") ||
		!strings.Contains(r.Warnings[1], "largest Mahalanobis norm") {
		t.Errorf("gap %g, warnings %q", r.Metrics["gap"], r.Warnings)
	}
	if r := runTrial(t, census, regression(), map[string]any{"draws": 1}); len(r.Warnings) != 0 {
		t.Errorf("certified designs: %q", r.Warnings)
	}
}

// Draws come in blocks, which are one stream of draws.
func TestNoiseInBlocks(t *testing.T) {
	r, err := design.Whiten(mat.NewDense(2, 3, []float64{1, 2, 0, 0, 1, 3}), design.FullRank, design.Tolerance64)
	if err != nil {
		t.Fatal(err)
	}
	d, err := design.Solve(context.Background(), r, 0)
	if err != nil {
		t.Fatal(err)
	}
	s := &released{mean: []float64{0, 0}, design: d, scale: 2}
	whole := s.noise(rand.New(rand.NewPCG(1, 2)), 5)
	stream := rand.New(rand.NewPCG(1, 2))
	var blocks mat.Dense
	blocks.Augment(s.noise(stream, 2), s.noise(stream, 3))
	if !mat.Equal(whole, &blocks) {
		t.Errorf("five draws %v, in two blocks %v", mat.Formatted(whole), mat.Formatted(&blocks))
	}
}

// What happened to the heights is told without noise, too.
func TestClippingIsReported(t *testing.T) {
	census := setup{folder: writeCensus(t)}
	for _, e := range []*experiment.Experiment{regression(), curve(), surface()} {
		for _, epsilon := range []any{1, "inf"} {
			wide := runTrial(t, census, e, map[string]any{"epsilon": epsilon})
			narrow := runTrial(t, census, e, map[string]any{"epsilon": epsilon, "sensitivity_cm": 60})
			if wide.Metrics["clipped_heights"] >= narrow.Metrics["clipped_heights"] {
				t.Errorf("%s, epsilon %v: %g heights outside 100 cm, %g outside 60 cm", e.Name, epsilon, wide.Metrics["clipped_heights"], narrow.Metrics["clipped_heights"])
			}
		}
	}
}

// An interval that leaves nothing of most heights is told, with noise or
// without.
func TestClippingOfMostHeightsIsSuspect(t *testing.T) {
	formulas := setup{folder: writeCensus(t)}
	suspect := func(w string) bool {
		return strings.Contains(w, "computed but suspect: 287 of 287 heights are outside [1000, 1000.00001] cm")
	}
	clipping := func(w string) bool { return strings.Contains(w, "heights are outside") }
	for _, e := range []*experiment.Experiment{regression(), curve(), surface()} {
		for _, epsilon := range []any{1, "inf"} {
			given := map[string]any{"epsilon": epsilon, "normalisation": "public"}
			r := runTrial(t, formulas, e, with(given, "public_low_cm", 1000, "sensitivity_cm", 1e-5))
			if !slices.ContainsFunc(r.Warnings, suspect) {
				t.Errorf("%s, epsilon %v: all heights clipped, warnings %q", e.Name, epsilon, r.Warnings)
			}
			if r := runTrial(t, formulas, e, given); slices.ContainsFunc(r.Warnings, clipping) {
				t.Errorf("%s, epsilon %v: %g heights clipped, warnings %q", e.Name, epsilon, r.Metrics["clipped_heights"], r.Warnings)
			}
		}
	}
	for _, c := range []struct{ clipped, warnings int }{{2, 0}, {3, 1}} {
		data := &problem{output: make([]float64, 4), clipped: c.clipped}
		if got := data.clippingWarnings(); len(got) != c.warnings {
			t.Errorf("%d of 4 heights clipped: %q", c.clipped, got)
		}
	}
}

// The series of folds says what the metrics average.
func TestRegressionFoldSeries(t *testing.T) {
	folder := writeCensus(t)
	r := runTrial(t, setup{folder: folder}, regression(), map[string]any{"draws": 3})
	s := r.Series["folds"]
	rows := 0.0
	for i, x := range s["x"] {
		if rows += s["rows"][i]; x != float64(i) {
			t.Errorf("fold %d has the number %g", i, x)
		}
	}
	mean, variance := stat.PopMeanVariance(s["rmse_cm"], nil)
	near(t, "mean over folds", mean, r.Metrics["rmse_cm"], 1e-12)
	near(t, "spread over folds", math.Sqrt(variance), r.Metrics["rmse_fold_sd_cm"], 1e-12)
	if len(s["x"]) != 14 || rows != 287 || slices.Min(s["rank"]) != r.Metrics["rank"] || slices.Max(s["rank"]) > 21 {
		t.Errorf("%g rows, rank %g, folds %v", rows, r.Metrics["rank"], s)
	}
	clean := runTrial(t, setup{folder: folder}, regression(), map[string]any{"epsilon": "inf"})
	if _, ok := clean.Metrics["rank"]; ok || clean.Series["folds"]["rank"] != nil || clean.Series["folds"]["rmse_cm"] == nil {
		t.Errorf("without noise: metrics %v, folds %v", clean.Metrics, clean.Series["folds"])
	}
	// The error of a fold of one row would tell its height.
	secure := runTrial(t, setup{folder: folder, secure: true}, regression(), map[string]any{"draws": 3})
	if f := secure.Series["folds"]; f["rmse_cm"] != nil || len(f["rank"]) != 14 {
		t.Errorf("a record that protects has the folds %v", f)
	}
}

// Given inducing inputs serve every fold and draw no random number.
func TestRegressionGivenInducingInputs(t *testing.T) {
	census := setup{folder: writeCensus(t)}
	given := map[string]any{"method": "sparse", "epsilon": "inf", "inducing": "[5,20,35]"}
	first := runTrial(t, census, regression(), given)
	census.stream = 1
	if second := runTrial(t, census, regression(), given); !maps.Equal(first.Metrics, second.Metrics) {
		t.Errorf("%v, with another stream %v", first.Metrics, second.Metrics)
	}
	if placed := runTrial(t, census, regression(), with(given, "inducing", 3)); placed.Metrics["rmse_cm"] == first.Metrics["rmse_cm"] {
		t.Error("three given inducing inputs are the three of k-means")
	}
	near(t, "rank", runTrial(t, census, regression(), with(given, "epsilon", 1, "draws", 1)).Metrics["rank"], 3, 0)
	at := map[string]any{"method": "sparse", "ages": "0,30", "at_age": 30}
	if a, b := runTrial(t, census, curve(), at), runTrial(t, census, curve(), with(at, "inducing", "5,20,35")); a.Metrics["mean_cm"] == b.Metrics["mean_cm"] {
		t.Error("the curve does not depend on its inducing inputs")
	}
}

// Neither the number of workers nor the order of folds enters a result.
func TestRegressionIsDeterministic(t *testing.T) {
	folder := writeCensus(t)
	for _, method := range []string{methodStandard, methodSparse, methodNonstationary} {
		given := map[string]any{"method": method, "inputs": "age+weight", "fold_scheme": "random"}
		one := runTrial(t, setup{folder: folder, workers: 1}, regression(), given)
		four := runTrial(t, setup{folder: folder, workers: 4}, regression(), given)
		if !maps.Equal(one.Metrics, four.Metrics) {
			t.Errorf("%s: %v with one worker, %v with four", method, one.Metrics, four.Metrics)
		}
		given["solver"], given["iterations"] = "gradient", 20
		one, four = runTrial(t, setup{folder: folder, workers: 1}, regression(), given), runTrial(t, setup{folder: folder, workers: 4}, regression(), given)
		if !maps.Equal(one.Metrics, four.Metrics) {
			t.Errorf("%s by gradient descent: %v with one worker, %v with four", method, one.Metrics, four.Metrics)
		}
		other := runTrial(t, setup{folder: folder, stream: 1}, regression(), given)
		if other.Metrics["rmse_cm"] == one.Metrics["rmse_cm"] {
			t.Errorf("%s: another stream gives the same error", method)
		}
	}
}

func TestRegressionFoldSchemes(t *testing.T) {
	census := setup{folder: writeCensus(t)}
	errors := map[float64]string{}
	for _, scheme := range []string{"contiguous", "interleaved", "random"} {
		r := runTrial(t, census, regression(), map[string]any{"fold_scheme": scheme, "epsilon": "inf"})
		if same, ok := errors[r.Metrics["rmse_cm"]]; ok {
			t.Errorf("%s and %s give the same error", scheme, same)
		}
		errors[r.Metrics["rmse_cm"]] = scheme
	}
}

func TestRegressionFloat32(t *testing.T) {
	folder := writeCensus(t)
	given := map[string]any{"epsilon": "inf"}
	double := runTrial(t, setup{folder: folder}, regression(), given)
	single := runTrial(t, setup{folder: folder, dtype: "float32"}, regression(), given)
	near(t, "rmse_cm in float32", single.Metrics["rmse_cm"], double.Metrics["rmse_cm"], 0.01)
	if r, err := tryTrial(setup{folder: folder, dtype: "float32"}, regression(), nil); err != nil || r.Metrics["gap"] > 1e-6 {
		t.Errorf("with noise in float32: %v, %v", r, err)
	}
}

// In float32 fewer directions are told from rounding than in float64, which
// changes the noise; where none is in doubt nothing is said.
func TestFloat32WarnsOfItsRank(t *testing.T) {
	folder := writeCensus(t)
	double, single := setup{folder: folder}, setup{folder: folder, dtype: "float32"}
	for _, c := range []struct {
		e     *experiment.Experiment
		given map[string]any
		want  string
	}{
		{regression(), map[string]any{"draws": 1}, "sets of predictions, at worst %g of"},
		{curve(), nil, " %g of 56 directions are released"},
		{designs(), map[string]any{"inputs": "synthetic", "test_points": "0..84 step 2"}, " %g of 43 directions are released"},
	} {
		wide, narrow := runTrial(t, double, c.e, c.given), runTrial(t, single, c.e, c.given)
		if narrow.Metrics["rank"] >= wide.Metrics["rank"] {
			t.Errorf("%s: rank %g in float32, %g in float64", c.e.Name, narrow.Metrics["rank"], wide.Metrics["rank"])
		}
		told := func(text string) func(string) bool {
			return func(w string) bool { return strings.Contains(w, "float32's tolerance") && strings.Contains(w, text) }
		}
		if want := fmt.Sprintf(c.want, narrow.Metrics["rank"]); !slices.ContainsFunc(narrow.Warnings, told(want)) {
			t.Errorf("%s: warnings %q, want %q", c.e.Name, narrow.Warnings, want)
		}
		if slices.ContainsFunc(wide.Warnings, told("")) {
			t.Errorf("%s: float64 warns %q", c.e.Name, wide.Warnings)
		}
	}
	for _, given := range []map[string]any{
		{"rank": 2},
		{"ages": "5,5,9", "at_age": 5},
		{"method": "sparse"}, // rank 5 by construction
		{"epsilon": "inf"},
	} {
		if r := runTrial(t, single, curve(), given); len(r.Warnings) != 0 {
			t.Errorf("%v: %q", given, r.Warnings)
		}
	}
}

func TestRegressionPrivacyBlock(t *testing.T) {
	census := setup{folder: writeCensus(t)}
	r := runTrial(t, census, regression(), map[string]any{"epsilon": 0.5})
	if r.Privacy.Guarantee != "" || !strings.HasPrefix(r.Privacy.Statement(),
		"no guarantee: the clipping interval and the prior mean") ||
		r.Privacy.Unit != "one training output changed by at most 100 cm" {
		t.Errorf("%+v", r.Privacy)
	}
	if notes := strings.Join(r.Privacy.Notes, "\n"); !strings.Contains(notes,
		"claimed by the paper: (0.5, 0.01)-DP; it does not hold because") || !strings.Contains(notes,
		"delta is not the probability") {
		t.Errorf("the notes leave out what is not covered:\n%s", notes)
	}
	for _, e := range []*experiment.Experiment{regression(), curve(), surface()} {
		notes := strings.Join(runTrial(t, census, e, nil).Privacy.Notes, "\n")
		if !strings.Contains(notes, "this record itself is not private: it holds the heights") || !strings.Contains(notes, "hyperparameters are taken as public") {
			t.Errorf("%s: the notes leave out what the record holds:\n%s", e.Name, notes)
		}
	}
	r = runTrial(t, census, regression(), map[string]any{"normalisation": "public", "calibration": "analytic"})
	if notes := strings.Join(r.Privacy.Notes, "\n"); strings.Contains(notes, "computed from the private heights") ||
		r.Privacy.Guarantee != "(1, 0.01)-DP" || !strings.Contains(r.Privacy.Mechanism, "Balle and Wang") {
		t.Errorf("%+v", r.Privacy)
	}
}

// With noise that protects, the record holds the noisy predictions instead of
// what they hide.
func TestSecureRecords(t *testing.T) {
	folder := writeCensus(t)
	for _, e := range []*experiment.Experiment{regression(), curve(), surface()} {
		open := runTrial(t, setup{folder: folder}, e, nil)
		secure := runTrial(t, setup{folder: folder, secure: true}, e, nil)
		for name, s := range secure.Series {
			if s["height_cm"] != nil || s["mean_cm"] != nil {
				t.Errorf("%s: the series %s holds heights or predictions without noise", e.Name, name)
			}
		}
		if open.Series["released"] != nil || !strings.Contains(strings.Join(secure.Privacy.Notes, "\n"), "the series released alone") {
			t.Errorf("%s: released without protection, or without saying what is protected", e.Name)
		}
		// The released predictions are the open run's, a few standard
		// deviations off.
		name := strings.Replace(e.Name, "cloaking/", "", 1)
		if name == "regression" {
			name = "predictions"
		}
		mean, sd, square := open.Series[name]["mean_cm"], open.Series[name]["noise_sd_cm"], 0.0
		noisy := secure.Series["released"]["noisy_cm"]
		if len(noisy) != len(mean) {
			t.Fatalf("%s: %d released predictions of %d", e.Name, len(noisy), len(mean))
		}
		for i, v := range noisy {
			z := (v - mean[i]) / sd[i]
			square += z * z / float64(len(noisy))
		}
		if square < 0.05 || square > 4 {
			t.Errorf("%s: mean square of the noise over its variance is %g", e.Name, square)
		}
		// Without noise nothing is published, and nothing is hidden.
		if clean := runTrial(t, setup{folder: folder, secure: true}, e, map[string]any{"epsilon": "inf"}); clean.Series["released"] != nil || clean.Privacy != nil {
			t.Errorf("%s: a trial without noise releases something", e.Name)
		}
	}
}

func TestRegressionRefusals(t *testing.T) {
	for _, c := range []struct {
		given map[string]any
		want  string
	}{
		{map[string]any{"epsilon": 2}, "proved for epsilon <= 1 only; use the analytic"},
		{map[string]any{"epsilon": 0}, "epsilon"},
		{map[string]any{"epsilon": -1}, "epsilon"},
		{map[string]any{"epsilon": math.NaN()}, "NaN"},
		{map[string]any{"delta": 0}, "delta"},
		{map[string]any{"delta": 1}, "delta"},
		{map[string]any{"delta": "inf"}, "delta"},
		{map[string]any{"folds": 288}, "more folds than rows"},
		{map[string]any{"folds": 1}, "folds"},
		{map[string]any{"method": "sparse", "inducing": 267}, "only 266 training rows"},
		{map[string]any{"method": "sparse", "inducing": "5,20,5"}, "5 is given twice"},
		{map[string]any{"method": "sparse", "inducing": "5,inf"}, "inducing"},
		{map[string]any{"method": "sparse", "inputs": "age+weight", "inducing": "5,20"}, "pair of weight and age"},
		{map[string]any{"rank": 21}, "only 20 test rows"},
		{map[string]any{"rank": "ful"}, "full"},
		{map[string]any{"rank": 2, "epsilon": "inf"}, "use rank=full"},
		{map[string]any{"folds": 1e15}, "more folds than rows"},
		{map[string]any{"draws": 1e15}, "draws"},
		{map[string]any{"draws": 1e8}, "draws"},
		{map[string]any{"iterations": 1e10}, "iterations"},
		{map[string]any{"inducing": 1e15}, "inducing"},
		{map[string]any{"lengthscale": 0}, "lengthscale"},
		{map[string]any{"noise_variance": "inf"}, "noise_variance"},
		{map[string]any{"method": "sprase"}, `did you mean "sparse"`},
	} {
		_, err := regression().Resolve(c.given)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v; want %q", c.given, err, c.want)
		}
	}
	for _, given := range []map[string]any{{"epsilon": 2, "calibration": "analytic"}, {"epsilon": "inf"}, {"epsilon": 1}} {
		if _, err := regression().Resolve(given); err != nil {
			t.Errorf("%v: %v", given, err)
		}
	}
	// More inducing inputs than distinct training inputs shows with the data.
	census := setup{folder: writeCensus(t)}
	if _, err := tryTrial(census, regression(), map[string]any{"method": "sparse", "inducing": 40}); err == nil || !strings.Contains(err.Error(), "are distinct") {
		t.Errorf("40 inducing inputs for 19 ages: %v", err)
	}
}

// Table 1 on the census. The values without noise follow from the settings;
// those with noise were found by an independent implementation with 100 draws.
// Its 16.5 ± 2.9 for nonstationary 2d has the spread over folds that five draws
// have, and five draws differ by 0.6 from seed to seed; 100 give 15.9 ± 1.9.
func TestTable1(t *testing.T) {
	census := setup{folder: realCensus(t), workers: 2}
	setA := map[string]any{"lengthscale": 15, "noise_variance": 2}
	setB := map[string]any{"lengthscale": 25, "noise_variance": 1}
	for _, c := range []struct {
		name           string
		set            map[string]any
		inputs, method string
		epsilon        any
		rmse           float64
		tolerance      float64
	}{
		{"A", setA, "age", "standard", 1, 13.8, 0.6},
		{"A", setA, "age", "sparse", 1, 10.0, 0.6},
		{"A", setA, "age", "nonstationary", 1, 12.8, 0.6},
		{"A", setA, "age+weight", "standard", 1, 18.7, 0.6},
		{"A", setA, "age+weight", "sparse", 1, 10.2, 0.6},
		{"A", setA, "age+weight", "nonstationary", 1, 16.5, 0.7},
		{"B", setB, "age", "standard", 1, 13.2, 0.6},
		{"B", setB, "age+weight", "standard", 1, 17.0, 0.6},
		{"A", setA, "age", "standard", "inf", 7.1, 0.05},
		{"A", setA, "age", "sparse", "inf", 7.8, 0.2},
		{"A", setA, "age", "nonstationary", "inf", 8.3, 0.05},
		{"A", setA, "age+weight", "standard", "inf", 5.3, 0.05},
		{"A", setA, "age+weight", "sparse", "inf", 7.7, 0.2},
		{"A", setA, "age+weight", "nonstationary", "inf", 6.0, 0.05},
		{"B", setB, "age", "standard", "inf", 7.8, 0.05},
		{"B", setB, "age+weight", "standard", "inf", 5.2, 0.05},
	} {
		r := runTrial(t, census, regression(), with(c.set, "inputs", c.inputs, "method", c.method, "epsilon", c.epsilon))
		near(t, strings.Join([]string{"set", c.name, c.inputs, c.method}, " "), r.Metrics["rmse_cm"], c.rmse, c.tolerance)
	}
}
