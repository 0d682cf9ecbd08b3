package cloaking

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/experiments/mechanism"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

// planOf plans a release of an experiment on the made-up census.
func planOf(t *testing.T, plan func(context.Context, *experiment.Trial) (*release.Plan, error),
	e *experiment.Experiment, s setup, given map[string]any) *release.Plan {
	t.Helper()
	var out *release.Plan
	e.Run = func(ctx context.Context, tr *experiment.Trial) (_ *experiment.Result, err error) {
		out, err = plan(ctx, tr)
		return nil, err
	}
	s.secure = true
	if _, err := tryTrial(s, e, given); err != nil {
		t.Fatalf("%v: %v", given, err)
	}
	return out
}

func entropyOf(seed int) *rand.ChaCha8 {
	return rand.NewChaCha8(sha256.Sum256(fmt.Appendf(nil, "%d", seed)))
}

// A choice has the probabilities that a judged trial reports, up to what the
// rounding of the utilities takes off ε.
func TestChoiceHasTheProbabilitiesOfTheTrial(t *testing.T) {
	s := setup{folder: writeCensus(t)}
	given := map[string]any{"lengthscales": "5,25", "noise_variances": "1,5", "kernel_variances": "1", "folds": 3,
		"selection_epsilon": 20}
	judged := runTrial(t, s, selection(), given)
	p := planOf(t, PlanSelection, selection(), s, given)
	const draws = 20_000
	count := map[string]float64{}
	source := release.Unbooked(context.Background(), entropyOf(1))
	for range draws {
		r, err := p.With(context.Background(), source, p.Private)
		if err != nil {
			t.Fatal(err)
		}
		chosen := r.Model.(*release.Chosen)
		if chosen.Score != nil {
			t.Fatal("the score is published")
		}
		c := chosen.Settings
		count[configuration{c["lengthscale"], c["noise_variance"], c["kernel_variance"]}.name()]++
	}
	chosen := 0
	for name, want := range judged.Metrics {
		name, ok := strings.CutPrefix(name, "probability_l")
		if !ok || strings.HasPrefix(name, "engthscale") {
			continue
		}
		chosen++
		got := count["l"+name] / draws
		if limit := 5 * math.Sqrt(want*(1-want)/draws); math.Abs(got-want) > limit {
			t.Errorf("l%s: %g, want %g within %g", name, got, want, limit)
		}
	}
	if chosen != 4 {
		t.Errorf("%d configurations were compared, want 4", chosen)
	}
	if p.Spending.Epsilon != 20 || p.Spending.Delta != 0 || p.Spending.Mu != 0 || p.Spending.Rows != 287 {
		t.Errorf("%+v", p.Spending)
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

// The bound covers the sums over many rows, in which equal terms are rounded the
// same way each time, and what the noise adds to them.
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

// Own data name δ and are calibrated exactly; the papers' data keep their defaults.
func TestOwnDataCompleteTheirBudget(t *testing.T) {
	own := map[string]any{"dataset": "csv:my.csv", "inputs": "x", "output": "y", "low": 0, "high": 1}
	for _, c := range []struct {
		name        string
		given       map[string]any
		calibration string
		err         string
	}{
		{"no delta", own, "", "delta is not given"},
		{"no delta, no noise", with(own, "epsilon", "inf"), "hall", ""},
		{"delta", with(own, "delta", 1e-6), string(mechanism.Analytic), ""},
		{"calibration", with(own, "delta", 1e-6, "calibration", "hall"), "hall", ""},
		{"large epsilon", with(own, "delta", 1e-6, "epsilon", 4), string(mechanism.Analytic), ""},
		{"other mistakes come first", with(own, "low", 2), "", "low must be below high"},
		{"the census", nil, "hall", ""},
	} {
		for _, e := range []*experiment.Experiment{regression(), classification()} {
			t.Run(e.Name+"/"+c.name, func(t *testing.T) {
				p, err := e.Resolve(c.given)
				if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
					t.Fatalf("%v, want %q", err, c.err)
				}
				if err == nil && p.Text("calibration") != c.calibration {
					t.Errorf("calibration %s, want %s", p.Text("calibration"), c.calibration)
				}
			})
		}
	}
}

// thresholdGrid has six configurations of different sensitivities, and a budget with
// which all are chosen often.
var thresholdGrid = map[string]any{
	"lengthscales": "5,25,125", "noise_variances": "1,25", "kernel_variances": "1", "folds": 3, "selection_epsilon": 1e-3,
	"normalisation": "public",
}

// sensitivitiesOf returns, by name, those of the grid's configurations, and how far
// their utilities may be off.
func sensitivitiesOf(t *testing.T, s setup, given map[string]any) (changes, errs map[string]float64) {
	t.Helper()
	changes, errs = map[string]float64{}, map[string]float64{}
	e := selection()
	e.Run = func(ctx context.Context, tr *experiment.Trial) (*experiment.Result, error) {
		selector, err := newSelector(tr)
		if err != nil {
			return nil, err
		}
		defer func() { _ = selector.e.Close() }()
		for i, m := range selector.grid.distinct {
			r, err := selector.release(ctx, m, selector.rowSets()[:len(selector.folds)])
			if err != nil {
				return nil, err
			}
			u := newUtility(selector.residuals(r.matrices), floats.Sum(r.variance))
			changes[selector.grid.first(i).name()], errs[selector.grid.first(i).name()] = u.change, u.err
		}
		return nil, nil
	}
	if _, err := tryTrial(s, e, given); err != nil {
		t.Fatal(err)
	}
	return changes, errs
}

// A choice is made among the configurations that a public threshold leaves, with a
// sensitivity that covers theirs, and the rounding of their utilities twice: the one
// of either neighbour.
func TestChoiceStaysBelowTheThreshold(t *testing.T) {
	s := setup{folder: writeCensus(t)}
	changes, errs := sensitivitiesOf(t, s, thresholdGrid)
	ordered := slices.Sorted(maps.Values(changes))
	if len(ordered) != 6 || len(slices.Compact(slices.Clone(ordered))) != 6 {
		t.Fatalf("sensitivities %v are not six different ones", changes)
	}
	for _, c := range []struct {
		name      string
		threshold any
		kept      int
	}{
		{"none", "none", 6},
		{"far above", 2 * ordered[5], 6},
		{"the largest", ordered[5], 6},
		{"below the largest", math.Nextafter(ordered[5], 0), 5},
		{"between", (ordered[2] + ordered[3]) / 2, 3},
		{"the smallest", ordered[0], 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := planOf(t, PlanSelection, selection(), s, with(thresholdGrid, "threshold", c.threshold))
			largest, off := 0.0, 0.0
			for name, change := range changes {
				if change <= ordered[c.kept-1] {
					largest, off = max(largest, change), max(off, errs[name])
				}
			}
			source, chosen := release.Unbooked(context.Background(), entropyOf(4)), map[string]int{}
			for range 400 {
				r, err := p.With(context.Background(), source, p.Private)
				if err != nil {
					t.Fatal(err)
				}
				v := r.Model.(*release.Chosen).Settings
				name := configuration{v["lengthscale"], v["noise_variance"], v["kernel_variance"]}.name()
				if chosen[name]++; changes[name] > ordered[c.kept-1] {
					t.Fatalf("%s is chosen, with a sensitivity of %g", name, changes[name])
				}
				if r.Metrics["sensitivity_over_d2"] != largest {
					t.Fatalf("sensitivity %g is published, want %g", r.Metrics["sensitivity_over_d2"], largest)
				}
			}
			if len(chosen) != c.kept {
				t.Errorf("chosen are %v, want %d configurations", chosen, c.kept)
			}
			noise := source.Drawn()[0]
			if least := largest + 2*off; !(off > 0) || noise.Sensitivity < least || noise.Sensitivity > least*(1+1e-13) {
				t.Errorf("the choice has a sensitivity of %.17g, want %.17g and %g more", noise.Sensitivity, largest, 2*off)
			}
			// The rounding has a share that is more than what Up adds.
			if noise.Sensitivity-largest < 1.5*off {
				t.Errorf("%g is taken for the rounding, want %g", noise.Sensitivity-largest, 2*off)
			}
		})
	}
	e := selection()
	e.Run = func(ctx context.Context, tr *experiment.Trial) (*experiment.Result, error) {
		_, err := PlanSelection(ctx, tr)
		return nil, err
	}
	_, err := tryTrial(s, e, with(thresholdGrid, "threshold", math.Nextafter(ordered[0], 0)))
	if err == nil || !strings.Contains(err.Error(), "leaves no configuration") {
		t.Errorf("a threshold below all: %v", err)
	}
}
