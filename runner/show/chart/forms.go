package chart

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"privkern/runner/experiment"
	"privkern/runner/show/summary"
)

// facet is a combination of values of the settings that panels stand for.
type facet struct {
	title string
	rows  []int32
}

// facets groups the rows with a finite value by the settings, in the order of the plan. Those beyond the limit are left
// out, which a note states.
func (c *Chart) facets(by []*axis) []facet {
	var out []facet
	place := map[string]int{}
	for _, i := range c.valued {
		var parts []string
		for _, a := range by {
			parts = append(parts, a.entry(a.of[i]))
		}
		title := strings.Join(parts, ", ")
		at, known := place[title]
		if !known {
			at = len(out)
			place[title] = at
			out = append(out, facet{title: title})
		}
		out[at].rows = append(out[at].rows, i)
	}
	if n := len(out); n > maxPanels {
		out = out[:maxPanels]
		c.notes = append(c.notes, fmt.Sprintf("%d of %d combinations are drawn, those that come first in the plan",
			maxPanels, n))
	}
	return out
}

// scale makes the axes of panels equal.
type scale struct {
	low, high float64
	positive  bool
}

func newScale() scale { return scale{math.Inf(1), math.Inf(-1), true} }

func (s *scale) add(vs ...float64) {
	for _, v := range vs {
		if finite(v) {
			s.low, s.high, s.positive = min(s.low, v), max(s.high, v), s.positive && v > 0
		}
	}
}

// logarithmic reports whether values are positive and spread over more than two decades.
func (s scale) logarithmic() bool { return s.positive && s.high > 100*s.low }

// share gives all panels one range of values.
func (c *Chart) share() {
	s := newScale()
	for _, p := range c.Panels {
		for _, l := range slices.Concat(p.Lines, p.Points) {
			s.add(l.Y...)
		}
		for _, b := range slices.Concat(p.Bands, p.Whiskers) {
			s.add(b.Low...)
			s.add(b.High...)
		}
	}
	for i := range c.Panels {
		c.Panels[i].LogY, c.Panels[i].YCovers = s.logarithmic(), [2]float64{s.low, s.high}
	}
}

// frame returns a panel without data.
func (c *Chart) frame(x *axis, title string) experiment.Panel {
	places := x.places()
	p := experiment.Panel{Title: title, XLabel: x.label, YLabel: c.label(), LogX: x.logarithmic(),
		XNames: x.names(places), XCovers: [2]float64{places[0], places[len(places)-1]}}
	if x.numbers > 0 {
		p.XNumbers = [2]float64{places[0], places[x.numbers-1]}
	} else {
		p.XCovers = [2]float64{-0.5, float64(len(places)) - 0.5}
	}
	return p
}

// curves draws a line, or a row of dots, for each value of a second setting.
func (c *Chart) curves(x *axis, rest []*axis) {
	var line *axis
	if len(rest) > 0 {
		line, rest = rest[0], rest[1:]
	}
	facets := c.facets(rest)
	lines := 1
	if line != nil {
		lines = len(line.values)
	}
	every := thinned(len(x.values), maxPoints/(lines*len(facets)))
	if every > 1 {
		c.notes = append(c.notes, fmt.Sprintf("of every %d values of %s one is drawn", every, x.name))
	}
	for _, f := range facets {
		p := c.frame(x, f.title)
		series := make([][]int32, lines)
		for _, row := range f.rows {
			at := int32(0)
			if line != nil {
				at = line.of[row]
			}
			if int(x.of[row])%every == 0 {
				series[at] = append(series[at], row)
			}
		}
		for i, rows := range series {
			if len(rows) == 0 {
				continue
			}
			name := ""
			if line != nil {
				name = line.entry(int32(i))
			}
			c.add(&p, x, rows, style{name: name, color: i, aside: aside(i, lines), gaps: c.gaps(x, line, rest, f, i)})
		}
		c.Panels = append(c.Panels, p)
	}
	c.share()
}

// style is the look of a series.
type style struct {
	name  string
	color int
	aside float64 // of dots, in steps from one value to the next
	apart bool    // dots, no line
	gaps  []int   // values of the x axis at which a line ends: there is a row, without a value
}

// aside returns how far series i of n stands from the place of a value, so that dots lie side by side.
func aside(i, n int) float64 {
	return (float64(i) - float64(n-1)/2) * min(0.7/float64(n), 0.15)
}

// gaps returns the values of the x axis at which a line of a panel has a row without a value.
func (c *Chart) gaps(x, line *axis, by []*axis, f facet, color int) (out []int) {
	like := f.rows[0]
	for _, row := range c.blank {
		same := line == nil || int(line.of[row]) == color
		for _, a := range by {
			same = same && a.of[row] == a.of[like]
		}
		if same {
			out = append(out, int(x.of[row]))
		}
	}
	return out
}

