package privacygp

import (
	"context"
	"math"
	"strings"
	"testing"

	"privkern/experiments/internal/trialtest"
)

// TestStrong compares the strong traces with 60 digits (mpmath), and holds the noise to its
// requirement, for linear combinations too.
func TestStrong(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*strongSettings)
		trace  float64
	}{
		{"H is no multiple of K", nil, 9.5265592723219042},
		{"H = K/2", func(s *strongSettings) { s.ThetaH = 10 }, 8.5082365229969857},
		{"wide", func(s *strongSettings) { s.SensitiveLow, s.SensitiveHigh = .1, .9 }, 11.019188517670359},
		{"three inputs", func(s *strongSettings) { s.SensitiveCount = 3 }, 8.162250054098601},
		{"independent", func(s *strongSettings) {
			s.SensitiveLow, s.SensitiveHigh, s.SensitiveCount, s.Requirement = .1, .9, 3, independently
		}, 7.6871794017875298},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := compute(t, strong(), tt.change).Metrics
			checkValues(t, []value{
				{"trace", m.TraceStrong, tt.trace, 1e-9},
				{"least variance", m.VarianceMin, .5, 1e-9},
				{"least combination", m.CombinationMin, 0, 1e-9},
			})
			if m.TraceWeak > m.TraceStrong || m.OrderMin >= 0 || m.OrderMax <= 0 {
				t.Errorf("weak trace %g of %g; eigenvalues of the difference from %g to %g",
					m.TraceWeak, m.TraceStrong, m.OrderMin, m.OrderMax)
			}
		})
	}
}

// TestStrongAsWeak: with the Ξ of the weak optimum both are the same noise (Theorem 2(2)),
// whether that Ξ is admissible or not (erratum 2).
func TestStrongAsWeak(t *testing.T) {
	for _, tt := range []struct {
		low        float64
		admissible bool
	}{{.1, true}, {.3, false}} {
		out := compute(t, strong(), func(s *strongSettings) {
			s.SensitiveLow, s.SensitiveHigh, s.Requirement = tt.low, 1-tt.low, asWeak
		})
		m := out.Metrics
		checkValues(t, []value{
			{"trace", m.TraceStrong, m.TraceWeak, 1e-9},
			{"least eigenvalue of the difference", m.OrderMin, 0, 1e-7},
			{"largest eigenvalue of the difference", m.OrderMax, 0, 1e-7},
		})
		warned := strings.Contains(strings.Join(out.Warnings, "\n"), "not admissible")
		if (m.RequirementMin > 0) != tt.admissible || warned == tt.admissible {
			t.Errorf("least eigenvalue of Xi %g, warnings %q", m.RequirementMin, out.Warnings)
		}
	}
}

// TestStrongInadmissible: K_SS − Ξ with a negative eigenvalue is refused.
func TestStrongInadmissible(t *testing.T) {
	s := strong().With(func(s *strongSettings) { s.Requirement = independently })
	_, err := strong().Compute(context.Background(), trialtest.New(t, options()), s)
	if err == nil || !strings.Contains(err.Error(), "this Xi is inadmissible") {
		t.Errorf("error = %v", err)
	}
}

// TestNested compares the traces with 60 digits (mpmath): G(S) grows with S, towards the
// uniform solution.
func TestNested(t *testing.T) {
	before := math.Inf(1)
	for level, trace := range []float64{3.5456140886334021, 3.6444216203953012, 10.991326888226125,
		11.62944175581634, 11.630282685158247} {
		m := compute(t, nested(), func(s *nestedSettings) { s.Levels = level + 1 }).Metrics
		checkValues(t, []value{
			{"trace", m.Trace, trace, 1e-6},
			{"trace of the limit", m.TraceUniform, 11.630356716360147, 1e-8},
			{"least increase", math.Min(0, m.IncreaseMin), 0, 1e-9},
			{"least distance from above", math.Min(0, m.BelowMin), 0, 1e-9},
			{"sensitive inputs", m.Points, float64(int(2)<<level + 1), 0},
		})
		if m.Distance >= before || m.Norm > m.NormUniform {
			t.Errorf("level %d: distance %g after %g, norm %g of %g", level+1, m.Distance, before, m.Norm, m.NormUniform)
		}
		before = m.Distance
	}
	if before > 1e-5 {
		t.Errorf("the last distance is %g", before)
	}
}

// TestNestedHoldsData: where S holds the data and H = αK, G(S) = K_XX/(1 − α).
func TestNestedHoldsData(t *testing.T) {
	m := compute(t, nested(), func(s *nestedSettings) {
		s.Theta, s.C, s.Low, s.High, s.Levels = 10, .2, .1, .9, 3
	}).Metrics
	checkValues(t, []value{
		{"distance", m.Distance, 0, 1e-12},
		{"trace", m.Trace, 9 * .2 / .8, 1e-12},
	})
}

// TestNearC compares the ends with 30 digits (mpmath).
func TestNearC(t *testing.T) {
	m := compute(t, example2(), nil).Metrics
	checkValues(t, []value{
		{"least c", *m.NearLow, .341069430867, 1e-6},
		{"largest c", *m.NearHigh, .450980248682, 1e-6},
		{"share", *m.NearShare, (.450980248682 - .341069430867) / (.5 - (math.Exp(-.4) - .5)), 1e-5},
	})
	all := compute(t, example2(), func(s *example2Settings) { s.Xi1, s.Xi2, s.C.Number = .01, .01, .009 }).Metrics
	if *all.NearHigh != all.HighC {
		t.Errorf("the largest c is %g, though %g is near as well", *all.NearHigh, all.HighC)
	}
}

func TestUniformProtectsEverywhere(t *testing.T) {
	if m := compute(t, uniform(), nil).Metrics; !(m.VarianceMin >= .5 && m.VarianceMin < .51) {
		t.Errorf("least predictive variance %g", m.VarianceMin)
	}
}

// TestScaling: both programs have one optimum, and operations grow at the paper's rates.
func TestScaling(t *testing.T) {
	of := func(m scalingMethod, points int) scalingMetrics {
		return compute(t, scaling(), func(s *scalingSettings) { s.Method, s.Points = m, points }).Metrics
	}
	general, weak, closed, draw := of(generalProgram, 16), of(weakProgram, 16), of(closedForm, 16), of(fastDraw, 400)
	checkValues(t, []value{
		{"trace of the general program", *general.Trace, *weak.Trace, *general.Gap + 1e-9},
		{"its unknowns", general.Unknowns, 136, 0},
		{"growth of the closed form", closed.Growth, 3, .1},
		{"growth of the noise", draw.Growth, 2, .2},
		{"error of the noise", *draw.Error, 0, 1e-5},
	})
	if general.Growth < 4 || *closed.Trace < *weak.Trace || *draw.Steps > 60 {
		t.Errorf("growth of the general program %g, closed form %g of %g, %g steps of the noise",
			general.Growth, *closed.Trace, *weak.Trace, *draw.Steps)
	}
	none := compute(t, scaling(), func(s *scalingSettings) {
		s.Method, s.Points, s.Xi, s.NoiseVariance = fastDraw, 20, .001, 1e6
	}).Metrics
	if *none.Error != 0 {
		t.Errorf("where no noise is needed, its error is %g", *none.Error)
	}
}
