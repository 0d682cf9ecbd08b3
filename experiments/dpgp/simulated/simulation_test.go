package simulated

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"privkern/experiments/dpgp/sparse"
	"privkern/experiments/internal/trialtest"
	"privkern/runner/experiment"
)

// seed is a trial with two workers.
func seed(n uint64) trialtest.Options { return trialtest.Options{Seed: n, Workers: 2} }

// simulationTest is the common part of a trial of inference or calibration.
type simulationTest struct {
	name string
	run  func(*testing.T, trialtest.Options, func(commonSettings)) (commonOutcome, error)
}

// commonSettings are the settings of both.
type commonSettings struct {
	fit
	n, repeats *int
}

type commonOutcome struct {
	rmse    float64
	metrics simulationMetrics
	all     map[string]float64
	*experiment.Result
}

// simulations are both experiments.
var simulations = []simulationTest{
	{"inference", func(t *testing.T, o trialtest.Options, change func(commonSettings)) (commonOutcome, error) {
		out, err := trialtest.Try(t, o, inference(), func(s *inferenceSettings) {
			change(commonSettings{s.fit(), &s.N, &s.Repeats})
		})
		if err != nil {
			return commonOutcome{}, err
		}
		return outcomeOf(out, out.Metrics.RMSE, out.Metrics.simulationMetrics), nil
	}},
	{"calibration", func(t *testing.T, o trialtest.Options, change func(commonSettings)) (commonOutcome, error) {
		out, err := trialtest.Try(t, o, calibration(), func(s *calibrationSettings) {
			change(commonSettings{s.fit(), &s.N, &s.Repeats})
		})
		if err != nil {
			return commonOutcome{}, err
		}
		return outcomeOf(out, out.Metrics.RMSE, out.Metrics.simulationMetrics), nil
	}},
}

func outcomeOf[M any](out *experiment.Outcome[M], rmse float64, m simulationMetrics) commonOutcome {
	return commonOutcome{rmse, m, experiment.MetricValues(out.Metrics),
		&experiment.Result{Series: out.Series, Privacy: out.Privacy, Warnings: out.Warnings}}
}

// must runs a trial that does not fail.
func (x simulationTest) must(t *testing.T, o trialtest.Options, change func(commonSettings)) commonOutcome {
	t.Helper()
	out, err := x.run(t, o, change)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// One seed gives one result with any number of workers.
func TestWorkersDoNotChangeResults(t *testing.T) {
	for _, x := range simulations {
		t.Run(x.name, func(t *testing.T) {
			small := func(s commonSettings) { *s.repeats, *s.n = 9, 300 }
			one, three := x.must(t, trialtest.Options{}, small), x.must(t, trialtest.Options{Workers: 3}, small)
			if !maps.Equal(one.all, three.all) {
				t.Errorf("%v with one worker, %v with three", one.all, three.all)
			}
			if other := x.must(t, trialtest.Options{Seed: 1}, small); other.rmse == one.rmse {
				t.Error("another seed gives the same")
			}
		})
	}
}

// Single precision computes the sums only; without noise, nothing.
func TestSinglePrecision(t *testing.T) {
	for _, c := range []struct {
		name    string
		epsilon float64
		warned  bool
	}{{"much noise", 1, false}, {"little noise", 30, false}, {"no noise", math.Inf(1), true}} {
		for _, x := range simulations {
			t.Run(c.name+", "+x.name, func(t *testing.T) {
				change := func(s commonSettings) { s.Epsilon, *s.repeats = c.epsilon, 5 }
				double, single := x.must(t, trialtest.Options{}, change), x.must(t, trialtest.Options{DType: "float32"}, change)
				trialtest.Near(t, "rmse in float32", single.rmse, double.rmse, 1e-4)
				if warned := slices.ContainsFunc(single.Warnings, func(w string) bool {
					return strings.Contains(w, "computed in float64")
				}); warned != c.warned {
					t.Errorf("warnings %q", single.Warnings)
				}
			})
		}
	}
}

// A protected record has nothing of the data but the output of the mechanism.
func TestSecureRecords(t *testing.T) {
	series := map[string]struct{ secure, open []string }{
		"inference":   {[]string{"inducing", "posterior"}, []string{"data", "inducing", "posterior"}},
		"calibration": {nil, []string{"repeats"}},
	}
	clipping := func(s commonSettings) { *s.repeats, s.OutputBound = 2, 0.2 }
	for _, x := range simulations {
		t.Run(x.name+", secure", func(t *testing.T) {
			r := x.must(t, trialtest.Options{Secure: true}, clipping)
			if got := slices.Sorted(maps.Keys(r.Series)); !slices.Equal(got, series[x.name].secure) {
				t.Errorf("it has the series %v", got)
			}
			if r.metrics.ClippedFraction != nil || strings.Contains(strings.Join(r.Privacy.Notes, ""), "clipped_fraction") {
				t.Error("it shows how many outputs were clipped")
			}
			if len(r.Warnings) > 0 {
				t.Errorf("it warns of clipped outputs: %q", r.Warnings)
			}
			if r.Privacy == nil || !strings.Contains(r.Privacy.Notes[0], "metrics are computed") {
				t.Errorf("privacy %+v", r.Privacy)
			}
		})
		t.Run(x.name+", seeded", func(t *testing.T) {
			r := x.must(t, trialtest.Options{}, clipping)
			if got := slices.Sorted(maps.Keys(r.Series)); !slices.Equal(got, series[x.name].open) {
				t.Errorf("it has the series %v", got)
			}
			if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "beyond r_y = 0.2") || r.metrics.ClippedFraction == nil {
				t.Errorf("warnings %q", r.Warnings)
			}
		})
		// Without noise nothing is protected, and nothing needs hiding.
		t.Run(x.name+", without noise", func(t *testing.T) {
			r := x.must(t, trialtest.Options{Secure: true}, func(s commonSettings) { *s.repeats, s.Epsilon = 2, math.Inf(1) })
			if r.Privacy != nil || r.metrics.ClippedFraction == nil {
				t.Errorf("privacy %+v, clipped %v", r.Privacy, r.metrics.ClippedFraction)
			}
		})
	}
}

