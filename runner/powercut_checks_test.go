package runner_test

import (
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"

	"privkern/runner/plan"
	"privkern/runner/record"
)

// damage changes a record: it flips a bit, or removes the members that records of early
// versions lack.
func (w *world) damage() {
	f := w.folders[w.names[w.rng.IntN(len(w.names))]]
	for _, key := range slices.Sorted(maps.Keys(f.trials)) {
		k := f.trials[key]
		now := w.content(f.name, key)
		status := k.may[now]
		if !k.must || status == "" || w.rng.IntN(2) == 0 {
			continue
		}
		r, err := record.Parse([]byte(now))
		if err != nil || !r.Sealed() { // changes of an unsealed record cannot be found
			continue
		}
		if w.rng.IntN(2) == 0 {
			raw := []byte(now)
			raw[w.rng.IntN(len(raw))] ^= 1 << w.rng.IntN(8)
			w.say("damage %s %.8s", f.name, key)
			k.must, k.may = false, map[string]record.Status{}
			k.may[string(raw)] = ""
			f.kept = append(f.kept, string(raw))
			w.plant(recordPath(f.name, key), raw)
			return
		}
		if !f.planned {
			return
		}
		r.ResultVersion = 0
		old := text(r)
		sealed, err := record.Seal([]byte(old), double.Version)
		if err != nil {
			w.wrong("%v", err)
		}
		w.say("unseal %s %.8s", f.name, key)
		k.may = map[string]record.Status{}
		k.allow(old, status)
		k.allow(string(sealed), status)
		w.plant(recordPath(f.name, key), []byte(old))
		return
	}
}

func (w *world) plant(name string, data []byte) {
	if err := w.disk.Plant(name, data); err != nil {
		w.wrong("%v", err)
	}
}

// check compares the disk with the known state. After a power cut its state is durable
// and complete.
func (w *world) check(cut bool) {
	for _, name := range w.names {
		f := w.folders[name]
		w.checkPlan(f, cut)
		for _, key := range slices.Sorted(maps.Keys(f.trials)) {
			w.checkRecord(f, key, cut)
		}
		w.checkKept(f, cut)
	}
}

func (w *world) checkPlan(f *folder, cut bool) {
	raw := w.disk.Look(path.Join(f.name, "plan.json"))
	if raw == nil {
		if f.planned {
			w.wrong("%s has lost its plan", f.name)
		}
		return
	}
	p, err := plan.Verify(raw, w.catalogue.Experiments)
	if err != nil {
		w.wrong("the plan of %s: %v", f.name, err)
		return
	}
	if !f.plans[p.Digest] {
		w.wrong("%s has the plan of %d trials, which it had before", f.name, len(p.Trials))
	}
	if cut {
		f.planned, f.plans = true, map[string]bool{p.Digest: true}
	}
}

func (w *world) checkRecord(f *folder, key string, cut bool) {
	k := f.trials[key]
	now := w.content(f.name, key)
	status, allowed := k.may[now]
	switch {
	case now == "" && w.disk.Look(recordPath(f.name, key)) == nil:
		if k.must {
			w.wrong("%s has lost the record of %.8s", f.name, key)
		}
	case !cut && k.best > rank(status) && !w.repeats:
		w.wrong("%s: %.8s was finished with rank %d, and has a record of rank %d", f.name, key, k.best, rank(status))
	case !allowed:
		w.wrong("%s has a record of %.8s that was not written, or that a later one had replaced:\n%q", f.name, key, now)
	}
	if sealed, err := record.CheckDigest([]byte(now), "digest"); status != "" && (err != nil || !sealed) &&
		strings.Contains(now, `"result_version"`) {
		w.wrong("%s: the digest of %.8s: %v", f.name, key, err)
	}
	if cut {
		k.must, k.may = status != "", map[string]record.Status{}
		if now != "" {
			k.may[now] = status
		}
		if r, err := record.Parse([]byte(now)); err == nil && !r.Sealed() {
			if text, err := record.Seal([]byte(now), double.Version); err == nil {
				k.may[string(text)] = status
			}
		}
	}
}

// checkKept looks for the files that were put aside.
func (w *world) checkKept(f *folder, cut bool) {
	there := map[string]bool{string(w.disk.Look(path.Join(f.name, "plan.json"))): true}
	for _, below := range []string{"aside", "trials"} {
		for _, name := range w.disk.List(path.Join(f.name, below)) {
			there[string(w.disk.Look(path.Join(f.name, below, name)))] = true
		}
	}
	if cut {
		f.withdrawn = slices.DeleteFunc(f.withdrawn, func(content string) bool {
			return slices.ContainsFunc(slices.Collect(maps.Keys(f.trials)), func(key string) bool {
				return w.content(f.name, key) == content
			})
		})
	}
	for _, content := range slices.Concat(f.kept, f.withdrawn) {
		if !there[content] {
			w.wrong("%s has lost what was put aside:\n%q", f.name, content)
		}
	}
}

// finish lets every command end, cuts the power and checks the rest.
func (w *world) finish() {
	if w.problem != "" {
		return
	}
	w.say("--- the end")
	w.repeats = true
	w.disk.Before = nil
	for _, name := range w.names {
		f := w.folders[name]
		c := &command{process: w.disk.Process("end"), what: "the last sweep of " + name, ended: make(chan struct{})}
		f.plan = len(w.plans) - 1
		r := sweepRun{world: w, folder: f, plan: w.plans[f.plan], replan: true, jobs: 1}
		if err := r.run(c); err != nil {
			w.wrong("%s: %v", c.what, err)
		}
		close(c.ended)
		if _, err := w.on(c).Check(name, true, ""); err != nil {
			w.wrong("check --repair %s: %v", name, err)
		} else if k, err := w.on(c).Check(name, false, ""); err != nil || len(k.Problems)+k.Unsealed > 0 ||
			k.Records != len(r.plan.Trials) {
			w.wrong("check %s: %+v, %v", name, k, err)
		}
	}
	w.disk = w.disk.PowerCut(rand.New(rand.NewPCG(uint64(w.records), 2)))
	w.check(true)
}
