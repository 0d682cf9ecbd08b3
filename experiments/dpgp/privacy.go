package dpgp

import (
	"fmt"

	"privkern/runner/experiment"
)

// privacy says what a published posterior protects; nil without noise.
func (p *problem) privacy() *experiment.Privacy {
	if p.noise.sigmaA == 0 {
		return nil
	}
	number := func(name string) string { return experiment.FormatNumber(p.t.Params.Float(name)) }
	record := "this record itself is not private: it holds the data, and errors and coverages measured on them or on the true function; only the posterior (m, S) at the inducing inputs, and what is computed from it, would be released"
	if p.publishes() {
		record = "this record itself is not private: its metrics are computed from the data, or from the function " +
			"that they were simulated with, without noise; noise covers the released series alone"
	}
	clipping := fmt.Sprintf("outputs beyond ±%s are clipped before they are summed; how many were is private", number("r_y"))
	if !p.publishes() {
		clipping += ", and clipped_fraction shows it"
	}
	notes := []string{
		record,
		"protects inputs and outputs of a row; how many rows there are is taken as public",
		"the kernel, sigma, r_y and the inducing inputs are taken as public: choosing them by the data costs privacy of its own",
		clipping,
		"every data set that is fitted (repeats) spends a budget of its own",
		"that the update fails where the noise exceeds lambda depends on the noisy sums alone, and tells no more than they do; but a failed fit has spent its budget, and publishing the first of several that succeeds is not covered",
	}
	out := &experiment.Privacy{
		Guarantee: fmt.Sprintf("(%s, %s)-DP", number("epsilon"), number("delta")),
		Unit:      "one row, input and output, substituted by any other",
		Mechanism: "analytic Gaussian mechanism (Balle and Wang 2018) on the sums A and B of a sparse GP together (Honkela 2021, Algorithm 1), sensitivity by Eq. (6) with bound " + p.t.Params.Text("bound"),
		Notes:     notes,
	}
	if strict, _ := p.t.Params["strict"].(bool); strict {
		out.Withdraw("with strict=true a private output beyond r_y means that there is no result; strict=false " +
			"clips it")
	}
	return out
}
