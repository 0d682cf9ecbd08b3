package report

import "privkern/runner/claims/judge"

// meanings explains each verdict in a sentence.
var meanings = map[judge.Verdict]string{
	judge.Match: "our value lies inside the band that the spread of our trials, the draws behind the print and its " +
		"rounding allow, or the statement holds",
	judge.Wide: "inside a band that is wider than the tolerance and the print's rounding, so that a value off by " +
		"more than the tolerance can lie inside",
	judge.Close:       "outside the band, within the tolerance that is declared for the table",
	judge.Differs:     "beyond both, or the statement does not hold",
	judge.Faster:      "a shorter time, on another machine",
	judge.Slower:      "a longer time, on another machine",
	judge.Unjudged:    "too little is known to judge; the note says what is missing",
	judge.Fitted:      "an assumed setting was fitted to this value",
	judge.StandIn:     "other data than the paper's: there is no verdict against the print",
	judge.Corrected:   "the effect of an erratum, shown beside the print and not judged",
	judge.Unpublished: "the paper prints no value, or only draws it",
	judge.Quoted:      "a value of another method as the paper prints it; it is not reproduced here",
	judge.NotRun:      "there is no value of ours; the note says why",
}

// columnTitle returns a grid's column title in full, because the grid abbreviates for terminals.
func columnTitle(title string) string {
	switch title {
	case "diff":
		return "difference"
	case "n":
		return "trials"
	}
	return title
}
