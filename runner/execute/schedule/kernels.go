package schedule

import (
	"fmt"
	"maps"
	"strings"

	"privkern/runner/record"
)

// otherKernels returns a notice where this machine computes with another BLAS class
// than that of the plan or of results that stay; "" otherwise. It is no reason to
// refuse: keys are the same, and tables name the classes of their results.
func (r *run) otherKernels() string {
	here := r.opts.Host.Class()
	if here == "" {
		return ""
	}
	var others []string
	if made := r.plan.BLASClass; made != "" && made != here {
		others = append(others, "the plan was made on "+made)
	}
	kept := maps.Clone(r.kept)
	delete(kept, here)
	for _, class := range kept.Names() {
		noun := "results are"
		if kept[class] == 1 {
			noun = "result is"
		}
		others = append(others, fmt.Sprintf("%d %s of %s", kept[class], noun, class))
	}
	if len(others) == 0 {
		return ""
	}
	advice := ""
	if len(kept) > 0 {
		advice = "; --retry all repeats what is there"
	}
	return fmt.Sprintf("this machine computes with %s kernels, but %s: %s%s",
		here, strings.Join(others, ", and "), record.LastBits, advice)
}
