package own

import (
	"fmt"
	"strings"

	"privkern/experiments/kahm/wide"
	"privkern/runner/experiment"
)

// unitEpsilon returns mpε/d, the ε of m whole rows of p inputs with noise of ε for an entry that
// changes by at most the share d of its range: those of a person, or a single one.
func (d *Table) unitEpsilon(b *wide.Budget, inputs int) float64 {
	return float64(d.Rows()*inputs) * b.Epsilon / b.D
}

// guarantee states the protection by noise on rows of that many inputs.
func (d *Table) guarantee(b *wide.Budget, inputs int) *experiment.Privacy {
	number := experiment.FormatNumber
	unit := fmt.Sprintf("one row: all of its inputs (%d), replaced by any others; its class stays", inputs)
	ofUnit, public, values := "of a row follows, the number", "", "and that each has all values"
	if d.Given() {
		unit = fmt.Sprintf("%s: all inputs (%d) of each, replaced by any others; their classes stay", d.Whom(), inputs)
		ofUnit = fmt.Sprintf("of a person follows, %d × the number", d.RowsPerPerson)
		public = fmt.Sprintf("how many persons there are, where equal values of %s name one, and which person has which "+
			"row; ", d.Person.Column())
	}
	if d.Clamped() {
		values = "and which class is none of those that are named, which counts as the first"
	}
	out := &experiment.Privacy{
		Unit: unit,
		Mechanism: "Laplace noise on every entry (Kumar, Rossbory, Moser, Freudenthaler 2019; Algorithm 1 without its atom " +
			"of entries that stay as they are)",
		Notes: []string{
			fmt.Sprintf("one entry of the data matrix, an input of one row, changed by at most %s of its public range has "+
				"(%s, 0)-DP, and a category, which moves two inputs, twice that: this is the paper's unit (Definition 10); that "+
				"%s of inputs × epsilon/d",
				number(b.D), number(b.Epsilon), ofUnit),
			"public, and not protected: the class of each row, so how many rows a class has; " + public + values,
			"public, and so not to be read off the data: the range of every input, beyond which values are clipped; how many " +
				"were is private",
		},
	}
	if d.Clamped() {
		out.Notes = append(out.Notes, "an input that is missing, NaN or of no named level counts as the low end of its "+
			"range, and an infinite one as its own end; which ones are is private, and no row was left out for them")
	}
	if d.Given() {
		out.Notes = append(out.Notes, d.Drawn())
	}
	return out.State(d.unitEpsilon(b, inputs), 0)
}

// Privacy states the protection by the noise of a trial that judges; nil without noise.
// clustered reports whether a class has several machines.
func (j *Judged) Privacy(b *wide.Builder, clustered bool) *experiment.Privacy {
	if !b.HasNoise() {
		return nil
	}
	out := j.table.guarantee(j.Budget, len(j.Names))
	if j.Parties != nil && j.People != nil {
		out.Notes = append(out.Notes, "a person may have rows with several parties: the most rows, and the guarantee, are "+
			"those of all parties together")
	}
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
