package merge_test

import (
	"errors"
	"math/rand/v2"
	"path"
	"testing"

	"privkern/tests/tier"

	"privkern/runner/execute/merge"
	"privkern/runner/execute/trial"
	"privkern/runner/plan"
	"privkern/runner/record"
	"privkern/runner/store"
	"privkern/runner/store/disk/disktest"
)

// okRecord is a record with a result.
func okRecord(t *testing.T, x plan.Trial) *record.Record {
	t.Helper()
	r, err := trial.NewRecord(trial.Job{Key: x.Key, Identity: x.Identity})
	if err != nil {
		t.Fatal(err)
	}
	r.Status, r.Metrics = record.OK, map[string]float64{"y": 1}
	return r
}

// A merge is killed at any operation, another one ends well, the folders that it
// read are removed and the power goes: every record is in the united folder.
func TestPowerCutAfterAMerge(t *testing.T) {
	tier.Sequential(t)
	p := makePlan(t, 2)
	for killed, ended := 1, false; !ended; killed++ {
		for seed := range uint64(8) {
			on := disktest.New()
			before := on.Process("before")
			for i, name := range []string{"/a", "/b"} {
				s, err := store.Create(before, name)
				if err == nil {
					err = s.FreezePlan(p, registry, false)
				}
				if err == nil {
					err = s.Put(okRecord(t, p.Trials[i]))
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			first := on.Process("first")
			first.KillAt(killed)
			_, err := merge.Folders(first, "/united", []string{"/a", "/b"}, "", registry)
			if ended = err == nil; !ended && !errors.Is(err, disktest.ErrKilled) {
				t.Fatal(err)
			}
			if _, err := merge.Folders(on.Process("second"), "/united", []string{"/a", "/b"}, "", registry); err != nil {
				t.Fatal(err)
			}
			after := on.PowerCut(rand.New(rand.NewPCG(seed, uint64(killed))))
			for _, x := range p.Trials {
				if _, err := record.Parse(after.Look(path.Join("/united/trials", x.Key+".json"))); err != nil {
					t.Fatalf("killed at %d: %.8s: %v", killed, x.Key, err)
				}
			}
		}
	}
}
