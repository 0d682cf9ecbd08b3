package tables

import (
	"math"
	"strconv"
	"strings"

	"privkern/runner/claims/judge"
	"privkern/runner/claims/ledger"
)

// precision is the format of a result's numbers: one digit more than the print, or two
// significant digits of the standard error, or six.
type precision struct {
	decimals    int
	significant int // significant digits instead, if positive
	scientific  bool
}

func precisionOf(r *judge.Comparison) precision {
	if p := r.Published; p != nil && p.Value != nil && p.Rounding > 0 {
		// Half a unit of the last digit is 5·10^(−decimals−1).
		d := int(math.Round(-math.Log10(p.Rounding/5))) - 1
		if mantissa := strings.ToLower(p.Text); strings.ContainsAny(mantissa, "e×^·") {
			return precision{decimals: max(d+judge.Exponent(*p.Value)+1, 0), scientific: true}
		}
		return precision{decimals: max(d+1, 0)}
	}
	if o := r.Ours; o != nil && o.StandardError > 0 && o.Mean != 0 {
		digits := judge.Exponent(o.Mean) - judge.Exponent(o.StandardError) + 2
		if d := 1 - judge.Exponent(o.StandardError); d >= 0 && d <= 6 {
			return precision{decimals: d}
		}
		return precision{significant: min(max(digits, 2), 9)}
	}
	return precision{significant: 6}
}

// format formats a value; only 0 becomes "0".
func (p precision) format(v float64) string {
	s := p.fixed(v)
	if v != 0 && strings.Trim(s, "-0.") == "" {
		return strconv.FormatFloat(v, 'g', 2, 64)
	}
	return s
}

// error formats a standard error; one that is too small for the digits of its mean gets
// one significant digit.
func (p precision) error(v float64) string {
	s := p.fixed(v)
	if strings.Trim(s, "-0.") == "" {
		return strconv.FormatFloat(v, 'g', 1, 64)
	}
	return s
}

// signed formats a difference with its sign, unless it rounds to zero.
func (p precision) signed(v float64) string {
	if p.significant > 0 {
		p.significant = 3
	}
	s := p.fixed(v)
	switch {
	case strings.Trim(s, "-0.") == "":
		return strings.TrimPrefix(s, "-")
	case v > 0:
		return "+" + s
	}
	return s
}

func (p precision) fixed(v float64) string {
	switch {
	case v == 0 && (p.significant > 0 || p.scientific):
		return "0"
	case p.significant > 0:
		return strconv.FormatFloat(v, 'g', p.significant, 64)
	case p.scientific:
		return strconv.FormatFloat(v, 'e', p.decimals, 64)
	case math.Abs(v) >= 1e9:
		return strconv.FormatFloat(v, 'g', 6, 64)
	}
	return strconv.FormatFloat(v, 'f', p.decimals, 64)
}

// Ours returns the estimate as tables show it.
func Ours(r *judge.Comparison) string {
	if r.Verdict == judge.Quoted {
		return ""
	}
	if r.Ours == nil {
		return "–"
	}
	p := precisionOf(r)
	s := p.format(r.Ours.Mean)
	if r.Ours.StandardError > 0 {
		s += " ± " + p.error(r.Ours.StandardError)
	}
	if h := r.Holds; h != nil && (h.Metric != "" || h.Op != ledger.Equal) {
		s += " " + h.Op.Symbol() + " " + p.format(h.Value)
		if fails(r) {
			s += " fails"
		}
	}
	return s
}

// fails reports whether a statement does not hold, even where it is not judged.
func fails(r *judge.Comparison) bool {
	switch r.Verdict {
	case judge.StandIn, judge.Corrected, judge.Fitted:
		return !r.Holds.Op.Holds(r.Ours.Mean, r.Holds.Value, r.Holds.Tolerance)
	}
	return r.Verdict == judge.Differs
}

// differenceText returns the difference; it is empty for an inequality.
func differenceText(r *judge.Comparison) string {
	if r.Difference == nil || r.Holds != nil && r.Holds.Op != ledger.Equal {
		return ""
	}
	return precisionOf(r).signed(*r.Difference)
}

// Published returns the statement and the print.
func Published(r *judge.Comparison) string {
	switch {
	case r.Published == nil:
		return r.Statement
	case r.Statement == "":
		return r.Published.Text
	}
	return r.Statement + ": " + r.Published.Text
}
