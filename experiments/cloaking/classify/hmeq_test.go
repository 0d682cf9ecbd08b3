package classify

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/cloaking/internal/cloaktest"
	"privkern/experiments/dataset"
	"privkern/experiments/internal/trialtest"
)

func TestHMEQ(t *testing.T) {
	folder := t.TempDir()
	cloaktest.Loans(t, folder)
	r := trialtest.Compute(t, trialtest.Options{Folder: folder}, HMEQ())
	if r.Metrics.DroppedRows != 596 {
		t.Errorf("%g rows dropped", r.Metrics.DroppedRows)
	}
	wantWarning(t, r.Warnings, "596 of 5960 loans")
	if got := r.Privacy.Statement(); r.Privacy.Guarantee != "" || !strings.HasPrefix(got,
		"no guarantee: which loans are trained on") {
		t.Errorf("loans are drawn by their outcomes: %q, %q", r.Privacy.Guarantee, got)
	}
	for k := range hmeqCounts {
		t.Run(at("quantiles at", k), func(t *testing.T) {
			low := 0.0
			for _, q := range hmeqQuantiles {
				v, ok := r.Metrics.Default[fmt.Sprintf("%d_%s", k, q.name)]
				if !ok || v < low || v > 1 {
					t.Errorf("the quantile %s is %g after %g", q.name, v, low)
				}
				low = v
			}
		})
	}
	defaulted, repaid := 0.0, 0.0
	for i := range r.Series["loans"]["x"] {
		defaulted += r.Series["loans"]["defaulted"][i]
		repaid += r.Series["loans"]["repaid"][i]
	}
	if defaulted+repaid != 200 || defaulted != r.Metrics.Defaults {
		t.Errorf("%g of %g loans in the frequencies, %g defaults", defaulted, defaulted+repaid, r.Metrics.Defaults)
	}
	// Protected records leave out metrics that are computed from the outcomes alone.
	secure := trialtest.Compute(t, trialtest.Options{Folder: folder, Secure: true}, HMEQ()).Series
	if secure["loans"] != nil || secure["without_noise"] != nil || secure["probability"] == nil {
		t.Errorf("a record that protects has the series %v", secure)
	}
}

// The mean over draws of a probability, and its quantiles.
func TestDefaultMetrics(t *testing.T) {
	s := HMEQ().Defaults()
	c, err := newClassifier(trialtest.New(t, trialtest.Options{}), &s.ClassifierSettings, s.Method)
	if err != nil {
		t.Fatal(err)
	}
	draws := mat.NewDense(hmeqCounts, 5, nil)
	draws.SetRow(3, []float64{0.9, 0.2, 0.4, 0, 0.5})
	m := c.defaultMetrics(draws)
	each(t,
		checked{"mean", m["3"], 0.4, 1e-15}, checked{"a quarter", m["3_q25"], 0.05, 1e-15},
		checked{"median", m["3_q50"], 0.3, 1e-15}, checked{"of another count", m["4"], 0, 0},
	)
	if len(m) != hmeqCounts*(1+len(hmeqQuantiles)) {
		t.Errorf("%d numbers", len(m))
	}
	if clean := c.withoutNoise().defaultMetrics(draws); len(clean) != hmeqCounts {
		t.Errorf("without noise: %v", clean)
	}
}

// Without noise, mean over seeds; .49/.69/.89/.94/.74 by an independent
// implementation.
func TestHMEQOnRealData(t *testing.T) {
	if os.Getenv(dataset.DataVariable) == "" {
		t.Skip("needs the data set hmeq: set $" + dataset.DataVariable)
	}
	folder, _, err := dataset.NewLocator("").Find(dataHMEQ)
	if err != nil {
		t.Skip(err)
	}
	got := map[string]float64{}
	for seed := range uint64(5) {
		r := trialtest.Compute(t, trialtest.Options{Folder: folder, Seed: seed}, HMEQ(), func(s *hmeqSettings) {
			noiseless(&s.ClassifierSettings)
		})
		for count, probability := range r.Metrics.Default {
			got[count] += probability / 5
		}
	}
	for count, want := range map[int]float64{0: .49, 2: .69, 5: .89, 8: .94, 14: .74} {
		t.Run(at("count", count), func(t *testing.T) {
			trialtest.Near(t, "probability", got[strconv.Itoa(count)], want, 0.05)
		})
	}
}

// The fit around which the draws of the loans scatter is without noise, and must converge, too:
// with a variance of a million rounding keeps the steps from it.
func TestLoansWithoutNoiseConverge(t *testing.T) {
	folder := t.TempDir()
	cloaktest.Loans(t, folder)
	for _, variance := range []float64{1, 1e6} {
		t.Run(fmt.Sprint(variance), func(t *testing.T) {
			_, err := trialtest.Try(t, trialtest.Options{Folder: folder}, HMEQ(), func(s *hmeqSettings) {
				s.Draws, s.KernelVariance = 1, variance
			})
			if variance > 1 {
				trialtest.Refuses(t, err, "the Laplace approximation stopped after 100 Newton steps")
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}
