package sdp

import "math"

// Progress gets how many of about how many stretches of the central path are
// done. The number of stretches is an estimate from above: rounding may end the
// path early.
type Progress func(done, total int)

// path counts the stretches of a central path, a reduction of μ each.
type path struct {
	progress    Progress
	done, total int
}

// newPath begins a path on which the gap falls from first to last.
// first and last are gaps in any unit.
func newPath(progress Progress, first, last float64) *path {
	if progress == nil {
		progress = func(int, int) {}
	}
	return &path{progress, -1, 1 + int(math.Ceil(math.Max(0, math.Log(last/first)/math.Log(reduction))))}
}

// step begins the next stretch. Those after the expected end are not counted.
func (p *path) step() {
	p.done = min(p.done+1, p.total-1)
	p.progress(p.done, p.total)
}

// end reports everything done.
func (p *path) end() { p.progress(p.total, p.total) }
