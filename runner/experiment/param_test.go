package experiment_test

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"privkern/runner/experiment"
)

// The parameters that the table tests convert for.
var (
	plain  = experiment.Param{Name: "p", Kind: experiment.Number}
	closed = experiment.Param{Name: "p", Kind: experiment.Number, Min: experiment.Bound(0), Max: experiment.Bound(1)}
	open   = experiment.Param{Name: "p", Kind: experiment.Number, Min: experiment.Bound(0), Max: experiment.Bound(1),
		OpenMin: true, OpenMax: true}
	epsilon = experiment.Param{Name: "p", Kind: experiment.Number, Min: experiment.Bound(0),
		OpenMin: true, Infinite: true}
	anything = experiment.Param{Name: "p", Kind: experiment.Number, Infinite: true}
	auto     = experiment.Param{Name: "p", Kind: experiment.Number, Words: []string{"auto"}}
	whole    = experiment.Param{Name: "p", Kind: experiment.Integer}
	folds    = experiment.Param{Name: "p", Kind: experiment.Integer, Min: experiment.Bound(2)}
	rank     = experiment.Param{Name: "p", Kind: experiment.Integer, Words: []string{"full", "half"},
		Min: experiment.Bound(1)}
	text   = experiment.Param{Name: "p", Kind: experiment.Text}
	method = experiment.Param{Name: "p", Kind: experiment.Text, Values: []string{"standard", "sparse"}}
	flag   = experiment.Param{Name: "p", Kind: experiment.Flag}
	list   = experiment.Param{Name: "p", Kind: experiment.Numbers}
	shares = experiment.Param{Name: "p", Kind: experiment.Numbers, Min: experiment.Bound(0), Max: experiment.Bound(1)}
	levels = experiment.Param{Name: "p", Kind: experiment.Numbers, Infinite: true}
	points = experiment.Param{Name: "p", Kind: experiment.CountOrNumbers, Min: experiment.Bound(0),
		Max: experiment.Bound(100)}
	placed = experiment.Param{Name: "p", Kind: experiment.CountOrNumbers, Words: []string{"auto"}}
)

