package regress

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/cloaking/design"
	"privkern/experiments/cloaking/internal/cloaktest"
	"privkern/experiments/dataset/readers"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/learn"
	"privkern/experiments/mechanism"
	"privkern/experiments/method"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// One fold of the census, rows 0, 14, 28, … as test: lengthscale 15, noise
// variance 2; values of an independent implementation.
func TestCensusFold(t *testing.T) {
	folder := cloaktest.RealCensus(t)
	data, err := cloak.LoadCensus(folder, cloak.Age, &Regression().Defaults().Heights)
	if err != nil {
		t.Fatal(err)
	}
	trialtest.Near(t, "prior mean", data.Prior, 134.605, 1e-3)
	trialtest.Near(t, "lower end of the interval", data.Low, 58.2675, 1e-9)
	if data.Clipped != 10 {
		t.Errorf("%d heights clipped, want 10", data.Clipped)
	}
	var train, test []int
	for i := range data.Output {
		if i%14 == 0 {
			test = append(test, i)
		} else {
			train = append(train, i)
		}
	}
	e := cloaktest.Engine(t)
	for _, c := range []struct {
		method     cloak.Method
		inducing   []float64
		norm, rmse float64
	}{
		{cloak.Standard, nil, 0.5724737059939129, 7.712772735758},
		{cloak.Sparse, []float64{5, 20, 35, 50, 65}, 0.5546271935139245, 9.035747669151},
	} {
		t.Run(c.method.String(), func(t *testing.T) {
			m := cloak.Model{Method: c.method, Hyperparameters: Regression().Defaults().Hyperparameters}
			if c.inducing != nil {
				m.Inducing = cloaktest.Column(c.inducing...)
			}
			matrix, err := m.Matrix(e, learn.SelectRows(data.Inputs, train), learn.SelectRows(data.Inputs, test))
			if err != nil {
				t.Fatal(err)
			}
			trialtest.Near(t, "norm", mat.Norm(matrix, 2), c.norm, 1e-12)
			square := 0.0
			for i, f := range data.Predict(matrix, train) {
				miss := f - data.Output[test[i]]
				square += miss * miss
			}
			trialtest.Near(t, "error", math.Sqrt(square/float64(len(test))), c.rmse, 1e-9)
			// A trial shows the same.
			r := validated(t, trialtest.Options{Folder: folder}, noiseless, func(s *regressionSettings) {
				s.FoldScheme, s.Method, s.Inducing = cloak.Interleaved, c.method, given(5, 20, 35, 50, 65)
			})
			trialtest.Near(t, "error of fold 0", r.Series["folds"]["rmse_cm"][0], c.rmse, 1e-9)
		})
	}
}

// Cross-validated errors without noise on the formula census; numpy with a
// dense solve per fold.
func TestRegressionWithoutNoise(t *testing.T) {
	census := trialtest.Options{Folder: cloaktest.Census(t)}
	for _, c := range []struct {
		inputs        cloak.Inputs
		method        cloak.Method
		normalisation cloak.Normalisation
		rmse, sd      float64
	}{
		{cloak.Age, cloak.Standard, cloak.AsPublished, 6.387178069379074, 0.5835329167609764},
		{cloak.Age, cloak.Nonstationary, cloak.AsPublished, 9.612904858676009, 1.0143566146326068},
		{cloak.Age, cloak.Standard, cloak.Public, 6.311167948449099, 0.39558597700993214},
		{cloak.Age, cloak.Nonstationary, cloak.Public, 9.29152824831601, 0.8658515046766617},
		{cloak.AgeAndWeight, cloak.Standard, cloak.AsPublished, 4.626050873011539, 0.3878583629967943},
		{cloak.AgeAndWeight, cloak.Nonstationary, cloak.AsPublished, 5.426823627945582, 0.4919303909722748},
		{cloak.AgeAndWeight, cloak.Standard, cloak.Public, 4.798279478225104, 0.42091486944941914},
		{cloak.AgeAndWeight, cloak.Nonstationary, cloak.Public, 5.503518172399693, 0.4197924793988838},
	} {
		name := fmt.Sprintf("%s, %s, %s", experiment.NameOf(c.inputs), c.method, experiment.NameOf(c.normalisation))
		t.Run(name, func(t *testing.T) {
			r := validated(t, census, by(c.inputs, c.method), noiseless, func(s *regressionSettings) {
				s.Normalisation = c.normalisation
			})
			m := r.Metrics
			trialtest.Near(t, "error", *m.RMSEHeights, c.rmse, 1e-8)
			trialtest.Near(t, "its spread", *m.RMSEHeightsFoldSD, c.sd, 1e-8)
			if m.Gap != nil || m.Rank != nil || *m.NoiseSDHeights != 0 || r.Privacy != nil {
				t.Error("a trial without noise reports a design or privacy")
			}
		})
	}
}

