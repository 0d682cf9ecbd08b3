package chart

import (
	"cmp"
	"math"
	"slices"

	"privkern/runner/experiment"
	"privkern/runner/show/summary"
)

// axis is a setting that varies, with its values: numbers in ascending order, then the others, such as inf, in that of
// the plan. One with fewer than two numbers has all values in the order of the plan.
type axis struct {
	name    string
	label   string // with the unit
	values  []value
	numbers int     // of the values; 0 for categories
	of      []int32 // the value of each row
}

// value is a value of a setting.
type value struct {
	text   string
	number float64 // NaN for none
	word   bool    // a text, which needs no name of its setting to be understood
}

// axesOf returns the settings with more than one value.
func axesOf(t *summary.MetricTable, units map[string]string) []*axis {
	var out []*axis
	for _, name := range t.Varying {
		a := &axis{name: name, label: name}
		if units[name] != "" {
			a.label += " (" + units[name] + ")"
		}
		place := map[string]int32{}
		a.of = make([]int32, len(t.Rows)) // slices that grow would leave as much behind
		for row, r := range t.Rows {
			text := textOf(r, name)
			i, known := place[text]
			if !known {
				i = int32(len(place))
				place[text] = i
			}
			a.of[row] = i
		}
		a.values = make([]value, len(place))
		for text, i := range place {
			a.values[i].text = text
		}
		for row, i := range a.of {
			a.values[i] = valueOf(t.Rows[row].Params[name], a.values[i].text)
		}
		if len(a.values) > 1 {
			a.sort()
			out = append(out, a)
		}
	}
	return out
}

// textOf returns a setting of a row as text, empty where it has none.
func textOf(r *summary.Row, name string) string {
	v, set := r.Params[name]
	if !set { // a default of a later setting, or one without an effect
		return ""
	}
	return experiment.FormatValue(v)
}

func valueOf(v any, text string) value {
	out := value{text: cmp.Or(text, "unset"), number: math.NaN()}
	switch x := v.(type) {
	case float64:
		out.number = x
	case int:
		out.number = float64(x)
	case experiment.Points:
		if x.IsCount() {
			out.number = float64(x.Count)
		}
	case string:
		out.word = x != ""
	}
	if !finite(out.number) {
		out.number = math.NaN()
	}
	return out
}

// sort puts the numbers first.
func (a *axis) sort() {
	for _, v := range a.values {
		if !math.IsNaN(v.number) {
			a.numbers++
		}
	}
	if a.numbers < 2 {
		a.numbers = 0
		return
	}
	order := make([]int, len(a.values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		x, y := a.values[i].number, a.values[j].number
		if math.IsNaN(x) || math.IsNaN(y) {
			return cmp.Compare(btoi(math.IsNaN(x)), btoi(math.IsNaN(y)))
		}
		return cmp.Compare(x, y)
	})
	place, sorted := make([]int32, len(order)), make([]value, len(order))
	for to, from := range order {
		place[from], sorted[to] = int32(to), a.values[from]
	}
	for row, v := range a.of {
		a.of[row] = place[v]
	}
	a.values = sorted
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// entry names a value for a legend or a title.
func (a *axis) entry(i int32) string {
	if a.values[i].word {
		return a.values[i].text
	}
	return a.name + " = " + a.values[i].text
}

// logarithmic reports whether numbers are positive, and spread over more than a decade or more evenly spaced in the
// logarithm than otherwise.
func (a *axis) logarithmic() bool {
	if a.numbers < 2 || a.values[0].number <= 0 {
		return false
	}
	if a.values[a.numbers-1].number > 10*a.values[0].number {
		return true
	}
	uneven := func(scale func(float64) float64) float64 { // the largest distance between neighbours over the least
		least, largest := math.Inf(1), 0.0
		for i := 1; i < a.numbers; i++ {
			d := scale(a.values[i].number) - scale(a.values[i-1].number)
			least, largest = min(least, d), max(largest, d)
		}
		return largest / least
	}
	const much = 1.5 // fewer do not tell
	return uneven(math.Log)*much < uneven(func(v float64) float64 { return v })
}

// places returns where the values stand on the x axis: numbers at themselves, values without a number behind them,
// and categories at 0, 1, 2, ....
func (a *axis) places() []float64 {
	out := make([]float64, len(a.values))
	if a.numbers == 0 {
		for i := range out {
			out[i] = float64(i)
		}
		return out
	}
	low, high := a.values[0].number, a.values[a.numbers-1].number
	share := min(max(1/float64(a.numbers-1), 0.12), 0.5) // of the range, from one name to the next
	for i, v := range a.values {
		behind := float64(i-a.numbers+1) * share
		switch {
		case i < a.numbers:
			out[i] = v.number
		case a.logarithmic():
			out[i] = high * math.Pow(high/low, behind)
		default:
			out[i] = high + (high-low)*behind
		}
	}
	return out
}

// shifted returns the place of a value, moved by a share of the step from the value before it.
func (a *axis) shifted(places []float64, i int, share float64) float64 {
	switch {
	case share == 0:
		return places[i]
	case a.numbers == 0:
		return places[i] + share
	case a.logarithmic():
		return places[i] * math.Pow(places[i]/places[i-1], share)
	}
	return places[i] + share*(places[i]-places[i-1])
}

// names are the values that stand on the x axis with a name.
func (a *axis) names(places []float64) []experiment.Name {
	var out []experiment.Name
	for i := a.numbers; i < len(a.values); i++ {
		out = append(out, experiment.Name{At: places[i], Text: a.values[i].text})
	}
	return out
}

// thinned returns which of n things are drawn where there is room for most: every k-th, from the first on.
func thinned(n, most int) (every int) { return max((n+most-1)/max(most, 1), 1) }
