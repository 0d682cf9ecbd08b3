package table

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// cellKind is the type of a single value.
type cellKind int

const (
	missing cellKind = iota
	number
	date   // days since 1970-01-01
	word   // neither, which makes a category
	broken // meant for a number or a date, but none
)

// cell is a value of a row.
type cell struct {
	kind  cellKind
	value float64 // of numbers and dates; ±Inf of a broken one that is meant for a number beyond float64
	text  string  // as it stands in the file, without spaces around; valid until the next row
	want  string  // of a broken one: the expected form
}

// decimalPoint is the form that is expected of a number with a comma.
const decimalPoint = "a number with a decimal point"

// finiteNumber is the form that is expected of a number beyond float64.
const finiteNumber = "a finite number"

// dateLayouts are the forms of dates, in UTC where they name no zone.
var dateLayouts = []string{time.DateOnly, time.DateTime, "2006-01-02T15:04:05", time.RFC3339}

// textCell infers the type of a text.
func textCell(text string) cell {
	text = strings.TrimSpace(text)
	c := cell{kind: word, text: text}
	switch {
	case isMissing(text):
		c.kind = missing
	case !strings.ContainsRune("0123456789+-.iI", rune(text[0])):
	case len(text) >= len(time.DateOnly) && text[4] == '-' && text[7] == '-':
		c = dateCell(c)
	default:
		c = numberCell(c)
	}
	return c
}

// ParseValue interprets a text as a file's value: a number, a date (days since 1970-01-01), a truth
// value (0 or 1), or a text, which has no value. A missing value, or a number or date in a wrong
// form, is an error with the expected form.
func ParseValue(text string) (value float64, kind Kind, err error) {
	c := textCell(text)
	switch c.kind {
	case missing:
		return 0, Empty, fmt.Errorf("%q means a missing value", c.text)
	case broken:
		return 0, Empty, fmt.Errorf("%q is no value, expected %s", c.text, c.want)
	case number:
		return c.value, Number, nil
	case date:
		return c.value, Date, nil
	}
	for _, pair := range truths {
		if i := slices.Index(pair[:], strings.ToLower(c.text)); i >= 0 {
			return float64(i), Boolean, nil
		}
	}
	return 0, Category, nil
}

func isMissing(text string) bool {
	return text == "" || strings.EqualFold(text, "na") || strings.EqualFold(text, "nan")
}

func dateCell(c cell) cell {
	for _, layout := range dateLayouts {
		if t, err := time.Parse(layout, c.text); err == nil {
			c.kind, c.value = date, days(t)
			return c
		}
	}
	if strings.Trim(c.text, "0123456789-") == "" {
		c.kind, c.want = broken, "a date, such as 2020-12-31"
	}
	return c
}

// days since 1970-01-01, with fractions.
func days(t time.Time) float64 {
	const day = 24 * 60 * 60
	return float64(t.Unix())/day + float64(t.Nanosecond())/(day*1e9)
}

// numberCell interprets a text that begins like a number; a broken one has the expected form.
func numberCell(c cell) cell {
	v, err := strconv.ParseFloat(c.text, 64)
	switch {
	case errors.Is(err, strconv.ErrRange) || err == nil && math.IsInf(v, 0):
		c.kind, c.value, c.want = broken, v, finiteNumber
	case err == nil && !strings.ContainsAny(c.text, "xX_"):
		c.kind, c.value = number, v
	case err == nil, isInteger(c.text): // of a program's text
		c.kind, c.want = broken, "a number"
	case strings.Trim(c.text, "0123456789+-.,'eE \u00a0\u202f") == "" && strings.Contains(c.text, ","):
		c.kind, c.want = broken, decimalPoint
	case looksLikeDate(c.text):
		c.kind, c.want = broken, "a date, such as 2020-12-31"
	}
	return c
}

// isInteger reports whether a text is an integer in a form of Go: 0x10, 1_000.
func isInteger(text string) bool {
	_, err := strconv.ParseInt(text, 0, 64)
	return err == nil
}

// looksLikeDate reports whether a text is three numbers with slashes or points between them, the
// first or last of which is a year.
func looksLikeDate(text string) bool {
	for _, by := range []string{"/", "."} {
		parts := strings.Split(text, by)
		if len(parts) != 3 || strings.Trim(text, "0123456789"+by) != "" {
			continue
		}
		first, last := len(parts[0]), len(parts[2])
		if first == 4 && last <= 2 || first <= 2 && last == 4 {
			return true
		}
	}
	return false
}
