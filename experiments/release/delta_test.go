package release

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"privkern/runner/experiment"
)

// A δ of 1/n is refused and one of 0.1/n warned of, at the bounds themselves; below
// them by one unit in the last place, neither. All products are exact.
func TestCheckDelta(t *testing.T) {
	const none, warned, refused = "none", "warned", "refused"
	below := func(v float64) float64 { return math.Nextafter(v, 0) }
	for _, c := range []struct {
		delta         float64
		rows          int
		want, allowed string
	}{
		{1e-6, 1000, none, none},
		{below(0.1), 1, none, none},
		{0.1, 1, warned, warned},
		{below(0.1 / 1024), 1024, none, none},
		{0.1 / 1024, 1024, warned, warned},
		{0.125, 4, warned, warned},
		{below(0.25), 4, warned, warned},
		{0.25, 4, refused, warned},
		{0x1p-20, 1<<20 - 1, warned, warned},
		{0x1p-20, 1 << 20, refused, warned},
		{0x1p-20, 1<<20 + 1, refused, warned},
		{0.5, 1000, refused, warned},
		{0, 1000, none, none},
	} {
		for allow, want := range map[bool]string{false: c.want, true: c.allowed} {
			t.Run(fmt.Sprintf("%x, %d rows, allowed %t", c.delta, c.rows, allow), func(t *testing.T) {
				units, s := "rows", experiment.Spending{Delta: c.delta, Rows: c.rows, Units: experiment.UnitsOfARow()}
				if c.rows%2 == 0 {
					units, s.Units = "persons", append([]string{experiment.UnitPerson}, s.Units...)
				}
				warning, err := CheckDelta(s, allow)
				got := none
				var large *LargeDeltaError
				switch {
				case errors.As(err, &large):
					got = refused
					if large.Delta != c.delta || large.Rows != c.rows || warning != "" ||
						!strings.Contains(large.Error(), fmt.Sprintf("for %d %s:", c.rows, units)) {
						t.Errorf("%+v with warning %q", large, warning)
					}
				case err != nil:
					t.Fatal(err)
				case warning != "":
					got = warned
					if n := fmt.Sprintf("n = %d %s", c.rows, units); !strings.Contains(warning, n) {
						t.Errorf("%q does not say %s", warning, n)
					}
				}
				if got != want {
					t.Errorf("%s, want %s", got, want)
				}
			})
		}
	}
}
