package experiment

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

type severalWord int

func (severalWord) Choices() []string { return []string{"none"} }

type severalSettings struct {
	Plain  float64                `name:"plain" default:"1" doc:"a setting that was there"`
	Scale  Several                `name:"scale" default:"1" above:"0" doc:"one number or one for each"`
	Low    SeveralOr[severalWord] `name:"low" default:"none" doc:"the same, or none"`
	Source string                 `name:"source" default:"made" later:"yes" doc:"a setting that came later"`
	Column string                 `name:"column" default:"y" later:"yes" when:"source is made" doc:"another one"`
}

type severalMetrics struct {
	Sum float64 `name:"sum" doc:"a sum"`
}

func severalExperiment() *Definition[severalSettings, severalMetrics] {
	return Of(Declaration[*severalSettings, severalMetrics]{Name: "test/several", Version: 1, Summary: "s", Source: "s",
		Run: func(_ context.Context, _ *Trial, _ *severalSettings) (*Outcome[severalMetrics], error) {
			return &Outcome[severalMetrics]{}, nil
		}})()
}

// One number has the value, and so the key, of a setting of one number; several are a
// list, words stay words.
func TestSeveral(t *testing.T) {
	x := severalExperiment()
	for _, c := range []struct {
		scale, low any
		wantScale  string // with its type
		wantLow    string
		refused    string
	}{
		{1, "none", "float64 1", "string none", ""},
		{"2.5", "0", "float64 2.5", "float64 0", ""},
		{[]any{2.0}, -1, "float64 2", "float64 -1", ""},
		{"20,5", "0,10", "[]float64 [20,5]", "[]float64 [0,10]", ""},
		{[]any{20, 5}, []any{0, 10}, "[]float64 [20,5]", "[]float64 [0,10]", ""},
		{"20,0", 1, "", "", `"scale": 0 is outside (0, inf)`},
		{"20,inf", 1, "", "", "inf is not finite"},
		{"20,", 1, "", "", `"scale": "" is not a number`},
		{"0,2024-01-31", 1, "", "", `"2024-01-31" is not a number: a date is written as its days since 1970-01-01, 19753`},
		{"", 1, "", "", `"scale": the list is empty`},
		{"[]", 1, "", "", `"scale": the list is empty`},
		{[]any{}, 1, "", "", `"scale": the list is empty`},
		{1, "nome", "", "", `nor is it none; did you mean "none"?`},
	} {
		t.Run(fmt.Sprint(c.scale, c.low), func(t *testing.T) {
			p, err := x.Resolve(map[string]any{"scale": c.scale, "low": c.low})
			if c.refused != "" {
				if err == nil || !strings.Contains(err.Error(), c.refused) {
					t.Errorf("%v, want %q", err, c.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			scale, low := fmt.Sprintf("%T %s", p["scale"], FormatValue(p["scale"])), fmt.Sprintf("%T %s", p["low"],
				FormatValue(p["low"]))
			if scale != c.wantScale || low != c.wantLow {
				t.Errorf("%s and %s", scale, low)
			}
			s := x.Settings(p)
			if s.Scale.String() != FormatValue(p["scale"]) || s.Low.String() != FormatValue(p["low"]) ||
				s.Low.Is(severalWord(0)) != (c.low == "none") {
				t.Errorf("%+v", s)
			}
		})
	}
	for _, c := range []struct {
		s    Several
		n    int
		want string
	}{{Several{2}, 3, "[2,2,2] true"}, {Several{2, 1}, 2, "[2,1] true"}, {Several{2, 1}, 3, "[] false"}} {
		v, ok := c.s.For(c.n)
		if got := fmt.Sprint(FormatValue(v), ok); got != strings.Replace(c.want, " ", "", 1) && got != c.want {
			t.Errorf("%v for %d: %s, want %s", c.s, c.n, got, c.want)
		}
	}
}

// A later setting has no part in the parameters of a trial, and so in its key, unless it
// is changed; conditions and settings read the default.
func TestLaterSettings(t *testing.T) {
	x := severalExperiment()
	for _, c := range []struct {
		given map[string]any
		want  string
		inert bool
	}{
		{map[string]any{}, "map[low:none plain:1 scale:1]", false},
		{map[string]any{"source": "made", "column": "y"}, "map[low:none plain:1 scale:1]", false},
		{map[string]any{"source": "csv:a"}, "map[low:none plain:1 scale:1 source:csv:a]", true},
		{map[string]any{"column": "z"}, "map[column:z low:none plain:1 scale:1]", false},
	} {
		t.Run(fmt.Sprint(c.given), func(t *testing.T) {
			p, err := x.Resolve(c.given)
			if err != nil || fmt.Sprint(map[string]any(p)) != c.want {
				t.Errorf("%v, %v; want %s", p, err, c.want)
			}
			if again, err := x.Resolve(p); err != nil || fmt.Sprint(again) != fmt.Sprint(p) {
				t.Errorf("resolved again: %v, %v", again, err)
			}
			if got := x.Inert("column", p) != nil; got != c.inert {
				t.Errorf("column does nothing: %v", got)
			}
			if s := x.Settings(p); s.Source == "" || s.Column == "" {
				t.Errorf("%+v", s)
			}
		})
	}
}

// An experiment with one lengthscale shares the struct with one that has several.
func TestSeveralThatIsOne(t *testing.T) {
	type settings struct {
		severalSettings `several:"scale: no || low: no" default:"low: 1"`
	}
	x := Of(Declaration[*settings, severalMetrics]{Name: "test/one", Version: 1, Summary: "s", Source: "s",
		Run: func(_ context.Context, _ *Trial, _ *settings) (*Outcome[severalMetrics], error) {
			return &Outcome[severalMetrics]{}, nil
		}})()
	if p, err := x.Param("scale"); err != nil || p.Kind != Number {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err := x.Param("low"); err != nil || p.Kind != Number || p.Words != nil {
		t.Errorf("words: %+v, %v", p, err)
	}
	p, err := x.Resolve(map[string]any{"scale": "2.5"})
	if err != nil || p["scale"] != 2.5 || len(x.Settings(p).Scale) != 1 || x.Settings(p).Scale[0] != 2.5 {
		t.Errorf("%v, %v", p, err)
	}
	if _, err := x.Resolve(map[string]any{"scale": "20,5"}); err == nil ||
		!strings.Contains(err.Error(), `"20,5" is not a number`) {
		t.Errorf("%v", err)
	}
	type others struct {
		settings `several:"scale: yes"`
	}
	y := Of(Declaration[*others, severalMetrics]{Name: "test/others", Version: 1, Summary: "s", Source: "s",
		Run: func(_ context.Context, _ *Trial, _ *others) (*Outcome[severalMetrics], error) {
			return &Outcome[severalMetrics]{}, nil
		}})()
	if p, err := y.Resolve(map[string]any{"scale": "20,5"}); err != nil || len(y.Settings(p).Scale) != 2 {
		t.Errorf("%v, %v", p, err)
	}
	mistake := reflect.StructTag(`name:"scale" several:"maybe"`)
	l := leaf{name: "scale", field: reflect.StructField{Tag: mistake}}
	defer func() {
		if recover() == nil {
			t.Error("a tag that says nothing is taken")
		}
	}()
	l.isSingle()
}

// A setting that came later, and that a trial leaves out, is not described: it has its default.
func TestDescribeLaterSettings(t *testing.T) {
	x := severalExperiment()
	for given, want := range map[string]string{"": "", "z": "column=z"} {
		p, err := x.Resolve(map[string]any{"column": given})
		if given == "" {
			p, err = x.Resolve(nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := x.Describe(p); got != want {
			t.Errorf("%v: %q, want %q", p, got, want)
		}
	}
}
