package kahm

import (
	"math"
	"reflect"
	"strings"
	"testing"
)

// With little noise, what the smoothing takes away is more than the noise.
func TestMoreNoiseMakesMoreDifference(t *testing.T) {
	last := 0.0
	for _, epsilon := range []float64{10, 2, 1, 0.5} {
		r := onFormula(t, fabrication(), 1, map[string]any{"n": 5, "epsilon": epsilon})
		d := r.Metrics["difference_mean"]
		if !(d > last) {
			t.Errorf("ε = %g: the mean difference is %g, with less noise it was %g", epsilon, d, last)
		}
		last = d
		if noisy, want := r.Metrics["difference_mean_noisy"], 1/epsilon; math.Abs(noisy-want) > 0.1*want {
			t.Errorf("ε = %g: the noise has a mean magnitude of %g, want about %g (d/ε)", epsilon, noisy, want)
		}
	}
	if r := onFormula(t, fabrication(), 1, map[string]any{"n": 5, "epsilon": "inf"}); r.Metrics["difference_mean_noisy"] != 0 || r.Metrics["error_noisy"] != r.Metrics["error_original"] {
		t.Errorf("without noise: %v", r.Metrics)
	}
}

// As published, the smoothing goes on until the error is not above the
// original's, and not further (Eq. 92).
func TestPublishedSmoothingEndsAtTheRadius(t *testing.T) {
	for _, epsilon := range []float64{1, 3, 10} {
		r := onFormula(t, fabrication(), 1, map[string]any{"n": 5, "epsilon": epsilon, "variant": variantPublished})
		e, radius := r.Series["errors"]["error"], r.Metrics["error_original"]
		for m, v := range e {
			if last := m == len(e)-1; last != (v <= radius) {
				t.Errorf("ε = %g: after %d smoothing steps the error is %g, the original's is %g", epsilon, m, v, radius)
			}
		}
		if r.Metrics["error_noisy"] != e[0] || r.Metrics["error_fabricated"] != e[len(e)-1] || r.Metrics["smoothing_steps"] != float64(len(e)-1) {
			t.Errorf("ε = %g: metrics %v of errors %v", epsilon, r.Metrics, e)
		}
	}
}

func TestCorrectedSmoothingTakesItsSteps(t *testing.T) {
	for _, steps := range []int{0, 1, 4} {
		r := onFormula(t, fabrication(), 1, map[string]any{"n": 5, "smoothing": steps})
		if got := r.Metrics["smoothing_steps"]; got != float64(steps) {
			t.Errorf("%g smoothing steps instead of %d", got, steps)
		}
	}
	// Without noise and smoothing, the samples are those of the original's error.
	r := onFormula(t, fabrication(), 1, map[string]any{"n": 5, "smoothing": 0, "epsilon": "inf"})
	if r.Metrics["error_fabricated"] != r.Metrics["error_original"] {
		t.Errorf("errors %v", r.Metrics)
	}
}

func TestDifferenceIsThatOfThePictures(t *testing.T) {
	r := onFormula(t, fabrication(), 1, map[string]any{"n": 5, "shown": 60})
	sum := 0.0
	for i := range 60 {
		for j, v := range r.Series["fabricated"][imageColumn(i)] {
			sum += math.Abs(v - r.Series["original"][imageColumn(i)][j])
		}
	}
	if got := r.Metrics["difference_mean"]; math.Abs(got-sum/720) > 1e-12 {
		t.Errorf("difference_mean is %g, of the pictures %g", got, sum/720)
	}
}

func TestFabricationSaysWhatIsPrivate(t *testing.T) {
	r := onFormula(t, fabrication(), 1, map[string]any{"n": 5, "epsilon": 4, "variant": variantPublished})
	notes := strings.Join(r.Privacy.Notes, "\n")
	if r.Privacy.Guarantee != "" || !strings.Contains(notes, "claimed by the paper: (4, 1e-05)-DP") ||
		!strings.Contains(r.Privacy.Unit, "one pixel") || !strings.Contains(notes, "radius (Eq. 96)") ||
		strings.Contains(notes, "clusters") {
		t.Errorf("%+v", r.Privacy)
	}
	if r := onFormula(t, fabrication(), 1, map[string]any{"n": 5}); r.Privacy.Guarantee == "" ||
		strings.Contains(strings.Join(r.Privacy.Notes, "\n"), "radius") {
		t.Errorf("corrected: %+v", r.Privacy)
	}
	if r := onFormula(t, fabrication(), 1, map[string]any{"n": 5, "epsilon": "inf"}); r.Privacy != nil {
		t.Errorf("without noise: %+v", r.Privacy)
	}
}

func TestFabricationDoesNotDependOnWorkers(t *testing.T) {
	given := map[string]any{"n": 5, "epsilon": 4}
	if one, four := onFormula(t, fabrication(), 1, given), onFormula(t, fabrication(), 4, given); !reflect.DeepEqual(one, four) {
		t.Errorf("one worker %v, four %v", one.Metrics, four.Metrics)
	}
}
