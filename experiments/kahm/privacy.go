package kahm

import (
	"fmt"
	"strings"

	"privkern/runner/experiment"
)

// privacy says what a classifier with noise protects; nil without noise. unit names
// an entry of the data matrix; clustered says whether a class has several machines,
// and so clusters.
func privacy(p experiment.Params, unit string, clustered bool) *experiment.Privacy {
	if p.Text("data") == dataOriginal || noiseless(p) {
		return nil
	}
	notes := []string{
		"the unit is one entry of the data matrix, not a row: by basic composition a row of p entries has (pε, pδ)",
		"labels and the number of samples in each class are not protected",
		fmt.Sprintf("delta is the probability that an entry is released as it is (an atom at zero noise): of a million entries about %.3g", 1e6*p.Float("delta")),
		"this record itself is not private: accuracy and scores are measured on the private data",
		"Laplace noise in floating-point numbers needs snapping or a discrete form before a release (Mironov 2012)",
	}
	out := &experiment.Privacy{
		Guarantee: fmt.Sprintf("(%s, %s)-DP", experiment.FormatNumber(p.Float("epsilon")), experiment.FormatNumber(p.Float("delta"))),
		Unit:      fmt.Sprintf("%s changed by at most %s", unit, experiment.FormatNumber(p.Float("d"))),
		Mechanism: "optimal entry noise (Kumar, Rossbory, Moser, Freudenthaler 2019; Algorithm 1)",
		Notes:     notes,
	}
	var leaks, instead []string
	if clustered && clustersOf(p) == clustersOriginal {
		leaks = append(leaks, "the clusters (Eq. 98) are computed from the private data without noise")
		instead = append(instead, "clusters=noisy takes them from the noisy data")
	}
	if p.Text("data") == dataFabricated && p.Text("variant") == variantPublished {
		leaks = append(leaks, "the fabrication stops at a radius (Eq. 96) computed from the private data without noise")
		instead = append(instead, "variant=corrected takes a public number of smoothing steps")
	}
	if leaks != nil {
		out.Refute(strings.Join(leaks, ", and "))
		out.Notes = append(out.Notes, strings.Join(instead, "; "))
	}
	return out
}
