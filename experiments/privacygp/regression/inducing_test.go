package regression

import (
	"math"
	"strings"
	"testing"

	"privkern/experiments/internal/trialtest"
)

// byInducing takes the waves with m inducing inputs.
func byInducing(path string, m int, changes ...func(*Settings)) func(*Settings) {
	return func(s *Settings) {
		s.Dataset, s.Inputs, s.Output, s.Sensitive, s.Folds = "csv:"+path, "a+b", "c", "rows:3..6", 3
		known("0.8+6", 1.5, 0.02)(s)
		s.Mean, s.Inducing = number(0.3), m
		for _, change := range changes {
			change(s)
		}
	}
}

// With inducing inputs the tolerances are kept, and results differ from the exact ones by no more than the metrics
// tell.
func TestInducing(t *testing.T) {
	path := wave(t, 90)
	for _, c := range []struct {
		name   string
		change func(*Settings)
	}{
		{"strong", func(*Settings) {}},
		{"several exports", func(s *Settings) { s.Exports = 3 }},
		{"tolerances", func(s *Settings) { s.Sensitive, s.Xi = "rows:3,rows:60", xi(0.5, 0.4) }},
		{"optimal", func(s *Settings) { s.Sensitive, s.Noise = "rows:8", optimal }},
		{"without noise", func(s *Settings) { s.Noise = none }},
		{"nothing to do", func(s *Settings) { s.Xi, s.Noise, s.Sensitive = xi(0), optimal, "rows:8" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			exact := trialtest.Compute(t, trialtest.Options{}, Experiment(), byInducing(path, 0, c.change)).Metrics
			for _, m := range []int{6, 20, 40} {
				out := trialtest.Compute(t, trialtest.Options{}, Experiment(), byInducing(path, m, c.change))
				got := out.Metrics
				if exact.Tolerance > 0 && got.Trace > 0 && got.VarianceMin < got.Tolerance*(1-1e-6) {
					t.Errorf("%d: variance %g, tolerance %g", m, got.VarianceMin, got.Tolerance)
				}
				if d := got.Trace - exact.Trace; d < -1e-8*exact.Trace || d > *got.ErrorTrace+1e-8*exact.Trace {
					t.Errorf("%d: trace %g, exact %g, bound %g", m, got.Trace, exact.Trace, *got.ErrorTrace)
				}
				if got.VarianceUnsecured > exact.VarianceUnsecured+1e-9 {
					t.Errorf("%d: without noise %g is kept, and in truth %g", m, got.VarianceUnsecured, exact.VarianceUnsecured)
				}
				d := math.Abs(got.RMSEPublic[unsecured] - exact.RMSEPublic[unsecured])
				if d > *got.ErrorRMSE+1e-9 {
					t.Errorf("%d: the error differs by %g, bound %g", m, d, *got.ErrorRMSE)
				}
				if got.RMSEOther != nil || exact.ErrorRMSE != nil || got.UsedRows != 90 {
					t.Errorf("%d: metrics %+v", m, got)
				}
				if sd := out.Series["data"]["noise_sd"]; len(sd) != 90 || len(out.Series["data"]["obfuscated"]) != 90 {
					t.Errorf("%d: series of %d rows", m, len(sd))
				}
				if m < 40 {
					continue
				}
				for name, pair := range map[string][2]float64{
					"rmse, released":    {got.RMSEPublic[released], exact.RMSEPublic[released]},
					"rmse, independent": {got.RMSEPublic[independent], exact.RMSEPublic[independent]},
					"mae":               {got.MAEPublic[released], exact.MAEPublic[released]},
					"rmse, hidden":      {got.RMSESensitive[released], exact.RMSESensitive[released]},
					"coverage":          {*got.CoveragePublic, *exact.CoveragePublic},
					"variance":          {got.VarianceMin, exact.VarianceMin},
					"independent":       {got.TraceIndependent, exact.TraceIndependent},
					"rank":              {got.Rank, exact.Rank},
				} {
					if math.Abs(pair[0]-pair[1]) > 1e-4*(1e-3+math.Abs(pair[1])) {
						t.Errorf("%s: %g, exact %g", name, pair[0], pair[1])
					}
				}
			}
		})
	}
}

// The bounds hold where the inducing inputs are too few, and are not of a size that no bound would have.
func TestBoundsOfInducing(t *testing.T) {
	path := wave(t, 90)
	before := math.Inf(1)
	for _, m := range []int{5, 20, 45} {
		got := trialtest.Compute(t, trialtest.Options{}, Experiment(), byInducing(path, m)).Metrics
		if *got.ErrorTrace <= 0 || *got.ErrorTrace > before || *got.ErrorVariance < 0 {
			t.Errorf("%d inducing inputs: bounds %g, %g, before %g", m, *got.ErrorTrace, *got.ErrorVariance, before)
		}
		before = *got.ErrorTrace
	}
	if before > 1e-2 {
		t.Errorf("45 of 90 inputs leave %g", before)
	}
}

