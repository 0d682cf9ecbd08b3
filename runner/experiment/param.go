package experiment

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// ParamKind is the type of a parameter's value.
type ParamKind string

// The kinds of parameters and the Go type of their converted values.
const (
	Number  ParamKind = "number"  // float64
	Integer ParamKind = "integer" // int
	Text    ParamKind = "text"    // string
	Flag    ParamKind = "flag"    // bool
	Numbers ParamKind = "numbers" // []float64; text form "a,b,c", "[a, b, c]" or "0..84 step 7"
	// CountOrNumbers is a Points: how many, or exactly which.
	CountOrNumbers ParamKind = "count or numbers"
	// NumberOrNumbers is a float64 where there is one, otherwise a []float64: one value
	// for all inputs, or one for each.
	NumberOrNumbers ParamKind = "number or numbers"
)

// Points is the value of a CountOrNumbers parameter: Values where they are
// given explicitly, otherwise Count of them, to be placed by the experiment, or Word, one of the
// words of the parameter.
type Points struct {
	Count  int
	Values []float64
	Word   string
}

// IsCount reports whether it is how many there are.
func (p Points) IsCount() bool { return p.Values == nil && p.Word == "" }

// Param is one parameter of an experiment.
type Param struct {
	Name    string
	Kind    ParamKind
	Default any // nil: must be given
	Unit    string
	Doc     string
	// Values are the values that a Text parameter may take; nil for any.
	Values []string
	// Words are the words that a Number, Integer, NumberOrNumbers or CountOrNumbers parameter accepts
	// in addition to numbers, such as "full" for a rank: the converted value is then a string, or Points
	// with that word.
	Words []string
	// Min and Max bound numbers and the elements of Numbers, inclusively unless
	// OpenMin or OpenMax is set; nil for no bound.
	Min, Max *float64
	// OpenMin and OpenMax exclude the bound itself.
	OpenMin, OpenMax bool
	// Infinite allows "inf".
	Infinite bool
	// When are the conditions on which the parameter does anything, all of them;
	// nil for always. Settings and keys have it in any case.
	When []Condition
	// Later marks a parameter that was added after trials without it were stored: the
	// parameters of a trial leave out its default, so that their key stays.
	Later bool
}

// TakesList reports whether one value of the parameter may be a list.
func (p *Param) TakesList() bool {
	return p.Kind == Numbers || p.Kind == CountOrNumbers || p.Kind == NumberOrNumbers
}

// Bound returns a pointer for Param.Min and Param.Max.
func Bound(v float64) *float64 { return &v }

// Params are the values of one trial: every parameter of the experiment, each
// of the Go type of its kind.
type Params map[string]any

// Convert converts a user's value, a string or a decoded YAML or JSON value,
// to the Go type of the parameter's kind, and checks it.
func (p *Param) Convert(v any) (any, error) {
	c, err := p.convert(v)
	if err != nil {
		return nil, fmt.Errorf("parameter %q: %w", p.Name, err)
	}
	return c, nil
}

