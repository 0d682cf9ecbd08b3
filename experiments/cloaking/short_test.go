package cloaking

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"privkern/experiments/internal/fault"
	"privkern/runner/experiment"
)

// Every iterative method of a trial that stops at its cap, short of its tolerance,
// fails the trial, which says what was reached.
func TestTrialsThatStopShortFail(t *testing.T) {
	const (
		interior = "the interior-point method stopped after 1 steps at a certified gap of "
		newton   = "the Laplace approximation stopped after 1 Newton steps, the most that are allowed, of which the last one moved"
		clusters = "inducing inputs: k-means: run "
	)
	census, sparse := setup{folder: writeCensus(t)}, map[string]any{"method": "sparse"}
	for _, c := range []struct {
		name  string
		s     setup
		e     *experiment.Experiment
		given map[string]any
		want  string
	}{
		{"design", setup{}, designs(), map[string]any{"inputs": "synthetic"}, interior},
		{"design, clusters", setup{}, designs(), map[string]any{"inputs": "synthetic", "method": "sparse"}, clusters},
		{"regression", census, regression(), map[string]any{}, interior},
		{"regression, clusters", census, regression(), sparse, clusters},
		{"curve", census, curve(), map[string]any{}, interior},
		{"surface", census, surface(), map[string]any{}, interior},
		{"selection", census, selection(), one(5, 1, 1), interior},
		{"stripes", setup{}, stripes(), map[string]any{}, interior},
		{"stripes, clusters", setup{}, stripes(), sparse, clusters},
		{"stripes without noise", setup{}, stripes(), map[string]any{"epsilon": "inf"}, newton},
		{"reference", setup{}, reference(), map[string]any{}, newton},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.s.ctx = fault.With(context.Background(), fault.Plan{Cap: 1})
			r, err := tryTrial(c.s, c.e, c.given)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "; use ") {
				t.Errorf("%v, %v; want %q", r, err, c.want)
			}
		})
	}
}

// What the draws of the loans scatter around is without noise, and must converge,
// too: with a variance of a million rounding keeps the steps from it.
func TestLoansWithoutNoiseConverge(t *testing.T) {
	folder := t.TempDir()
	writeLoans(t, folder)
	for _, variance := range []float64{1, 1e6} {
		t.Run(fmt.Sprint(variance), func(t *testing.T) {
			_, err := tryTrial(setup{folder: folder}, hmeq(), map[string]any{"draws": 1, "kernel_variance": variance})
			failed := err != nil && strings.HasPrefix(err.Error(), "the Laplace approximation stopped after 100 Newton steps")
			if variance == 1 && err != nil || variance > 1 && !failed {
				t.Error(err)
			}
		})
	}
}

// At the default settings of the surface, 92 directions, rounding parts the
// coordinates of equal columns by more than the certificate bears: it holds because
// each gets a weight.
func TestSurfaceIsCertified(t *testing.T) {
	r := runTrial(t, setup{folder: writeCensus(t)}, surface(), map[string]any{})
	if gap := r.Metrics["gap"]; !(gap <= 2e-8) || r.Metrics["rank"] != 92 {
		t.Errorf("gap %g at rank %g", gap, r.Metrics["rank"])
	}
}

// The gradient descent takes the steps that are given: its noise is an upper bound,
// and the record says of what.
func TestGradientDescentIsABound(t *testing.T) {
	given := map[string]any{"inputs": "synthetic", "test_points": "0..80 step 20"}
	best := runTrial(t, setup{}, designs(), given)
	for _, steps := range []int{1, 30, 3000} {
		t.Run(fmt.Sprint(steps), func(t *testing.T) {
			r := runTrial(t, setup{}, designs(), with(given, "solver", "gradient", "iterations", steps))
			m := r.Metrics
			scaled := m["logdet_m"] + 2*m["rank"]*math.Log(m["max_mahalanobis"])
			if above := scaled - best.Metrics["logdet_m"]; above < -1e-7 || above > m["gap"]+1e-7 {
				t.Errorf("log-determinant %g above the smallest, and gap %g", above, m["gap"])
			}
			said := strings.Contains(strings.Join(r.Warnings, "\n"), "solver=gradient: the noise is that after the given steps, an upper bound")
			if m["gap"] > 1e-6 && !said {
				t.Errorf("warnings %q", r.Warnings)
			}
			if steps < 3000 && !(m["gap"] > 1e-6) {
				t.Errorf("a gap of %g after %d steps leaves nothing to say", m["gap"], steps)
			}
		})
	}
}
