// Package experiments collects what is reproduced: one package per paper, and
// the packages that they share (dataset, mechanism, learn).
package experiments

import (
	"privkern/experiments/cloaking"
	"privkern/experiments/dpgp"
	"privkern/experiments/kahm"
	"privkern/experiments/multikernel"
	"privkern/experiments/privacygp"
	"privkern/runner/experiment"
)

// Papers returns the papers in the order in which they are shown.
func Papers() []experiment.Paper {
	return []experiment.Paper{privacygp.Paper(), cloaking.Paper(), dpgp.Paper(), kahm.Paper(), multikernel.Paper()}
}
