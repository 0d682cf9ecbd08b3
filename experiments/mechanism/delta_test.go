package mechanism

import (
	"strings"
	"testing"
)

func TestSuspectDelta(t *testing.T) {
	for _, c := range []struct {
		name  string
		delta float64
		n     int
		units string
		want  string // "" for no warning
	}{
		{"far below", 1e-6, 1000, "rows", ""},
		{"just below a tenth", 0.99e-4, 1000, "rows", ""},
		{"a tenth", 1e-4, 1000, "rows",
			"delta = 0.0001 is not below a tenth of 1/n = 0.001 of the 1000 rows; use a delta below 0.0001"},
		{"just below 1/n", 0.99e-3, 1000, "rows", "not below a tenth of 1/n"},
		{"1/n", 1e-3, 1000, "rows",
			"delta = 0.001 is not below 1/n = 0.001 of the 1000 rows, so that the guarantee allows to publish a row"},
		{"above", 0.5, 10, "rows", "delta = 0.5 is not below 1/n = 0.1 of the 10 rows"},
		{"persons", 0.5, 10, "persons",
			"of the 10 persons, so that the guarantee allows to publish all rows of a person picked at random"},
		{"no rows", 0.5, 0, "rows", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := SuspectDelta(c.delta, c.n, c.units)
			if c.want == "" && got != "" || !strings.Contains(got, c.want) || got != "" && !strings.HasPrefix(got,
				"computed but suspect: ") {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