// The noise adds its variance to the squared error of a draw.
func TestRegressionNoiseAddsVariance(t *testing.T) {
	census := trialtest.Options{Folder: cloaktest.Census(t)}
	for _, method := range methods {
		t.Run(method.String(), func(t *testing.T) {
			two := func(s *regressionSettings) { s.Folds.Folds, s.Draws = 2, 20000 }
			clean := validated(t, census, by(cloak.AgeAndWeight, method), two, noiseless).Metrics
			noisy := validated(t, census, by(cloak.AgeAndWeight, method), two).Metrics
			// By Jensen's inequality the mean over draws of a root is below the
			// root of the mean; here the noise varies little from draw to draw.
			upper := math.Hypot(*clean.RMSEHeights, *noisy.NoiseSDHeights)
			if got := *noisy.RMSEHeights; got > 1.02*upper || got < 0.85*upper {
				t.Errorf("error %.3f with noise of %.3f, %.3f without", got, *noisy.NoiseSDHeights, *clean.RMSEHeights)
			}
		})
	}
}

func TestRegressionNoiseScales(t *testing.T) {
	census := trialtest.Options{Folder: cloaktest.Census(t)}
	noise := func(change func(*prediction)) float64 {
		return *validated(t, census, draws(1), shared(func(s *prediction) {
			s.Normalisation = cloak.Public
			change(s)
		})).Metrics.NoiseSDHeights
	}
	base := noise(unchanged)
	for _, c := range []struct {
		name     string
		change   func(*prediction)
		times    float64
		relative float64
	}{
		{"half the epsilon", func(s *prediction) { s.Epsilon = 0.5 }, 2, 1e-9},
		{"half the sensitivity", func(s *prediction) { s.Sensitivity = 50 }, 0.5, 1e-9},
		// σ/Δ at (1, 0.01) by the two calibrations.
		{"the analytic calibration", func(s *prediction) { s.Calibration = mechanism.Analytic },
			1.877875560907386 / 3.2552472614, 1e-8},
	} {
		t.Run(c.name, func(t *testing.T) {
			trialtest.Near(t, "noise", noise(c.change), c.times*base, c.relative*base)
		})
	}
	t.Run("few directions", func(t *testing.T) {
		if three := noise(func(s *prediction) { s.Rank = rank(3) }); !(three < base) {
			t.Errorf("releasing 3 directions needs noise %g, all directions %g", three, base)
		}
	})
}

// The gradient descent ends near the certified design, and reports its distance.
func TestRegressionSolvers(t *testing.T) {
	census := trialtest.Options{Folder: cloaktest.Census(t)}
	small := func(s *regressionSettings) { s.Folds.Folds, s.Draws, s.Lengthscale = 3, 1, method.LengthscalesOf(5) }
	certified := validated(t, census, small).Metrics
	gradient := validated(t, census, small, shared(gradientDescent(3000))).Metrics
	if *certified.Gap > 1e-8 || *gradient.Gap > 0.05 || *gradient.Gap < *certified.Gap {
		t.Errorf("gaps: certified %g, gradient %g", *certified.Gap, *gradient.Gap)
	}
	trialtest.Near(t, "noise by gradient descent", *gradient.NoiseSDHeights / *certified.NoiseSDHeights, 1, 0.02)
}

