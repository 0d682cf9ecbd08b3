package model

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// shelf is a model of the tests, of all kinds that members have.
type shelf struct {
	Format string      `json:"format"`
	Inputs []string    `json:"inputs"`
	Scale  float64     `json:"scale"`
	Rank   int         `json:"rank,omitempty"`
	Books  []book      `json:"books"`
	Rows   [][]float64 `json:"rows,omitempty"`
	Owner  *book       `json:"owner"`
}

type book struct {
	Title string  `json:"title"`
	Lent  bool    `json:"lent"`
	Price float64 `json:"price"`
}

func parseShelf(text string) (*shelf, error) {
	return Parse("m.json", []byte(text), func(s *shelf) (string, error) {
		if s.Scale < 0 {
			return "scale", errors.New("it is negative")
		}
		return "", nil
	}, "test/shelf/1", "test/shelf/2")
}

// What is read has all members in their places.
func TestParse(t *testing.T) {
	s, err := parseShelf("\t{\"format\": \"test/shelf/2\", \"inputs\": [\"a\\\"\\u00e9\", \"]\"], \"scale\": -0e3,\r\n" +
		`"books": [{"title": "{", "lent": true, "price": 1.5E-3}, {"lent": false, "price": 0}], "rows": [[], [1, -2]],` +
		`"owner": null} `)
	const want = `{test/shelf/2 ["a\"é" "]"] 0 [{{ true 0.0015} { false 0}] [[] [1 -2]] <nil>}`
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("{%s %q %g %v %v %v}", s.Format, s.Inputs, s.Scale+0, s.Books, s.Rows, s.Owner)
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// What is wrong is said with the path, the place, and the member, in words of the format.
func TestParseRefuses(t *testing.T) {
	const start = `{"format": "test/shelf/1", `
	for _, c := range []struct{ name, text, want string }{
		{"nothing of it", `{"a": 1}`, `it is no released model, since it has no member "format"`},
		{"another format", `{"format": "test/table/1"}`,
			`format: unknown format "test/table/1"; did you mean "test/shelf/1"`},
		{"a newer version", `{"format": "test/shelf/3"}`, `format: it is "test/shelf/3"; this program reads ` +
			`"test/shelf/1" and "test/shelf/2": the file is of a later version of the program, use that`},
		{"a text for a number", start + `"scale": "1"}`, `1:37: scale: it is a text; a number is required`},
		{"a number for a list", start + `"inputs": 1}`, `1:38: inputs: it is a number; a list is required`},
		{"a number for a text", start + `"inputs": ["a", 1]}`, `1:44: inputs[1]: it is a number; a text is required`},
		{"a list for an object", start + `"owner": []}`, `1:37: owner: it is a list; an object is required`},
		{"an object for a list", start + `"books": {}}`, `1:37: books: it is an object; a list is required`},
		{"null for a number", start + `"rows": [[1], [2, null]]}`, `rows[1][1]: it is null; a number is required`},
		{"a text for a truth", start + `"owner": {"lent": "yes"}}`, `owner.lent: it is a text; true or false is required`},
		{"a fraction", start + `"rank": 1.5}`, `rank: it is 1.5; a whole number is required`},
		{"no number", start + `"scale": NaN}`, `1:37: scale: NaN is no number that a file can have`},
		{"minus infinity", start + `"scale": -Infinity}`, `1:37: scale: -Infinity is no number that a file can have`},
		{"a number beyond all", start + `"rows": [[-1e999]]}`, `rows[0][0]: it is -1e999, which is too large for a number`},
		{"a long one", start + `"scale": 1` + strings.Repeat("0", 400) + `}`,
			`scale: it is 1` + strings.Repeat("0", 39) + `..., which is too large`},
		{"no number at all", start + `"scale": 1-2}`, `1:38: '-' does not belong here`},
		{"a wrong escape", start + `"scale": 1, "inputs": ["\x"]}`, `'x' does not belong here`},
		{"an unknown member", start + `"book": []}`, `1:28: unknown member "book"; did you mean "books"?`},
		{"one of another case", start + `"Scale": 1}`, `unknown member "Scale"; did you mean "scale"?`},
		{"a very long one", start + `"` + strings.Repeat("y", 1000) + `": []}`, `yyy..."; a file of this format has none`},
		{"a member twice", start + `"scale": 1, "scale": 2}`, `1:40: scale: it is there twice`},
		{"a number that is not there", start + `"inputs": []}`, `scale: it is missing; a number is required`},
		{"in a list", start + `"books": [{"lent": true}]}`, `books[0].price: it is missing; a number is required`},
		{"cut off in a list", start + `"rows": [[1, 2], [3`, `1:46: rows[1]: the file ends in the middle`},
		{"cut off in a text", start + `"inputs": ["ab\`, `inputs[0]: the file ends in the middle`},
		{"cut off in a name", start + `"inp`, `the file ends in the middle`},
		{"cut off in a word", start + `"owner": {"lent": tr`, `owner.lent: the file ends in the middle`},
		{"a wrong word", start + `"owner": {"lent": tru}`, `owner.lent: 't' does not belong here`},
		{"cut off before a number", start + `"scale": -`, `scale: the file ends in the middle`},
		{"cut off after a member", start + `"scale": 1,`, `the file ends in the middle`},
		{"two models", `{"format": "test/shelf/1", "scale": 1} {}`, `1:40: there is more after the end of the model`},
		{"a comma too many", start + "\n\"rows\": [[1,, 2]]}", `2:13: rows[0][1]: ',' does not belong here`},
		{"nested", start + `"rows": ` + strings.Repeat("[", 1e6), `rows[0][0]: it is a list; a number is required`},
		{"more values than a model has", start + `"rows": [` + strings.Repeat("[],", maxValues/3) + `[1]]}`,
			`there are more than 33554432 values, which no model has`},
		{"what the model refuses", start + `"scale": -1}`, `m.json: scale: it is negative`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := parseShelf(c.text)
			var at *Error
			if !errors.As(err, &at) || !strings.HasPrefix(err.Error(), "m.json:") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			for _, word := range []string{"json:", "Go ", "float64", "unmarshal", "EOF", "shelf.", "\n"} {
				if at != nil && strings.Contains(at.Field+" "+at.Err.Error(), word) {
					t.Errorf("%v: %q is not for users", err, word)
				}
			}
		})
	}
}

func TestCheckNames(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{"a", "b"}, ""},
		{[]string{"a", ""}, `inputs[1]: "" cannot be the name of an input: a name has letters`},
		{[]string{"a", "b", "a"}, `inputs[2]: "a" cannot be the name of an input: it is there twice`},
		{[]string{"sd"}, `inputs[0]: "sd" cannot be the name of an input: predictions have a column of that name`},
	} {
		t.Run(strings.Join(c.names, ","), func(t *testing.T) {
			field, err := CheckNames("inputs", c.names, "an input", "mean", "sd")
			if got := strings.TrimPrefix(fmt.Sprintf("%s: %v", field, err), ": <nil>"); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// Whatever the text, it is refused with its place, or what was read has the format that it
// says.
func FuzzParse(f *testing.F) {
	f.Add(`{"format": "test/shelf/1", "inputs": ["a"], "scale": 1, "books": [{"title": "b", "lent": true, "price": 2}]}`)
	f.Add(`{"format": "test/shelf/2", "scale": 1e3, "rows": [[1, 2], [3]], "owner": null, "rank": 3}`)
	f.Add(`{"format": "test/shelf/1", "scale": tru`)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parseShelf(text)
		var at *Error
		switch {
		case err == nil && !strings.HasPrefix(s.Format, "test/shelf/"):
			t.Errorf("%q is read as %+v", text, s)
		case err != nil && !errors.As(err, &at):
			t.Errorf("an error without a place: %v", err)
		case err != nil && strings.Contains(err.Error(), "a defect"):
			t.Error(err)
		}
	})
}
