package store_test

import (
	"errors"
	"math/rand/v2"
	"path"
	"strings"
	"testing"

	"privkern/tests/tier"

	"privkern/runner/store"
	"privkern/runner/store/disk/disktest"
)

// A runner is killed while it puts a damaged record aside, and another one while it
// runs the trial again; then the power goes. For every pair of operations at which they are
// killed, the damaged record is kept, and so is a new one that was written.
func TestPowerCutWhileARecordIsPutAside(t *testing.T) {
	tier.Sequential(t)
	p := makePlan(t, "d", 1.0)
	key := p.Trials[0].Key
	name := path.Join("/out/trials", key+".json")
	whole := encode(t, newRecord(t, p.Trials[0]))
	damaged := strings.Replace(whole, `{"y":1}`, `{"y":3}`, 1)
	open := func(on *disktest.Process) (*store.Store, error) {
		s, err := store.Create(on, "/out")
		if err == nil {
			err = s.FreezePlan(p, registry, false)
		}
		return s, err
	}
	again := func(on *disktest.Process, killAt int) (ended bool) {
		s, err := open(on)
		if err != nil {
			t.Fatal(err)
		}
		on.KillAt(killAt)
		if unlock, ok, err := s.Lock(key); err == nil && ok {
			defer unlock()
		}
		err = s.PutAside(key)
		if _, ok, _ := s.Get(key); err == nil && !ok && !on.Killed() {
			err = s.Put(newRecord(t, p.Trials[0]))
		}
		if err == nil {
			err = s.Settle() // it may be the first runner's
		}
		if err != nil && !errors.Is(err, disktest.ErrKilled) {
			t.Fatal(err)
		}
		return err == nil && !on.Killed()
	}
	for first, ended := 1, false; !ended; first++ {
		for second, secondEnded := 1, false; !secondEnded; second++ {
			for seed := range uint64(10) {
				on := disktest.New()
				s, err := open(on.Process("before"))
				if err == nil {
					err = s.Put(newRecord(t, p.Trials[0]))
				}
				if err = errors.Join(err, on.Plant(name, []byte(damaged))); err != nil {
					t.Fatal(err)
				}
				ended = again(on.Process("first"), first)
				secondEnded = again(on.Process("second"), second)
				after := on.PowerCut(rand.New(rand.NewPCG(seed, uint64(first*1000+second))))
				kept := string(after.Look(name)) == damaged
				for _, file := range after.List("/out/aside") {
					kept = kept || string(after.Look("/out/aside/"+file)) == damaged
				}
				if !kept {
					t.Fatalf("killed at %d and %d: the damaged record is lost", first, second)
				}
				if secondEnded && string(after.Look(name)) != whole {
					t.Fatalf("killed at %d and %d: the new record is %q", first, second, after.Look(name))
				}
			}
		}
	}
}
