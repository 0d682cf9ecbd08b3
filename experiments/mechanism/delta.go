package mechanism

import (
	"fmt"
	"strconv"
)

// SuspectDelta returns a warning of a δ that is too large for n rows, "" for none. One that
// is not below 1/n allows to publish a row picked at random as it is, which is
// (0, 1/n)-differentially private; a tenth of that is the usual advice (Dwork and
// Roth 2014, Section 2.3, ask for a δ below the inverse of any polynomial in n). n
// is public.
func SuspectDelta(delta float64, rows int) string {
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }
	limit := 1 / float64(rows)
	advice := "use a delta below " + number(limit/10)
	switch {
	case rows < 1:
		return ""
	case delta >= limit:
		return fmt.Sprintf("computed but suspect: delta = %s is not below 1/n = %s of the %d rows, so that the "+
			"guarantee allows to publish a row picked at random; %s", number(delta), number(limit), rows, advice)
	case delta >= limit/10:
		return fmt.Sprintf("computed but suspect: delta = %s is not below a tenth of 1/n = %s of the %d "+
			"rows; %s", number(delta), number(limit), rows, advice)
	}
	return ""
}
