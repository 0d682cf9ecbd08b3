package plot

import (
	"math"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// axes are the two axes of a panel with the data between them, laid out as by
// gonum.org/v1/plot. That package is not imported, because it links encoders of PDF, EPS and
// TeX and ten more fonts.
type axes struct {
	x, y axis
	data []drawing
}

// drawing is a part of a panel that is drawn between the axes.
type drawing interface {
	draw(c draw.Canvas, a *axes)
}

// axis is a line with ticks, at the bottom or at the left of the data.
type axis struct {
	low, high   float64
	logarithmic bool
	ticker      ticker
	tickLength  vg.Length
	tickLabel   text.Style
	label       string // of the horizontal axis, broken into lines
	labelStyle  text.Style
}

// ticker chooses the ticks of a range.
type ticker interface {
	ticks(low, high float64) []tick
}

// tick is a mark at a value. One without a label is half as long.
type tick struct {
	value float64
	label string
}

// constantTicks are the same for every range.
type constantTicks []tick

func (t constantTicks) ticks(float64, float64) []tick { return t }

const (
	labelPadding = vg.Length(3) // between the label of an axis and those of its ticks
	tickSpace    = vg.Length(3) // between ticks and labels that end at them
)

// axisLine is the style of axes and ticks.
var axisLine = draw.LineStyle{Color: frame, Width: 0.7}

// share returns the position of v between the ends of the axis, from 0 to 1.
func (a *axis) share(v float64) float64 {
	if a.logarithmic {
		low := math.Log(a.low)
		return (math.Log(v) - low) / (math.Log(a.high) - low)
	}
	return (v - a.low) / (a.high - a.low)
}

// all returns the ticks of the axis.
func (a *axis) all() []tick { return a.ticker.ticks(a.low, a.high) }

// boxes returns the positions of labelled ticks, and the outlines of their labels relative to
// the ticks.
func (a *axis) boxes() (at []float64, boxes []vg.Rectangle) {
	for _, t := range a.all() {
		if t.label != "" {
			at, boxes = append(at, a.share(t.value)), append(boxes, a.tickLabel.Rectangle(t.label))
		}
	}
	return at, boxes
}

// largest returns the width and the height of the largest labels of the ticks.
func (a *axis) largest() (size vg.Point) {
	_, boxes := a.boxes()
	for _, b := range boxes {
		size.X, size.Y = max(size.X, b.Size().X), max(size.Y, b.Size().Y)
	}
	return size
}

// height returns the height of the horizontal axis below the data.
func (a *axis) height() vg.Length {
	h := axisLine.Width / 2
	if a.label != "" {
		h += a.labelStyle.Height(a.label) + labelPadding
	}
	if len(a.all()) > 0 {
		h += a.tickLength + a.largest().Y
	}
	if a.tickLabel.Rotation != 0 {
		h += tickSpace
	}
	return h
}

// width returns the width of the vertical axis at the left of the data.
func (a *axis) width() vg.Length {
	w := axisLine.Width / 2
	if len(a.all()) == 0 {
		return w
	}
	if widest := a.largest().X; widest > 0 {
		w += widest + tickSpace
	}
	return w + a.tickLength
}

// between returns the area of the data within that of the axes, so that the last label of
// neither axis is cut off.
func (p *axes) between(c draw.Canvas) draw.Canvas {
	return p.y.below(p.x.leftOf(draw.Crop(c, p.y.width(), 0, p.x.height(), 0)))
}

// leftOf cuts off the room at the right that labels of the horizontal axis need.
func (a *axis) leftOf(c draw.Canvas) draw.Canvas {
	at, boxes := a.boxes()
	if a.label != "" {
		middle := a.share(0.5 * (a.low + a.high))
		at, boxes = append([]float64{middle}, at...), append([]vg.Rectangle{a.labelStyle.Rectangle(a.label)}, boxes...)
	}
	reach, end, beyond := c.Max.X, vg.Length(1), vg.Length(0)
	for i, b := range boxes {
		if x := c.X(at[i]) + b.Min.X + b.Size().X; b.Size().X > 0 && at[i] <= 1 && x > reach {
			reach, end, beyond = x, vg.Length(at[i]), b.Min.X+b.Size().X
		}
	}
	c.Min.X, c.Max.X = shortened(c.Min.X, c.Max.X-beyond, end)
	return c
}

// below cuts off the room at the top that labels of the vertical axis need.
func (a *axis) below(c draw.Canvas) draw.Canvas {
	extents := a.tickLabel.FontExtents()
	at, boxes := a.boxes()
	reach, end, beyond := c.Max.Y, vg.Length(1), vg.Length(0)
	for i, b := range boxes {
		b = b.Add(vg.Point{Y: extents.Height - extents.Ascent})
		if y := c.Y(at[i]) + b.Min.Y + b.Size().Y; b.Size().Y > 0 && at[i] <= 1 && y > reach {
			reach, end, beyond = y, vg.Length(at[i]), b.Min.Y+b.Size().Y
		}
	}
	c.Min.Y, c.Max.Y = shortened(c.Min.Y, c.Max.Y-beyond, end)
	return c
}

// shortened returns the ends of the range that begins at low and whose position end (0 to 1)
// lies at high.
func shortened(low, high, end vg.Length) (from, to vg.Length) {
	return -end * low / -end, (-high - end*low + low) / -end
}

// transforms returns the functions that place values in the area of the data.
func (p *axes) transforms(c *draw.Canvas) (x, y func(float64) vg.Length) {
	return func(v float64) vg.Length { return c.X(p.x.share(v)) },
		func(v float64) vg.Length { return c.Y(p.y.share(v)) }
}

// draw draws the axes, and the data between them.
func (p *axes) draw(c draw.Canvas) {
	width, height := p.y.width(), p.x.height()
	p.x.drawBelow(p.x.leftOf(draw.Crop(c, width, 0, 0, 0)))
	p.y.drawBeside(p.y.below(draw.Crop(c, 0, 0, height, 0)))
	data := p.y.below(p.x.leftOf(draw.Crop(c, width, 0, height, 0)))
	for _, d := range p.data {
		d.draw(data, p)
	}
}

// drawBelow draws the horizontal axis, from the bottom of the canvas up.
func (a *axis) drawBelow(c draw.Canvas) {
	y := c.Min.Y
	if a.label != "" {
		c.FillText(a.labelStyle, vg.Point{X: c.Center().X, Y: y + a.labelStyle.FontExtents().Descent}, a.label)
		y += a.labelStyle.Height(a.label) + labelPadding
	}
	ticks, high := a.all(), a.largest().Y
	top := y + high + a.tickLabel.FontExtents().Descent
	if a.tickLabel.Rotation != 0 {
		top = y + high
		high += tickSpace
	}
	for _, t := range ticks {
		if x := c.X(a.share(t.value)); t.label != "" && c.ContainsX(x) {
			c.FillText(a.tickLabel, vg.Point{X: x, Y: top}, t.label)
		}
	}
	if y += high; len(ticks) == 0 {
		y += axisLine.Width / 2
	}
	for _, t := range ticks {
		if x := c.X(a.share(t.value)); c.ContainsX(x) {
			c.StrokeLine2(axisLine, x, y+a.start(t), x, y+a.tickLength)
		}
	}
	if len(ticks) > 0 {
		y += a.tickLength
	}
	c.StrokeLine2(axisLine, c.Min.X, y, c.Max.X, y)
}

// drawBeside draws the vertical axis, from the left of the canvas on.
func (a *axis) drawBeside(c draw.Canvas) {
	ticks, x, labelled := a.all(), c.Min.X+a.largest().X, false
	descent := a.tickLabel.FontExtents().Descent
	for _, t := range ticks {
		if y := c.Y(a.share(t.value)); t.label != "" && c.ContainsY(y) {
			c.FillText(a.tickLabel, vg.Point{X: x, Y: y + descent}, t.label)
			labelled = true
		}
	}
	if labelled {
		x += a.tickLabel.Width(" ")
	}
	for _, t := range ticks {
		if y := c.Y(a.share(t.value)); c.ContainsY(y) {
			c.StrokeLine2(axisLine, x+a.start(t), y, x+a.tickLength, y)
		}
	}
	if len(ticks) > 0 {
		x += a.tickLength
	}
	c.StrokeLine2(axisLine, x, c.Min.Y, x, c.Max.Y)
}

// start returns the distance of a tick from its label.
func (a *axis) start(t tick) vg.Length {
	if t.label == "" {
		return a.tickLength / 2
	}
	return 0
}
