package sweep

import (
	"strings"
	"testing"
)

func TestPrintJSON(t *testing.T) {
	long := strings.Repeat("x", printWidth)
	// With its indentation, name, quotes and comma, the list takes exactly the width.
	fits := strings.Repeat("y", printWidth-len(`  "a": [""],`))
	for _, c := range []struct{ name, in, want string }{
		{"a scalar", `1e+06`, "1e+06\n"},
		{"what fits", `{"b":1,"a":[true,null,{}]}`, `{"b": 1, "a": [true, null, {}]}` + "\n"},
		{"scalars, however long", `{"b":"` + long + `","a":2}`, `{"b": "` + long + `", "a": 2}` + "\n"},
		{"a list too long", `["` + long + `",2]`, "[\n  \"" + long + "\",\n  2\n]\n"},
		{"nested", `{"b":["` + long + `"],"a":{"c":"\u003c\""}}`,
			"{\n  \"b\": [\n    \"" + long + "\"\n  ],\n  \"a\": {\"c\": \"\\u003c\\\"\"}\n}\n"},
		{"the last column", `{"a":["` + fits + `"],"b":1}`, "{\n  \"a\": [\"" + fits + "\"],\n  \"b\": 1\n}\n"},
		{"a column more", `{"a":["` + fits + `y"],"b":1}`,
			"{\n  \"a\": [\n    \"" + fits + "y\"\n  ],\n  \"b\": 1\n}\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := printJSON([]byte(c.in))
			if err != nil || string(got) != c.want {
				t.Errorf("%s, %v, want %s", got, err, c.want)
			}
		})
	}
	for _, in := range []string{``, `{`, `{"a":}`, `[1] 2`, `]`} {
		t.Run("refused "+in, func(t *testing.T) {
			if got, err := printJSON([]byte(in)); err == nil {
				t.Errorf("printed as %s", got)
			}
		})
	}
}
