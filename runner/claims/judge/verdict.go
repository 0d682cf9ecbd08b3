package judge

import (
	"slices"
	"strings"
)

// Verdict is the outcome of comparing a reproduced value with a published one.
type Verdict string

// The verdicts. They are decided in this order, from the numbers and the ledger's terms of
// the print, never from the origin of the settings:
//
//  0. Quoted: a value of another method as the paper prints it; nothing is
//     computed for it.
//  1. NotRun: the cell has no trials, or not those that it is computed from; the
//     reason names them.
//  2. Unpublished: the paper prints no value and makes no statement; ours
//     stands alone.
//  3. Corrected: the effect of an erratum, shown with the print.
//  4. StandIn: the data are not the paper's.
//  5. Fitted: an assumed setting was fitted to the cell.
//  6. A statement is Match where it holds, Differs where it does not, and Unjudged
//     where trials are missing or a paired test cannot decide.
//  7. Faster, Slower: a time on another machine.
//  8. Unjudged: the spread of our trials is not known ([Band]).
//  9. Match: inside the band; Wide: inside a band that is wider than the tolerance
//     and than the rounding of the print, so that a value that misses the print by
//     more than the tolerance can lie inside.
//  10. Close: outside, but within the tolerance. Differs: beyond both.
const (
	Match       Verdict = "match"
	Wide        Verdict = "wide"
	Close       Verdict = "close"
	Differs     Verdict = "differs"
	Faster      Verdict = "faster"
	Slower      Verdict = "slower"
	Unjudged    Verdict = "unjudged"
	Fitted      Verdict = "fitted"
	StandIn     Verdict = "stand-in"
	Corrected   Verdict = "corrected"
	NotRun      Verdict = "not run"
	Unpublished Verdict = "unpublished"
	Quoted      Verdict = "quoted"
)

// Verdicts lists all verdicts in the order in which summaries show them.
var Verdicts = []Verdict{Match, Wide, Close, Differs, Faster, Slower, Unjudged, Fitted, StandIn, Corrected,
	Unpublished, Quoted, NotRun}

// Judged reports whether the verdict is a judgement of the paper's value or statement.
func (v Verdict) Judged() bool { return v == Match || v == Wide || v == Close || v == Differs }

// Inside reports whether the value lies inside its band, or the statement holds.
func (v Verdict) Inside() bool { return v == Match || v == Wide }

// Plain reports whether a verdict needs no emphasis.
func (v Verdict) Plain() bool {
	switch v {
	case Wide, Close, Differs, Unjudged, NotRun:
		return false
	}
	return true
}

// Rules is the footnote that explains the verdicts under every table.
const Rules = "match: |ours − published| ≤ max(h, t·√(s²(1/k + 1/n) + h²/3)), or the statement holds; h: half a unit " +
	"of the last printed digit, s: standard deviation of our n trials, k: draws behind the print, t: Student's 97.5 % " +
	"quantile. close: outside, within the tolerance. differs: beyond both."

// rules are the verdicts in a few words, and footnotes of those that occur.
var rules = []struct {
	Verdict     Verdict
	Short, Text string
}{
	{Match, "in the band of an exact reproduction, or the statement holds", ""},
	{Wide, "in the band, which is wider than the tolerance", "wide: inside a band that is wider than the tolerance and " +
		"than h, so that a value off by more than the tolerance can lie inside; more trials of ours narrow it to what the " +
		"print's own draws leave."},
	{Close, "outside the band, within the tolerance", ""},
	{Differs, "beyond both, or the statement fails", ""},
	{Faster, "a time on another machine", "faster, slower: times on another machine are not judged."},
	{Slower, "a time on another machine", "faster, slower: times on another machine are not judged."},
	{Unjudged, "too little is known", "unjudged: too little is known to judge; the note says what is missing."},
	{Fitted, "an assumed setting was fitted to it", "fitted: an assumed setting was fitted to this value."},
	{StandIn, "other data than the paper's", "stand-in: other data than the paper's, so no verdict against the print."},
	{Corrected, "the effect of an erratum", "corrected: the effect of an erratum, shown beside and not judged against " +
		"the print."},
	{Unpublished, "the paper prints no value", ""},
	{Quoted, "of another method, as printed", "quoted: a value of another method as the paper prints it; it is not " +
		"reproduced here."},
}

// Legend explains the verdicts of comparisons in a few words each; it is empty where none needs it.
func Legend(shown []*Comparison) string {
	var parts []string
	for _, r := range rules {
		if slices.ContainsFunc(shown, func(c *Comparison) bool { return c.Verdict == r.Verdict }) {
			parts = append(parts, string(r.Verdict)+": "+r.Short)
		}
	}
	if parts == nil {
		return ""
	}
	return strings.Join(parts, "; ") + "."
}

// MeanRule is the footnote of a table with means over its own columns.
const MeanRule = "means: of every seed that they all have, the mean of the other values of the row or column; " +
	"mean and standard error are over the seeds."

// MinusRule is the footnote of a table with differences.
const MinusRule = "differences: seed by seed where the subtracted setting has the same seeds, otherwise mean less " +
	"mean, with the variances added."
