package process

import (
	"fmt"

	"privkern/runner/experiment"
)

// CheckMet refuses noise with which the predictive variance at a sensitive input
// is below its tolerance xi beyond rounding.
func (p *Observations) CheckMet(what string, s, variance, xi float64) error {
	rounding := 1e-6
	if p.epsilon == epsilon32 {
		rounding = 1e-3
	}
	if !(variance >= xi-rounding) {
		return fmt.Errorf("%s leaves a predictive variance of %.10g at s = %s, below the tolerance %s: "+
			"the kernel matrices are too badly conditioned (condition number %.1e); fewer inputs, a larger theta "+
			"or noise_variance > 0 make it smaller",
			what, variance, experiment.FormatNumber(s), experiment.FormatNumber(xi), p.Condition)
	}
	return nil
}
