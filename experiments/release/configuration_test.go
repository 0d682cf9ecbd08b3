package release

import (
	"strings"
	"testing"

	"privkern/runner/experiment"
)

// A release is made with the settings that were chosen, and with no lengthscale for each input
// where one was.
func TestChosenSettings(t *testing.T) {
	chosen := Configuration{Settings: map[string]float64{"lengthscale": 20, "noise_variance": 0.5}}
	with := func(lengthscale any) experiment.Params {
		return experiment.Params{"lengthscale": lengthscale, "noise_variance": 0.5, "method": "sparse"}
	}
	for name, c := range map[string]struct {
		p    experiment.Params
		want string // empty where they are the chosen ones
	}{
		"chosen":             {with(20.0), ""},
		"another":            {with(25.0), "lengthscale = 25, but 20 was chosen; give the chosen settings"},
		"one for each input": {with([]float64{20, 5}), "lengthscale = [20,5], but 20 was chosen; give the chosen settings"},
		"one is missing": {experiment.Params{"lengthscale": 20.0},
			"the choice names noise_variance, which this experiment does not have"},
		"a word": {with("auto"), "the choice names lengthscale, which this experiment does not have as a number"},
	} {
		t.Run(name, func(t *testing.T) {
			err := chosen.Matches(c.p)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
