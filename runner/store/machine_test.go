package store

import (
	"testing"

	"privkern/runner/store/disk"
)

// A trial that is alone excludes those of other runners; others share the
// machine until the last of them has left.
func TestEnter(t *testing.T) {
	dir := t.TempDir()
	var stores [2]*Store
	for i := range stores {
		s, err := Create(disk.System, dir)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		stores[i] = s
	}
	enter := func(runner int, alone, want bool) (leave func()) {
		t.Helper()
		leave, ok, err := stores[runner].Enter(alone)
		if err != nil || ok != want {
			t.Fatalf("runner %d, alone %v: %v, %v", runner, alone, ok, err)
		}
		return leave
	}
	first := enter(0, false, true)
	second := enter(0, false, true)
	third := enter(1, false, true)
	enter(1, true, false)
	third()
	enter(1, true, false)
	first()
	enter(1, true, false)
	enter(0, true, false)
	second()
	alone := enter(1, true, true)
	enter(0, false, false)
	enter(0, true, false)
	enter(1, false, false)
	alone()
	enter(0, true, true)()
	enter(1, false, true)()
}
