package tables

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"privkern/runner/claims/judge"
)

// number matches a number that is not part of a name such as float32.
var number = regexp.MustCompile(`\b\d+(?:\.\d+)?(?:e[-+]?\d+)?\b`)

// JoinAlike merges texts that differ only in numbers into one with the range of each number:
// "a norm of 1.0093", "a norm of 1.0164", … become "a norm of 1.0093 to 1.0164". The result
// has the order of first occurrences.
func JoinAlike(texts []string) []string {
	of := alike(texts)
	var out []string
	for _, t := range texts {
		if !slices.Contains(out, of[t]) {
			out = append(out, of[t])
		}
	}
	return out
}

// alike maps texts to their merged form.
func alike(texts []string) map[string]string {
	groups := map[string][]string{} // by the text with 0 for every number
	for _, t := range texts {
		key := number.ReplaceAllLiteralString(t, "0")
		if !slices.Contains(groups[key], t) {
			groups[key] = append(groups[key], t)
		}
	}
	out := map[string]string{}
	for _, same := range groups {
		joined, ok := ranges(same)
		for _, t := range same {
			if out[t] = t; ok {
				out[t] = joined
			}
		}
	}
	return out
}

// ranges returns the first of texts that differ in numbers only, with the range of each
// number. ok is false where a number follows a hyphen, because it may be negative.
func ranges(texts []string) (joined string, ok bool) {
	first := texts[0]
	var out strings.Builder
	end := 0
	for i, span := range number.FindAllStringIndex(first, -1) {
		out.WriteString(first[end:span[0]])
		end = span[1]
		low, high := first[span[0]:span[1]], first[span[0]:span[1]]
		for _, t := range texts[1:] {
			n := number.FindAllString(t, -1)[i]
			if value(n) < value(low) {
				low = n
			}
			if value(n) > value(high) {
				high = n
			}
		}
		out.WriteString(low)
		if low != high {
			if span[0] > 0 && first[span[0]-1] == '-' {
				return "", false
			}
			out.WriteString(" to " + high)
		}
	}
	out.WriteString(first[end:])
	return out.String(), true
}

func value(n string) float64 {
	v, _ := strconv.ParseFloat(n, 64) // infinity for a number out of range
	return v
}

// joinedWarnings maps the warnings of all cells to their merged notes.
func joinedWarnings(e *judge.Evaluation) map[string]string {
	var all []string
	for i := range e.Cells {
		all = append(all, e.Cells[i].Warnings...)
	}
	return alike(all)
}