func TestConvert(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		name  string
		param experiment.Param
		given any
		want  any
	}{
		{"a number as a command line has it", plain, " 2.5 ", 2.5},
		{"a number as YAML has it", plain, uint64(3), 3.0},
		{"a number as JSON has it", plain, json.Number("1e-3"), 0.001},
		{"a signed whole number", plain, int64(-3), -3.0},
		{"a number in single precision", plain, float32(0.5), 0.5},
		{"the lower bound", closed, 0, 0.0},
		{"the upper bound", closed, 1, 1.0},
		{"just inside an open bound", open, math.SmallestNonzeroFloat64, math.SmallestNonzeroFloat64},
		{"infinity", epsilon, "inf", inf},
		{"infinity as YAML writes it", epsilon, ".inf", inf},
		{"infinity as a number", epsilon, inf, inf},
		{"a word beside numbers", auto, "auto", "auto"},
		{"a number beside words", auto, "0.5", 0.5},

		{"a whole number", whole, "14", 14},
		{"a whole number written as a fraction", whole, 14.0, 14},
		{"a whole number in scientific form", whole, "1e3", 1000},
		{"the largest whole number that no other is rounded to", whole, "9007199254740991", 1<<53 - 1},
		{"a word beside whole numbers", rank, "full", "full"},
		{"a whole number beside words", rank, "5", 5},

		{"any text", text, "a+b", "a+b"},
		{"one of the texts", method, "sparse", "sparse"},

		{"a flag", flag, true, true},
		{"true in words", flag, "yes", true},
		{"false in words", flag, "off", false},

		{"numbers by commas", list, "1, 2.5,3", []float64{1, 2.5, 3}},
		{"numbers in brackets", list, "[1,2]", []float64{1, 2}},
		{"one number is a list", list, 7, []float64{7}},
		{"numbers as YAML has them", list, []any{1, "2", 3.5}, []float64{1, 2, 3.5}},
		{"numbers of a program", list, []float64{1, 2}, []float64{1, 2}},
		{"a range", list, "0..4", []float64{0, 1, 2, 3, 4}},
		{"a range with a step", list, "0..84 step 42", []float64{0, 42, 84}},
		{"a range that its step does not fill", list, "0..5 step 2", []float64{0, 2, 4}},
		{"a range whose last step rounding would lose, or carry beyond its end", list, "0..0.6 step 0.2",
			[]float64{0, 0.2, 0.4, 0.6}},
		{"a range of one", list, "3..3", []float64{3}},
		{"a negative range", list, "-2..-1", []float64{-2, -1}},
		{"numbers at their bounds", shares, "0,1", []float64{0, 1}},
		{"infinite numbers", levels, "[1,inf]", []float64{1, inf}},

		{"how many", points, "5", experiment.Points{Count: 5}},
		{"how many, as a number", points, 5.0, experiment.Points{Count: 5}},
		{"which ones", points, "[5,20]", experiment.Points{Values: []float64{5, 20}}},
		{"one of a list", points, "[5]", experiment.Points{Values: []float64{5}}},
		{"which ones by a range", points, "0..100 step 50", experiment.Points{Values: []float64{0, 50, 100}}},
		{"a word beside a count", placed, "auto", experiment.Points{Word: "auto"}},
		{"a converted word", placed, experiment.Points{Word: "auto"}, experiment.Points{Word: "auto"}},
		{"a count beside words", placed, "5", experiment.Points{Count: 5}},
		{"a converted count", points, experiment.Points{Count: 5}, experiment.Points{Count: 5}},
		{"converted points", points, experiment.Points{Values: []float64{5}}, experiment.Points{Values: []float64{5}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.param.Convert(c.given)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("%v became %#v, not %#v", c.given, got, c.want)
			}
			// A converted value converts to itself, and so does its text.
			for _, again := range []any{got, experiment.FormatValue(got)} {
				if got, err := c.param.Convert(again); err != nil || !reflect.DeepEqual(got, c.want) {
					t.Errorf("%#v became %#v, %v", again, got, err)
				}
			}
		})
	}
}

