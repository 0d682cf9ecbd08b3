package privacygp

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/trialtest"
)

// The tests of this file compare with values of an independent implementation in
// Python (closed forms with 50 digits, SDPs with CSDP and by reduction).

const sdpError = 1e-7 // of traces

// closed is a value of a closed form.
func closed(name string, got, want float64) value {
	return value{name, got, want, 1e-9 * math.Abs(want)}
}

func TestExample1Values(t *testing.T) {
	m := compute(t, example1(), nil).Metrics
	checkValues(t, []value{
		closed("trace, optimal", m.TraceOptimal, 3.54561408598846448),
		closed("rank, optimal", m.RankOptimal, 1),
		{"trace, diagonal", m.TraceDiagonal, 20.07291979115428, sdpError},
		{"gap, diagonal", m.GapDiagonal, 0, sdpError},
		{"variance at s, unsecured", m.VarianceAtS[unsecured.String()], 0, 1e-9},
		closed("variance at s, optimal", m.VarianceAtS[optimal.String()], .5),
		{"variance at s, diagonal", m.VarianceAtS[diagonal.String()], .5, sdpError},
		{"variance at 0, unsecured", m.VarianceAt0[unsecured.String()], .0032919, 5e-8},
		{"variance at 0, optimal", m.VarianceAt0[optimal.String()], .0040167, 5e-8},
		{"variance at 0, diagonal", m.VarianceAt0[diagonal.String()], .1510167, 5e-8},
	})
}

// TestNoiseLiesNearTheSensitiveInput: as the paper's Figure 1 shows it.
func TestNoiseLiesNearTheSensitiveInput(t *testing.T) {
	t.Run("figure 1", func(t *testing.T) {
		m := compute(t, example1(), nil).Metrics
		if !(m.NearMin > m.FarMax && m.FarMax > 0) {
			t.Errorf("least variance %g near, largest %g far", m.NearMin, m.FarMax)
		}
		// Noise of rank 1 is the same everywhere but for its size.
		checkValues(t, []value{{"correlation", m.CorrelationMin, 1, 1e-9}})
	})
	t.Run("a covariance", func(t *testing.T) {
		sigma := mat.NewDense(3, 3, []float64{4, 1, 0, 1, 1, 0, 0, 0, 9})
		if got, want := nearAndFar([]float64{.3, .5, .9}, .5, sigma), (noiseShape{1, 9, .5}); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
}

func TestExample2Values(t *testing.T) {
	t.Run("as published", func(t *testing.T) {
		m := compute(t, example2(), nil).Metrics
		checkValues(t, []value{
			{"trace, weak", m.TraceWeak, 5.32992032064701812, sdpError},
			{"gap, weak", m.GapWeak, 0, sdpError},
			{"best c", m.BestC, .391499411161944569, 1e-9},
			{"trace, strong", *m.TraceStrong, 5.5883, 5e-5},
			{"variance at s1, weak", m.VarianceAtS1[weakly.String()], .5, sdpError},
			{"variance at s2, weak", m.VarianceAtS2[weakly.String()], .5, sdpError},
			closed("variance at s1, strong", m.VarianceAtS1[strongly.String()], .5),
			closed("variance at s2, strong", m.VarianceAtS2[strongly.String()], .5),
		})
	})
	for _, tt := range []struct{ c, trace, within float64 }{{.3, 6.411, 5e-4}, {.5, 6.1367, 5e-5}} {
		t.Run(fmt.Sprintf("c = %g", tt.c), func(t *testing.T) {
			m := compute(t, example2(), func(s *example2Settings) { s.C.Number = tt.c }).Metrics
			checkValues(t, []value{{"trace, strong", *m.TraceStrong, tt.trace, tt.within}})
		})
	}
}

func TestWeakValues(t *testing.T) {
	m := compute(t, weak(), nil).Metrics
	checkValues(t, []value{{"trace", m.Trace, 5.32992032064701812, sdpError}, {"gap", m.Gap, 0, sdpError}})
}

func TestUniformValues(t *testing.T) {
	m := compute(t, uniform(), nil).Metrics
	checkValues(t, []value{closed("G(0)", m.G0, 2.2922618573733504), closed("trace", m.Trace, 11.630356716360147)})
}

func TestSatelliteValues(t *testing.T) {
	t.Run("fit", func(t *testing.T) {
		m := compute(t, satellite(), func(s *satelliteSettings) { s.Alpha = .1 }).Metrics
		checkValues(t, []value{
			{"mean", m.Mean, 1.05256804, 1e-8}, {"variance", m.Variance, 7.88582e-8, 5e-13},
			{"condition", m.Condition, 68.6, .05}, {"private data", m.SensitivePoints, 21, 0},
		})
	})
	for _, tt := range []struct {
		name   string
		change func(*satelliteSettings)
		want   float64
	}{
		{"H = 0.1K", func(s *satelliteSettings) { s.Alpha = .1 }, 2.3548747638},
		{"H = 0.5K", func(s *satelliteSettings) { s.Alpha = .5 }, 21.6170754186},
		{"H = 0.9K", func(s *satelliteSettings) { s.Alpha = .9 }, 197.6252292},
		// Erratum 1: the text's 0.1 is 0.9.
		{"H = 0.1K as published", func(s *satelliteSettings) { s.Alpha, s.Variant = .1, asPublished }, 197.6252292},
		// The trace over the variance needs no orbit.
		{"angle", func(s *satelliteSettings) { s.Alpha, s.Quantity = .9, angle }, 197.6252292},
		{"another orbit", func(s *satelliteSettings) { s.Alpha, s.Orbit, s.Eccentricity = .1, twoBody, .2 }, 2.3548747638},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := compute(t, satellite(), tt.change).Metrics
			checkValues(t, []value{closed("trace over the variance", m.TraceOverVariance, tt.want)})
		})
	}
}

