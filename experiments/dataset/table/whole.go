package table

import (
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Whole are all columns of data in the form in which files are compared: a number is the same in
// every format, a truth value is 0 or 1, a date is a number of days.
type Whole struct {
	Rows    int
	Columns []WholeColumn
}

// WholeColumn is a column of Whole.
type WholeColumn struct {
	// Values are the numbers, one a row; NaN where there is none.
	Values []float64
	// Texts has the hash of each text and 0 for a missing value, where Values has NaN. It is nil for
	// a column of numbers alone.
	Texts []uint64
}

// wholeColumns is the largest number of columns that are read of data.
const wholeColumns = 1 << 12

// ReadWhole reads the columns of the data of a name that lie at a path. A text is replaced by its hash,
// and person, where it is not nil, gets the name of each row's person: of the column that is so
// named. Of data with more than [MaxValues] values the first columns and rows are read, but the persons
// of all rows. A value in a wrong form is a text, so that only data that cannot be read at all are an
// error. Settings that do not decide which values a file has have no effect: a number is the same with a
// decimal comma, and equal rows are equal however a release understands them. Persons have the name that the settings
// make of a cell, a date or a number, besides the one that it has without them.
func ReadWhole(
	name, path string, reading Reading, column string, hash func(string) uint64, person func(string),
) (*Whole, error) {
	as, err := reading.form()
	if err != nil {
		return nil, err
	}
	reading = reading.layout()
	rows, err := estimateAt(name, path, reading)
	if err != nil {
		return nil, err
	}
	r, err := open(name, path, reading)
	if err != nil {
		return nil, err
	}
	defer r.close()
	header, _ := r.header()
	var at []int
	most := min(wholeColumns, max(1, MaxValues/max(1, rows)))
	for i := range header {
		if len(at) < most && unusable(r, i) == nil {
			at = append(at, i)
		}
	}
	named := -1
	if column != "" {
		if i := slices.Index(header, column); i >= 0 && unusable(r, i) == nil {
			if named = slices.Index(at, i); named < 0 {
				named = len(at) - 1
				at[named] = i
			}
		}
	}
	if err := r.want(at, make([]bool, len(at))); err != nil {
		return nil, err
	}
	w := &Whole{Columns: make([]WholeColumn, len(at))}
	for {
		full := w.Rows*len(at) >= 2*MaxValues // an estimate may be low
		if full && named < 0 {
			return w, nil
		}
		switch err := r.next(); {
		case errors.Is(err, io.EOF):
			return w, nil
		case err != nil:
			return nil, err
		}
		for i := range w.Columns {
			if full && i != named {
				continue
			}
			c := r.cell(i)
			if i == named && c.kind != missing {
				person(c.plain().identity())
				if understood := as.cell(c.text); understood.kind == date || understood.kind == number {
					person(understood.identity())
				}
			}
			if !full {
				w.Columns[i].add(c, w.Rows, hash)
			}
		}
		if !full {
			w.Rows++
		}
	}
}

// estimateAt returns about how many rows the data have. A text is read for it, so that the
// reader of the rows opens it anew.
func estimateAt(name, path string, reading Reading) (int, error) {
	r, err := open(name, path, reading)
	if err != nil {
		return 0, err
	}
	defer r.close()
	return r.estimate()
}

// plain is a text that looks like a number, as arrays of texts have it, in the kind that it has in
// a file of texts.
func (c cell) plain() cell {
	if c.kind == word && c.text != "" {
		return textCell(c.text)
	}
	return c
}

func (c *WholeColumn) add(v cell, row int, hash func(string) uint64) {
	value, text := math.NaN(), uint64(0)
	switch v = v.plain(); v.kind {
	case number, date:
		value = v.value + 0
	case word, broken:
		if value = commaNumber(v.text); !math.IsNaN(value) {
			break
		}
		if value = truthOf(v.text); math.IsNaN(value) {
			text = max(1, hash(v.text))
		}
	}
	c.Values = append(c.Values, value)
	if math.IsNaN(value) && c.Texts == nil {
		c.Texts = make([]uint64, row, 2*row+1)
	}
	if c.Texts != nil {
		c.Texts = append(c.Texts, text)
	}
}

// commaNumber is the number that a text with a decimal comma is; NaN for others.
func commaNumber(text string) float64 {
	whole, decimals, ok := strings.Cut(text, ",")
	if !ok || strings.Trim(decimals, "0123456789") != "" || strings.Trim(whole, "0123456789+-") != "" {
		return math.NaN()
	}
	v, err := strconv.ParseFloat(whole+"."+decimals, 64)
	if err != nil {
		return math.NaN()
	}
	return v + 0
}

// truthOf is 0 or 1 for the text of a truth value, and NaN for others.
func truthOf(text string) float64 {
	const longest = len("false")
	if len(text) > longest {
		return math.NaN()
	}
	text = strings.ToLower(text)
	for _, pair := range truths {
		if i := slices.Index(pair[:], text); i >= 0 {
			return float64(i)
		}
	}
	return math.NaN()
}
