package report

import "privkern/runner/claims/judge"

// meanings explains the verdicts in a line each.
var meanings = map[judge.Verdict]string{
	judge.Match: "our value is as near to the printed one as rounding and the standard errors let expect, or " +
		"the statement holds",
	judge.Better:         "outside that, in the direction in which the measure improves",
	judge.Worse:          "outside that, in the direction in which the measure gets worse",
	judge.Differs:        "outside that, where no direction is better",
	judge.UnderSpecified: "outside that, but the paper leaves settings open; ours are stated below the table",
	judge.Unpublished:    "the paper prints no value, or only draws it",
	judge.Quoted:         "a value of another method as the paper prints it; it is not reproduced here",
	judge.NotRun:         "there is no value of ours; the note says why",
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
