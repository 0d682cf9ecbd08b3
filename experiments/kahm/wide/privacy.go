package wide

import (
	"fmt"
	"strings"

	"privkern/runner/experiment"
)

// Privacy returns the statement of the privacy of a trial; nil without noise. unit names an
// entry of the data matrix; clustered reports whether a class has several machines, and so
// clusters.
func (b *Builder) Privacy(unit string, clustered bool) *experiment.Privacy {
	if b.noise == nil {
		return nil
	}
	out := &experiment.Privacy{
		Unit:      fmt.Sprintf("%s changed by at most %s", unit, experiment.FormatNumber(b.noise.D)),
		Mechanism: "optimal entry noise (Kumar, Rossbory, Moser, Freudenthaler 2019; Algorithm 1)",
		Notes: []string{
			"the unit is one entry of the data matrix, not a row: by basic composition a row of p entries has (pε, pδ)",
			"labels and the number of samples in each class are not protected",
			fmt.Sprintf("delta is the probability that an entry is released as it is (an atom at zero noise): "+
				"of a million entries about %.3g", 1e6*b.noise.Delta),
			"this record itself is not private: accuracy and scores are measured on the private data",
			"Laplace noise in floating-point numbers needs snapping or a discrete form before a release (Mironov 2012)",
		},
	}
	out.State(b.noise.Epsilon, b.noise.Delta)
	leaks, instead := b.Leaks(clustered)
	if leaks != nil {
		out.Refute(strings.Join(leaks, ", and "))
		out.Notes = append(out.Notes, strings.Join(instead, "; "))
	}
	return out
}

// HasNoise reports whether noise is added to the samples.
func (b *Builder) HasNoise() bool { return b.noise != nil }

// Leaks returns the values that machines take from private samples without noise, and the
// settings that avoid it. clustered reports whether a class has several machines.
func (b *Builder) Leaks(clustered bool) (leaks, instead []string) {
	if clustered && b.clusters == OriginalClusters {
		leaks = append(leaks, "the clusters (Eq. 98) are computed from the private data without noise")
		instead = append(instead, "clusters=noisy takes them from the noisy data")
	}
	if b.Data == Fabricated && b.private {
		leaks = append(leaks, "the fabrication stops at a radius (Eq. 96) computed from the private data without noise")
		instead = append(instead, "variant=corrected takes a public number of smoothing steps")
	}
	return leaks, instead
}
