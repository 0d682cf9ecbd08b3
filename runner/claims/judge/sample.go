package judge

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"privkern/runner/claims/ledger"
	"privkern/runner/experiment"
	"privkern/runner/record"
)

// sample holds the values of one side, or of the mean of several, by seed.
type sample struct {
	side     *ledger.Side // the first
	seeds    []int64
	values   []float64
	keys     []string
	warnings []string
	privacy  []*experiment.Privacy
	missing  string // reason of missing trials; empty for none

	minus *Estimate // of a difference: the subtrahend
	// apart marks that minus was subtracted as one mean, so that the scatter of the
	// values does not include its standard error.
	apart   bool
	other   spread    // of the subtrahend, where apart
	members []*sample // of the mean of several cells
}

// difference takes left less minus, seed by seed where every side of minus has
// the seeds of left, otherwise less the mean of minus over its own seeds.
func (r *Records) difference(left, minus []*ledger.Side) *sample {
	if len(minus) == 0 || r.paired(common(left, r.seeds), minus) {
		return r.sample(left, minus)
	}
	out, other := r.sample(left, nil), r.sample(minus, nil)
	out.keys = appendNew(out.keys, other.keys...)
	out.warnings = appendNew(out.warnings, other.warnings...)
	out.privacy = append(out.privacy, other.privacy...)
	switch {
	case len(out.values) == 0:
		return out
	case len(other.values) == 0:
		out.values, out.missing = nil, subtracted+other.missing
		return out
	case other.missing != "":
		out.warnings = appendNew(out.warnings, subtracted+onlySome(other))
	}
	out.minus, out.apart = other.estimate(), true
	v, _ := variance(other.values)
	n := float64(len(other.values))
	out.other = spread{trial: v, mean: v / n, freedom: n - 1}
	if seedless(minus) {
		out.other = exact
	}
	for i, v := range out.values {
		out.values[i] = subtract(v, out.minus.Mean)
	}
	return out
}

// subtracted is the prefix of a reason that concerns the subtrahend.
const subtracted = "what is subtracted: "

// onlySome returns a warning about the missing trials of a sample.
func onlySome(s *sample) string {
	return fmt.Sprintf("only %d of %d trials: %s", len(s.values), len(s.seeds), s.missing)
}

// sample computes, for every seed, the mean over the sides minus that over minus.
func (r *Records) sample(sides, minus []*ledger.Side) *sample {
	out := &sample{side: sides[0], seeds: common(sides, r.seeds)}
	if n := len(common(sides, func(s *ledger.Side) []int64 { return s.Seeds })); len(out.seeds) < n {
		out.warnings = append(out.warnings, fmt.Sprintf("planned with %d of the table's %d trials", len(out.seeds), n))
	}
	less := &sample{seeds: out.seeds}
	var reasons []string
	seedsOf := map[string][]string{}
	miss := func(seed int64, reason string) {
		reasons = appendNew(reasons, reason)
		seedsOf[reason] = append(seedsOf[reason], fmt.Sprint(seed))
	}
	for _, seed := range out.seeds {
		var found []*outcome
		var lacks, warnings []string
		mean := func(sides []*ledger.Side, prefix string) (mean float64) {
			for _, s := range sides {
				o, v, warning, lack := r.value(s, seed)
				if lack != "" {
					lacks = append(lacks, prefix+lack)
					continue
				}
				mean += v / float64(len(sides))
				found = append(found, o)
				warnings = append(warnings, warningsOf(o, s)...)
				if warning != "" {
					out.warnings = appendNew(out.warnings, warning)
				}
			}
			return mean
		}
		value := mean(sides, "")
		if len(minus) > 0 {
			m := mean(minus, subtracted)
			value = subtract(value, m)
			if len(lacks) == 0 {
				less.values = append(less.values, m)
			}
		}
		switch {
		case len(lacks) > 0 && len(sides) == 1:
			miss(seed, strings.Join(lacks, "; "))
			continue
		case len(lacks) > 0:
			miss(seed, fmt.Sprintf("missing %d of the %d values: %s", len(lacks), len(sides)+len(minus),
				strings.Join(appendNew(nil, lacks...), "; ")))
			continue
		}
		out.values = append(out.values, value)
		out.warnings = appendNew(out.warnings, warnings...)
		for _, o := range found {
			out.keys = appendNew(out.keys, o.key)
			if p := o.privacy; p != nil && !slices.ContainsFunc(out.privacy, func(q *experiment.Privacy) bool {
				return samePrivacy(p, q)
			}) {
				out.privacy = append(out.privacy, p)
			}
		}
	}
	for i, reason := range reasons {
		if len(out.seeds) > 1 && len(seedsOf[reason]) < len(out.seeds) {
			reasons[i] = fmt.Sprintf("seed %s %s", strings.Join(seedsOf[reason], ", "), reason)
		}
	}
	out.missing = strings.Join(reasons, "; ")
	if len(less.values) > 0 {
		out.minus = less.estimate()
	}
	return out
}

