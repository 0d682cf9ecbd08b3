package choose

import (
	"math"
	"testing"

	"privkern/experiments/cloaking/internal/cloaktest"
	"privkern/experiments/internal/trialtest"
)

// Only 35 of the 80 configurations of Table 2 differ, although 0.2/5 and 1/25 differ in floating
// point, and equal ones get equal errors and probabilities.
func TestGridSharesModels(t *testing.T) {
	g := Selection().Defaults().grid()
	if len(g.configurations) != 80 || len(g.distinct) != 35 {
		t.Errorf("%d configurations, %d distinct", len(g.configurations), len(g.distinct))
	}
	for i, c := range g.configurations {
		d := g.distinct[g.of[i]]
		if c.lengthscale != d.lengthscale || math.Abs(c.noise/c.kernel-d.ratio) > 1e-15 {
			t.Errorf("%v shares the model %v", c, d)
		}
	}
	t.Run("ratios", func(t *testing.T) {
		// 0.3/0.1 is 2.9999999999999996.
		c := candidates{[]float64{2}, []float64{0.3, 3}, []float64{0.1, 1}}
		if g := c.grid(); len(g.distinct) != 3 {
			t.Errorf("ratios 0.3/0.1, 0.3, 30 and 3 make %d models, want 3", len(g.distinct))
		}
	})
	t.Run("probabilities", func(t *testing.T) {
		p := compute(t, trialtest.Options{Folder: cloaktest.Census(t)}).Metrics.Probability
		same, another := p[configuration{25, 1, 25}.name()], p[configuration{25, 1, 5}.name()]
		for _, c := range []configuration{{25, 5, 125}, {25, 0.2, 5}} {
			if got := p[c.name()]; got != same || got == another {
				t.Errorf("%v has %g; the same model has %g, another %g", c, got, same, another)
			}
		}
	})
}

func TestConfigurationNames(t *testing.T) {
	for _, c := range []struct {
		c    configuration
		want string
	}{
		{configuration{25, 25, 1}, "l25_n25_v1"},
		{configuration{625, 0.2, 125}, "l625_n0_2_v125"},
		{configuration{1e-7, 2.5e21, 12.5}, "l1em07_n2_5e21_v12_5"},
	} {
		t.Run(c.want, func(t *testing.T) {
			if got := c.c.name(); got != c.want {
				t.Errorf("%v is named %s, want %s", c.c, got, c.want)
			}
		})
	}
}

// A metric of a record belongs to the right family among families whose names begin alike.
func TestMetricsOfRecords(t *testing.T) {
	c, l := configuration{25, 0.2, 1}.name(), nameOf(25)
	m := Selection().Values(map[string]float64{
		"probability_l25_n0_2_v1": 1, "probability_lengthscale_25": 2, "rmse_cm_l25_n0_2_v1": 3,
		"holdout_rmse_cm_l25_n0_2_v1": 4, "expected_rmse_cm": 5, "expected_holdout_rmse_cm": 6, "best_probability": 7,
	})
	for _, f := range []struct {
		name      string
		got, want float64
		members   int
	}{
		{"probability", m.Probability[c], 1, len(m.Probability)},
		{"probability of a lengthscale", m.LengthscaleProbability[l], 2, len(m.LengthscaleProbability)},
		{"error", m.RMSE[c], 3, len(m.RMSE)},
		{"error on the rows held out", m.HoldoutRMSE[c], 4, len(m.HoldoutRMSE)},
		{"expected error", m.ExpectedRMSE, 5, 1},
		{"expected error on the rows held out", *m.ExpectedHoldoutRMSE, 6, 1},
		{"probability of the best", m.BestProbability, 7, 1},
	} {
		t.Run(f.name, func(t *testing.T) {
			if f.got != f.want || f.members != 1 {
				t.Errorf("%g among %d, want %g alone", f.got, f.members, f.want)
			}
		})
	}
}