// TestWeakCertificates has the sizes of the weak problem that are hard: more
// sensitive inputs than data, and kernel matrices singular in floating point.
func TestWeakCertificates(t *testing.T) {
	for _, tt := range []struct {
		name      string
		points    int
		low, high float64
		count     int
		xi, v     float64
	}{
		{"more sensitive inputs than data", 9, .2, .8, 10, .5, 0},
		{"singular in floating point", 61, .2, .8, 10, .5, 0},
		{"noisy data", 20, -.5, 1.5, 7, .9, .3},
		{"one datum, the sensitive one", 1, .5, .5, 1, .5, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := compute(t, weak(), func(s *weakSettings) {
				s.Points, s.SensitiveLow, s.SensitiveHigh, s.SensitiveCount = tt.points, tt.low, tt.high, tt.count
				s.Xi, s.NoiseVariance = tt.xi, tt.v
			}).Metrics
			if m.Gap > 1e-7 || m.LowerBound > m.Trace+1e-9 || m.Trace-m.LowerBound > m.Gap {
				t.Errorf("trace %.12f, lower bound %.12f, gap %g", m.Trace, m.LowerBound, m.Gap)
			}
			if m.MaxViolation > 1e-12 {
				t.Errorf("a constraint is violated by %g", m.MaxViolation)
			}
		})
	}
}

// TestToleranceIsMet: for all settings, the released process keeps the predictive variance at the
// sensitive input at the tolerance or above.
func TestToleranceIsMet(t *testing.T) {
	for _, at := range []float64{-.2, 0, .31, .5, .9} {
		for _, xi := range []float64{0, .05, .5, .95} {
			for _, v := range []float64{0, .2} {
				t.Run(fmt.Sprintf("s = %g, ξ = %g, V = %g", at, xi, v), func(t *testing.T) {
					m := compute(t, example1(), func(s *example1Settings) {
						s.S, s.Xi, s.NoiseVariance, s.Points = at, xi, v, 6
					}).Metrics
					for _, noise := range []method{optimal, diagonal} {
						if got := m.VarianceAtS[noise.String()]; !(got >= xi-1e-9) {
							t.Errorf("predictive variance %g with %s noise", got, noise)
						}
					}
					if m.TraceOptimal > m.TraceDiagonal+m.GapDiagonal+1e-9 {
						t.Errorf("optimal trace %g above the diagonal one %g", m.TraceOptimal, m.TraceDiagonal)
					}
				})
			}
		}
	}
}

// TestTheorem2 has part 1 over the admissible c, and the counterexample to
// part 2.
func TestTheorem2(t *testing.T) {
	t.Run("part 1", func(t *testing.T) {
		out := compute(t, example2(), nil)
		trace := out.Series["trace"]
		if len(trace["x"]) < 100 {
			t.Fatalf("%d values of c", len(trace["x"]))
		}
		for i, strong := range trace[strongly.String()] {
			if least := out.Metrics.TraceWeak; strong < least-1e-9 {
				t.Errorf("c = %g: Tr Σ_strong = %g < Tr Σ_weak = %g", trace["x"][i], strong, least)
			}
		}
	})
	t.Run("counterexample to part 2", func(t *testing.T) {
		out := compute(t, example2(), func(s *example2Settings) {
			s.S1, s.S2, s.Xi1, s.Xi2, s.C = .5, .52, .5, .2, trialtest.WordOr[float64](none)
		})
		m := out.Metrics
		checkValues(t, []value{{"trace, weak", m.TraceWeak, 3.5456, 5e-5}})
		if m.LowC <= m.HighC {
			t.Errorf("c may lie in (%g, %g]", m.LowC, m.HighC)
		}
		if !slices.ContainsFunc(out.Warnings, func(w string) bool { return strings.Contains(w, "no admissible Xi") }) {
			t.Errorf("warnings %q do not say that no Xi is admissible", out.Warnings)
		}
		if m.TraceStrong != nil || m.DifferenceMin != nil || len(m.VarianceAtS1) != 1 {
			t.Errorf("a strong solution: %+v", m)
		}
	})
}
