package plot

import (
	"math"
	"strings"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"privkern/runner/experiment"
)

// namedTicks are names of an axis, with the numbers of another ticker before them.
type namedTicks struct {
	numbers ticker
	last    float64 // the last abscissa with a number; −Inf for none
	names   constantTicks
}

func (t namedTicks) ticks(low, _ float64) []tick {
	var out []tick
	if low < t.last {
		for _, n := range t.numbers.ticks(low, t.last) {
			if n.value <= t.last {
				out = append(out, n)
			}
		}
	}
	return append(out, t.names...)
}

const (
	nameStep    = vg.Length(11) // between names that read upwards
	longestName = 22            // characters of a name
)

// name gives the axis the names of a panel whose abscissae have a range. They read upwards where they do not fit the
// width side by side, and every k-th is written where even so there are too many.
func (a *axis) name(p *experiment.Panel, x interval, width vg.Length) {
	t := namedTicks{numbers: a.ticker, last: math.Inf(-1)}
	if p.XNumbers != [2]float64{} {
		t.last = p.XNumbers[1]
	}
	smallest, widest := math.Inf(1), vg.Length(0)
	share := axis{low: x.low, high: x.high, logarithmic: a.logarithmic}
	var labels []string
	for i, n := range p.XNames {
		labels = append(labels, cut(clean(n.Text), longestName))
		widest = max(widest, a.tickLabel.Width(labels[i]))
		before := t.last
		if i > 0 {
			before = p.XNames[i-1].At
		}
		if !math.IsInf(before, -1) && x.low < x.high {
			smallest = min(smallest, share.share(n.At)-share.share(before))
		}
	}
	step := (width - 60) * vg.Length(min(smallest, 1))
	fit := len(labels)
	if widest+4 > step {
		a.tickLabel = upwards(a.tickLabel)
		fit = max(int(vg.Length(len(labels))*step/nameStep), 1)
	}
	for _, n := range nominal(labels, fit) {
		t.names = append(t.names, tick{p.XNames[int(n.value)].At, n.label})
	}
	a.ticker = t
}

// upwards returns the style of labels below an axis that end at their ticks and read upwards.
func upwards(s text.Style) text.Style {
	s.Rotation, s.XAlign, s.YAlign = math.Pi/2, draw.XRight, draw.YCenter
	return s
}

// cut shortens a text to a number of characters.
func cut(s string, most int) string {
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	return strings.TrimSpace(string(r[:most-1])) + "…"
}

// whiskers draws vertical lines with short ends across, but for parts beyond the y axis.
func whiskers(c draw.Canvas, b *experiment.Band, tx, ty func(float64) vg.Length) {
	const half = vg.Length(2.5)
	line := draw.LineStyle{Color: colorOf(b.Color), Width: 0.9}
	for i, x := range b.X {
		low, high := b.Low[i], b.High[i]
		if math.IsNaN(low) || math.IsNaN(high) {
			continue
		}
		at := tx(x)
		parts := [][]vg.Point{{{X: at, Y: ty(low)}, {X: at, Y: ty(high)}}}
		for _, end := range parts[0] {
			parts = append(parts, []vg.Point{{X: at - half, Y: end.Y}, {X: at + half, Y: end.Y}})
		}
		c.StrokeLines(line, c.ClipLinesY(parts...)...)
	}
}
