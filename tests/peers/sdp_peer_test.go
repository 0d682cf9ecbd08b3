package peers

import (
	"fmt"
	"os/exec"
	"testing"

	"privkern/tests/tier"
)

// The programs of privacygp have the optima that a solver of semi-definite
// programs finds, for the programs as they are printed.
func TestSDPAgainstClarabel(t *testing.T) {
	tier.Night(t, "it compares with Clarabel")
	if exec.Command("python3", "-c", "import cvxpy, clarabel, scipy").Run() != nil {
		t.Skip("python3 with CVXPY, Clarabel and SciPy is not installed: the comparison with them is not made")
	}
	const clarabel = 1e-7 // its relative accuracy
	type setting struct {
		points          int
		theta, v, s, xi float64
		high            float64 // weak: sensitive inputs from s to high
		count           int
	}
	for _, c := range []setting{
		{points: 9, theta: 10, s: .5, xi: .5},
		{points: 30, theta: 10, s: .5, xi: .5},
		{points: 40, theta: 200, v: .1, s: .31, xi: .9},
		{points: 25, theta: 30, v: .01, s: -.1, xi: .8},
		{points: 60, theta: 10, v: .01, s: .5, xi: .5},
		{points: 9, theta: 10, s: .4, high: .6, count: 2, xi: .5},
		{points: 10, theta: 30, v: .05, s: .2, high: .9, count: 4, xi: .7},
	} {
		given := map[string]any{"points": c.points, "theta": c.theta, "noise_variance": c.v, "xi": c.xi}
		common := []string{fmt.Sprint(c.points), fmt.Sprint(c.theta), fmt.Sprint(c.v), fmt.Sprint(c.s)}
		if c.count == 0 {
			t.Run(fmt.Sprintf("diagonal, %d points, v=%g, s=%g", c.points, c.v, c.s), func(t *testing.T) {
				given["s"] = c.s
				want := peer(t, "sdp.py", append(append([]string{"diagonal"}, common...), fmt.Sprint(c.xi))...)
				sameAsPeer(t, want, "privacygp/example1", given, clarabel)
			})
			continue
		}
		t.Run(fmt.Sprintf("weak, %d points, %d sensitive inputs", c.points, c.count), func(t *testing.T) {
			given["sensitive_low"], given["sensitive_high"], given["sensitive_count"] = c.s, c.high, c.count
			args := append(append([]string{"weak"}, common...), fmt.Sprint(c.high), fmt.Sprint(c.count), fmt.Sprint(c.xi))
			sameAsPeer(t, peer(t, "sdp.py", args...), "privacygp/weak", given, clarabel)
		})
	}
}
