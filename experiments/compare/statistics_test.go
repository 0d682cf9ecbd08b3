package compare

import (
	"fmt"
	"math"
	"testing"

	"privkern/experiments/internal/trialtest"
)

// The p-values are those of SciPy 1.16: 2·stats.t.sf(|t|, k−1) with t = mean/√((1/k + ratio)·var(ddof=1)).
func TestCorrectedT(t *testing.T) {
	for _, c := range []struct {
		name        string
		differences []float64
		want        float64
	}{
		{"four", []float64{1, 2, 3, 4}, 0.07142153823145014},
		{"five of both signs", []float64{.3, -.1, .2, .4, .15}, 0.20720117920748637},
		{"three that agree", []float64{2, 2.1, 1.9}, 0.0014551509631557263},
		{"the other way round", []float64{-2, -2.1, -1.9}, 0.0014551509631557263},
		{"equal scores", []float64{0, 0, 0}, 1},
		{"the same difference", []float64{.5, .5}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			trialtest.Near(t, "p", correctedT(c.differences, ratio), c.want, 1e-12)
		})
	}
}

// By hand: sorted p-values times 4, 3, 2 and 1, never decreasing, at most 1.
func TestHolm(t *testing.T) {
	for _, c := range []struct {
		name    string
		p, want []float64
	}{
		{"in any order", []float64{.04, .01, .03, .005}, []float64{.06, .03, .06, .02}},
		{"at most one", []float64{.6, .7}, []float64{1, 1}},
		{"one", []float64{.04}, []float64{.04}},
		{"none", nil, []float64{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := holm(c.p)
			for i, want := range c.want {
				trialtest.Near(t, fmt.Sprint("p ", i), got[i], want, 1e-15)
			}
			if len(got) != len(c.want) {
				t.Errorf("%v", got)
			}
		})
	}
}

func TestMeanOf(t *testing.T) {
	m := meanOf([]float64{1, 2, 3, 6})
	trialtest.Near(t, "mean", m.Mean, 3, 0)
	trialtest.Near(t, "standard error", *m.StandardError, math.Sqrt(14./3/4), 1e-15)
	if one := meanOf([]float64{7}); one.Mean != 7 || one.StandardError != nil {
		t.Errorf("%+v", one)
	}
}

func TestNumberText(t *testing.T) {
	for _, c := range []struct {
		mean, se float64
		want     string
	}{
		{16.123, .312, "16.1 ± 0.3"}, {16.123, .152, "16.12 ± 0.15"}, {.74061, .0213, "0.74 ± 0.02"},
		{13012, 2034, "13000 ± 2000"}, {150.2, 12.4, "150 ± 12"}, {0, .5, "0.0 ± 0.5"}, {3.14159, 0, "3.14"},
		{1234.5, 0, "1235"},
	} {
		if got := numberText(&Mean{c.mean, &c.se}); got != c.want {
			t.Errorf("%g ± %g is %s, want %s", c.mean, c.se, got, c.want)
		}
	}
	if got := numberText(&Mean{Mean: -.012345}); got != "-0.0123" {
		t.Error(got)
	}
}
