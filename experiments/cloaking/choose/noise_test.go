package choose

import (
	"math"
	"testing"

	"privkern/experiments/cloaking/internal/cloaktest"
	"privkern/experiments/internal/trialtest"
	"privkern/runner/experiment"
)

// The mean over many draws of the noise comes near its expectation, that over one does not,
// and no guarantee holds with either.
func TestDrawnNoise(t *testing.T) {
	folder := cloaktest.Census(t)
	drawn := func(seed uint64, draws int) float64 {
		out, err := trialtest.Try(t, trialtest.Options{Folder: folder, Seed: seed}, Selection(),
			all(oneOf(5, 1, 1), func(s *selectionSettings) { s.NoiseInErrors = experiment.NumberOr[Expectation](draws) }))
		if err != nil {
			t.Fatal(err)
		}
		if out.Privacy.Guarantee != "" {
			t.Errorf("%d draws have the guarantee %q", draws, out.Privacy.Guarantee)
		}
		return out.Metrics.BestRMSE
	}
	expected, err := trialtest.Try(t, trialtest.Options{Folder: folder}, Selection(), oneOf(5, 1, 1))
	if err != nil {
		t.Fatal(err)
	}
	want := expected.Metrics.BestRMSE
	trialtest.Near(t, "mean over 20,000 draws", drawn(1, 20_000), want, 0.02*want)
	if one, other := drawn(1, 1), drawn(2, 1); one == other || math.Abs(one-want) < 1e-3*want {
		t.Errorf("one draw gives %g and %g, the expectation is %g", one, other, want)
	}
}