func TestConvertRefuses(t *testing.T) {
	for _, c := range []struct {
		name  string
		param experiment.Param
		given any
		want  string // after `parameter "p": `
	}{
		{"NaN as text", plain, "nan", `NaN is not a number that can be used`},
		{"NaN", plain, math.NaN(), `NaN is not a number that can be used`},
		{"words for a number", plain, "many", `"many" is not a number`},
		{"a hexadecimal number", plain, "0x10", `"0x10" is not a number`},
		{"underscores", plain, "1_000", `"1_000" is not a number`},
		{"more than a number can hold", plain, "1e999", `"1e999" is not a number`},
		{"a flag for a number", plain, true, `true is not a number`},
		{"infinity where it has no meaning", plain, "inf", `inf is not finite`},
		{"minus infinity, always", anything, "-inf", `-inf is not finite`},
		{"below", closed, "-1e-300", `-1e-300 is outside [0, 1]`},
		{"above", closed, math.Nextafter(1, 2), `1.0000000000000002 is outside [0, 1]`},
		{"an open lower bound", open, 0, `0 is outside (0, 1)`},
		{"an open upper bound", open, 1, `1 is outside (0, 1)`},
		{"below where infinity is allowed", epsilon, "0", `0 is outside (0, inf]`},
		{"neither a number nor a word", auto, "autp", `"autp" is neither a number nor one of auto; did you mean "auto"?`},

		{"a fraction for a whole number", whole, "2.5", `"2.5" is not a whole number`},
		{"a whole number that is not exact", whole, int64(1<<53 + 1),
			`9007199254740993 is too large: whole numbers lie below 2^53`},
		{"too small a whole number", folds, 1, `1 is outside [2, inf)`},
		{"a misspelt word", rank, "ful", `"ful" is neither a number nor one of full, half; did you mean "full"?`},
		{"a bound beside words", rank, 0, `0 is outside [1, inf)`},

		{"a number for a text", text, 3, `3 is not a text`},
		{"a misspelt text", method, "spars", `"spars" is not one of standard, sparse; did you mean "sparse"?`},
		{"a text like no other", method, "quadratic", `"quadratic" is not one of standard, sparse`},

		{"a number for a flag", flag, 1, `1 is neither true nor false`},
		{"a text for a flag", flag, "maybe", `"maybe" is neither true nor false`},

		{"no numbers", list, []any{}, `the list is empty`},
		{"an empty text", list, "", "the list is empty"},
		{"empty brackets", list, "[ ]", "the list is empty"},
		{"a missing number", list, "1,,2", `"" is not a number`},
		{"a text among numbers", list, []any{1, "x"}, `"x" is not a number`},
		{"half a bracket", list, "[1,2", `"[1,2" has a bracket without its other half`},
		{"a falling range", list, "1..0", `"1..0" is not a range; write it as 0..84 step 7`},
		{"a range that stands still", list, "0..1 step 0", `"0..1 step 0" is not a range; write it as 0..84 step 7`},
		{"an endless range", list, "0..inf", `"0..inf" is not a range; write it as 0..84 step 7`},
		{"a range beyond memory", list, "0..1000000", `"0..1000000" has 1000001 elements; at most 1000000 are allowed`},
		{"a number of a list out of bounds", shares, "0.5,1.5", `1.5 is outside [0, 1]`},
		{"an infinite number of a list", shares, []float64{math.Inf(1)}, `inf is not finite`},
		{"a mapping for a list", list, map[string]any{}, `map[] is not a list of numbers`},

		{"none", points, 0, `0 is not a count (a whole number from 1 up) nor a list of numbers`},
		{"half a point", points, 2.5, `2.5 is not a count (a whole number from 1 up) nor a list of numbers`},
		{"infinitely many", points, "inf", `+Inf is not a count (a whole number from 1 up) nor a list of numbers`},
		{"points out of bounds", points, "[5,101]", `101 is outside [0, 100]`},
		{"a converted count of none", points, experiment.Points{},
			`0 is not a count (a whole number from 1 up) nor a list of numbers`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.param.Convert(c.given)
			if err == nil {
				t.Fatalf("%v became %#v", c.given, got)
			}
			if want := `parameter "p": ` + c.want; err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
}

// Zero has no sign: equal settings have equal texts, and so equal keys.
func TestZeroHasNoSign(t *testing.T) {
	for _, given := range []any{"-0", math.Copysign(0, -1), "-0.0"} {
		v, err := plain.Convert(given)
		if err != nil || experiment.FormatValue(v) != "0" {
			t.Errorf("%v became %v, %v", given, v, err)
		}
	}
}

// A list that was converted is the parameter's own: a caller that goes on
// with its list changes no setting.
func TestConvertedListsAreCopies(t *testing.T) {
	given := []float64{1, 2}
	got, err := list.Convert(given)
	if err != nil {
		t.Fatal(err)
	}
	given[0] = 9
	if !reflect.DeepEqual(got, []float64{1, 2}) {
		t.Errorf("%v", got)
	}
}

func TestRange(t *testing.T) {
	for _, c := range []struct {
		param experiment.Param
		want  string
	}{
		{plain, ""}, {closed, "[0, 1]"}, {open, "(0, 1)"}, {epsilon, "(0, inf]"}, {folds, "[2, inf)"},
		{experiment.Param{Max: experiment.Bound(1)}, "(-inf, 1]"},
	} {
		if got := c.param.Range(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestParamsAsJSON(t *testing.T) {
	p := experiment.Params{"epsilon": 0.5, "folds": 3, "rank": "full", "score": true, "at": []float64{1, math.Inf(1)},
		"points": experiment.Points{Count: 5}}
	raw, err := json.Marshal(p)
	const want = `{"at":[1,"inf"],"epsilon":0.5,"folds":3,"points":5,"rank":"full","score":true}`
	if err != nil || string(raw) != want {
		t.Errorf("JSON %s, %v, want %s", raw, err, want)
	}
}
