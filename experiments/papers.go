// Package experiments collects the papers: one package per paper, and
// the packages that they share (dataset, mechanism, learn).
package experiments

// The schema of sweep files, sweep files of tables, scoreboards, keys and golden results
// follow from the papers; go generate adds those of a new experiment.
//
//go:generate go test privkern/tests privkern/tests/golden -run ^Test(SchemaIsCurrent|SweepFilesCover|PagesOfResults|Keys|Golden) -update

import (
	"privkern/experiments/attack"
	"privkern/experiments/baseline"
	"privkern/experiments/cloaking"
	"privkern/experiments/compare"
	"privkern/experiments/dataset"
	"privkern/experiments/dpgp"
	"privkern/experiments/kahm"
	"privkern/experiments/multikernel"
	"privkern/experiments/privacygp"
	"privkern/experiments/stats"
	"privkern/runner/experiment"
)

// Papers returns the papers in the order in which they are shown.
func Papers() []experiment.Paper {
	papers := []experiment.Paper{
		privacygp.Paper(),
		cloaking.Paper(),
		dpgp.Paper(),
		kahm.Paper(),
		multikernel.Paper(),
		baseline.Experiments(),
		stats.Experiments(),
		compare.Paper(),
		attack.Paper(),
	}
	for _, p := range papers {
		for _, e := range p.Experiments {
			knowStandIns(e)
		}
	}
	return papers
}

// knowStandIns makes an experiment name the data sets of a trial that the register of data
// sets has as stand-ins, in addition to those that it names itself.
func knowStandIns(e *experiment.Experiment) {
	own := e.StandIn
	e.StandIn = func(p experiment.Params) string {
		if own != nil {
			if s := own(p); s != "" {
				return s
			}
		}
		return dataset.StandIn(e.Reads(p)...)
	}
}