// A descent that ended early gives one warning for all folds.
func TestRegressionWarnsOfItsDesigns(t *testing.T) {
	census := trialtest.Options{Folder: cloaktest.Census(t)}
	r := validated(t, census, draws(1), shared(gradientDescent(5)), func(s *regressionSettings) { s.Rank = rank(6) })
	if *r.Metrics.Gap < 0.1 || len(r.Warnings) != 2 || !strings.Contains(r.Warnings[0], "an upper bound") ||
		!strings.Contains(r.Warnings[1], "largest Mahalanobis norm") {
		t.Errorf("gap %g, warnings %q", *r.Metrics.Gap, r.Warnings)
	}
	if r := validated(t, census, draws(1)); len(r.Warnings) != 0 {
		t.Errorf("certified designs: %q", r.Warnings)
	}
}

// Draws come in blocks, which are one stream of draws.
func TestNoiseInBlocks(t *testing.T) {
	e, err := engine.Open("cpu", "float64", 1)
	if err != nil {
		t.Fatal(err)
	}
	r, err := design.Whiten(context.Background(), e, []*mat.Dense{mat.NewDense(2, 3, []float64{1, 2, 0, 0, 1, 3})},
		design.FullRank, design.Tolerance64)
	if err = errors.Join(err, e.Close()); err != nil {
		t.Fatal(err)
	}
	d, err := design.Solve(context.Background(), r[0], 0, design.MaxIterations)
	if err != nil {
		t.Fatal(err)
	}
	s := &predictionSet{mean: []float64{0, 0}, design: d, scale: 2}
	whole := s.noise(rand.New(rand.NewPCG(1, 2)), 5)
	stream := rand.New(rand.NewPCG(1, 2))
	var blocks mat.Dense
	blocks.Augment(s.noise(stream, 2), s.noise(stream, 3))
	if !mat.Equal(whole, &blocks) {
		t.Errorf("five draws %v, in two blocks %v", mat.Formatted(whole), mat.Formatted(&blocks))
	}
}

// epsilons are with noise and without.
var epsilons = []float64{1, math.Inf(1)}

// Clipped heights are reported without noise, too.
func TestClippingIsReported(t *testing.T) {
	census := trialtest.Options{Folder: cloaktest.Census(t)}
	for _, e := range censusExperiments {
		for _, epsilon := range epsilons {
			t.Run(fmt.Sprintf("%s, epsilon %g", e.name, epsilon), func(t *testing.T) {
				wide := e.compute(t, census, func(s *prediction) { s.Epsilon = epsilon })
				narrow := e.compute(t, census, func(s *prediction) { s.Epsilon, s.Sensitivity = epsilon, 60 })
				if wide.clipped >= narrow.clipped {
					t.Errorf("%g heights outside 100 cm, %g outside 60 cm", wide.clipped, narrow.clipped)
				}
			})
		}
	}
}

// An interval that leaves nothing of most heights is a warning, with noise or
// without.
func TestClippingOfMostHeightsIsSuspect(t *testing.T) {
	formulas := trialtest.Options{Folder: cloaktest.Census(t)}
	for _, e := range censusExperiments {
		for _, epsilon := range epsilons {
			t.Run(fmt.Sprintf("%s, epsilon %g", e.name, epsilon), func(t *testing.T) {
				public := func(s *prediction) { s.Epsilon, s.Normalisation = epsilon, cloak.Public }
				far := e.compute(t, formulas, func(s *prediction) {
					public(s)
					s.PublicLow, s.Sensitivity = 1000, 1e-5
				})
				if !says(far.warnings, "computed but suspect: 287 of 287 heights are outside [1000, 1000.00001] cm") {
					t.Errorf("all heights clipped, warnings %q", far.warnings)
				}
				if r := e.compute(t, formulas, public); says(r.warnings, "heights are outside") {
					t.Errorf("%g heights clipped, warnings %q", r.clipped, r.warnings)
				}
			})
		}
	}
	for _, c := range []struct {
		clipped, warnings int
		census            *readers.Kung
	}{{200, 0, &readers.Kung{}}, {201, 1, &readers.Kung{}}, {4, 0, nil}, {5, 1, nil}} {
		t.Run(fmt.Sprintf("%d of 400, census %t", c.clipped, c.census != nil), func(t *testing.T) {
			data := &cloak.Problem{Output: make([]float64, 400), Clipped: c.clipped, Kung: c.census}
			if got := data.ClippingWarnings(); len(got) != c.warnings {
				t.Errorf("%q, want %d warnings", got, c.warnings)
			}
		})
	}
}

