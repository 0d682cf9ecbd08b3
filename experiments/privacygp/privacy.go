package privacygp

import (
	"fmt"
	"strings"

	"privkern/experiments/privacygp/process"
	"privkern/runner/experiment"
)

const mechanism = "privacy-aware Gaussian process regression (Tuo and Bhattacharya): W = Y + Z, Z ~ N(0, Sigma)"

// privacy describes the protection of a release of W. It is no differential privacy, so that the
// guarantee is empty.
//
// bound is the lower bound on the predictive variance. n is the number of data, rank that of Σ
// (negative where there is none), v the variance of the data's own noise.
func privacy(bound, unit string, n, rank int, v float64, more ...string) *experiment.Privacy {
	p := &experiment.Privacy{
		Unit:      unit,
		Mechanism: mechanism,
		Notes: []string{
			"holds for a user with this prior: " + bound,
			"inferential privacy, not differential privacy: there is no (epsilon, delta), and the other data are not protected",
			"\"no user can do better\" holds under this Gaussian process prior only, with its parameters known (erratum 3)",
		},
	}
	if rank >= 0 && rank < n {
		if v == 0 {
			p.Notes = append(p.Notes, fmt.Sprintf("Sigma has rank %d: %d linear functionals of the %d data are released "+
				"without any noise; a user with another prior, a polynomial say, may recover f(s) from them (erratum 3)",
				rank, n-rank, n))
		} else {
			p.Notes = append(p.Notes, fmt.Sprintf("Sigma has rank %d: %d linear functionals of the %d data are released "+
				"without synthetic noise (erratum 3)", rank, n-rank, n))
		}
	}
	p.Notes = append(p.Notes, more...)
	p.Withdraw("a bound on the predictive variance under one Gaussian process prior has no (epsilon, delta)")
	return p
}

// Disclosures of the record itself, for its privacy block.
const (
	recordHoldsNoOutputs = "this record holds no outputs: the covariance of the noise depends on the training inputs, " +
		"the sensitive inputs and the process alone"
	recordIsNotPrivate = "this record itself is not private: it holds the true values, and metrics computed from them; " +
		"only the obfuscated data (column obfuscated) and the model would be released"
)

// exactWarning warns of data at sensitive inputs without noise of their own.
func exactWarning(p *process.Process, v float64, sensitive []float64) []string {
	exact := p.Exact(sensitive)
	if v != 0 || len(exact) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("without noise of its own (noise_variance 0), a training input is sensitive: %s. "+
		"Only the synthetic noise, of a singular covariance, stands between its output and the release", list(exact))}
}

func list(values []float64) string {
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = fmt.Sprintf("%.6g", v) // 0.6, not 0.6000000000000001
	}
	return strings.Join(parts, ", ")
}
