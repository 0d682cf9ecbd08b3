package own

import (
	"fmt"
	"strings"

	"privkern/experiments/kahm/wide"
	"privkern/runner/experiment"
)

// rowEpsilon returns pε/d, the ε of a whole row of p inputs with noise of ε for an entry that
// changes by at most the share d of its range.
func rowEpsilon(b *wide.Budget, inputs int) float64 { return float64(inputs) * b.Epsilon / b.D }

// guarantee states the protection by noise on rows of that many inputs.
func guarantee(b *wide.Budget, inputs int) *experiment.Privacy {
	number := experiment.FormatNumber
	out := &experiment.Privacy{
		Unit: fmt.Sprintf("one row: all of its inputs (%d), replaced by any others; its class stays",
			inputs),
		Mechanism: "Laplace noise on every entry (Kumar, Rossbory, Moser, Freudenthaler 2019; Algorithm 1 without its atom " +
			"of entries that stay as they are)",
		Notes: []string{
			fmt.Sprintf("one entry of the data matrix, an input of one row, changed by at most %s of its public range has "+
				"(%s, 0)-DP, and a category, which moves two inputs, twice that: this is the paper's unit (Definition 10); that "+
				"of a row follows, the number of inputs × epsilon/d",
				number(b.D), number(b.Epsilon)),
			"public, and not protected: the class of each row, so how many rows a class has; and that each has all " +
				"values",
			"public, and so not to be read off the data: the range of every input, beyond which values are clipped; how many " +
				"were is private",
		},
	}
	return out.State(rowEpsilon(b, inputs), 0)
}

// Privacy states the protection by the noise of a trial that judges; nil without noise.
// clustered reports whether a class has several machines.
func (j *Judged) Privacy(b *wide.Builder, clustered bool) *experiment.Privacy {
	if !b.HasNoise() {
		return nil
	}
	out := guarantee(j.Budget, len(j.Names))
	out.Notes = append(out.Notes,
		"this record itself is not private: accuracy and scores are measured on the private data",
		"the noise of a trial is drawn in floating point; that of a release (--release) is exact")
	leaks, instead := b.Leaks(clustered)
	if j.Ranges.Observed {
		leaks = append(leaks, "the ranges of the inputs are read off the private rows without noise")
		instead = append(instead, "low and high give public ones")
	}
	if j.Private != nil {
		leaks = append(leaks, "the categories of "+strings.Join(j.Private, ", ")+" are read off the private rows")
		instead = append(instead, "inputs=NAME[A|B|C] gives public ones")
	}
	if leaks != nil {
		out.Withdraw(strings.Join(leaks, ", and "))
		out.Notes = append(out.Notes, strings.Join(instead, "; "))
	}
	return out
}