// The series of folds holds the values that the metrics average.
func TestRegressionFoldSeries(t *testing.T) {
	folder := cloaktest.Census(t)
	r := validated(t, trialtest.Options{Folder: folder}, draws(3))
	m, s := r.Metrics, r.Series["folds"]
	rows := 0.0
	for i, x := range s["x"] {
		if rows += s["rows"][i]; x != float64(i) {
			t.Errorf("fold %d has the number %g", i, x)
		}
	}
	mean, variance := stat.PopMeanVariance(s["rmse_cm"], nil)
	trialtest.Near(t, "mean over folds", mean, *m.RMSEHeights, 1e-12)
	trialtest.Near(t, "spread over folds", math.Sqrt(variance), *m.RMSEHeightsFoldSD, 1e-12)
	if len(s["x"]) != 14 || rows != 287 || slices.Min(s["rank"]) != *m.Rank || slices.Max(s["rank"]) > 21 {
		t.Errorf("%g rows, rank %g, folds %v", rows, *m.Rank, s)
	}
	clean := validated(t, trialtest.Options{Folder: folder}, noiseless)
	if f := clean.Series["folds"]; clean.Metrics.Rank != nil || f["rank"] != nil || f["rmse_cm"] == nil {
		t.Errorf("without noise: metrics %+v, folds %v", clean.Metrics, f)
	}
	// The error of a fold of one row would show its height.
	secure := validated(t, trialtest.Options{Folder: folder, Secure: true}, draws(3))
	if f := secure.Series["folds"]; f["rmse_cm"] != nil || len(f["rank"]) != 14 {
		t.Errorf("a record that protects has the folds %v", f)
	}
}

// Given inducing inputs serve every fold and draw no random number.
func TestRegressionGivenInducingInputs(t *testing.T) {
	census := trialtest.Options{Folder: cloaktest.Census(t)}
	sparse := func(z experiment.Points) func(*regressionSettings) {
		return func(s *regressionSettings) { s.Method, s.Inducing = cloak.Sparse, z }
	}
	three := sparse(given(5, 20, 35))
	first := validated(t, census, three, noiseless).Metrics
	census.Seed = 1
	if second := validated(t, census, three, noiseless).Metrics; !reflect.DeepEqual(first, second) {
		t.Errorf("%+v, with another stream %+v", first, second)
	}
	if m := validated(t, census, sparse(placed(3)), noiseless).Metrics; *m.RMSEHeights == *first.RMSEHeights {
		t.Error("three given inducing inputs are the three of k-means")
	}
	trialtest.Near(t, "rank", *validated(t, census, three, draws(1)).Metrics.Rank, 3, 0)
	at := func(z experiment.Points) float64 {
		return trialtest.Compute(t, census, Curve(), func(s *curveSettings) {
			s.Method, s.Ages, s.AtAge, s.Inducing = cloak.Sparse, []float64{0, 30}, 30, z
		}).Metrics.Mean
	}
	if at(placed(5)) == at(given(5, 20, 35)) {
		t.Error("the curve does not depend on its inducing inputs")
	}
}

