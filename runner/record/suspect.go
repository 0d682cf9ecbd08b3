package record

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"privkern/runner/experiment"
	"privkern/runner/text"
)

// Suspicions count the trials that are ok, and those of them whose records have warnings, but for those about times
// alone ([AboutTimes]).
type Suspicions struct {
	OK      int
	Suspect int
	kinds   map[string]int // trials with a warning of each kind
	order   []string       // of the kinds, as they were met
}

// Add counts a record; nil, for a trial without one, and records without a result do not count.
func (s *Suspicions) Add(r *Record) {
	if r == nil || r.Status != OK {
		return
	}
	s.OK++
	warnings := slices.DeleteFunc(slices.Clone(r.Warnings), AboutTimes)
	if len(warnings) == 0 {
		return
	}
	s.Suspect++
	if s.kinds == nil {
		s.kinds = map[string]int{}
	}
	seen := map[string]bool{} // a trial has several of a kind, one for each input
	for _, w := range warnings {
		kind := shorten(experiment.WarningKind(strings.TrimPrefix(w, experiment.Suspect)))
		if seen[kind] {
			continue
		}
		seen[kind] = true
		if s.kinds[kind]++; s.kinds[kind] == 1 {
			s.order = append(s.order, kind)
		}
	}
}

// mostKinds is how many kinds of warnings a sentence has, and longestKind their length.
const (
	mostKinds   = 3
	longestKind = 120
)

// String is "40 ok, 18 of them suspect: KIND (18), KIND (3)", with the most frequent kinds of warnings, or
// "40 ok".
func (s *Suspicions) String() string {
	out := fmt.Sprintf("%d ok", s.OK)
	if s.Suspect == 0 {
		return out
	}
	kinds := slices.Clone(s.order)
	slices.SortStableFunc(kinds, func(a, b string) int { return cmp.Compare(s.kinds[b], s.kinds[a]) })
	var parts []string
	for i, kind := range kinds {
		if i == mostKinds {
			parts = append(parts, fmt.Sprintf("%d more kinds", len(kinds)-mostKinds))
			break
		}
		parts = append(parts, fmt.Sprintf("%s (%d)", kind, s.kinds[kind]))
	}
	return fmt.Sprintf("%s, %d of them suspect: %s", out, s.Suspect, strings.Join(parts, "; "))
}

// shorten cuts a text at a space.
func shorten(kind string) string {
	kind = text.Sentence(kind)
	runes := []rune(kind)
	if len(runes) <= longestKind {
		return kind
	}
	cut := string(runes[:longestKind])
	if at := strings.LastIndexByte(cut, ' '); at > longestKind/2 {
		cut = cut[:at]
	}
	return cut + " ..."
}
