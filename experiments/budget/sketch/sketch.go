package sketch

import (
	"fmt"
	"math"
)

// The numbers of the package comment.
const (
	// Share is the part of the smaller table's values of a set of columns that two tables share when
	// they are held to be of the same people.
	Share = 0.3
	// Fewest is how many values they share at least.
	Fewest = 3
	most   = 0.9
)

// Sketch holds samples of a table's rows, each projected to a few columns.
type Sketch struct {
	Sets []Set `json:"sets"`
}

// Set is the sample of the values of a set of columns. The columns have no names: sets are compared
// with all others.
type Set struct {
	// Chance bounds the expected share of the values that a table of other people from the same
	// population has, too.
	Chance float64 `json:"chance"`
	// Tokens are HMACs of values; their last six bits are the level: half of all values have a level
	// of 1 or more, a quarter 2 or more, and so on. Those of a level from Level on are all here.
	Tokens Tokens `json:"tokens"`
	Level  int    `json:"level"`
}

// Check refuses a sketch that [New] does not make.
func (s *Sketch) Check() error {
	for i, set := range s.Sets {
		if !(set.Chance >= 0 && set.Chance <= 1) || set.Level < 0 || set.Level > levelBits {
			return fmt.Errorf("set %d: its chance is %v, its level %d", i+1, set.Chance, set.Level)
		}
	}
	return nil
}

// Matches reports whether two sketches are of the same people.
func (s *Sketch) Matches(other *Sketch) bool {
	for i := range s.Sets {
		for j := range other.Sets {
			if s.Sets[i].matches(&other.Sets[j]) {
				return true
			}
		}
	}
	return false
}

// Similar reports whether a sketch is nearly the same as another: of every set of columns nine values
// of ten.
func (s *Sketch) Similar(other *Sketch) bool {
	if len(s.Sets) != len(other.Sets) {
		return false
	}
	for i := range s.Sets {
		a, b := &s.Sets[i], &other.Sets[i]
		if shared, _ := a.shared(b); a.Level != b.Level || float64(shared) < most*float64(max(len(a.Tokens), len(b.Tokens))) {
			return false
		}
	}
	return true
}

// matches compares the values of the same random part of both sets.
func (s *Set) matches(other *Set) bool {
	shared, smaller := s.shared(other)
	m := float64(smaller)
	chance := m * max(s.Chance, other.Chance)
	return shared >= Fewest && float64(shared) >= max(Share*m, min(most*m, 1.5*chance+4*math.Sqrt(chance)))
}

// shared returns how many values two sets share, and how many the smaller one has.
func (s *Set) shared(other *Set) (shared, smaller int) {
	level := uint64(max(s.Level, other.Level))
	a, b := s.Tokens, other.Tokens
	inA, inB := 0, 0
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0] < b[0]:
			inA += within(a[0], level)
			a = a[1:]
		case len(a) == 0 || b[0] < a[0]:
			inB += within(b[0], level)
			b = b[1:]
		default:
			n := within(a[0], level)
			shared, inA, inB = shared+n, inA+n, inB+n
			a, b = a[1:], b[1:]
		}
	}
	return shared, min(inA, inB)
}

const levelBits = 63

func within(token, level uint64) int {
	if token&levelBits >= level {
		return 1
	}
	return 0
}