// Neither the number of workers nor the order of folds enters a result.
func TestRegressionIsDeterministic(t *testing.T) {
	folder := cloaktest.Census(t)
	for _, method := range methods {
		for name, solver := range map[string]func(*prediction){"certified": unchanged, "gradient": gradientDescent(20)} {
			t.Run(fmt.Sprintf("%s, %s", method, name), func(t *testing.T) {
				run := func(s trialtest.Options) regressionMetrics {
					s.Folder = folder
					return validated(t, s, by(cloak.AgeAndWeight, method), shared(solver), func(s *regressionSettings) {
						s.FoldScheme = cloak.Random
					}).Metrics
				}
				one, four := run(trialtest.Options{Workers: 1}), run(trialtest.Options{Workers: 4})
				if !reflect.DeepEqual(one, four) {
					t.Errorf("%+v with one worker, %+v with four", one, four)
				}
				if other := run(trialtest.Options{Seed: 1}); *other.RMSEHeights == *one.RMSEHeights {
					t.Error("another stream gives the same error")
				}
			})
		}
	}
}

func TestRegressionFoldSchemes(t *testing.T) {
	census := trialtest.Options{Folder: cloaktest.Census(t)}
	errors := map[float64]string{}
	for _, scheme := range []cloak.FoldScheme{cloak.Contiguous, cloak.Interleaved, cloak.Random} {
		name := experiment.NameOf(scheme)
		t.Run(name, func(t *testing.T) {
			m := validated(t, census, noiseless, func(s *regressionSettings) { s.FoldScheme = scheme }).Metrics
			if same, ok := errors[*m.RMSEHeights]; ok {
				t.Errorf("it gives the error of %s", same)
			}
			errors[*m.RMSEHeights] = name
		})
	}
}

func TestRegressionFloat32(t *testing.T) {
	folder := cloaktest.Census(t)
	single := trialtest.Options{Folder: folder, DType: "float32"}
	double := validated(t, trialtest.Options{Folder: folder}, noiseless).Metrics
	trialtest.Near(t, "error in float32", *validated(t, single, noiseless).Metrics.RMSEHeights, *double.RMSEHeights, 0.01)
	if m := validated(t, single).Metrics; *m.Gap > 1e-6 {
		t.Errorf("with noise in float32 the gap is %g", *m.Gap)
	}
}

// In float32 fewer directions can be distinguished from rounding than in float64, which changes the
// noise; where none is doubtful there is no warning.
func TestFloat32WarnsOfItsRank(t *testing.T) {
	folder := cloaktest.Census(t)
	double, single := trialtest.Options{Folder: folder}, trialtest.Options{Folder: folder, DType: "float32"}
	for _, c := range []struct {
		name string
		run  func(t *testing.T, s trialtest.Options) (rank float64, warnings []string)
		want string
	}{
		{"regression", func(t *testing.T, s trialtest.Options) (float64, []string) {
			r := validated(t, s, draws(1))
			return *r.Metrics.Rank, r.Warnings
		}, "sets of predictions, at worst %g of"},
		{"curve", func(t *testing.T, s trialtest.Options) (float64, []string) {
			r := trialtest.Compute(t, s, Curve())
			return *r.Metrics.Rank, r.Warnings
		}, " %g of 56 directions are released"},
		{"design", func(t *testing.T, s trialtest.Options) (float64, []string) {
			r := trialtest.Compute(t, s, Design(), synthetic, func(s *designSettings) {
				s.TestPoints = nil
				for age := 0.0; age <= 84; age += 2 {
					s.TestPoints = append(s.TestPoints, age)
				}
			})
			return r.Metrics.Rank, r.Warnings
		}, " %g of 43 directions are released"},
	} {
		t.Run(c.name, func(t *testing.T) {
			wide, wideWarnings := c.run(t, double)
			narrow, warnings := c.run(t, single)
			if narrow >= wide {
				t.Errorf("rank %g in float32, %g in float64", narrow, wide)
			}
			if want := fmt.Sprintf(c.want, narrow); !says(warnings, "float32's tolerance") || !says(warnings, want) {
				t.Errorf("warnings %q, want %q", warnings, want)
			}
			if says(wideWarnings, "float32's tolerance") {
				t.Errorf("float64 warns %q", wideWarnings)
			}
		})
	}
	for name, change := range map[string]func(*curveSettings){
		"a given rank":  func(s *curveSettings) { s.Rank = rank(2) },
		"few ages":      func(s *curveSettings) { s.Ages, s.AtAge = []float64{5, 5, 9}, 5 },
		"sparse":        func(s *curveSettings) { s.Method = cloak.Sparse }, // rank 5 by construction
		"without noise": func(s *curveSettings) { s.Epsilon = math.Inf(1) },
	} {
		t.Run(name, func(t *testing.T) {
			if r := trialtest.Compute(t, single, Curve(), change); len(r.Warnings) != 0 {
				t.Errorf("%q", r.Warnings)
			}
		})
	}
}

