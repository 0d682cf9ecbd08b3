package table

import (
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"privkern/experiments/dataset"
	"privkern/runner/experiment"
)

// People are the persons behind the rows of [Data], of which a guarantee protects one with all of
// their rows.
type People struct {
	Column string // that names them
	Of     []int  // the person of each row (N), from 0 in the order in which the file has them first
	// Count is the number of persons of the whole file, P. It is public. A person of whom no row has
	// all values is counted, and none of the rows is theirs.
	Count int
	// PerPerson is m: no person has more rows.
	PerPerson int
	// LeftOut are the rows that their persons have beyond m. It depends on the data.
	LeftOut int

	index map[string]int32 // of the identities of all persons
}

// Units returns the public number of protected units and their name: of persons, or of rows where p is nil.
func (p *People) Units(rows int) (n int, name string) {
	if p == nil {
		return rows, "rows"
	}
	return p.Count, "persons"
}

// Most returns m, the number of rows that no protected unit exceeds: of a person, or one where p is nil.
func (p *People) Most() int {
	if p == nil {
		return 1
	}
	return p.PerPerson
}

// Shared is the number of persons of another file who are in this one, by their identities.
func (p *People) Shared(other *People) (n int) {
	for identity := range other.index {
		if _, both := p.index[identity]; both {
			n++
		}
	}
	return n
}

// identity is the same text for cells that name one person: equal numbers, equal dates, and texts of
// the same characters. Numbers of digits alone are compared in full, because float64 holds 15 of
// them.
func (c cell) identity() string {
	switch c.kind {
	case date:
		return "date " + strconv.FormatFloat(c.value, 'g', -1, 64)
	case number:
		sign, digits := "", strings.TrimPrefix(c.text, "+")
		if rest, negative := strings.CutPrefix(digits, "-"); negative {
			sign, digits = "-", rest
		}
		if whole, decimals, _ := strings.Cut(digits, "."); strings.Trim(decimals, "0") == "" {
			digits = whole // 7.0
		}
		if digits == "" || strings.Trim(digits, "0123456789") != "" {
			return "number " + strconv.FormatFloat(c.value+0, 'f', -1, 64)
		}
		if digits = strings.TrimLeft(digits, "0"); digits == "" {
			sign, digits = "", "0"
		}
		return "number " + sign + digits
	}
	return "text " + c.text
}

// wholeCell is the cell of a whole number that float64 may not hold exactly; digits writes it in
// full.
func wholeCell(v float64, digits func() string) cell {
	c := numeric(v)
	if math.Abs(v) >= 1<<53 {
		c.text = digits()
	}
	return c
}

// beyond reports whether the cell is a whole number that is written with all its digits and lies beyond 2^53 in size,
// where float64 does not hold all of them.
func (c cell) beyond() bool {
	if c.kind != number || math.Abs(c.value) < 1<<53 || c.text == "" {
		return false
	}
	digits := strings.TrimLeft(strings.TrimPrefix(c.identity(), "number "), "-")
	whole, decimals, _ := strings.Cut(c.text, ".")
	return strings.Trim(whole, "+-0123456789") == "" && strings.Trim(decimals, "0") == "" && digits != "9007199254740992"
}

// addPerson takes the name of the next row's person, which may have any form: a text of digits, as arrays and
// Parquet files have it, is the number.
func (c *column) addPerson(path string, v cell, at func() place) error {
	if v.kind == missing {
		return at().errorf(path, "column %q has no value here, expected the person of the row: person=%[1]s needs one in "+
			"every row", c.item.name)
	}
	if v.kind == broken && strings.HasPrefix(v.want, foul) {
		return at().errorf(path, "column %q %s, expected %s", c.item.name, c.has(v.text), v.want)
	}
	key := v.plain().identity()
	code, ok := c.index[key]
	if !ok {
		code = int32(len(c.index))
		c.index[strings.Clone(key)] = code
	}
	c.codes = append(c.codes, code)
	return nil
}