// add adds the rows of a series to a panel: numbers as a line with a band, or with whiskers where it is short, and
// others as dots with whiskers.
func (c *Chart) add(p *experiment.Panel, x *axis, rows []int32, s style) {
	places := x.places()
	at := slices.Clone(rows)
	slices.SortStableFunc(at, func(i, j int32) int { return int(x.of[i] - x.of[j]) })
	line := experiment.Line{Name: s.name, Color: s.color}
	dots := line
	var narrow, single spread
	ends := slices.Clone(s.gaps)
	slices.Sort(ends)
	for _, row := range at {
		v := int(x.of[row])
		e := mean(c.table.Rows[row], c.metric.Name)
		if v >= x.numbers || s.apart {
			dots.X, dots.Y = append(dots.X, x.shifted(places, v, s.aside)), append(dots.Y, e.Mean)
			single.add(x.shifted(places, v, s.aside), e)
			continue
		}
		for len(ends) > 0 && ends[0] < v {
			line.X, line.Y = append(line.X, places[ends[0]]), append(line.Y, math.NaN())
			narrow.add(places[ends[0]], summary.SeedMean{Mean: math.NaN()})
			ends = ends[1:]
		}
		line.X, line.Y = append(line.X, places[v]), append(line.Y, e.Mean)
		narrow.add(places[v], e)
	}
	const fewMarks, fewest = 40, 3
	line.Marked = len(line.X) <= fewMarks
	if narrow.known >= fewest && narrow.known == narrow.all && !slices.ContainsFunc(line.Y, math.IsNaN) {
		p.Bands = append(p.Bands, narrow.band(s))
		c.drawn("bands")
	} else if narrow.known > 0 {
		p.Whiskers = append(p.Whiskers, narrow.band(s))
		c.drawn("bars")
	}
	if single.known > 0 {
		p.Whiskers = append(p.Whiskers, single.band(s))
		c.drawn("bars")
	}
	if len(line.X) > 0 {
		p.Lines = append(p.Lines, line)
	}
	if len(dots.X) > 0 {
		p.Points = append(p.Points, dots)
	}
}

// drawn notes how the spread is drawn.
func (c *Chart) drawn(as string) {
	if !strings.Contains(c.bars, as) {
		c.bars = strings.TrimPrefix(c.bars+" and "+as, " and ")
	}
}

// spread is one standard error around means.
type spread struct {
	x, low, high []float64
	known, all   int
}

func (s *spread) add(x float64, e summary.SeedMean) {
	low, high := math.NaN(), math.NaN()
	if finite(e.Mean) {
		s.all++
	}
	if e.StandardError != nil && finite(e.Mean-*e.StandardError) && finite(e.Mean+*e.StandardError) {
		low, high = e.Mean-*e.StandardError, e.Mean+*e.StandardError
		s.known++
	}
	s.x, s.low, s.high = append(s.x, x), append(s.low, low), append(s.high, high)
}

func (s *spread) band(of style) experiment.Band {
	return experiment.Band{Name: of.name, X: s.x, Low: s.low, High: s.high, Color: of.color}
}

// heatmaps draws a heat map for each combination of the remaining settings.
func (c *Chart) heatmaps(x, y *axis, rest []*axis) {
	everyX, everyY := thinned(len(x.values), maxSide), thinned(len(y.values), maxSide)
	for _, t := range []struct {
		a     *axis
		every int
	}{{x, everyX}, {y, everyY}} {
		if t.every > 1 {
			c.notes = append(c.notes, fmt.Sprintf("of every %d values of %s one is drawn", t.every, t.a.name))
		}
	}
	s := newScale()
	for _, f := range c.facets(rest) {
		h := &experiment.Heatmap{Label: c.label(), Written: true, XTicks: ticks(x, everyX), YTicks: ticks(y, everyY)}
		if y.numbers > 0 {
			slices.Reverse(h.YTicks)
		}
		for range h.YTicks {
			h.Values = append(h.Values, slices.Repeat([]float64{math.NaN()}, len(h.XTicks)))
		}
		filled := false
		for _, row := range f.rows {
			column, line := int(x.of[row]), int(y.of[row])
			if column%everyX != 0 || line%everyY != 0 {
				continue
			}
			line /= everyY
			if y.numbers > 0 {
				line = len(h.YTicks) - 1 - line // upwards
			}
			v := mean(c.table.Rows[row], c.metric.Name).Mean
			h.Values[line][column/everyX] = v
			s.add(v)
			filled = true
		}
		if filled {
			c.Panels = append(c.Panels, experiment.Panel{Title: f.title, XLabel: x.label, YLabel: y.label, Heatmap: h})
		}
	}
	for i := range c.Panels {
		c.Panels[i].Heatmap.Covers = [2]float64{s.low, s.high}
	}
}

// ticks are every k-th value of an axis.
func ticks(a *axis, every int) (out []string) {
	for i := 0; i < len(a.values); i += every {
		text := a.values[i].text
		if n := a.values[i].number; !math.IsNaN(n) {
			text = strconv.FormatFloat(n, 'g', 4, 64) // the file of numbers has all digits
		}
		out = append(out, text)
	}
	return out
}

// scatter draws a dot for each row over each setting.
func (c *Chart) scatter() {
	axes := c.axes
	if n := len(axes); n > maxPanels {
		axes = axes[:maxPanels]
		c.notes = append(c.notes, fmt.Sprintf("%d of %d settings are drawn, those with the most values", maxPanels, n))
	}
	every := thinned(len(c.valued), maxDots/len(axes))
	if every > 1 {
		c.notes = append(c.notes, fmt.Sprintf("of every %d rows one is drawn", every))
	}
	var rows []int32
	for i := 0; i < len(c.valued); i += every {
		rows = append(rows, c.valued[i])
	}
	for _, a := range axes {
		p := c.frame(a, "")
		c.add(&p, a, rows, style{apart: true})
		c.Panels = append(c.Panels, p)
	}
	c.share()
}
