package table

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"slices"
	"strings"
	"unicode"

	"privkern/experiments/dataset"
)

// Identifier describes a column that looks like the identifier of persons and names some of them more
// than once, so that a guarantee for a row is none for a person.
type Identifier struct {
	Column string `json:"-"`
	// Persons is the number of different values; it is estimated where Estimated is true.
	Persons   int  `json:"persons"`
	Estimated bool `json:"estimated,omitempty"`
	// Fewest and Most are the numbers of rows of a person, of a sample of them where Persons is
	// estimated.
	Fewest int `json:"fewest"`
	Most   int `json:"most"`
}

// String warns of the column and names the remedy.
func (i Identifier) String() string {
	about, rows := "", fmt.Sprintf("%d to %d rows", i.Fewest, i.Most)
	if i.Estimated {
		about = "about "
	}
	if i.Fewest == i.Most {
		rows = fmt.Sprintf("%d rows", i.Fewest)
	}
	return fmt.Sprintf("the column %q looks like an identifier: %s%d persons with %s each; a guarantee for one row does "+
		"not cover a person's rows together; use person=%[1]s", i.Column, about, i.Persons, rows)
}

// Words of the names of columns, in lower case.
var (
	// personWords name a person.
	personWords = words("client customer donor driver employee individual participant patient person player proband " +
		"pupil respondent student subj subject user volunteer")
	// codeWords name a person's code by themselves.
	codeWords = words("email guid id ident identifier mrn pid ssn uid userid username uuid")
	// plainWords go with either.
	plainWords = words("code hash key name no nr num number")
	// otherWords are those of columns in which whole numbers in blocks are common.
	otherWords = words("age batch block col column date day epoch fold hour index level minute month page position " +
		"postcode round row second step time trial week x y year z zip")
)

func words(list string) map[string]bool {
	out := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		out[word] = true
	}
	return out
}

// wordsOf takes a name apart at characters that are no letters, and between a small and a capital one.
func wordsOf(name string) []string {
	var out []string
	var last rune
	for _, c := range name {
		switch {
		case !unicode.IsLetter(c):
		case !unicode.IsLetter(last) || unicode.IsUpper(c) && unicode.IsLower(last):
			out = append(out, string(unicode.ToLower(c)))
		default:
			out[len(out)-1] += string(unicode.ToLower(c))
		}
		last = c
	}
	return out
}

// namesPersons reports whether a column is named as an identifier of persons: patient, userId, subject_no.
func namesPersons(column string) bool {
	found := false
	for _, word := range wordsOf(column) {
		stem := word
		for _, end := range []string{"id", "no", "nr", "name", "s"} { // patientid, patients
			if cut := strings.TrimSuffix(word, end); personWords[cut] {
				stem = cut
			}
		}
		switch {
		case personWords[stem] || codeWords[word]:
			found = true
		case !plainWords[word]:
			return false
		}
	}
	return found
}

// Bounds of the shape of an identifier that its name does not show.
const (
	// fewestPersons and fewestRows are the least number of persons, and of rows of each on average.
	fewestPersons, fewestRows = 20, 3
	// repeated is the share of values that stand in several rows.
	repeated = 0.9
	// sparse is how many whole numbers there are in the range of a code for each that is used.
	sparse = 10
)

// tallied is how many values of a column are counted, by their hashes: the ones of the lowest hashes,
// a random sample, which is all of them where there are fewer.
const tallied = 4096

// tally counts how often the values of a column stand there, in bounded memory.
type tally struct {
	column string
	named  bool
	rows   map[uint64]int // of a value
	runs   int            // of equal values in successive rows
	above  uint64         // hashes from here on are not counted; 0 for none
	last   uint64

	words, digits, numbers int // rows with a text, a text with a digit, a number
	other                  bool
	low, high              float64
	step                   uint64 // greatest common divisor of differences from first
	first                  float64
}

// hashOf returns the hash of a text, whose bits are mixed so that low ones are a random sample.
func hashOf(text string) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, text) // it never fails
	x := h.Sum64()
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9 // the finalizer of SplitMix64 (Steele, Lea and Flood 2014)
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// add takes the value of the next row.
func (t *tally) add(v cell) {
	var text string
	switch v.kind {
	case missing:
		return
	case number:
		if v.value != math.Trunc(v.value) {
			t.drop()
			return
		}
		t.addNumber(v.value)
		text = v.identity()
	case word:
		t.words++
		if strings.ContainsAny(v.text, "0123456789") {
			t.digits++
		}
		text = v.text
	default:
		t.drop()
		return
	}
	h := hashOf(text)
	if t.runs == 0 || h != t.last {
		t.runs, t.last = t.runs+1, h
	}
	if t.above != 0 && h >= t.above {
		return
	}
	if t.rows[h]++; len(t.rows) > 2*tallied {
		t.halve()
	}
}

