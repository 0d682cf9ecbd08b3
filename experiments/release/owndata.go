package release

import (
	"errors"
	"math"

	"privkern/experiments/mechanism"
	"privkern/runner/experiment"
)

// CompleteOwn completes the settings of a trial on the user's own data: δ has no
// default there, since what is small enough depends on how many rows there are, and
// Gaussian noise is calibrated exactly where nothing else is asked for.
func CompleteOwn(p experiment.Params, given func(name string) bool) error {
	if math.IsInf(p.Float("epsilon"), 1) {
		return nil
	}
	if !given("delta") {
		return errors.New("delta is not given: for your own data name it, far below 1/n for n rows, such as delta=1e-6")
	}
	if _, ok := p["calibration"]; ok && !given("calibration") {
		p["calibration"] = string(mechanism.Analytic)
	}
	return nil
}