func TestPrivacyOfInference(t *testing.T) {
	of := func(strict bool) *experiment.Privacy {
		return trialtest.Compute(t, trialtest.Options{}, inference(), func(s *inferenceSettings) {
			s.Epsilon, s.Delta, s.OutputBound, s.Strict = 3, 1e-5, 9, strict
		}).Privacy
	}
	strict := of(true)
	if got := strict.Statement(); strict.Guarantee != "" || !strings.HasPrefix(got, "no guarantee: with strict=true") {
		t.Errorf("with strict=true: %q, %q", strict.Guarantee, got)
	}
	clipping := of(false)
	if clipping.Guarantee != "(3, 1e-05)-DP" || !strings.Contains(clipping.Unit, "input and output") {
		t.Errorf("%s, %s", clipping.Guarantee, clipping.Unit)
	}
	notes := strings.Join(clipping.Notes, "\n")
	for _, want := range []string{"how many rows", "r_y", "inducing inputs are taken as public", "clipped",
		"budget of its own"} {
		t.Run(want, func(t *testing.T) {
			if !strings.Contains(notes, want) {
				t.Errorf("the notes lack it:\n%s", notes)
			}
		})
	}
}

func TestInferenceFails(t *testing.T) {
	loose := func(s *inferenceSettings) { s.Rho, s.Repeats = 0.999, 500 }
	for _, c := range []struct {
		name   string
		change func(*inferenceSettings)
		want   string // "" for a trial that does not fail
	}{
		{"outputs beyond the bound", func(s *inferenceSettings) { s.Strict = true }, "of 1024 outputs are beyond r_y = 1"},
		{"near inducing inputs", func(s *inferenceSettings) { s.Inducing.Count = 60 }, "jitter=1e-8"},
		{"near ones with jitter", func(s *inferenceSettings) { s.Inducing.Count, s.Jitter = 60, 1e-8 }, ""},
		{"noise beyond lambda", loose, "of 500: the noise is larger than lambda"},
		{"the corrected lambda", func(s *inferenceSettings) {
			loose(s)
			s.Regularisation = sparse.RegularisationCorrected
		}, ""},
		{"the spacing that there is", func(s *inferenceSettings) {
			s.Spacing = experiment.NumberOr[sparse.Auto](0.75)
		}, ""},
		{"a spacing that the bound does not use", func(s *inferenceSettings) {
			s.Spacing, s.Bound = experiment.NumberOr[sparse.Auto](0.8), sparse.Eq4
		}, ""},
		{"the spacing but for rounding of the grid", func(s *inferenceSettings) {
			s.Inducing.Count, s.Spacing, s.N, s.Jitter = 31, experiment.NumberOr[sparse.Auto](0.2), 20, 1e-8
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := trialtest.Try(t, trialtest.Options{}, inference(), c.change)
			if c.want != "" {
				trialtest.Refuses(t, err, c.want)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

// Whether an output is beyond its bound is private: a secure trial does not fail of it.
func TestStrictWithSecureNoise(t *testing.T) {
	_, err := trialtest.Try(t, trialtest.Options{Secure: true}, inference(), func(s *inferenceSettings) {
		s.Strict, s.OutputBound = true, 0.1
	})
	trialtest.Refuses(t, err, "is private")
	if err != nil && strings.Contains(err.Error(), "1024") {
		t.Error(err)
	}
}
