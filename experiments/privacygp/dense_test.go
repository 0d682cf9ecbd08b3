package privacygp

import (
	"strconv"
	"strings"
	"testing"
)

// TestDenseData: with V = 0, the paper's own setting, at densities at which K is
// singular in floating point. Traces and variances with 120 digits (mpmath).
func TestDenseData(t *testing.T) {
	for _, tt := range []struct {
		points                 int
		trace, at0, unsecured0 float64
	}{
		{19, 7.09205042114, .0006690557031, 2.6e-10},
		{30, 10.993268512, .0006485561819, 8.8e-21},
		{61, 21.9877189169, .0006296676637, 2e-58},
	} {
		t.Run(strconv.Itoa(tt.points), func(t *testing.T) {
			out := compute(t, example1(), func(s *example1Settings) { s.Points = tt.points })
			m := out.Metrics
			independent := m.VarianceAtS[diagonal.String()]
			checkValues(t, []value{
				{"trace", m.TraceOptimal, tt.trace, 1e-10 * tt.trace},
				{"variance at 0, optimal", m.VarianceAt0[optimal.String()], tt.at0, 1e-7},
				{"variance at 0, unsecured", m.VarianceAt0[unsecured.String()], tt.unsecured0, 1e-7},
				{"variance at s, optimal", m.VarianceAtS[optimal.String()], .5, 1e-8},
				{"variance at s, unsecured", m.VarianceAtS[unsecured.String()], 0, 1e-9},
				{"variance at s, diagonal", independent, .5, 1e-3}, // above: the range knows less
				{"rank", m.RankOptimal, 1, 0},
			})
			if independent < .5-1e-9 {
				t.Errorf("variance at s, diagonal = %.12g", independent)
			}
			if rank := m.NumericalRank; !(rank >= 14 && rank <= 17) {
				t.Errorf("numerical rank = %g", rank)
			}
			if !strings.Contains(strings.Join(out.Warnings, "\n"), "numerical rank 1") {
				t.Errorf("warnings %q state no rank", out.Warnings)
			}
		})
	}
	t.Run("the paper's grid", func(t *testing.T) {
		if rank := compute(t, example1(), nil).Metrics.NumericalRank; rank != 9 {
			t.Errorf("numerical rank = %g", rank)
		}
	})
}

// TestDenseTolerances: noise with a strong or weak requirement meets it where the
// data, or the sensitive inputs, are dense.
func TestDenseTolerances(t *testing.T) {
	t.Run("two inputs", func(t *testing.T) {
		m := compute(t, example2(), func(s *example2Settings) { s.Points = 61 }).Metrics
		checkValues(t, []value{
			{"variance at s1, weak", m.VarianceAtS1[weakly.String()], .5, 1e-6},
			{"variance at s2, weak", m.VarianceAtS2[weakly.String()], .5, 1e-6},
			{"variance at s1, strong", m.VarianceAtS1[strongly.String()], .5, 1e-6},
			{"variance at s2, strong", m.VarianceAtS2[strongly.String()], .5, 1e-6},
		})
		if !(m.NumericalRank < 61) {
			t.Errorf("numerical rank = %g", m.NumericalRank)
		}
	})
	for _, tt := range []struct {
		name   string
		points int
		alpha  float64
	}{
		{"a satellite", 181, .1},
		{"a satellite, much hidden", 241, .9},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := compute(t, satellite(), func(s *satelliteSettings) { s.Points, s.Alpha = tt.points, tt.alpha })
			m := out.Metrics
			checkValues(t, []value{
				{"least variance at the data", m.VarianceAtDataMin, tt.alpha, 1e-6},
				{"process variance", m.Variance, 3.4e-8, 1e-9}, // by maximum likelihood, at densities from 200 to 1000
			})
			if !(m.NumericalRank < float64(tt.points)) {
				t.Errorf("numerical rank = %g of %d", m.NumericalRank, tt.points)
			}
			noted := strings.Contains(strings.Join(out.Privacy.Notes, "\n"), "numerical range of K - H")
			if dense := m.SensitiveRank < m.SensitivePoints; !dense || !noted {
				t.Errorf("rank %g of %g private data, notes %q", m.SensitiveRank, m.SensitivePoints, out.Privacy.Notes)
			}
		})
	}
}
