package search

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"privkern/runner/experiment"
)

// Scale is how a dimension runs from its lowest to its highest value.
type Scale string

// Scales of a dimension. A dimension of values without an order has none.
const (
	Linear Scale = "linear"
	Log    Scale = "log"
)

// Dimension is a setting with the values that it may take: numbers from Low to High, or a list of Values.
type Dimension struct {
	Param     *experiment.Param
	Scale     Scale // empty for a list
	Low, High float64
	Whole     bool // whole numbers only
	Values    []any
}

// String writes the dimension as a sweep file does.
func (d *Dimension) String() string {
	if d.Scale == "" {
		return list(d.Values)
	}
	return fmt.Sprintf("%s(%s, %s)", d.Scale, experiment.FormatNumber(d.Low), experiment.FormatNumber(d.High))
}

func list(values []any) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = experiment.FormatValue(v)
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

// Interval returns a dimension of numbers. It refuses bounds that the setting does not take, and an interval that is
// empty or inverted.
func Interval(p *experiment.Param, scale Scale, low, high float64) (*Dimension, error) {
	d := &Dimension{Param: p, Scale: scale, Low: low, High: high,
		Whole: p.Kind == experiment.Integer || p.Kind == experiment.CountOrNumbers}
	if !d.Whole && p.Kind != experiment.Number && p.Kind != experiment.NumberOrNumbers {
		return nil, fmt.Errorf("parameter %q takes no numbers of an interval; give a list of its values", p.Name)
	}
	for _, v := range []float64{low, high} {
		switch {
		case math.IsInf(v, 0) || math.IsNaN(v):
			return nil, fmt.Errorf("parameter %q: the bounds of an interval are finite numbers; a list may have others",
				p.Name)
		case scale == Log && v <= 0:
			return nil, fmt.Errorf("parameter %q: the bound %g has no logarithm; bounds of log(a, b) are positive", p.Name, v)
		}
		if _, err := p.Convert(v); err != nil {
			return nil, err
		}
	}
	if math.IsInf(high-low, 0) {
		return nil, fmt.Errorf("parameter %q: the interval from %g to %g is too wide", p.Name, low, high)
	}
	if low >= high {
		return nil, fmt.Errorf("parameter %q: the interval from %g to %g is empty; the lower bound stands first", p.Name,
			low, high)
	}
	return d, nil
}

// digits are the significant digits of a number of an interval, of those of its width.
const digits = 5

// at returns the value at a coordinate in [0, 1].
func (d *Dimension) at(u float64) any {
	u = min(max(u, 0), 1)
	switch {
	case d.Scale == "":
		return d.Values[min(int(u*float64(len(d.Values))), len(d.Values)-1)]
	case d.Whole && d.Scale == Log:
		return min(math.Floor(math.Exp(math.Log(d.Low)+u*(math.Log(d.High+1)-math.Log(d.Low)))+1e-9), d.High)
	case d.Whole:
		return min(d.Low+math.Floor(u*(d.High-d.Low+1)), d.High)
	case d.Scale == Log:
		v := math.Exp(math.Log(d.Low) + u*(math.Log(d.High)-math.Log(d.Low)))
		return d.rounded(v, math.Log10(v))
	}
	return d.rounded(d.Low+u*(d.High-d.Low), math.Log10(d.High-d.Low))
}

// rounded returns a number with as many decimals as make it exact to digits of a number of that magnitude, a decimal
// logarithm.
func (d *Dimension) rounded(v, magnitude float64) float64 {
	if v != 0 {
		precision := digits - 1 + int(math.Floor(math.Log10(math.Abs(v)))-math.Floor(magnitude))
		if precision < 0 {
			v = 0
		}
		v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'e', max(precision, 0), 64), 64)
	}
	return min(max(v, d.Low), d.High)
}

// of returns a coordinate of a value, which lies in the middle of those of the value.
func (d *Dimension) of(value any) float64 {
	text := experiment.FormatValue(value)
	if d.Scale == "" {
		i := slices.IndexFunc(d.Values, func(v any) bool { return experiment.FormatValue(v) == text })
		return (float64(max(i, 0)) + 0.5) / float64(len(d.Values))
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil { // a word, as the default of a setting without effect may be
		return 0
	}
	var u float64
	switch {
	case d.Whole && d.Scale == Log:
		u = ((math.Log(v)+math.Log(v+1))/2 - math.Log(d.Low)) / (math.Log(d.High+1) - math.Log(d.Low))
	case d.Whole:
		u = (v - d.Low + 0.5) / (d.High - d.Low + 1)
	case d.Scale == Log:
		u = (math.Log(v) - math.Log(d.Low)) / (math.Log(d.High) - math.Log(d.Low))
	default:
		u = (v - d.Low) / (d.High - d.Low)
	}
	if math.IsNaN(u) { // a default without a logarithm
		return 0
	}
	return min(max(u, 0), 1)
}

// AtEnds returns the intervals of which the settings have the first or the last value.
func (s *Spec) AtEnds(p experiment.Params) (out []*Dimension) {
	p = s.Experiment.Whole(p)
	for _, d := range s.Space {
		text := experiment.FormatValue(p[d.Param.Name])
		if d.Scale != "" && (text == experiment.FormatNumber(d.Low) || text == experiment.FormatNumber(d.High)) {
			out = append(out, d)
		}
	}
	return out
}

// features returns the coordinate, or for a list one coordinate for each value.
func (d *Dimension) features(u float64) []float64 {
	if d.Scale != "" {
		return []float64{u}
	}
	out := make([]float64, len(d.Values))
	out[min(int(u*float64(len(out))), len(out)-1)] = 1
	return out
}
