package plot

import (
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"privkern/runner/experiment"
)

// lines returns the parts of a curve between the ends of the y axis.
func (d curves) lines(c draw.Canvas, pts []vg.Point) [][]vg.Point {
	if !d.panel.Ends() {
		return [][]vg.Point{pts}
	}
	return c.ClipLinesXY(pts)
}

// polygon returns the part of an area between the ends of the y axis.
func (d curves) polygon(c draw.Canvas, outline []vg.Point) []vg.Point {
	if !d.panel.Ends() {
		return outline
	}
	return c.ClipPolygonXY(outline)
}

// beyond draws markers that lie beyond the ends of the y axis: at the edge, each with its value, and those of one
// abscissa below one another.
type beyond struct {
	panel  *experiment.Panel
	placed map[point]int // how many there are by abscissa and end
}

const (
	valueSize = vg.Length(8.5)
	valueStep = vg.Length(11) // between values of one abscissa
	valueGap  = vg.Length(6)  // of a value from its marker
)

// draw draws the marker i of a curve at an abscissa, and reports whether it lies beyond an end.
func (b *beyond) draw(c *draw.Canvas, l experiment.Line, i int, x vg.Length) bool {
	y := l.Y[i]
	if !b.panel.Ends() || y >= b.panel.YEnds[0] && y <= b.panel.YEnds[1] {
		return false
	}
	at, inwards, end := vg.Point{X: x, Y: c.Min.Y}, valueStep, b.panel.YEnds[0]
	if y > b.panel.YEnds[1] {
		at.Y, inwards, end = c.Max.Y, -valueStep, b.panel.YEnds[1]
	}
	place := point{l.X[i], end}
	at.Y += inwards * (vg.Length(b.placed[place]) + 0.5)
	b.placed[place]++
	marker(c, l, at)
	sty := style(valueSize, false)
	sty.Color, sty.XAlign, sty.YAlign = colorOf(l.Color), draw.XLeft, draw.YCenter
	label := vg.Point{X: at.X + valueGap, Y: at.Y}
	if x > c.Center().X {
		sty.XAlign, label.X = draw.XRight, at.X-valueGap
	}
	c.FillText(sty, label, strconv.FormatFloat(y, 'g', 3, 64))
	return true
}
