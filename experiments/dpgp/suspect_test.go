package dpgp

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// suspects are the warnings of a kind, of all that a trial gives.
func suspects(warnings []string) (out []string) {
	for _, w := range warnings {
		if strings.HasPrefix(w, "computed but suspect: ") {
			out = append(out, w)
		}
	}
	return out
}

// writeWave writes y = 50 + 30 sin(x/4) and noise of standard deviation 2, a σ of 0.04
// in [-1, 1], at n points on [0, 20].
func writeWave(t *testing.T, n int) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 6))
	rows := map[int]string{}
	for i := range n {
		x := 20 * rng.Float64()
		rows[i] = fmt.Sprintf("%.4f,%.4f", x, 50+30*math.Sin(x/4)+2*rng.NormFloat64())
	}
	return writeOwn(t, n, rows)
}

// A user's own data are judged: what cannot be of use is said, with numbers and what
// to do.
func TestSuspiciousRegressions(t *testing.T) {
	path, few := writeWave(t, 1000), writeWave(t, 60)
	for _, c := range []struct {
		name  string
		given map[string]any
		want  []string // of the warnings, in order
	}{
		{"fine", map[string]any{"epsilon": 10, "delta": 1e-5, "sigma": 0.04}, nil},
		{"fine without noise", map[string]any{"epsilon": "inf", "sigma": 0.04}, nil},
		{"noise beyond the sums", map[string]any{"epsilon": 1e-3, "delta": 1e-5, "sigma": 0.1},
			[]string{"the noise in an element of A has a standard deviation of ",
				"the predictions have an error of 2"}},
		{"noise alone", map[string]any{"epsilon": 1e-4, "delta": 1e-5, "sigma": 0.1, "kernel_variance": 100},
			[]string{"the noise in an element of A",
				"and the middle of the public range, which costs no privacy, has 2",
				"the standard deviations are too large"}},
		{"no fit", map[string]any{"epsilon": "inf", "lengthscale": 1e-3, "kernel_variance": 0.07, "sigma": 0.2},
			[]string{"the predictions have an error of 2"}},
		{"too narrow", map[string]any{"epsilon": "inf", "sigma": 0.01},
			[]string{"the standard deviations are too small; use a larger sigma"}},
		{"too wide", map[string]any{"epsilon": "inf", "sigma": 0.5},
			[]string{"regions of 95 % hold 1 of the 200 test outputs of a split: the standard deviations are too large"}},
		{"too wide, in few rows", map[string]any{"dataset": "csv:" + few, "epsilon": "inf", "sigma": 0.5}, nil},
		{"delta of a tenth of 1/n", map[string]any{"epsilon": 10, "sigma": 0.04},
			[]string{"delta = 0.0001 is not below a tenth of 1/n = 0.001 of the 1000 rows; use a delta below 0.0001"}},
		{"delta of 1/n", map[string]any{"epsilon": 10, "delta": 0.002, "sigma": 0.04},
			[]string{"delta = 0.002 is not below 1/n"}},
		{"delta without noise", map[string]any{"epsilon": "inf", "delta": 0.5, "sigma": 0.04}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			given := ownSettings(path)
			given["repeats"] = 3
			maps.Copy(given, c.given)
			e := regression()
			r := runPrepared(t, e, mustPrepare(t, e, 1, given))
			got := suspects(r.Warnings)
			if len(got) != len(c.want) {
				t.Fatalf("%v: warnings %q, want %q", r.Metrics, got, c.want)
			}
			for i, want := range c.want {
				if !strings.Contains(got[i], want) {
					t.Errorf("warning %q, want %q", got[i], want)
				}
			}
		})
	}
}

// Simulated data are not judged, and a release says nothing of the fit.
func TestOnlyOwnDataAreJudged(t *testing.T) {
	e := regression()
	bad := map[string]any{"epsilon": 1e-4, "delta": 0.01, "repeats": 2}
	if r := runPrepared(t, e, mustPrepare(t, e, 1, bad)); len(suspects(r.Warnings)) > 0 {
		t.Errorf("simulated data: %q", r.Warnings)
	}
	given := ownSettings(writeOwn(t, 300, nil))
	maps.Copy(given, bad)
	trial := mustPrepare(t, e, 1, given)
	if r := runPrepared(t, e, trial); len(suspects(r.Warnings)) < 2 {
		t.Errorf("judged: %q", r.Warnings)
	}
	trial.Secure = true
	r, err := e.Release(context.Background(), trial)
	if err == nil && slices.ContainsFunc(r.Warnings, func(w string) bool {
		return strings.Contains(w, "range") ||
			strings.Contains(w, "95 %")
	}) {
		t.Errorf("released: %q", r.Warnings)
	}
}