func TestInducingBadInput(t *testing.T) {
	path := wave(t, 30)
	twins := csv(t, "a,b,c\n"+strings.Repeat("0.1,0.2,1\n0.3,0.9,2\n0.8,0.4,1.5\n", 9))
	for name, c := range map[string]struct {
		change func(*Settings)
		want   string
	}{
		"weak":             {func(s *Settings) { s.Noise = weak }, "noise = weak is computed of the exact covariance"},
		"a kernel":         {func(s *Settings) { s.Requirement = byKernel }, "requirement = kernel is judged by the exact"},
		"estimated":        {func(s *Settings) { s.Hyperparameters = estimated }, "are not estimated by inducing inputs"},
		"a mean":           {func(s *Settings) { s.Mean.IsWord = true }, "are not estimated by inducing inputs"},
		"too many rows":    {func(s *Settings) { s.MostRows = 20 }, "with most_rows=30 a trial takes about 1 s of CPU time"},
		"too many, exact":  {func(s *Settings) { s.Inducing, s.MostRows = 0, 5001 }, "above 5000 rows the covariance"},
		"as many as rows":  {func(s *Settings) { s.Inducing = 30 }, "30 inducing inputs of 30 rows"},
		"more than a fold": {func(s *Settings) { s.Inducing, s.Lengthscales = 20, "0.01" }, "take fewer inducing inputs"},
		"little noise":     {func(s *Settings) { s.NoiseVariance = 1e-12 }, "give at least"},
		"no noise":         {func(s *Settings) { s.NoiseVariance = 0 }, "give at least"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := trialtest.Try(t, trialtest.Options{}, Experiment(), byInducing(path, 8, c.change))
			trialtest.Refuses(t, err, c.want)
		})
	}
	_, err := trialtest.Try(t, trialtest.Options{DType: "float32"}, Experiment(), byInducing(path, 8))
	trialtest.Refuses(t, err, "use --dtype float64")
	// Equal rows are one inducing input.
	out := trialtest.Compute(t, trialtest.Options{}, Experiment(), byInducing(twins, 8,
		func(s *Settings) { s.Sensitive = "rows:1" }))
	if m := out.Metrics; m.VarianceMin < m.Tolerance*(1-1e-6) || m.SensitiveRows != 9 {
		t.Errorf("of three places, each of nine rows: %+v", m)
	}
}

// Time and memory of a trial grow with the rows that it may have, and less with inducing inputs.
func TestWhatRowsTake(t *testing.T) {
	s := Experiment().With(byInducing("rows.csv", 0))
	at := func(rows, inducing int) (float64, int64) {
		more := *s
		more.MostRows, more.Inducing = rows, inducing
		return more.seconds(rows, 2), memory(&more)
	}
	seconds, bytes := at(1000, 0)
	if more, much := at(4000, 0); more < 50*seconds || much < 10*bytes {
		t.Errorf("4,000 rows take %g s and %d bytes, 1,000 %g s and %d", more, much, seconds, bytes)
	}
	if less, few := at(20000, 200); less > 600 || few > 4<<30 {
		t.Errorf("20,000 rows with 200 inducing inputs take %g s and %d bytes", less, few)
	}
	if _, many := at(6000, 50); many < 698<<20 || many > 1<<30 {
		t.Errorf("6,000 rows with 50 inducing inputs and any places take %d bytes", many)
	}
	if told := s.phase("folds", 60, 2); told != "folds" {
		t.Errorf("of 60 rows %q is told", told)
	}
	if told := s.phase("folds", 4000, 2); !strings.Contains(told, "folds (in all about ") {
		t.Errorf("of 4,000 rows %q is told", told)
	}
	for _, c := range []struct {
		change func(*Settings)
		want   string
	}{
		{func(*Settings) {}, "with most_rows=6000 inducing=500 a trial takes"},
		{func(s *Settings) { s.Hyperparameters, s.Mean.IsWord = estimated, true },
			"inducing=500 hyperparameters=given mean=0, or public ranges, a trial takes"},
		{func(s *Settings) { s.Noise, s.Requirement = equal, byKernel },
			"inducing=500 noise=strong requirement=tolerance a trial takes"},
		{func(s *Settings) { s.Noise = weak }, "and at most 500 with noise = weak: use noise=strong"},
	} {
		more := *s
		c.change(&more)
		if err := more.tooMany(6000, 2); !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v; want %s", err, c.want)
		}
	}
	if err := s.tooMany(20001, 2); !strings.Contains(err.Error(), "at most 20000 are taken") {
		t.Error(err)
	}
}
