package mechanism

import (
	"fmt"
	"strconv"
)

// LargeDelta is the part of a warning that tells a δ with which a release is refused.
const LargeDelta = "the guarantee allows to publish"

// SuspectDelta returns a warning of a δ that is too large for n units of protection, which
// are named such as "rows", "" for none. One that is not below 1/n allows to publish a row
// (or the rows of a person) picked at random as it is, which is (0, 1/n)-differentially
// private; a tenth of that is the usual advice (Dwork and Roth 2014, Section 2.3, ask for a
// δ below the inverse of any polynomial in n). n is public.
func SuspectDelta(delta float64, n int, units string) string {
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }
	limit := 1 / float64(n)
	one := "a row"
	if units == "persons" {
		one = "all rows of a person"
	}
	advice := "use a delta below " + number(limit/10)
	switch {
	case n < 1:
		return ""
	case delta >= limit:
		return fmt.Sprintf("computed but suspect: delta = %s is not below 1/n = %s of the %d %s, so that %s %s picked at "+
			"random; %s", number(delta), number(limit), n, units, LargeDelta, one, advice)
	case delta >= limit/10:
		return fmt.Sprintf("computed but suspect: delta = %s is not below a tenth of 1/n = %s of the %d "+
			"%s; %s", number(delta), number(limit), n, units, advice)
	}
	return ""
}
