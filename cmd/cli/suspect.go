package cli

import (
	"privkern/runner/plan"
	"privkern/runner/record"
	"privkern/runner/store"
)

// suspect writes how many results have warnings, if any has, as the last line of a run: where is the
// place of their list.
func (a *app) suspect(s *record.Suspicions, where string) {
	if s.Suspect > 0 {
		a.say("%s; %s", s, where)
	}
}

// suspectPart is suspect for a part of a plan. It is a convenience: a folder that cannot be read is reported
// elsewhere.
func (a *app) suspectPart(dir string, shard plan.Shard) {
	s, p, err := store.OpenPlan(a.Disk, dir, a.Experiments)
	if err != nil {
		return
	}
	var found record.Suspicions
	for _, i := range shard.Indices(len(p.Trials)) {
		rec, _, err := s.Get(p.Trials[i].Key)
		if err != nil {
			return
		}
		found.Add(rec)
	}
	a.suspect(&found, "`run report "+dir+"` lists them")
}