func (t *tally) addNumber(v float64) {
	if t.numbers++; t.numbers == 1 {
		t.low, t.high, t.first = v, v, v
	}
	t.low, t.high = min(t.low, v), max(t.high, v)
	for a, b := t.step, uint64(min(math.Abs(v-t.first), 1<<62)); ; a, b = b, a%b {
		if b == 0 {
			t.step = a
			return
		}
	}
}

// halve keeps the values of the lowest hashes.
func (t *tally) halve() {
	sorted := make([]uint64, 0, len(t.rows))
	for h := range t.rows {
		sorted = append(sorted, h)
	}
	slices.Sort(sorted)
	t.above = sorted[tallied]
	for _, h := range sorted[tallied:] {
		delete(t.rows, h)
	}
}

// drop takes note that the column is no identifier.
func (t *tally) drop() { t.other, t.rows = true, nil }

// identifier returns the description of the column; nil where it is no identifier, or none that repeats.
func (t *tally) identifier() *Identifier {
	n, sum := len(t.rows), 0
	if t.other || n < 3 { // two values are rather a yes and a no
		return nil
	}
	out := &Identifier{Column: t.column, Persons: n, Fewest: math.MaxInt}
	several := 0
	for _, rows := range t.rows {
		sum += rows
		out.Fewest, out.Most = min(out.Fewest, rows), max(out.Most, rows)
		if rows > 1 {
			several++
		}
	}
	if t.above != 0 {
		out.Estimated, out.Persons = true, int(math.Round(float64(n)/(float64(t.above)/math.MaxUint64)))
	}
	switch {
	case several == 0:
		return nil
	case t.named:
		return out
	case n < fewestPersons || sum < fewestRows*n || float64(several) < repeated*float64(n):
		return nil
	case slices.ContainsFunc(wordsOf(t.column), func(word string) bool { return otherWords[word] }):
		return nil
	}
	blocks := t.above == 0 && t.runs == n // the rows of each value stand together
	length := t.high - t.low + 1
	switch {
	case t.words > 0 && t.numbers > 0:
		return nil
	case t.words > 0 && (blocks || float64(t.digits) >= repeated*float64(t.words)):
		return out
	case t.words > 0:
		return nil
	case t.step == 1 && length >= sparse*float64(out.Persons):
		return out // codes, such as 104233
	case blocks && t.low >= 0 && t.low <= 1 && length == float64(n):
		return out // numbered from 0 or 1
	}
	return nil
}

// sampledRows are the first rows, by which most columns are seen to be no identifiers.
const sampledRows = 1000

// Identifiers returns the columns of data at a path that look like identifiers of persons and repeat.
// It reads the file once more, of which only columns of whole numbers or texts. A column that cannot be
// read is passed over: it cannot name persons either.
func Identifiers(name, path string, reading Reading) []Identifier {
	kind := dataset.OwnKind(name)
	if kind != dataset.OwnCSV && kind != dataset.OwnParquet {
		return nil // arrays and pictures have no column of persons
	}
	r, err := open(name, path, reading)
	if err != nil {
		return nil
	}
	var together [][]int // columns that are read at once
	header, _ := r.header()
	for i, column := range header {
		switch {
		case column == "" || unusable(r, i) != nil:
		case kind == dataset.OwnCSV && together != nil:
			together[0] = append(together[0], i)
		default: // those of Parquet one by one, since they may be too large together
			together = append(together, []int{i})
		}
	}
	r.close()
	var out []Identifier
	for _, columns := range together {
		left, _ := tallyRows(name, path, reading, columns, sampledRows)
		_, tallies := tallyRows(name, path, reading, left, math.MaxInt)
		for _, t := range tallies {
			if i := t.identifier(); i != nil {
				out = append(out, *i)
			}
		}
	}
	return out
}

// tallyRows counts the values in the first rows of columns, and returns the columns that may be
// identifiers; none where they cannot be read.
func tallyRows(name, path string, reading Reading, columns []int, rows int) (left []int, tallies []*tally) {
	if len(columns) == 0 {
		return nil, nil
	}
	r, err := open(name, path, reading)
	if err != nil {
		return nil, nil
	}
	defer r.close()
	header, _ := r.header()
	if r.want(columns, make([]bool, len(columns))) != nil {
		return nil, nil
	}
	for _, i := range columns {
		tallies = append(tallies, &tally{column: header[i], named: namesPersons(header[i]), rows: map[uint64]int{}})
	}
	for range rows {
		if err := r.next(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, nil
		}
		for i, t := range tallies {
			if !t.other {
				t.add(r.cell(i))
			}
		}
	}
	for i, t := range tallies {
		if !t.other {
			left = append(left, columns[i])
		}
	}
	return left, tallies
}
