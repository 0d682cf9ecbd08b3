package experiment

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// UnknownError is a name that is not known, with those that may have been meant.
type UnknownError struct {
	What string // "experiment", "parameter", ...
	Name string
	// Likely are the names that Name may misspell, or whose last part it is
	// ("table1" of "cloaking/table1"); nil where there is none.
	Likely []string
	Valid  []string
}

// Unknown returns an UnknownError for name among the valid ones, which may be
// repeated.
func Unknown(what, name string, valid []string) *UnknownError {
	var each []string
	for _, v := range valid {
		if !slices.Contains(each, v) {
			each = append(each, v)
		}
	}
	return &UnknownError{What: what, Name: name, Likely: likely(name, each), Valid: each}
}

// fewNames is how many valid names an error lists in full.
const fewNames = 12

func (e *UnknownError) Error() string {
	s := fmt.Sprintf("unknown %s %q", e.What, shortened(e.Name))
	switch {
	case len(e.Likely) > 0:
		quoted := make([]string, len(e.Likely))
		for i, l := range e.Likely {
			quoted[i] = strconv.Quote(l)
		}
		s += "; did you mean " + alternatives(quoted) + "?"
	case len(e.Valid) > fewNames && len(e.Name) > longName: // none is near
	case len(e.Valid) > fewNames:
		s += "; the nearest are " + strings.Join(mostAlike(e.Name, e.Valid), ", ")
	case len(e.Valid) > 0:
		s += "; valid: " + strings.Join(e.Valid, ", ")
	}
	return s
}

// longName is the length from which a text is no misspelling of a name, in bytes: the work of a distance grows with it.
const longName = 300

// shortened returns a text as an error has it.
func shortened(text string) string {
	if len(text) > longName {
		return strings.ToValidUTF8(text[:longName], "") + "..."
	}
	return text
}

// alternatives joins "a", "b" and "c" to "a, b or c".
func alternatives(names []string) string {
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// likely returns the valid names that end in name, that it misspells, or whose last part
// it misspells, by the fewest mistakes.
func likely(name string, valid []string) []string {
	if out := endingIn(name, valid); out != nil {
		return out
	}
	whole := Nearest(name, valid)
	mistakes := len(name) / 3 // a part identifies less than the whole: two mistakes in three letters are too many
	if whole != "" {
		mistakes = min(mistakes, distance(name, whole)-1)
	}
	var part string
	for _, v := range valid {
		if d := distance(name, lastPart(v)); d <= mistakes {
			part, mistakes = lastPart(v), d-1
		}
	}
	switch {
	case part != "":
		return endingIn(part, valid)
	case whole != "":
		return []string{whole}
	}
	return nil
}

// distance is the edit distance of two names, without regard to case; of a long one, the most that it can be.
func distance(a, b string) int {
	if longest := max(len(a), len(b)); longest > longName {
		return longest
	}
	return editDistance(strings.ToLower(a), strings.ToLower(b))
}

// endingIn returns the valid names with that last part.
func endingIn(part string, valid []string) []string {
	var out []string
	for _, v := range valid {
		if strings.EqualFold(lastPart(v), part) {
			out = append(out, v)
		}
	}
	return out
}

func lastPart(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// mostAlike returns the three valid names that have most in common with name:
// those that contain it, and then by edit distance to the name or its last part.
func mostAlike(name string, valid []string) []string {
	apart := func(v string) int {
		if name != "" && strings.Contains(strings.ToLower(v), strings.ToLower(name)) {
			return 0
		}
		return min(distance(name, v), distance(name, lastPart(v)))
	}
	sorted := slices.Clone(valid)
	slices.SortStableFunc(sorted, func(a, b string) int { return cmp.Compare(apart(a), apart(b)) })
	return sorted[:min(3, len(sorted))]
}

// Nearest returns the valid name with the smallest edit distance to name, or
// "" where none is near enough to be a likely misspelling.
func Nearest(name string, valid []string) string {
	best, bestD := "", 1<<30
	for _, v := range valid {
		d := distance(name, v)
		if d < bestD {
			best, bestD = v, d
		}
	}
	if bestD > max(2, len(name)/3) {
		return ""
	}
	return best
}

func didYouMean(v any, valid []string) string {
	s, ok := v.(string)
	if !ok {
		return ""
	}
	if n := Nearest(s, valid); n != "" {
		return fmt.Sprintf("; did you mean %q?", n)
	}
	return ""
}

// editDistance is the Levenshtein distance with transpositions of neighbours.
func editDistance(a, b string) int {
	ra, rb := []rune(a), []rune(b)
	prev2, prev, cur := make([]int, len(rb)+1), make([]int, len(rb)+1), make([]int, len(rb)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(ra); i++ {
		cur[0] = i
		for j := 1; j <= len(rb); j++ {
			cost := 1
			if ra[i-1] == rb[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && ra[i-1] == rb[j-2] && ra[i-2] == rb[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(rb)]
}
