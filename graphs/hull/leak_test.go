package hull

import (
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Wherever a fit of several groups fails, nothing of it stays on the device: the solutions of the
// groups that were queued before the one that fails go, too.
func TestFailedFitsLeaveTheDevice(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	var samples []*mat.Dense
	for _, n := range []int{40, 20, 70} { // one group each
		y := mat.NewDense(n, 8, nil)
		y.Apply(func(int, int, float64) float64 { return 1 + rng.NormFloat64() }, y)
		samples = append(samples, y)
	}
	e, d := onDevice(t, "float64")
	done := func(_ int, _ *Machine, err error) error { return err }
	for at := 1; ; at++ {
		d.fails = at
		err := FitAll(t.Context(), e, slices.Clone(samples), Options{Dim: 3, Layers: 2}, done)
		if d.used != 0 {
			t.Fatalf("after a failure of launch %d %d bytes stay", at, d.used)
		}
		if err == nil {
			if at < 30 {
				t.Fatalf("%d launches: too few to fail between groups", at)
			}
			return
		}
	}
}
