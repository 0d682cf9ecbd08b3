package regression

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"privkern/runner/experiment"
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

// Trials on a user's own data warn of useless results, with numbers and advice.
func TestSuspiciousRegressions(t *testing.T) {
	path, few := writeWave(t, 1000), writeWave(t, 60)
	inf := math.Inf(1)
	for _, c := range []struct {
		name   string
		change func(*Settings)
		want   []string // of the warnings, in order
	}{
		{"fine", func(s *Settings) { s.Epsilon, s.Delta, s.Sigma = 10, 1e-5, 0.04 }, nil},
		{"fine without noise", func(s *Settings) { s.Epsilon, s.Sigma = inf, 0.04 }, nil},
		{"noise beyond the sums", func(s *Settings) { s.Epsilon, s.Delta, s.Sigma = 1e-3, 1e-5, 0.1 },
			[]string{"the noise in an element of A has a standard deviation of ",
				"the predictions have an error of 2"}},
		{"noise alone", func(s *Settings) {
			s.Epsilon, s.Delta, s.Sigma, s.KernelVariance = 1e-4, 1e-5, 0.1, 100
		}, []string{"the noise in an element of A",
			"and the middle of the public range, which costs no privacy, has 2",
			"the standard deviations are too large"}},
		{"no fit", func(s *Settings) {
			s.Epsilon, s.Lengthscale.Numbers, s.KernelVariance, s.Sigma = inf, experiment.Several{1e-3}, 0.07, 0.2
		}, []string{"the predictions have an error of 2"}},
		{"too narrow", func(s *Settings) { s.Epsilon, s.Sigma = inf, 0.01 },
			[]string{"the standard deviations are too small; use a larger sigma"}},
		{"too wide", func(s *Settings) { s.Epsilon, s.Sigma = inf, 0.5 },
			[]string{"regions of 95 % hold too many of the 200 test outputs, 100 %: the standard deviations are too large"}},
		{"too wide, in few rows", func(s *Settings) { s.Dataset, s.Epsilon, s.Sigma = "csv:"+few, inf, 0.5 }, nil},
		{"rows beyond the range", func(s *Settings) { s.Epsilon, s.Sigma, s.InputLow = inf, 0.04, givenAll(1) },
			[]string{`rows the input "x" is outside of the public range, 1 to 20: what is predicted there is extrapolated`}},
		{"delta of a tenth of 1/n", func(s *Settings) { s.Epsilon, s.Sigma = 10, 0.04 },
			[]string{"delta = 0.0001 is not below a tenth of 1/n = 0.001 of the 1000 rows; use a delta below 0.0001"}},
		{"delta of 1/n", func(s *Settings) { s.Epsilon, s.Delta, s.Sigma = 10, 0.002, 0.04 },
			[]string{"delta = 0.002 is not below 1/n"}},
		{"delta without noise", func(s *Settings) { s.Epsilon, s.Delta, s.Sigma = inf, 0.5, 0.04 }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := regress(t, 7, ownSettings(path), func(s *Settings) { s.Repeats = 3 }, c.change)
			got := suspects(out.Warnings)
			if len(got) != len(c.want) {
				t.Fatalf("%+v: warnings %q, want %q", out.Metrics, got, c.want)
			}
			for i, want := range c.want {
				if !strings.Contains(got[i], want) {
					t.Errorf("warning %q, want %q", got[i], want)
				}
			}
		})
	}
}

// Simulated data are not judged, and a release does not describe the fit.
func TestOnlyOwnDataAreJudged(t *testing.T) {
	bad := func(s *Settings) { s.Epsilon, s.Delta, s.Repeats = 1e-4, 0.01, 2 }
	if out := regress(t, 1, bad); len(suspects(out.Warnings)) > 0 {
		t.Errorf("simulated data: %q", out.Warnings)
	}
	own := ownSettings(writeOwn(t, 300, nil))
	if out := regress(t, 3, own, bad); len(suspects(out.Warnings)) < 2 {
		t.Errorf("judged: %q", out.Warnings)
	}
	_, r := released(t, 1, own, bad, func(s *Settings) {
		s.Rho = 1e-9 // no noise is refused
		s.InputLow = givenAll(5)
	})
	if slices.ContainsFunc(r.Warnings, func(w string) bool {
		return strings.Contains(w, "range") || strings.Contains(w, "95 %")
	}) {
		t.Errorf("released: %q", r.Warnings)
	}
}
