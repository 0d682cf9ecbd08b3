package budget

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"privkern/runner/store/disk/disktest"
	"privkern/tests/tier"
)

// Processes book while they are killed, the disk fills up or fails, and the power
// goes. Every booking that was confirmed is in the ledger, once and in both
// accounts, any other is one that was begun, and the ledger can be
// used without a person.
func TestPowerCuts(t *testing.T) {
	tier.Sequential(t)
	wanted, rng := tier.Random(t, 500, 20_000)
	for mishaps := 0; mishaps < wanted && !t.Failed(); {
		b := bookings{disk: disktest.New(), rng: rng, confirmed: map[string]bool{}, begun: map[string]bool{}}
		for range 12 {
			if b.round(t) {
				mishaps++
			}
		}
	}
}

// bookings are a ledger with the bookings that were begun and confirmed.
type bookings struct {
	disk             *disktest.Disk
	rng              *rand.Rand
	number           int
	confirmed, begun map[string]bool
}

const powerCutPath = "/home/.config/privkern/budget.json"

// round books once, with one mishap or none.
func (b *bookings) round(t *testing.T) (mishap bool) {
	t.Helper()
	p := b.disk.Process("p")
	moment := 1 + b.rng.IntN(60)
	what := b.rng.IntN(6)
	switch what {
	case 0, 1:
		p.KillAt(moment)
	case 2: // its files are there for the next process, and not durable
		p.KillAtSync(1 + b.rng.IntN(8))
	case 3:
		p.FailAt(moment)
	case 4:
		b.disk.SetFree(b.rng.IntN(8000))
	}
	b.number++
	s := spend(0.125, 0, 0)
	s.Experiment, s.Units = fmt.Sprint("booking", b.number), []string{"row", "output"}
	b.begun[s.Experiment] = true
	l := &Ledger{disk: p, path: powerCutPath, now: time.Now}
	_, err := l.SetDefault(new(1e6), nil)
	if err == nil {
		err = l.book(s, "")
	}
	b.disk.SetFree(disktest.Unlimited)
	full := errors.Is(err, syscall.ENOSPC)
	switch {
	case err == nil:
		b.confirmed[s.Experiment] = true
	case !p.Killed() && !p.Failed() && !full:
		t.Fatalf("booking %d: %v", b.number, err)
	}
	cut := what < 2 && p.Killed() || b.rng.IntN(8) == 0
	if cut {
		b.disk = b.disk.PowerCut(b.rng)
	}
	b.check(t, cut)
	return cut || full || p.Killed() || p.Failed()
}

func (b *bookings) check(t *testing.T, cut bool) {
	t.Helper()
	l := &Ledger{disk: b.disk.Process("reader"), path: powerCutPath, now: time.Now}
	if old := b.disk.Look(powerCutPath + previousSuffix); old != nil {
		if _, err := parse(old); err != nil {
			t.Fatalf("the previous version: %v", err)
		}
	}
	s, err := l.Read()
	if errors.Is(err, ErrNone) && len(b.confirmed) == 0 {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, unit := range []string{"row", "output"} {
		booked := map[string]bool{}
		for _, a := range s.Accounts {
			if a.Unit == unit {
				booked = names(t, a)
			}
		}
		for name := range b.confirmed {
			if !booked[name] {
				t.Fatalf("unit %s: %s was confirmed, and is not booked", unit, name)
			}
		}
		for name := range booked {
			if !b.begun[name] {
				t.Fatalf("unit %s: %s is booked, and never was", unit, name)
			}
			if cut { // it is durable now
				b.confirmed[name] = true
			}
		}
	}
}

// After any steps of the first two processes that book and are killed, a power cut leaves a
// ledger in which the next one books, with the confirmed bookings.
func TestPowerCutOfTheFirstBookings(t *testing.T) {
	tier.Sequential(t)
	for first, firstEnded := 1, false; !firstEnded; first++ {
		for second, secondEnded := 1, false; !secondEnded; second++ {
			for seed := range uint64(tier.Size(2, 5)) {
				on := disktest.New()
				confirmed := 0
				attempt := func(killAt int) bool {
					p := on.Process("p")
					p.KillAt(killAt)
					err := (&Ledger{disk: p, path: powerCutPath, now: time.Now}).book(spend(0.125, 1e-7, 0.03), "")
					if err == nil {
						confirmed++
					}
					return !p.Killed()
				}
				firstEnded, secondEnded = attempt(first), attempt(second)
				on = on.PowerCut(rand.New(rand.NewPCG(seed, uint64(1000*first+second))))
				l := &Ledger{disk: on.Process("next"), path: powerCutPath, now: time.Now}
				if err := l.book(spend(0.125, 1e-7, 0.03), ""); err != nil {
					t.Fatalf("killed at %d and %d: %v", first, second, err)
				}
				s, err := l.Read()
				if err != nil || len(s.Accounts[0].Entries) <= confirmed {
					t.Fatalf("killed at %d and %d: %+v of %d, %v", first, second, s, confirmed+1, err)
				}
			}
		}
	}
}
