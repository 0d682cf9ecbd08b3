package table

import (
	"strings"
	"testing"
)

// A value in a setting has the type that it would have in a file.
func TestParseValue(t *testing.T) {
	for _, c := range []struct {
		text string
		want float64
		kind Kind
		err  string
	}{
		{" 2.5 ", 2.5, Number, ""}, {"-1e3", -1000, Number, ""}, {"1970-01-02 12:00:00", 1.5, Date, ""},
		{"Yes", 1, Boolean, ""}, {"false", 0, Boolean, ""}, {"red", 0, Category, ""},
		{"", 0, Empty, `"" means a missing value`}, {"NA", 0, Empty, `"NA" means a missing value`},
		{"inf", 0, Empty, `"inf" is no value, expected a finite number`},
		{"2,5", 0, Empty, `"2,5" is no value, expected a number with a decimal point`},
		{"31/1/2024", 0, Empty, `"31/1/2024" is no value, expected a date, such as 2020-12-31`},
	} {
		got, kind, err := ParseValue(c.text)
		if got != c.want || kind != c.kind || (err == nil) != (c.err == "") ||
			err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%q: %g, %v, %v; want %g, %v, %s", c.text, got, kind, err, c.want, c.kind, c.err)
		}
	}
}