func TestRegressionPrivacyBlock(t *testing.T) {
	census := trialtest.Options{Folder: cloaktest.Census(t)}
	t.Run("as published", func(t *testing.T) {
		p := validated(t, census, func(s *regressionSettings) { s.Epsilon = 0.5 }).Privacy
		if p.Guarantee != "" || !strings.HasPrefix(p.Statement(),
			"no guarantee: the clipping interval and the prior mean") ||
			p.Unit != "one training output changed by at most 100 cm" {
			t.Errorf("%+v", p)
		}
		if !says(p.Notes, "claimed by the paper: (0.5, 0.01)-DP; it does not hold because") ||
			!says(p.Notes, "delta is not the probability") {
			t.Errorf("the notes leave out what is not covered: %q", p.Notes)
		}
	})
	for _, e := range censusExperiments {
		t.Run(e.name, func(t *testing.T) {
			notes := e.compute(t, census, unchanged).privacy.Notes
			if !says(notes, "this record itself is not private: it holds the heights") ||
				!says(notes, "hyperparameters are taken as public") {
				t.Errorf("the notes leave out what the record holds: %q", notes)
			}
		})
	}
	t.Run("public", func(t *testing.T) {
		p := validated(t, census, func(s *regressionSettings) {
			s.Normalisation, s.Calibration = cloak.Public, mechanism.Analytic
		}).Privacy
		if says(p.Notes, "computed from the private heights") || p.Guarantee != "(1, 0.01)-DP" ||
			!strings.Contains(p.Mechanism, "Balle and Wang") {
			t.Errorf("%+v", p)
		}
	})
}

// With protecting noise the record holds the noisy predictions instead of the exact ones.
func TestSecureRecords(t *testing.T) {
	folder := cloaktest.Census(t)
	for _, e := range censusExperiments {
		t.Run(e.name, func(t *testing.T) {
			open := e.compute(t, trialtest.Options{Folder: folder}, unchanged)
			secure := e.compute(t, trialtest.Options{Folder: folder, Secure: true}, unchanged)
			for name, s := range secure.series {
				if s["height_cm"] != nil || s["mean_cm"] != nil {
					t.Errorf("the series %s holds heights or predictions without noise", name)
				}
			}
			if open.series["released"] != nil || !says(secure.privacy.Notes, "the series released alone") {
				t.Error("released without protection, or without saying what is protected")
			}
			// The released predictions are the open run's, a few standard
			// deviations off.
			mean, sd, square := open.series[e.series]["mean_cm"], open.series[e.series]["noise_sd_cm"], 0.0
			noisy := secure.series["released"]["noisy_cm"]
			if len(noisy) != len(mean) {
				t.Fatalf("%d released predictions of %d", len(noisy), len(mean))
			}
			for i, v := range noisy {
				z := (v - mean[i]) / sd[i]
				square += z * z / float64(len(noisy))
			}
			if square < 0.05 || square > 4 {
				t.Errorf("mean square of the noise over its variance is %g", square)
			}
			// Without noise nothing is published, and nothing is hidden.
			clean := e.compute(t, trialtest.Options{Folder: folder, Secure: true},
				func(s *prediction) { s.Epsilon = math.Inf(1) })
			if clean.series["released"] != nil || clean.privacy != nil {
				t.Error("a trial without noise releases something")
			}
		})
	}
}

