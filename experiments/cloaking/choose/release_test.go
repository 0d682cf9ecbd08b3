package choose

import (
	"context"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/cloaking/internal/cloaktest"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/method"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

// A choice has the probabilities that a judged trial reports, up to the part of ε that the rounding
// of the utilities takes.
func TestChoiceHasTheProbabilitiesOfTheTrial(t *testing.T) {
	s := trialtest.Options{Folder: cloaktest.Census(t)}
	grid := func(s *selectionSettings) {
		s.candidates = candidates{[]float64{5, 25}, []float64{1, 5}, []float64{1}}
		s.Folds.Folds, s.SelectionEpsilon = 3, 20
	}
	judged := compute(t, s, grid).Metrics
	p := cloaktest.PlanOf(t, s, Plan, Selection(), grid)
	const draws = 20_000
	count := map[string]float64{}
	source := release.Unbooked(cloaktest.Entropy(1))
	for range draws {
		r, err := p.With(context.Background(), source, p.Private)
		if err != nil {
			t.Fatal(err)
		}
		count[publishedBy(t, r).name()]++
	}
	for name, want := range judged.Probability {
		t.Run(name, func(t *testing.T) {
			got := count[name] / draws
			if limit := 5 * math.Sqrt(want*(1-want)/draws); math.Abs(got-want) > limit {
				t.Errorf("%g, want %g within %g", got, want, limit)
			}
		})
	}
	if len(judged.Probability) != 4 {
		t.Errorf("%d configurations were compared, want 4", len(judged.Probability))
	}
	if p.Spending.Epsilon != 20 || p.Spending.Delta != 0 || p.Spending.Rows != 287 {
		t.Errorf("%+v", p.Spending)
	}
}

// publishedBy is the configuration of a release.
func publishedBy(t *testing.T, r *experiment.Release) configuration {
	t.Helper()
	chosen := r.Model.(*release.Configuration)
	h := hyperparametersOf(chosen)
	return configuration{h.Lengthscale.Numbers[0], h.NoiseVariance, h.KernelVariance}
}

// A release is of settings of cloaking/regression, by their names.
func TestPublishedSettings(t *testing.T) {
	got := configuration{25, 0.2, 1}.settings()
	want := map[string]float64{"lengthscale": 25, "noise_variance": 0.2, "kernel_variance": 1}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Choices without a guarantee are not released.
func TestReleaseRefusals(t *testing.T) {
	census := trialtest.Options{Folder: cloaktest.Census(t)}
	for _, c := range []struct {
		name   string
		change change
		want   string // empty where it is released
	}{
		{"defaults", unchanged, ""},
		{"Eq. (9)", asPublished, "use sensitivity=exact"},
		{"Eq. (9), public", func(s *selectionSettings) { s.Bound, s.Normalisation = Published, cloak.Public },
			"use sensitivity=exact"},
		{"as published", func(s *selectionSettings) { s.Normalisation = cloak.AsPublished }, "use normalisation=public"},
		{"cut", func(s *selectionSettings) { s.Cut = atMost(1e6) }, "use sse_cut=none"},
		{"drawn noise", func(s *selectionSettings) { s.NoiseInErrors = experiment.NumberOr[Expectation](5) },
			"use noise_in_errors=expected"},
		{"pseudo-inverse", func(s *selectionSettings) { s.Algorithm, s.Inverse = cloak.Gradient, cloak.Pseudo },
			"use inverse=range"},
		{"without the root", func(s *selectionSettings) { s.Algorithm, s.Scaling = cloak.Gradient, cloak.Squared },
			"use scaling=norm"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := cloaktest.Publish(t, census, Selection(), oneOf(25, 1, 1), c.change)
			if c.want != "" {
				trialtest.Refuses(t, err, c.want)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := publishedBy(t, r); got != (configuration{25, 1, 1}) {
				t.Errorf("%v is published", got)
			}
			m := Selection().Values(r.Metrics)
			if len(r.Metrics) != 3 || m.Configurations != 1 || m.Distinct != 1 || !(m.Sensitivity > 1) {
				t.Errorf("metrics %v", r.Metrics)
			}
		})
	}
}

// The computed utility is no further from the real one than its bound, and the
// sensitivity is no less than any change of one output, also with errors that
// cancel.
func TestUtilityBounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name  string
		scale func(i, j int) float64
	}{
		{"even", func(int, int) float64 { return 1 }},
		{"wild", func(i, j int) float64 { return math.Pow(10, float64((i*7+j*3)%12-6)) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			const n = 30
			a := mat.NewDense(n, n, nil)
			for i := range n {
				for j := range n {
					a.Set(i, j, c.scale(i, j)*rng.NormFloat64())
				}
			}
			u := newUtility(a, 3)
			z := make([]float64, n)
			for range 50 {
				for j := range z {
					z[j] = rng.Float64() - 0.5
				}
				before := exactUtility(a, z, 3)
				if off := new(big.Float).Sub(before, big.NewFloat(u.of(z))); math.Abs(float(off)) > u.err {
					t.Errorf("off by %g, bounded by %g", float(off), u.err)
				}
				j := rng.IntN(n)
				z[j] = math.Copysign(0.5, -z[j])
				if change := new(big.Float).Sub(exactUtility(a, z, 3), before); math.Abs(float(change)) > u.change {
					t.Errorf("output %d moves the utility by %g, bounded by %g", j, float(change), u.change)
				}
			}
			if u.change > 1.001*exactSensitivity(a) || u.err > 1e-9*u.change {
				t.Errorf("the bounds are loose: %g of %g, error %g", u.change, exactSensitivity(a), u.err)
			}
		})
	}
}

