package picture

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"privkern/experiments/kahm/wide"
	"privkern/runner/experiment"
)

// With little noise, smoothing moves samples more than the noise does.
func TestMoreNoiseMakesMoreDifference(t *testing.T) {
	last := 0.0
	for _, epsilon := range []float64{10, 2, 1, 0.5} {
		t.Run(fmt.Sprint(epsilon), func(t *testing.T) {
			_, out := fabricate(t, 1, func(s *FabricationSettings) { s.Epsilon = epsilon })
			d := out.Metrics.DifferenceMean
			if !(d > last) {
				t.Errorf("the mean difference is %g, with less noise it was %g", d, last)
			}
			last = d
			if noisy, want := out.Metrics.DifferenceMeanNoisy, 1/epsilon; math.Abs(noisy-want) > 0.1*want {
				t.Errorf("the noise has a mean magnitude of %g, want about %g (d/ε)", noisy, want)
			}
		})
	}
	_, out := fabricate(t, 1, func(s *FabricationSettings) { s.Epsilon = math.Inf(1) })
	if m := out.Metrics; m.DifferenceMeanNoisy != 0 || m.ErrorNoisy != m.ErrorOriginal {
		t.Errorf("without noise: %+v", m)
	}
}

// As published, smoothing ends at the first error that is not above the original's (Eq. 92).
func TestPublishedSmoothingEndsAtTheRadius(t *testing.T) {
	for _, epsilon := range []float64{1, 3, 10} {
		t.Run(fmt.Sprint(epsilon), func(t *testing.T) {
			_, out := fabricate(t, 1, func(s *FabricationSettings) {
				s.Epsilon, s.Variant = epsilon, wide.AsPublished
			})
			e, m := out.Series["errors"]["error"], out.Metrics
			for k, v := range e {
				if last := k == len(e)-1; last != (v <= m.ErrorOriginal) {
					t.Errorf("after %d smoothing steps the error is %g, the original's is %g", k, v, m.ErrorOriginal)
				}
			}
			if m.ErrorNoisy != e[0] || m.ErrorFabricated != e[len(e)-1] || m.SmoothingSteps != float64(len(e)-1) {
				t.Errorf("metrics %+v of errors %v", m, e)
			}
		})
	}
}

func TestCorrectedSmoothingTakesItsSteps(t *testing.T) {
	for _, steps := range []int{0, 1, 4} {
		t.Run(fmt.Sprint(steps), func(t *testing.T) {
			_, out := fabricate(t, 1, func(s *FabricationSettings) { s.Steps = steps })
			if got := out.Metrics.SmoothingSteps; got != float64(steps) {
				t.Errorf("%g smoothing steps", got)
			}
		})
	}
	// Without noise and smoothing, the samples are those of the original's error.
	_, out := fabricate(t, 1, func(s *FabricationSettings) { s.Steps, s.Epsilon = 0, math.Inf(1) })
	if m := out.Metrics; m.ErrorFabricated != m.ErrorOriginal {
		t.Errorf("errors %+v", m)
	}
}

func TestDifferenceOfPictures(t *testing.T) {
	_, out := fabricate(t, 1, func(s *FabricationSettings) { s.Shown = 60 })
	sum := 0.0
	for i := range 60 {
		for j, v := range out.Series["fabricated"][imageColumn(i)] {
			sum += math.Abs(v - out.Series["original"][imageColumn(i)][j])
		}
	}
	if got := out.Metrics.DifferenceMean; math.Abs(got-sum/720) > 1e-12 {
		t.Errorf("the mean difference is %g, of the pictures %g", got, sum/720)
	}
}

func TestPrivacyOfFabrication(t *testing.T) {
	_, out := fabricate(t, 1, func(s *FabricationSettings) { s.Epsilon, s.Variant = 4, wide.AsPublished })
	notes := strings.Join(out.Privacy.Notes, "\n")
	if out.Privacy.Guarantee != "" || !strings.Contains(notes, "claimed by the paper: (4, 1e-05)-DP") ||
		!strings.Contains(out.Privacy.Unit, "one pixel") || !strings.Contains(notes, "radius (Eq. 96)") ||
		strings.Contains(notes, "clusters") {
		t.Errorf("%+v", out.Privacy)
	}
	_, out = fabricate(t, 1, func(*FabricationSettings) {})
	if p := out.Privacy; p.Guarantee == "" || strings.Contains(strings.Join(p.Notes, "\n"), "radius") {
		t.Errorf("corrected: %+v", p)
	}
	_, out = fabricate(t, 1, func(s *FabricationSettings) { s.Epsilon = math.Inf(1) })
	if out.Privacy != nil {
		t.Errorf("without noise: %+v", out.Privacy)
	}
}

func TestFabricationDoesNotDependOnWorkers(t *testing.T) {
	given := func(s *FabricationSettings) { s.Epsilon = 4 }
	_, one := fabricate(t, 1, given)
	_, four := fabricate(t, 4, given)
	if !reflect.DeepEqual(one, four) {
		t.Errorf("one worker %v, four %v", experiment.MetricValues(one.Metrics), experiment.MetricValues(four.Metrics))
	}
}

// Images without an image under their machine have an infinite error.
func TestInfiniteErrorsAreRefused(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		metrics FabricationMetrics
		want    string
	}{
		{FabricationMetrics{ErrorOriginal: inf}, "some original images"},
		{FabricationMetrics{ErrorNoisy: inf}, "some noisy images"},
		{FabricationMetrics{ErrorFabricated: inf}, "some smoothed images"},
	} {
		t.Run(c.want, func(t *testing.T) {
			if err := c.metrics.check(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v", err)
			}
		})
	}
	if err := new(FabricationMetrics).check(); err != nil {
		t.Error(err)
	}
}