func (p *Param) convert(v any) (any, error) {
	switch p.Kind {
	case Number, Integer:
		if s, ok := v.(string); ok && slices.Contains(p.Words, s) {
			return s, nil
		}
		f, err := toFloat(v)
		if err != nil {
			if len(p.Words) > 0 {
				return nil, fmt.Errorf("%v is neither a number nor one of %s%s", quote(v),
					strings.Join(p.Words, ", "), didYouMean(v, p.Words))
			}
			return nil, err
		}
		if err := p.checkRange(f); err != nil {
			return nil, err
		}
		if p.Kind == Number {
			return f, nil
		}
		if f != math.Trunc(f) {
			return nil, fmt.Errorf("%v is not a whole number", quote(v))
		}
		if math.Abs(f) >= 1<<53 {
			return nil, fmt.Errorf("%v is too large: whole numbers lie below 2^53", quote(v))
		}
		return int(f), nil
	case Text:
		s, ok := v.(string)
		if !ok {
			return nil, fmt.Errorf("%v is not a text", quote(v))
		}
		if !utf8.ValidString(s) {
			return nil, fmt.Errorf("%s is no text in UTF-8; two such texts would be one in a key", quote(s))
		}
		if p.Values != nil && !slices.Contains(p.Values, s) {
			return nil, fmt.Errorf("%s is not one of %s%s", quote(s), strings.Join(p.Values, ", "), didYouMean(s, p.Values))
		}
		return s, nil
	case Flag:
		switch b := v.(type) {
		case bool:
			return b, nil
		case string:
			switch b {
			case "true", "yes", "on":
				return true, nil
			case "false", "no", "off":
				return false, nil
			}
		}
		return nil, fmt.Errorf("%v is neither true nor false", quote(v))
	case Numbers:
		return p.toNumbers(v)
	case NumberOrNumbers:
		if s, ok := v.(string); ok && slices.Contains(p.Words, s) {
			return s, nil
		}
		values, err := p.toNumbers(v)
		switch {
		case err != nil && len(p.Words) > 0:
			return nil, fmt.Errorf("%w, nor is it %s%s", err, strings.Join(p.Words, " or "), didYouMean(v, p.Words))
		case err != nil:
			return nil, err
		case len(values) == 1:
			return values[0], nil
		}
		return values, nil
	case CountOrNumbers:
		if pts, ok := v.(Points); ok {
			if pts.IsCount() {
				return p.toCount(float64(pts.Count))
			}
			if v = pts.Values; pts.Word != "" {
				v = pts.Word
			}
		}
		if s, ok := v.(string); ok && slices.Contains(p.Words, s) {
			return Points{Word: s}, nil
		}
		if f, err := toFloat(v); err == nil {
			return p.toCount(f)
		}
		values, err := p.toNumbers(v)
		if err != nil {
			return nil, err
		}
		return Points{Values: values}, nil
	}
	return nil, fmt.Errorf("unknown kind %q", p.Kind)
}

func (p *Param) toCount(f float64) (any, error) {
	if f < 1 || f != math.Trunc(f) || f > 1<<31 {
		return nil, fmt.Errorf("%v is not a count (a whole number from 1 up) nor a list of numbers", f)
	}
	return Points{Count: int(f)}, nil
}

