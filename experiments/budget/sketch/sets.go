package sketch

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// Of the package comment: a set of columns is sketched where its columns could take room times as many
// values as they do, and where alone of its values belong to one row each.
const (
	room  = 20
	alone = 0.85
)

// Bounds of what is sketched.
const (
	mostSingles = 8  // sets of one column
	narrow      = 16 // columns of a table of which each may be left out
	pairs       = 8  // columns of a table of which all pairs are taken
	// Columns that could take so many times as many values as they do are enough of a set.
	plenty = 1e6
)

// projection is a set of columns that may be sketched.
type projection struct {
	sample *candidate
	chance float64
}

// sets returns the sets of columns that are sketched.
func (m *maker) sets() []projection {
	out := m.singles()
	if len(out) < narrow/4 {
		out = append(out, m.several()...)
		m.rescale()
	}
	return append(out, m.several()...)
}

// singles are the columns that tell people apart on their own.
func (m *maker) singles() []projection {
	ordered := slices.Clone(m.columns)
	slices.SortStableFunc(ordered, func(a, b *column) int { return cmp.Compare(a.first, b.first) })
	var out []projection
	for _, c := range ordered {
		if len(out) < mostSingles && c.room > room {
			out = append(out, m.usable([]*column{c})...)
		}
	}
	return out
}

// several are the sets of several columns that tell people apart.
func (m *maker) several() []projection {
	out := m.usable(m.columns)
	switch {
	case m.scaled:
	case len(m.columns) > narrow:
		return append(out, m.wide()...)
	case len(m.columns) <= pairs:
		for i, a := range m.columns {
			for _, b := range m.columns[:i] {
				out = append(out, m.usable([]*column{a, b})...)
			}
		}
	}
	for i := range m.columns[:min(len(m.columns), narrow)] {
		out = append(out, m.usable(slices.Delete(slices.Clone(m.columns), i, i+1))...)
	}
	return out
}

// usable returns the projection to columns where tables of other people would hardly share its
// values.
func (m *maker) usable(columns []*column) []projection {
	fine := false
	name := make([]byte, 0, 8*len(columns))
	for _, c := range columns {
		fine = fine || c.fine
		name = binary.BigEndian.AppendUint64(name, uint64(slices.Index(m.columns, c)))
	}
	if len(columns) == 0 || m.seen[string(name)] {
		return nil
	}
	m.seen[string(name)] = true
	s := m.sample(sumOf(m, columns))
	could := 1.0
	for i, c := range columns {
		if could > plenty*s.distinct() { // of many columns a few suffice
			break
		}
		if !slices.ContainsFunc(columns[:i], func(a *column) bool { return m.determines(a, c) || m.determines(c, a) }) {
			could *= c.room
		}
	}
	chance := s.distinct() / could
	if chance > 1/float64(room) {
		return nil
	}
	own := s.rows
	if fine {
		own = max(own, s.full)
	}
	if own < alone {
		return nil
	}
	if !fine {
		chance = max(chance, 1-own)
	}
	return []projection{{s, chance + 2/float64(len(s.sample)+2)}}
}

// sumOf is the sum of a row's codes in some columns, whose order does not matter.
func sumOf(m *maker, columns []*column) func(row int) uint64 {
	if len(columns) == len(m.columns) {
		return func(row int) uint64 { return m.all[row] }
	}
	if 2*len(columns) > len(m.columns) {
		others := slices.DeleteFunc(slices.Clone(m.columns), func(c *column) bool { return slices.Contains(columns, c) })
		return func(row int) uint64 {
			sum := m.all[row]
			for _, c := range others {
				sum -= c.codes[row]
			}
			return sum
		}
	}
	return func(row int) (sum uint64) {
		for _, c := range columns {
			sum += c.codes[row]
		}
		return sum
	}
}

// wide are the projections of a table of many columns, of which none tells people apart on its
// own: the values of a row, or those of four columns in a row, that have the least hashes.
func (m *maker) wide() (out []projection) {
	const least = 8
	for _, width := range []int{1, 4} {
		for salt := range 2 {
			kept := make([]uint64, 0, least+1)
			s := m.sample(func(row int) uint64 {
				kept = kept[:0]
				sum := uint64(0)
				for i, c := range m.columns {
					if sum += c.codes[row]; i >= width {
						sum -= m.columns[i-width].codes[row]
					}
					if i+1 < width {
						continue
					}
					h := m.key.mix(sum+uint64(salt), 3)
					if len(kept) == least && h >= kept[least-1] {
						continue
					}
					if at, there := slices.BinarySearch(kept, h); !there {
						kept = slices.Insert(kept, at, h)[:min(len(kept)+1, least)]
					}
				}
				sum = 0
				for _, h := range kept {
					sum += h
				}
				return sum
			})
			if s.rows >= alone {
				out = append(out, projection{s, 1 - s.rows + 2/float64(len(s.sample)+2)})
			}
		}
	}
	return out
}
