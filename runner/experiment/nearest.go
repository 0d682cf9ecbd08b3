package experiment

import (
	"fmt"
	"slices"
	"strings"
)

// UnknownError says that a name is not known, and which is nearest.
type UnknownError struct {
	What    string // "experiment", "parameter", ...
	Name    string
	Nearest string // empty where nothing is near
	Valid   []string
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
	return &UnknownError{What: what, Name: name, Nearest: Nearest(name, each), Valid: each}
}

func (e *UnknownError) Error() string {
	s := fmt.Sprintf("unknown %s %q", e.What, e.Name)
	switch {
	case e.Nearest != "":
		s += fmt.Sprintf("; did you mean %q?", e.Nearest)
	case len(e.Valid) > 0 && len(e.Valid) <= 12:
		s += "; valid: " + strings.Join(e.Valid, ", ")
	}
	return s
}

// Nearest returns the valid name with the smallest edit distance to name, or
// "" where none is near enough to be a likely misspelling.
func Nearest(name string, valid []string) string {
	best, bestD := "", 1<<30
	for _, v := range valid {
		d := editDistance(strings.ToLower(name), strings.ToLower(v))
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