// The bound covers the sums over many rows, in which equal terms are rounded the same way each
// time, and the contribution of the noise.
func TestUtilityBoundOfSums(t *testing.T) {
	for _, c := range []struct {
		name       string
		n, columns int
		a, noise   float64
	}{
		{"equal rows", 4000, 1, 0.7, 0},
		{"equal rows, other digits", 3000, 1, 1.1, 0},
		{"equal columns", 1, 1000, 0.7, 0},
		{"large noise", 1, 1, 0.7, 1e6 / 3.0},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := mat.NewDense(c.n, c.columns, slices.Repeat([]float64{c.a}, c.n*c.columns))
			u := newUtility(a, c.noise)
			z := slices.Repeat([]float64{0.5}, c.columns)
			off := math.Abs(float(new(big.Float).Sub(exactUtility(a, z, c.noise), big.NewFloat(u.of(z)))))
			if off > u.err || off == 0 {
				t.Errorf("off by %g, bounded by %g", off, u.err)
			}
		})
	}
}

func float(v *big.Float) float64 { f, _ := v.Float64(); return f }

// exactUtility is −‖Az‖² − noise with 200 binary digits.
func exactUtility(a *mat.Dense, z []float64, noise float64) *big.Float {
	exact := func(v float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(v) }
	sum := exact(noise)
	for i := range a.RawMatrix().Rows {
		miss := exact(0)
		for j, v := range z {
			miss.Add(miss, new(big.Float).SetPrec(200).Mul(exact(a.At(i, j)), exact(v)))
		}
		sum.Add(sum, miss.Mul(miss, miss))
	}
	return sum.Neg(sum)
}

// thresholdGrid has six configurations of different sensitivities, and a budget with
// which all are chosen often.
func thresholdGrid(s *selectionSettings) {
	s.candidates = candidates{[]float64{5, 25, 125}, []float64{1, 25}, []float64{1}}
	s.Folds.Folds, s.SelectionEpsilon = 3, 1e-3
}

// utilitiesOf returns those of the grid's configurations.
func utilitiesOf(t *testing.T, folder string, grid change) map[configuration]utility {
	t.Helper()
	s := openSelector(t, folder, grid)
	out := map[configuration]utility{}
	all, err := s.release(context.Background(), s.grid.distinct, 0, s.rowSets()[:len(s.folds)])
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range all {
		out[s.grid.first(i)] = newUtility(s.residuals(r.matrices), floats.Sum(r.variance))
	}
	return out
}

// A choice is made among the configurations that a public threshold leaves, with a
// sensitivity that covers theirs, and the rounding of their utilities twice: the one
// of either neighbour.
func TestChoiceStaysBelowTheThreshold(t *testing.T) {
	s := trialtest.Options{Folder: cloaktest.Census(t)}
	utilities := utilitiesOf(t, s.Folder, thresholdGrid)
	var ordered []float64
	for _, u := range utilities {
		ordered = append(ordered, u.change)
	}
	slices.Sort(ordered)
	if len(ordered) != 6 || len(slices.Compact(slices.Clone(ordered))) != 6 {
		t.Fatalf("sensitivities %v are not six different ones", ordered)
	}
	for _, c := range []struct {
		name      string
		threshold method.End
		kept      int
	}{
		{"none", none, 6},
		{"far above", atMost(2 * ordered[5]), 6},
		{"the largest", atMost(ordered[5]), 6},
		{"below the largest", atMost(math.Nextafter(ordered[5], 0)), 5},
		{"between", atMost((ordered[2] + ordered[3]) / 2), 3},
		{"the smallest", atMost(ordered[0]), 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := cloaktest.PlanOf(t, s, Plan, Selection(), thresholdGrid, func(s *selectionSettings) {
				s.Threshold = c.threshold
			})
			largest, off := 0.0, 0.0
			for _, u := range utilities {
				if u.change <= ordered[c.kept-1] {
					largest, off = max(largest, u.change), max(off, u.err)
				}
			}
			source, chosen := release.Unbooked(cloaktest.Entropy(4)), map[configuration]int{}
			for range 400 {
				r, err := p.With(context.Background(), source, p.Private)
				if err != nil {
					t.Fatal(err)
				}
				got := publishedBy(t, r)
				if chosen[got]++; utilities[got].change > ordered[c.kept-1] {
					t.Fatalf("%v is chosen, with a sensitivity of %g", got, utilities[got].change)
				}
				if published := Selection().Values(r.Metrics).Sensitivity; published != largest {
					t.Fatalf("sensitivity %g is published, want %g", published, largest)
				}
			}
			if len(chosen) != c.kept {
				t.Errorf("chosen are %v, want %d configurations", chosen, c.kept)
			}
			noise := source.Drawn()[0]
			if least := largest + 2*off; !(off > 0) || noise.Sensitivity < least || noise.Sensitivity > least*(1+1e-13) {
				t.Errorf("the choice has a sensitivity of %.17g, want %.17g and %g more", noise.Sensitivity, largest, 2*off)
			}
			// The share of the rounding exceeds the increment by Up.
			if noise.Sensitivity-largest < 1.5*off {
				t.Errorf("%g is taken for the rounding, want %g", noise.Sensitivity-largest, 2*off)
			}
		})
	}
	t.Run("below all", func(t *testing.T) {
		_, err := cloaktest.Publish(t, s, Selection(), thresholdGrid, func(s *selectionSettings) {
			s.Threshold = atMost(math.Nextafter(ordered[0], 0))
		})
		trialtest.Refuses(t, err, "leaves no configuration")
	})
}

// hyperparametersOf returns the configuration that a release published.
func hyperparametersOf(published *release.Configuration) *cloak.Hyperparameters {
	values := experiment.Params{}
	for name, value := range published.Settings {
		values[name] = value
	}
	return experiment.SettingsIn[cloak.Hyperparameters](values)
}
