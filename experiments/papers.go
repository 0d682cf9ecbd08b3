// Package experiments collects what is reproduced: one package per paper, and
// the packages that they share (dataset, mechanism, learn).
package experiments

import (
	"privkern/experiments/cloaking"
	"privkern/experiments/dataset"
	"privkern/experiments/dpgp"
	"privkern/experiments/kahm"
	"privkern/experiments/multikernel"
	"privkern/experiments/privacygp"
	"privkern/runner/experiment"
)

// Papers returns the papers in the order in which they are shown.
func Papers() []experiment.Paper {
	papers := []experiment.Paper{privacygp.Paper(), cloaking.Paper(), dpgp.Paper(), kahm.Paper(), multikernel.Paper()}
	for _, p := range papers {
		for _, e := range p.Experiments {
			knowStandIns(e)
		}
	}
	return papers
}

// knowStandIns makes an experiment say which of the data sets of a trial are not the
// paper's, beside what it says itself: the register of data sets knows.
func knowStandIns(e *experiment.Experiment) {
	own := e.StandIn
	e.StandIn = func(p experiment.Params) string {
		if own != nil {
			if s := own(p); s != "" {
				return s
			}
		}
		if e.Datasets == nil {
			return ""
		}
		return dataset.StandIn(e.Datasets(p)...)
	}
}