func TestRegressionRefusals(t *testing.T) {
	refusals{
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
	}.check(t, Regression().Experiment)
	for name, change := range map[string]func(*regressionSettings){
		"a large epsilon": func(s *regressionSettings) { s.Epsilon, s.Calibration = 2, mechanism.Analytic },
		"no noise":        noiseless,
		"one":             func(s *regressionSettings) { s.Epsilon = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Regression().Resolved(Regression().With(change)); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("more inducing inputs than distinct training inputs", func(t *testing.T) { // shows with the data
		census := trialtest.Options{Folder: cloaktest.Census(t)}
		_, err := trialtest.Try(t, census, Regression(), func(s *regressionSettings) {
			s.Method, s.Inducing = cloak.Sparse, placed(40)
		})
		trialtest.Refuses(t, err, "are distinct")
	})
}

// Table 1 on the census. The values without noise follow from the settings;
// those with noise were found by an independent implementation with 100 draws.
// Its 16.5 ± 2.9 for nonstationary 2d has the spread over folds that five draws
// have, and five draws differ by 0.6 from seed to seed; 100 give 15.9 ± 1.9.
func TestTable1(t *testing.T) {
	census := trialtest.Options{Folder: cloaktest.RealCensus(t), Workers: 2}
	noisy, clean := 1.0, math.Inf(1)
	setA := cloak.Hyperparameters{
		Kernel: cloak.Kernel{Lengthscale: method.LengthscalesOf(15), KernelVariance: 1}, NoiseVariance: 2,
	}
	setB := cloak.Hyperparameters{
		Kernel: cloak.Kernel{Lengthscale: method.LengthscalesOf(25), KernelVariance: 1}, NoiseVariance: 1,
	}
	for _, c := range []struct {
		name      string
		set       cloak.Hyperparameters
		inputs    cloak.Inputs
		method    cloak.Method
		epsilon   float64
		rmse      float64
		tolerance float64
	}{
		{"A", setA, cloak.Age, cloak.Standard, noisy, 13.8, 0.6},
		{"A", setA, cloak.Age, cloak.Sparse, noisy, 10.0, 0.6},
		{"A", setA, cloak.Age, cloak.Nonstationary, noisy, 12.8, 0.6},
		{"A", setA, cloak.AgeAndWeight, cloak.Standard, noisy, 18.7, 0.6},
		{"A", setA, cloak.AgeAndWeight, cloak.Sparse, noisy, 10.2, 0.6},
		{"A", setA, cloak.AgeAndWeight, cloak.Nonstationary, noisy, 16.5, 0.7},
		{"B", setB, cloak.Age, cloak.Standard, noisy, 13.2, 0.6},
		{"B", setB, cloak.AgeAndWeight, cloak.Standard, noisy, 17.0, 0.6},
		{"A", setA, cloak.Age, cloak.Standard, clean, 7.1, 0.05},
		{"A", setA, cloak.Age, cloak.Sparse, clean, 7.8, 0.2},
		{"A", setA, cloak.Age, cloak.Nonstationary, clean, 8.3, 0.05},
		{"A", setA, cloak.AgeAndWeight, cloak.Standard, clean, 5.3, 0.05},
		{"A", setA, cloak.AgeAndWeight, cloak.Sparse, clean, 7.7, 0.2},
		{"A", setA, cloak.AgeAndWeight, cloak.Nonstationary, clean, 6.0, 0.05},
		{"B", setB, cloak.Age, cloak.Standard, clean, 7.8, 0.05},
		{"B", setB, cloak.AgeAndWeight, cloak.Standard, clean, 5.2, 0.05},
	} {
		t.Run(fmt.Sprintf("set %s, %s, %s, epsilon %g", c.name, experiment.NameOf(c.inputs), c.method, c.epsilon),
			func(t *testing.T) {
				m := validated(t, census, by(c.inputs, c.method), func(s *regressionSettings) {
					s.Hyperparameters, s.Epsilon = c.set, c.epsilon
				}).Metrics
				trialtest.Near(t, "error", *m.RMSEHeights, c.rmse, c.tolerance)
			})
	}
}
