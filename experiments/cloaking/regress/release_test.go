package regress

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/cloaking/internal/cloaktest"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/mechanism"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

func published(t *testing.T, s trialtest.Options, changes ...func(*regressionSettings)) *experiment.Release {
	t.Helper()
	r, err := cloaktest.Publish(t, s, Regression(), changes...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// public takes the normalisation of the census from constants.
func public(s *regressionSettings) { s.Normalisation = cloak.Public }

// predicting changes where a release predicts.
func predicting(at string) func(*regressionSettings) {
	return func(s *regressionSettings) { s.Predict = at }
}

// By default a release predicts at the distinct training inputs, in the order
// of the file.
func TestReleasePoints(t *testing.T) {
	file, _ := cloaktest.SmallOwn(t)
	r := published(t, trialtest.Options{File: file}, smallOwn)
	if !slices.Equal(r.Columns, []string{"x", "prediction", "noise_sd", "predictive_sd", "low95", "high95"}) ||
		!slices.Equal(cloaktest.ColumnOf(t, r, "x"), []float64{0, 1, 2, 3, 4, 5, 6, 7}) {
		t.Errorf("%q, %v", r.Columns, cloaktest.ColumnOf(t, r, "x"))
	}
	kung := trialtest.Options{Folder: cloaktest.Census(t), File: cloaktest.File(t, "note,age,weight\na,20,40\nb,60,45\n")}
	r = published(t, kung, by(cloak.AgeAndWeight, cloak.Standard), public, predicting("csv:points.csv"))
	if !slices.Equal(r.Columns, []string{"weight", "age", "prediction", "noise_sd", "predictive_sd", "low95", "high95"}) ||
		!slices.Equal(r.Rows[1][:2], []float64{45, 60}) || len(r.Rows) != 2 {
		t.Errorf("%q, %v", r.Columns, r.Rows)
	}
}

// A release reports on its points, in the unit of the data.
func TestReleaseMetrics(t *testing.T) {
	file, _ := cloaktest.SmallOwn(t)
	kung := trialtest.Options{Folder: cloaktest.Census(t), File: file}
	for name, change := range map[string]func(*regressionSettings){"own": smallOwn, "census": public} {
		t.Run(name, func(t *testing.T) {
			r := published(t, kung, change)
			m := Regression().Values(r.Metrics)
			square := 0.0
			for _, sd := range cloaktest.ColumnOf(t, r, "noise_sd") {
				square += sd * sd / float64(len(r.Rows))
			}
			noise, other := m.NoiseSD, m.NoiseSDHeights
			if name == "census" {
				noise, other = other, noise
			}
			if other != nil || m.Rank == nil || m.Gap == nil || *m.Gap > 1e-8 || len(r.Metrics) != 3 {
				t.Fatalf("%v", r.Metrics)
			}
			trialtest.Near(t, "noise", *noise, math.Sqrt(square), 1e-9**noise)
		})
	}
}

// Released numbers are the predictions plus noise of the standard deviation
// that is released with them: over 600 releases the noise in units of it has
// mean 0 and variance 1.
func TestReleasedNoise(t *testing.T) {
	const releases = 600
	file, _ := cloaktest.SmallOwn(t)
	for _, method := range []cloak.Method{cloak.Standard, cloak.Sparse} {
		t.Run(method.String(), func(t *testing.T) {
			three := func(s *regressionSettings) { s.Method, s.Inducing = method, given(1, 4, 6) }
			var mean []float64
			sum, square, product := make([]float64, 8), make([]float64, 8), 0.0
			for i := range releases {
				s := trialtest.Options{File: file, Seed: uint64(i)}
				r := published(t, s, smallOwn, three)
				if mean == nil {
					mean = exactPredictions(t, s, smallOwn, three)
				}
				sd := cloaktest.ColumnOf(t, r, "noise_sd")
				z := make([]float64, len(mean))
				for j, v := range cloaktest.ColumnOf(t, r, "prediction") {
					z[j] = (v - mean[j]) / sd[j]
					sum[j] += z[j]
					square[j] += z[j] * z[j]
				}
				product += z[0] * z[1]
			}
			for j := range mean {
				// Five standard deviations of either statistic.
				if m, limit := sum[j]/releases, 5/math.Sqrt(releases); math.Abs(m) > limit {
					t.Errorf("point %d: mean %g of the noise, want 0 within %g", j, m, limit)
				}
				if v, limit := square[j]/releases, 5*math.Sqrt(2.0/releases); math.Abs(v-1) > limit {
					t.Errorf("point %d: variance %g of the noise, want 1 within %g", j, v, limit)
				}
			}
			// Neighbouring points share noise: it has a shape.
			if product/releases < 0.3 {
				t.Errorf("neighbours have a correlation of %g", product/releases)
			}
		})
	}
}

// The noise is calibrated to the largest change of the released query: any output may move from the
// lower bound of the range to the upper one, or from anywhere below to anywhere above.
func TestNoiseIsThatOfTheLargestChange(t *testing.T) {
	file, _ := cloaktest.SmallOwn(t)
	for _, method := range methods {
		t.Run(method.String(), func(t *testing.T) {
			p := cloaktest.PlanOf(t, trialtest.Options{File: file}, Plan, Regression(), smallOwn, func(s *regressionSettings) {
				s.Method, s.Inducing = method, given(1, 4, 6)
			})
			queryOf := func(row int, output float64) release.Draw {
				private := mat.DenseCopyOf(p.Private)
				private.Set(row, 0, output)
				source := release.Unbooked(cloaktest.Entropy(1))
				var draws []release.Draw
				source.Trace(&draws)
				if _, err := p.With(context.Background(), source, private); err != nil {
					t.Fatal(err)
				}
				if len(draws) != 1 {
					t.Fatalf("%d draws of noise", len(draws))
				}
				return draws[0]
			}
			largest, sensitivity := 0.0, 0.0
			rows, _ := p.Private.Dims()
			for row := range rows {
				low, high := queryOf(row, -60), queryOf(row, 160)
				sensitivity = low.Noise.Sensitivity()
				largest = max(largest, floats.Distance(low.Query, high.Query, 2))
			}
			if largest > sensitivity || largest < 0.999999*sensitivity {
				t.Errorf("an output moves the query by up to %g, and the noise is for %g", largest, sensitivity)
			}
		})
	}
}

// exactPredictions are the predictions to which a release adds its noise.
func exactPredictions(t *testing.T, o trialtest.Options, changes ...func(*regressionSettings)) []float64 {
	t.Helper()
	r, err := newOwnPredictor(trialtest.New(t, o), Regression().With(changes...))
	if err != nil {
		t.Fatal(err)
	}
	all := r.allRows()
	c, _, err := r.linear(t.Context(), cloak.Group(r.data.Inputs).Rows)
	if err != nil {
		t.Fatal(err)
	}
	releases, err := r.releases(t.Context(), 0, []cloak.Linear{c}, [][]int{all})
	if err != nil {
		t.Fatal(err)
	}
	return releases[0].mean
}

// Nothing of a release changes with the outputs but the predictions: with the
// same noise, other outputs give the same metrics, warnings and words, and
// predictions that differ. Where more than half of them are clipped, a record of a
// cross-validation warns.
func TestReleaseShowsNothingElse(t *testing.T) {
	file, outputs := cloaktest.SmallOwn(t)
	blank := func(r *experiment.Release) (text string) {
		for _, row := range r.Rows {
			for j := 4; j < 6; j++ { // the ends of an interval around the prediction
				row[j] = math.Round(1e6 * (row[j] - row[1]))
			}
			row[1] = 0
		}
		raw, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	one := published(t, trialtest.Options{File: file}, smallOwn)
	predictions := cloaktest.ColumnOf(t, one, "prediction")
	want := blank(one)
	for name, output := range map[string]func(i int) float64{
		"half are clipped":     func(i int) float64 { return 1000 * float64(i%2) },
		"all are clipped":      func(i int) float64 { return 1000 - 2000*float64(i%2) },
		"all are equal":        func(int) float64 { return 7 },
		"all are clipped down": func(i int) float64 { return -1e9 * float64(i+1) },
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			b.WriteString("x,y\n")
			for i := range outputs {
				fmt.Fprintf(&b, "%d,%g\n", i%8, output(i))
			}
			s := trialtest.Options{File: cloaktest.File(t, b.String())}
			two := published(t, s, smallOwn)
			if slices.Equal(predictions, cloaktest.ColumnOf(t, two, "prediction")) {
				t.Error("the predictions do not depend on the outputs")
			}
			if got := blank(two); got != want {
				t.Errorf("one release\n%s\nanother\n%s", want, got)
			}
			if strings.HasPrefix(name, "all are clipped") {
				if warned := validated(t, s, smallOwn).Warnings; !says(warned, "were clipped") {
					t.Errorf("a cross-validation does not warn: %q", warned)
				}
			}
		})
	}
	if p := one.Privacy; !says(p.Notes, "drawn exactly") || says(p.Notes, "this record itself") ||
		p.Unit != "one training output changed by at most 50" {
		t.Errorf("%+v", one.Privacy)
	}
}

func TestReleaseRefusals(t *testing.T) {
	var many strings.Builder
	many.WriteString("x,y\n")
	for i := range cloak.MaxPoints + 1 {
		fmt.Fprintf(&many, "%d,1\n", i)
	}
	small, _ := cloaktest.SmallOwn(t)
	large := cloaktest.File(t, many.String())
	s := trialtest.Options{Folder: cloaktest.Census(t), File: small}
	points := func(s *regressionSettings) { public(s); s.Predict = "csv:points.csv" }
	own := func(change func(*regressionSettings)) func(*regressionSettings) {
		return func(s *regressionSettings) { smallOwn(s); change(s) }
	}
	for _, c := range []struct {
		file   string
		change func(*regressionSettings)
		want   string
	}{
		{small, own(noiseless), "adds no noise"},
		{small, func(*regressionSettings) {}, "use normalisation=public"},
		{small, own(func(s *regressionSettings) { s.Algorithm, s.Scaling = cloak.Gradient, cloak.Squared }),
			"use scaling=norm"},
		{small, own(predicting("trainign")), `did you mean "training"?`},
		{small, own(predicting("csv:")), "names no file"},
		{small, own(func(s *regressionSettings) { s.Inputs = "prediction" }),
			`a release has a column "prediction" of its own`},
		{small, own(func(s *regressionSettings) { s.Rank = rank(9) }), "at only 8 points"},
		{large, smallOwn, "2001 distinct points, and at most 2000"},
		{large, points, `points.csv:1: unknown column "age"`},
		{cloaktest.File(t, "age\n1\nNA\n"), points, `points.csv:3:1: column "age" has no value`},
		{cloaktest.File(t, "age\n"+strings.Repeat("1\n", cloak.MaxPoints+1)), points,
			"points.csv: 2001 points; at most 2000"},
	} {
		t.Run(c.want, func(t *testing.T) {
			s.File = c.file
			_, err := cloaktest.Publish(t, s, Regression(), c.change)
			trialtest.Refuses(t, err, c.want)
		})
	}
	elsewhere := own(predicting("csv:points.csv"))
	t.Run("a cross-validation takes no points", func(t *testing.T) {
		_, err := trialtest.Try(t, s, Regression(), elsewhere)
		trialtest.Refuses(t, err, "predict is for a release")
	})
	t.Run("data sets", func(t *testing.T) {
		p, err := Regression().Resolved(Regression().With(elsewhere))
		if err != nil || !slices.Equal(Regression().Datasets(p), []string{"csv:my.csv", "csv:points.csv"}) {
			t.Errorf("reads %q, %v", Regression().Datasets(p), err)
		}
	})
}

// Of data that are as the model has them, about 95 % of new observations lie in the intervals of releases.
func TestIntervalsHoldObservations(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	const rows, points, unit = 24, 8, 10.0 // the unit is a quarter of the public range: few outputs are clipped
	change := func(s *regressionSettings) {
		smallOwn(s)
		ownFile("x", "y", -2*unit, 2*unit)(s)
		s.Epsilon, s.Calibration, s.KernelVariance, s.NoiseVariance = 20, mechanism.Analytic, 0.1, 0.1
	}
	settings := Regression().With(change)
	covariance := mat.NewSymDense(rows, nil)
	for i := range rows {
		for j := range i + 1 {
			apart := float64(i%points-j%points) / 2
			covariance.SetSym(i, j, settings.KernelVariance*math.Exp(-apart*apart/2))
		}
		covariance.SetSym(i, i, covariance.At(i, i)+1e-9)
	}
	var root mat.Cholesky
	if !root.Factorize(covariance) {
		t.Fatal("no factor")
	}
	var lower mat.TriDense
	root.LTo(&lower)
	inside, all := 0, 0
	for seed := range 150 {
		z := mat.NewVecDense(rows, nil)
		for i := range rows {
			z.SetVec(i, rng.NormFloat64())
		}
		var f mat.VecDense
		f.MulVec(&lower, z)
		observe := func(i int) float64 {
			return unit * (f.AtVec(i) + math.Sqrt(settings.NoiseVariance)*rng.NormFloat64())
		}
		var b strings.Builder
		b.WriteString("x,y\n")
		for i := range rows {
			fmt.Fprintf(&b, "%d,%.17g\n", i%points, observe(i))
		}
		r := published(t, trialtest.Options{File: cloaktest.File(t, b.String()), Seed: uint64(seed)}, change)
		low, high := cloaktest.ColumnOf(t, r, "low95"), cloaktest.ColumnOf(t, r, "high95")
		for i := range points {
			if y := observe(i); low[i] <= y && y <= high[i] {
				inside++
			}
			all++
		}
	}
	if share := float64(inside) / float64(all); share < 0.93 || share > 0.975 {
		t.Errorf("%.3f of %d observations are in intervals of 95 %%", share, all)
	}
}
