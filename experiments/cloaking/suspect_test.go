package cloaking

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"privkern/runner/experiment"
)

// writeWave writes y = 50 + 30 sin(x/4) and noise of standard deviation 2, whether y
// is above 50, a coin that nothing is known of, and a seldom class, at 400 points on
// [0, 20].
func writeWave(t *testing.T) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 4))
	var b strings.Builder
	b.WriteString("x,y,high,coin,seldom\n")
	for i := range 400 {
		x := 20 * rng.Float64()
		y := 50 + 30*math.Sin(x/4) + 2*rng.NormFloat64()
		high, seldom := 0, 0
		if y > 50 {
			high = 1
		}
		if i%10 == 0 {
			seldom = 1
		}
		fmt.Fprintf(&b, "%.2f,%.4f,%d,%d,%d\n", x, y, high, rng.IntN(2), seldom)
	}
	return writeFile(t, b.String())
}

func suspects(warnings []string) []string {
	return slices.DeleteFunc(slices.Clone(warnings), func(w string) bool {
		return !strings.HasPrefix(w,
			"computed but suspect: ")
	})
}

func wantSuspects(t *testing.T, r *experiment.Result, want []string) {
	t.Helper()
	got := suspects(r.Warnings)
	if len(got) != len(want) {
		t.Fatalf("%v: warnings %q, want %q", r.Metrics, got, want)
	}
	for i := range want {
		if !strings.Contains(got[i], want[i]) {
			t.Errorf("warning %q, want %q", got[i], want[i])
		}
	}
}

func TestSuspiciousRegressions(t *testing.T) {
	s := setup{file: writeWave(t)}
	own := map[string]any{"dataset": "csv:my.csv", "inputs": "x", "output": "y", "low": 0, "high": 100,
		"method": "sparse", "inducing": 8,
		"lengthscale": 4, "kernel_variance": 400, "noise_variance": 4, "calibration": "analytic", "delta": 1e-5,
		"draws": 3}
	for _, c := range []struct {
		name string
		over []any
		want []string
	}{
		{"fine", []any{"epsilon", 3}, nil},
		{"fine without noise", []any{"epsilon", "inf", "delta", 0.5}, nil},
		{"noise", []any{"epsilon", 0.01},
			[]string{"more than the public range of the output, 100; use a larger epsilon",
				"the middle of the public range, which costs no privacy, has 2"}},
		{"no fit", []any{"epsilon", "inf", "output", "coin", "high", 1, "method", "standard", "lengthscale", 0.3,
			"kernel_variance", 1, "noise_variance", 1e-3},
			[]string{"has 0.5; choose lengthscale, kernel_variance and noise_variance anew"}},
		{"delta of a tenth of 1/n", []any{"epsilon", 3, "delta", 0.00025},
			[]string{"delta = 0.00025 is not below a tenth of 1/n = 0.0025 of the 400 rows"}},
		{"delta of 1/n", []any{"epsilon", 3, "delta", 0.01}, []string{"delta = 0.01 is not below 1/n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantSuspects(t, runTrial(t, s, regression(), with(own, c.over...)), c.want)
		})
	}
	t.Run("the census is not judged", func(t *testing.T) {
		r := runTrial(t, setup{folder: writeCensus(t)}, regression(), map[string]any{"epsilon": 0.01, "draws": 1})
		wantSuspects(t, r, nil)
	})
}

func TestSuspiciousClassifications(t *testing.T) {
	s := setup{file: writeWave(t)}
	own := map[string]any{"dataset": "csv:my.csv", "inputs": "x", "output": "high", "low": 0, "high": 1,
		"method": "sparse", "inducing": 8,
		"lengthscale": 4, "calibration": "analytic", "delta": 1e-5, "draws": 3}
	for _, c := range []struct {
		name string
		over []any
		want []string
	}{
		{"fine", []any{"epsilon", 3}, nil},
		{"fine without noise", []any{"epsilon", "inf", "delta", 0.5}, nil},
		{"noise", []any{"epsilon", 0.01, "output", "seldom"},
			[]string{"is below the share of the larger class, 0.9; epsilon=inf shows how much of it is noise"}},
		{"the larger class, always", []any{"epsilon", "inf", "output", "seldom"}, nil},
		{"delta of a tenth of 1/n", []any{"epsilon", 3, "delta", 0.00025},
			[]string{"delta = 0.00025 is not below a tenth of 1/n"}},
		{"delta of 1/n", []any{"epsilon", 3, "delta", 0.01},
			[]string{"delta = 0.01 is not below 1/n = 0.0025 of the 400 rows"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantSuspects(t, runTrial(t, s, classification(), with(own, c.over...)), c.want)
		})
	}
}
