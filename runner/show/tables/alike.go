package tables

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"privkern/runner/claims/judge"
)

// number is one that stands by itself: none of a name, such as that in float32.
var number = regexp.MustCompile(`\b\d+(?:\.\d+)?(?:e[-+]?\d+)?\b`)

// JoinAlike makes one text of those that differ in nothing but numbers, with the range of
// each number: twenty trials that warn of "a norm of 1.0093", "a norm of 1.0164", … have
// one warning, "a norm of 1.0093 to 1.0164". Each text stands where the first of its kind
// did.
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

// alike maps texts to what they are joined to.
func alike(texts []string) map[string]string {
	kinds := map[string][]string{}
	for _, t := range texts {
		kind := number.ReplaceAllLiteralString(t, "0")
		if !slices.Contains(kinds[kind], t) {
			kinds[kind] = append(kinds[kind], t)
		}
	}
	out := map[string]string{}
	for _, same := range kinds {
		joined, ok := ranges(same)
		for _, t := range same {
			if out[t] = t; ok {
				out[t] = joined
			}
		}
	}
	return out
}

// ranges is the first of texts that differ in numbers only, with the range of each number.
// There is none where a number is negative, or its sign cannot be seen from a dash.
func ranges(texts []string) (string, bool) {
	first := texts[0]
	at := number.FindAllStringIndex(first, -1)
	var out strings.Builder
	end := 0
	for i, place := range at {
		out.WriteString(first[end:place[0]])
		end = place[1]
		low, high := first[place[0]:place[1]], first[place[0]:place[1]]
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
			if place[0] > 0 && first[place[0]-1] == '-' {
				return "", false
			}
			out.WriteString(" to " + high)
		}
	}
	out.WriteString(first[end:])
	return out.String(), true
}

func value(n string) float64 {
	v, _ := strconv.ParseFloat(n, 64) // of a number too large it is infinity
	return v
}

// joinedWarnings maps the warnings of all cells to the notes that stand for them.
func joinedWarnings(e *judge.Evaluation) map[string]string {
	var all []string
	for i := range e.Cells {
		all = append(all, e.Cells[i].Warnings...)
	}
	return alike(all)
}
