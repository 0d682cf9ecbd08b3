package privacygp

import (
	"fmt"

	"privkern/experiments/privacygp/sdp"
	"privkern/runner/experiment"
)

// checkTolerance refuses ξ ≥ K(s,s) = 1: noise in the data can raise the
// predictive variance towards the prior variance, never to it.
func checkTolerance(name string, xi float64) error {
	if xi >= 1 {
		return fmt.Errorf("%s is %s, but must be below the prior variance K(s,s) = 1: "+
			"no noise raises the predictive variance to the prior variance",
			name, experiment.FormatNumber(xi))
	}
	return nil
}

// The duality gaps, relative to the trace or to the variance of a datum where
// that is larger, above which a solution is none.
const (
	diagonalGap = 1e-8
	weakGap     = 1e-7
	generalGap  = 1e-6 // of the method that is there to be compared with
)

// checkGap refuses a solution whose certificate is too wide.
func checkGap(what string, s *sdp.Solution, wanted float64) error {
	if gap := s.RelativeGap(); !(gap <= wanted) {
		return fmt.Errorf("%s stopped after %d steps at a relative duality gap of %.1e, and at most %.0e is wanted: "+
			"the least trace lies between %.10g and %.10g; fewer training inputs, a larger theta or "+
			"noise_variance > 0 make the kernel matrix better conditioned", what, s.Iterations, gap, wanted, s.Lower, s.Upper)
	}
	return nil
}

// solving passes a solver's progress on.
func solving(t *experiment.Trial) sdp.Progress {
	return func(done, total int) { t.Progress(done, total, "central path") }
}