// common returns the seeds that all sides have. Where there are none, it returns those of the
// first side, and the others then count as missing.
func common(sides []*ledger.Side, seeds func(*ledger.Side) []int64) []int64 {
	first := seeds(sides[0])
	var out []int64
	for _, seed := range first {
		if !slices.ContainsFunc(sides[1:], func(s *ledger.Side) bool { return !slices.Contains(seeds(s), seed) }) {
			out = append(out, seed)
		}
	}
	if len(out) == 0 {
		return first
	}
	return out
}

// value returns a side's metric of one seed with its record, or the reason lack why there is
// none; and a warning where there are several records.
func (r *Records) value(s *ledger.Side, seed int64) (o *outcome, v float64, warning, lack string) {
	o, warning = r.find(s, seed)
	switch {
	case o == nil:
		return nil, 0, "", "no trial of this setting has run"
	case o.status != record.OK:
		return nil, 0, "", fmt.Sprintf("%s: %s", o.status, cmp.Or(o.err, "no reason is recorded"))
	}
	v, ok := o.metrics[s.Metric]
	if !ok || math.IsNaN(v) || math.IsInf(v, 0) {
		return nil, 0, "", fmt.Sprintf("the trial reports no finite %s", s.Metric)
	}
	return o, v, warning, ""
}

// estimate returns mean and standard error (ddof 1), summed in the order of the seeds. The
// standard error of a single trial is 0.
func (s *sample) estimate() *Estimate {
	v, mean := variance(s.values)
	e := &Estimate{Mean: mean, Trials: len(s.values), Wanted: len(s.seeds),
		StandardError: math.Sqrt(v / float64(len(s.values)))}
	if s.apart {
		e.StandardError = math.Hypot(e.StandardError, s.minus.StandardError)
	}
	return e
}

// seedless reports whether no trial of the sides draws at random.
func seedless(sides []*ledger.Side) bool {
	return !slices.ContainsFunc(sides, func(s *ledger.Side) bool { return !s.Seedless() })
}

// subtract returns a − b rounded to the significant digits of the operands, so that
// 0.9384 − 0.9478 compares equal to −0.0094, and equal differences have no scatter.
func subtract(a, b float64) float64 {
	const digits = 13 // of the larger operand
	v := a - b
	if v == 0 {
		return 0
	}
	n := digits - 1 + Exponent(v) - Exponent(max(math.Abs(a), math.Abs(b)))
	if n < 0 {
		return 0
	}
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'e', n, 64), 64)
	return v
}

// Exponent returns the exponent of a number's leading decimal digit; 0 of zero.
func Exponent(v float64) int {
	if v == 0 {
		return 0
	}
	return int(math.Floor(math.Log10(math.Abs(v))))
}

// RoundingShare bounds the standard error that rounding alone gives equal values, as a
// fraction of their mean.
const RoundingShare = 1e-13
