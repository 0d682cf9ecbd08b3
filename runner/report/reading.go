package report

import "privkern/runner/claims"

// meanings explains the verdicts in a line each.
var meanings = map[claims.Verdict]string{
	claims.Match:          "our value is as near to the printed one as rounding and the standard errors let expect, or the statement holds",
	claims.Better:         "outside that, in the direction in which the measure improves",
	claims.Worse:          "outside that, in the direction in which the measure gets worse",
	claims.Differs:        "outside that, where no direction is better",
	claims.UnderSpecified: "outside that, but the paper leaves settings open; ours are stated below the table",
	claims.Unpublished:    "the paper prints no value, or only draws it",
	claims.Quoted:         "a value of another method as the paper prints it; it is not reproduced here",
	claims.NotRun:         "there is no value of ours; the note says why",
}

// columnTitle is a grid's column title in full; the terminal has less room.
func columnTitle(title string) string {
	switch title {
	case "diff":
		return "difference"
	case "n":
		return "trials"
	}
	return title
}