// drawRows leaves at most m of the rows of each person (codes, of all rows): evenly among all
// choices of m of them, and independently for each person. The rows that stay are in their order.
//
// A draw sees of a person's rows nothing but how many there are, so that it may come before
// everything else: the rows that others are left with do not depend on it. No amplification is
// claimed for it.
func drawRows(rows []int, codes []int32, persons, m int, rng *rand.Rand) []int {
	starts := make([]int, persons+1) // where the rows of each person begin, once they are sorted
	for _, row := range rows {
		starts[codes[row]+1]++
	}
	for person := range persons {
		starts[person+1] += starts[person]
	}
	next, sorted := slices.Clone(starts), make([]int, len(rows)) // places among rows
	for i, row := range rows {
		sorted[next[codes[row]]] = i
		next[codes[row]]++
	}
	left := make([]bool, len(rows))
	for person := range persons {
		own := sorted[starts[person]:starts[person+1]]
		if len(own) <= m {
			continue
		}
		for i := range m { // Fisher and Yates, as far as it is needed
			j := i + rng.IntN(len(own)-i)
			own[i], own[j] = own[j], own[i]
		}
		for _, i := range own[m:] {
			left[i] = true
		}
	}
	kept := rows[:0]
	for i, row := range rows {
		if !left[i] {
			kept = append(kept, row)
		}
	}
	return kept
}

// Groups are the rows of each person who has any, in the order of the file.
func (p *People) Groups() [][]int {
	at, groups := slices.Repeat([]int{-1}, p.Count), [][]int(nil)
	for row, person := range p.Of {
		if at[person] < 0 {
			at[person], groups = len(groups), append(groups, nil)
		}
		groups[at[person]] = append(groups[at[person]], row)
	}
	return groups
}

// Slots returns P·m, the public number of places for rows with that number of columns, or an error where
// there are too many to compute with. It depends on public numbers alone.
func (p *People) Slots(columns int) (int, error) {
	if p.Count > MaxValues/columns/p.PerPerson {
		return 0, fmt.Errorf("rows_per_person = %d: the places for that many rows of each of %d persons, with %d columns, "+
			"hold more than %d values; use fewer rows of a person", p.PerPerson, p.Count, columns, MaxValues)
	}
	return p.Count * p.PerPerson, nil
}

// Warnings tells how many rows a draw left out, of persons who are named by that column. It depends on
// the data: it is for judging, and no part of a release.
func (p *People) Warnings(column string) []string {
	if p.LeftOut == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d rows are more than rows_per_person=%d of their persons (%s), and were left out "+
		"by a draw", p.LeftOut, p.LeftOut+len(p.Of), p.PerPerson, column)}
}

// checkPerson refuses a column of persons in data that have none.
func (s Spec) checkPerson() error {
	if s.Person != "" && dataset.OwnKind(s.Dataset) == dataset.OwnImages {
		return fmt.Errorf("person = %s: a folder of pictures has no column that names persons; write the pictures as a "+
			"table (csv:PATH, parquet:PATH) with one", s.Person)
	}
	return nil
}

// draw returns the rows that are used of those kept, and the persons behind them; nil for none.
func (s Spec) draw(t *experiment.Trial, kept []int, person *column) ([]int, *People) {
	if person == nil {
		return kept, nil
	}
	before := len(kept)
	rng := t.Stream("rows of persons")
	if s.Common && !t.Secure {
		rng = rand.New(rand.NewChaCha8(sha256.Sum256(fmt.Appendf(nil, "privkern common rows of persons 1\n%d\n", t.Seed))))
	}
	kept = drawRows(kept, person.codes, len(person.index), s.PerPerson, rng)
	p := &People{Column: person.item.name, Count: len(person.index), PerPerson: s.PerPerson, LeftOut: before - len(kept),
		index: person.index}
	for _, row := range kept {
		p.Of = append(p.Of, int(person.codes[row]))
	}
	return kept, p
}