func (p *Param) toNumbers(v any) ([]float64, error) {
	var out []float64
	switch l := v.(type) {
	case []float64:
		out = slices.Clone(l)
	case []any:
		for _, e := range l {
			f, err := toFloat(e)
			if err != nil {
				return nil, err
			}
			out = append(out, f)
		}
	case string:
		if strings.Trim(l, "[] \t") == "" {
			break
		}
		var err error
		if out, err = parseNumbers(l); err != nil {
			return nil, err
		}
	default:
		f, err := toFloat(v)
		if err != nil {
			return nil, fmt.Errorf("%v is not a list of numbers", quote(v))
		}
		out = []float64{f}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("the list is empty")
	}
	for _, f := range out {
		if err := p.checkRange(f); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// maxList bounds the elements of a range such as "0..1e12 step 1".
const maxList = 1_000_000

// parseNumbers reads "a,b,c", "[a, b, c]" and "low..high step s".
func parseNumbers(s string) ([]float64, error) {
	t := strings.TrimSpace(s)
	if open, closed := strings.HasPrefix(t, "["), strings.HasSuffix(t, "]"); open != closed {
		return nil, fmt.Errorf("%q has a bracket without its other half", s)
	}
	t = strings.TrimSuffix(strings.TrimPrefix(t, "["), "]")
	if strings.TrimSpace(t) == "" {
		return nil, nil // which is refused as a list without an element
	}
	if low, rest, ok := strings.Cut(t, ".."); ok {
		high, step, stepped := strings.Cut(rest, "step")
		a, errA := toFloat(low)
		b, errB := toFloat(high)
		d := 1.0
		var errD error
		if stepped {
			d, errD = toFloat(step)
		}
		if errA != nil || errB != nil || errD != nil || math.IsInf(a, 0) || math.IsInf(b, 0) || !(d > 0) ||
			math.IsInf(d, 0) || b < a {
			return nil, fmt.Errorf("%q is not a range; write it as 0..84 step 7", s)
		}
		count := math.Floor((b-a)/d*(1+1e-12)) + 1
		if count > maxList {
			return nil, fmt.Errorf("%q has %.0f elements; at most %d are allowed", s, count, maxList)
		}
		out := make([]float64, int(count))
		for i := range out {
			out[i] = min(a+float64(i)*d, b) // rounding must not carry it beyond the end
		}
		return out, nil
	}
	var out []float64
	for _, e := range strings.Split(t, ",") {
		f, err := toFloat(e)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

func toFloat(v any) (float64, error) {
	switch n := v.(type) {
	case float64:
		return finiteOrInf(n)
	case float32:
		return finiteOrInf(float64(n))
	case int:
		return float64(n), nil
	case int64:
		return float64(n), nil
	case uint64:
		return float64(n), nil
	case json.Number:
		f, err := n.Float64()
		if err != nil {
			return 0, fmt.Errorf("%q is not a number", string(n))
		}
		return f, nil
	case string:
		s := strings.TrimSpace(n)
		switch strings.ToLower(s) {
		case "inf", "+inf", ".inf", "+.inf", "infinity":
			return math.Inf(1), nil
		case "-inf", "-.inf", "-infinity":
			return math.Inf(-1), nil
		}
		f, err := strconv.ParseFloat(s, 64)
		if day, err := time.Parse(time.DateOnly, s); err == nil {
			return 0, fmt.Errorf("%q is not a number: a date is written as its days since 1970-01-01, %d", n,
				day.Unix()/(24*60*60))
		}
		if err != nil || strings.ContainsAny(s, "xX_") {
			return 0, fmt.Errorf("%q is not a number", n)
		}
		return finiteOrInf(f)
	}
	return 0, fmt.Errorf("%v is not a number", quote(v))
}

func finiteOrInf(f float64) (float64, error) {
	if math.IsNaN(f) {
		return 0, fmt.Errorf("NaN is not a number that can be used")
	}
	return f + 0, nil // -0 becomes 0: equal settings have equal keys
}

func (p *Param) checkRange(f float64) error {
	if math.IsInf(f, 0) {
		if p.Infinite && f > 0 {
			return nil
		}
		return fmt.Errorf("%v is not finite", FormatNumber(f))
	}
	low := p.Min != nil && (f < *p.Min || p.OpenMin && f == *p.Min)
	high := p.Max != nil && (f > *p.Max || p.OpenMax && f == *p.Max)
	if low || high {
		return fmt.Errorf("%v is outside %s", FormatNumber(f), p.Range())
	}
	return nil
}

// Range describes the permitted interval, such as "(0, 1)"; empty for none.
func (p *Param) Range() string {
	if p.Min == nil && p.Max == nil {
		return ""
	}
	open, low := "(", "-inf"
	if p.Min != nil {
		low = FormatNumber(*p.Min)
		if !p.OpenMin {
			open = "["
		}
	}
	closing, high := ")", "inf"
	if p.Max != nil {
		high = FormatNumber(*p.Max)
		if !p.OpenMax {
			closing = "]"
		}
	} else if p.Infinite {
		closing = "]"
	}
	return open + low + ", " + high + closing
}

// FormatNumber writes the shortest text that reads back as the same number.
func FormatNumber(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// FormatValue writes a parameter's value as a user would on a command line.
func FormatValue(v any) string {
	switch x := v.(type) {
	case float64:
		return FormatNumber(x)
	case []float64:
		parts := make([]string, len(x))
		for i, f := range x {
			parts[i] = FormatNumber(f)
		}
		return "[" + strings.Join(parts, ",") + "]"
	case Points:
		switch {
		case x.Word != "":
			return x.Word
		case x.Values != nil:
			return FormatValue(x.Values)
		}
		return strconv.Itoa(x.Count)
	}
	return fmt.Sprint(v)
}

// MarshalJSON writes the parameters in the order of their names, an infinity
// as the text "inf".
func (p Params) MarshalJSON() ([]byte, error) {
	out := make(map[string]any, len(p))
	for k, v := range p {
		out[k] = plain(v)
	}
	return json.Marshal(out)
}

// plain returns a value that JSON can hold.
func plain(v any) any {
	switch x := v.(type) {
	case float64:
		if math.IsInf(x, 0) {
			return FormatNumber(x)
		}
	case Points:
		switch {
		case x.Word != "":
			return x.Word
		case x.Values == nil:
			return x.Count
		}
		return plain(x.Values)
	case []float64:
		if slices.ContainsFunc(x, func(f float64) bool { return math.IsInf(f, 0) }) {
			out := make([]any, len(x))
			for i, f := range x {
				out[i] = plain(f)
			}
			return out
		}
	}
	return v
}

func quote(v any) string {
	if s, ok := v.(string); ok {
		return strconv.Quote(shortened(s))
	}
	return fmt.Sprint(v)
}
