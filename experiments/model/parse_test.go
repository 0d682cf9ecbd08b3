package model

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func parseShelf(text string) (*shelf, error) {
	m, err := Decode("m.json", []byte(text), formats)
	if err != nil {
		return nil, err
	}
	return m.Files[0].Payload.(*shelf), nil
}

// Read members have their values.
func TestDecode(t *testing.T) {
	s, err := parseShelf("\t{\"format\": \"test/shelf/2\", \"inputs\": [\"a\\\"\\u00e9\", \"]\"], \"scale\": -0e3,\r\n" +
		`"books": [{"title": "{", "lent": true, "price": 1.5E-3}, {"lent": false, "price": 0}], "rows": [[], [1, -2]],` +
		`"owner": null, "privacy": {}} `)
	const want = `{test/shelf/2 ["a\"é" "]"] 0 [{{ true 0.0015} { false 0}] [[] [1 -2]] <nil>}`
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("{%s %q %g %v %v %v}", s.Format, s.Inputs, s.Scale+0, s.Books, s.Rows, s.Owner)
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// The member with the name of the format need not be the first, and may be "model".
func TestNameOf(t *testing.T) {
	for _, text := range []string{
		`{"format": "test/shelf/2", "rest": [1, "2"]}`,
		` {"about": {"format": "x"}, "format": "test/shelf/2"}`,
		`{"model": "test/shelf/2"}`,
		`{"model": {"weights": [1]}, "format": "test/shelf/2"}`,
		`{"format": "test/shelf/2", any text`,
	} {
		if name, _, err := nameOf("m.json", []byte(text)); name != "test/shelf/2" || err != nil {
			t.Errorf("%s: %q, %v", text, name, err)
		}
	}
}

// A refused file is reported with the path, the place, and the member, in words of the format.
func TestDecodeRefuses(t *testing.T) {
	const start = `{"format": "test/shelf/2", `
	for _, c := range []struct{ text, want string }{
		{`{"a": 1}`, `it is no released model, since it has no member "format"`},
		{`{"format": 3}`, `it is no released model, since it has no member "format"`},
		{`{}`, `it is no released model, since`},
		{`[]`, `it is no released model, which is a JSON object`},
		{``, `it is no released model, which is a JSON object`},
		{"\xef\xbb\xbf{}", `it is no released model, which is a JSON object`},
		{"{\x00", `m.json:1:2: '`},
		{"a,b\n1,2\n", `it is no released model, which is a JSON object (a model is what run trial METHOD --release or ` +
			`--export writes; a released table is used as it is)`},
		{`{"choice": "choice/1", "settings": {"lengthscale": 1}}`, `it is a choice of hyper-parameters, with which a ` +
			`model is made: run trial EXPERIMENT ... --release FILE --tuning THIS_FILE`},
		{`{"format": "test/self/2"}`, `format: unknown format "test/self/2"; did you mean "test/shelf/2"`},
		{`{"format": "test/shelf/x"}`, `format: unknown format "test/shelf/x"`},
		{`{"format": "` + strings.Repeat("x", 1000) + `"}`, `format: unknown format "` + strings.Repeat("x", 40) +
			`..."; valid: test/shelf/2`},
		{`{"format": "test/shelf/4"}`, `format: it is "test/shelf/4"; this program reads "test/shelf/2" and ` +
			`"test/shelf/3": the file is of a later version of the program, use that`},
		{`{"model": "test/shelf/1"}`, `model: it is "test/shelf/1"; this program reads "test/shelf/2" and ` +
			`"test/shelf/3": use an earlier version of the program, or ask for a new file`},

		{"{\n\"a\": [1, 2", `m.json:2:10: the file ends in the middle: it was cut off; get it again, whole`},
		{`{"a": 1`, `m.json:1:7: the file ends in the middle`},
		{`{`, `m.json:1:1: the file ends in the middle`},
		{`{"a"`, `m.json:1:4: the file ends in the middle`},
		{"{\n\"a\": [1,, 2]}", `m.json:2:9: ',' does not belong here: this is no JSON: the file was changed`},
		{`{3: 4}`, `m.json:1:2: '3' does not belong here`},
		{`{"a": ` + strings.Repeat("[", 20000), `m.json:1:10006: lists are nested deeper than in any model`},
		{start + `"rows": [[1, 2], [3`, `1:46: rows[1]: the file ends in the middle`},
		{start + `"inputs": ["ab\`, `inputs[0]: the file ends in the middle`},
		{start + `"inp`, `the file ends in the middle`},
		{start + `"owner": {"lent": tr`, `owner.lent: the file ends in the middle`},
		{start + `"scale": -`, `scale: the file ends in the middle`},
		{start + `"scale": -0.`, `1:39: scale: the file ends in the middle`},
		{start + `"scale": 1,`, `the file ends in the middle`},
		{start + `"owner": {"lent": tru}`, `1:46: owner.lent: 't' does not belong here`},
		{start + `"inputs": ["\x"]}`, `'x' does not belong here`},
		{start + `"scale": 1-2}`, `1:38: '-' does not belong here`},
		{start + "\n\"rows\": [[1,, 2]]}", `2:13: rows[0][1]: ',' does not belong here`},
		{start + "\n\"rows\": [[1,,-2]]}", `2:13: rows[0][1]: ',' does not belong here`},
		{start + `"scale": 1} {}`, `1:40: there is more after the end of the model`},
		{start + `"scale": 1},`, `1:39: ',' does not belong here`},

		{start + `"inputs": ["a", "b` + "\xc4" + `"]}`, `1:44: inputs[1]: a text is not in UTF-8`},
		{start + `"inputs": ["\ud800"]}`, `1:39: inputs[0]: a text is not in UTF-8, or has half of a character`},

		{start + `"scale": "1"}`, `1:37: scale: it is a text; a number is required`},
		{start + `"inputs": 1}`, `1:38: inputs: it is a number; a list is required`},
		{start + `"inputs": ["a", 1]}`, `1:44: inputs[1]: it is a number; a text is required`},
		{start + `"owner": []}`, `1:37: owner: it is a list; an object is required`},
		{start + `"books": {}}`, `1:37: books: it is an object; a list is required`},
		{start + `"rows": [[1], [2, null]]}`, `rows[1][1]: it is null; a number is required`},
		{start + `"owner": {"lent": "yes"}}`, `owner.lent: it is a text; true or false is required`},
		{start + `"rank": 1.5}`, `rank: it is 1.5; a whole number is required`},
		{start + `"scale": NaN}`, `1:37: scale: NaN is no number that a file can have`},
		{start + `"scale": -Infinity}`, `1:37: scale: -Infinity is no number that a file can have`},
		{start + `"rows": [[-1e999]]}`, `rows[0][0]: it is -1e999, which is too large for a number`},
		{start + `"scale": 1` + strings.Repeat("0", 400) + `}`, `scale: it is 1` + strings.Repeat("0", 39) +
			`..., which is too large`},
		{start + `"book": []}`, `1:28: unknown member "book"; did you mean "books"?`},
		{start + `"Scale": 1}`, `unknown member "Scale"; did you mean "scale"?`},
		{start + `"` + strings.Repeat("y", 1000) + `": []}`, `yyy..."; a file of this format has none`},
		{start + `"scale": 1, "scale": 2}`, `1:40: scale: it is there twice`},
		{start + `"inputs": []}`, `scale: it is missing; a number is required`},
		{start + `"books": [{"lent": true}]}`, `books[0].price: it is missing; a number is required`},
		{start + `"rows": ` + strings.Repeat("[", 1e6), `rows[0][0]: it is a list; a number is required`},
		{start + `"rows": [` + strings.Repeat("[],", maxValues/3) + `[1]]}`,
			`there are more than 33554432 values, which no model has`},

		{start + `"inputs": ["a"], "scale": -1, "privacy": {}}`, `m.json: scale: it is -1; zero or a positive number`},
		{start + `"scale": -1, "privacy": {}}`, `m.json: inputs: there are none`},
		{start + `"inputs": ["scaled"], "scale": 1, "privacy": {}}`, `m.json: inputs[0]: "scaled" cannot be the name`},
		{start + `"inputs": ["a"], "scale": 1}`, `m.json: privacy: it is missing: a model says what it protects`},
	} {
		t.Run(c.text[:min(60, len(c.text))], func(t *testing.T) {
			_, err := parseShelf(c.text)
			var at *Error
			if !errors.As(err, &at) || !strings.HasPrefix(err.Error(), "m.json:") || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%v, want %q", err, c.want)
			}
			for _, word := range []string{"json:", "Go ", "float64", "unmarshal", "EOF", "shelf.", "\n"} {
				if strings.Contains(at.Field+" "+at.Err.Error(), word) {
					t.Errorf("%v: %q is not for users", err, word)
				}
			}
		})
	}
}

func TestChecker(t *testing.T) {
	const field = "list"
	for want, check := range map[string]func(c *Checker){
		"list: there are none":                            func(c *Checker) { c.Some(field, 0) },
		"list: it is 0; a positive number is required":    func(c *Checker) { c.Positive(field, 0) },
		"list: it is -1; zero or a positive number":       func(c *Checker) { c.NotNegative(field, -1) },
		"list: there are 1 for 2 inputs":                  func(c *Checker) { c.Lengthscales(field, []float64{1}, 2) },
		"list[1]: it is 0; a positive number is required": func(c *Checker) { c.Lengthscales(field, []float64{1, 0}, 2) },
		"list[1]: it has 0 numbers for 1 points": func(c *Checker) {
			c.Rows(field, [][]float64{{1}, {}}, 1, "points")
		},
		`list[1]: "" cannot be the name of an input: a name has letters`: func(c *Checker) {
			c.Names(field, []string{"a", ""}, "an input")
		},
		`list[2]: "a" cannot be the name of an input: it is there twice`: func(c *Checker) {
			c.Names(field, []string{"a", "b", "a"}, "an input", "sd")
		},
		`list[0]: "sd" cannot be the name of an input: predictions have a column of that name`: func(c *Checker) {
			c.Names(field, []string{"sd"}, "an input", "mean", "sd")
		},
		"list: it has 0 rows for 1 points": func(c *Checker) { c.Covariance(field, nil, 1, "points") },
		"list[0]: it has 2 numbers for 1 points": func(c *Checker) {
			c.Covariance(field, [][]float64{{1, 2}}, 1, "points")
		},
		"list[0][0]: it is -1; a variance is not negative": func(c *Checker) {
			c.Covariance(field, [][]float64{{-1}}, 1, "points")
		},
		"list[1][0]: it is 0.2, and 0.1 with the indices exchanged": func(c *Checker) {
			c.Covariance(field, [][]float64{{1, 0.1}, {0.2, 1}}, 2, "points")
		},
		"list: it is there": func(c *Checker) {
			c.Require(false, field, "it is there")
			c.Some("other", 0)
		},
		": <nil>": func(c *Checker) {
			c.Names(field, []string{"a", "b"}, "an input", "sd")
			c.Covariance(field, [][]float64{{1, 0.5}, {0.5, 0}}, 2, "points")
		},
	} {
		t.Run(want, func(t *testing.T) {
			c := new(Checker)
			if check(c); !strings.HasPrefix(fmt.Sprintf("%s: %v", c.field, c.err), want) {
				t.Errorf("%s: %v", c.field, c.err)
			}
		})
	}
}

// Matrices that are no covariance are refused with their place; positive semi-definite ones
// are accepted with rounding errors, in any unit.
func TestSemidefinite(t *testing.T) {
	three := func(a, b, c float64) [][]float64 { return [][]float64{{1, a, b}, {a, 1, c}, {b, c, 1}} }
	for _, c := range []struct {
		name string
		cov  [][]float64
		want string // "" for none
	}{
		{"two points alike", [][]float64{{0.5, 0.5}, {0.5, 0.5}}, ""},
		{"one is known", [][]float64{{0.5, 0}, {0, 0}}, ""},
		{"nothing is unknown", [][]float64{{0, 0}, {0, 0}}, ""},
		{"to rounding", [][]float64{{0.5, 0.5 + 1e-12}, {0.5 + 1e-12, 0.5}}, ""},
		{"one is known to rounding", [][]float64{{0.5, 1e-10}, {1e-10, 0}}, ""},
		{"a pair", [][]float64{{0.3, 9}, {9, 0.2}}, "cov[1][0]: it is 9, and with the variances 0.3 and 0.2"},
		{"a negative pair", [][]float64{{0.3, -9}, {-9, 0.2}}, "cov[1][0]: it is -9"},
		{"barely", [][]float64{{0.5, 0.5001}, {0.5001, 0.5}}, "cov[1][0]"},
		{"with a known one", [][]float64{{0.5, 0.1}, {0.1, 0}}, "cov[1][0]"},
		{"with both known", [][]float64{{0, 0.1}, {0.1, 0}}, "cov[1][0]"},
		{"three that fit together", three(0.9, 0.8, 0.9), ""},
		{"three, each pair possible", three(0.9, -0.9, 0.9), "cov: it has a negative eigenvalue (the smallest is -0.8)"},
	} {
		for _, unit := range []float64{1, 1e-300, 1e300} {
			t.Run(fmt.Sprintf("%s, in units of %g", c.name, unit), func(t *testing.T) {
				scaled := make([][]float64, len(c.cov))
				for i, row := range c.cov {
					for _, v := range row {
						scaled[i] = append(scaled[i], v*unit)
					}
				}
				checker, want := new(Checker), c.want
				if unit != 1 {
					want, _, _ = strings.Cut(want, ":")
				}
				checker.Semidefinite("cov", scaled)
				got := fmt.Sprintf("%s: %v", checker.field, checker.err)
				if checker.Failed() == (want == "") || !strings.HasPrefix(got, want) {
					t.Errorf("%s, want %q", got, c.want)
				}
			})
		}
	}
}

// A text is refused with its place, or has the format that it names.
func FuzzParse(f *testing.F) {
	f.Add(minimal)
	f.Add(`{"format": "test/shelf/2", "inputs": ["a"], "scale": 1, "books": [{"title": "b", "lent": true, "price": 2}]}`)
	f.Add(`{"format": "test/shelf/3", "scale": 1e3, "rows": [[1, 2], [3]], "owner": null, "rank": 3}`)
	f.Add(`{"format": "test/shelf/2", "scale": tru`)
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
