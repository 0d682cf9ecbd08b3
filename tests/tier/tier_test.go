package tier

import (
	"fmt"
	"testing"
)

func TestInThird(t *testing.T) {
	n := 0
	for i := range 3000 {
		if InThird("a test", fmt.Sprint(i)) {
			n++
		}
	}
	if want := Size(1000, 3000); n < want-100 || n > want+100 {
		t.Errorf("%d of 3000, not about %d", n, want)
	}
}

// A test draws the same in every run but by night, and another test something else.
func TestRandom(t *testing.T) {
	t.Setenv(Variable, "")
	n, a := Random(t, 3, 5)
	_, b := Random(t, 3, 5)
	if n != 3 || a.Uint64() != b.Uint64() {
		t.Errorf("%d draws, or others in another run", n)
	}
	t.Run("another", func(t *testing.T) {
		_, c := Random(t, 3, 5)
		if _, a := Random(t, 3, 5); a.Uint64() != c.Uint64() || c.Uint64() == b.Uint64() {
			t.Error("the draws of a test are not its own")
		}
	})
	t.Setenv(Variable, "night")
	t.Setenv(SeedVariable, "1")
	if n, d := Random(t, 3, 5); n != 5 || d.Uint64() == 0 {
		t.Errorf("%d draws by night, want 5", n)
	}
	t.Setenv(DrawsVariable, "7")
	if n, _ := Random(t, 3, 5); n != 7 {
		t.Errorf("%d draws, want 7", n)
	}
}

func TestTiers(t *testing.T) {
	for _, c := range []struct {
		tier        string
		gate, night bool // whether they run
	}{{"", false, false}, {"gate", true, false}, {"night", true, true}} {
		t.Run("tier "+c.tier, func(t *testing.T) {
			t.Setenv(Variable, c.tier)
			ran := func(f func(testing.TB, string)) (ran bool) {
				t.Run("it", func(t *testing.T) { f(t, "a reason"); ran = true })
				return ran
			}
			if gate, night := ran(Gate), ran(Night); gate != c.gate || night != c.night {
				t.Errorf("a test of the gate %t, of the night %t", gate, night)
			}
		})
	}
}
