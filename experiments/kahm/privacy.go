package kahm

import (
	"fmt"

	"privkern/runner/experiment"
)

// privacy tells what a classifier with noise protects; nil without noise. unit
// names an entry of the data matrix.
func privacy(p experiment.Params, unit string) *experiment.Privacy {
	if p.Text("data") == dataOriginal || noiseless(p) {
		return nil
	}
	notes := []string{
		"the guarantee is for one entry of the data matrix, not for a row: by basic composition a row of p entries has (pε, pδ)",
		"labels and the number of samples in each class are not protected",
		fmt.Sprintf("delta is the probability that an entry is released as it is (an atom at zero noise): of a million entries about %.3g", 1e6*p.Float("delta")),
		"this record itself is not private: accuracy and scores are measured on the private data",
		"Laplace noise in floating-point numbers needs snapping or a discrete form before a release (Mironov 2012)",
	}
	if clustersOf(p) == clustersOriginal {
		notes = append(notes, "the clusters (Eq. 98) are computed from the private data without noise, as published, which the guarantee does not cover; clusters=noisy avoids it")
	}
	if p.Text("data") == dataFabricated && p.Text("variant") == variantPublished {
		notes = append(notes, "as published, the fabrication stops at a radius (Eq. 96) computed from the private data, which the guarantee does not cover; variant=corrected takes a public number of steps")
	}
	return &experiment.Privacy{
		Guarantee: fmt.Sprintf("(%s, %s)-DP", experiment.FormatNumber(p.Float("epsilon")), experiment.FormatNumber(p.Float("delta"))),
		Unit:      fmt.Sprintf("%s changed by at most %s", unit, experiment.FormatNumber(p.Float("d"))),
		Mechanism: "optimal entry noise (Kumar, Rossbory, Moser, Freudenthaler 2019; Algorithm 1)",
		Notes:     notes,
	}
}
