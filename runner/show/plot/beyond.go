package plot

import (
	"cmp"
	"slices"
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

// beyond are markers that lie beyond the ends of the y axis. They are drawn at the edge, each with an arrow and its
// value, and those of one abscissa in a column in the order of their values, the farthest at the edge.
type beyond []outlier

// outlier is a marker beyond an end.
type outlier struct {
	line  experiment.Line
	x, y  float64
	above bool
	by    float64 // the distance from the end
}

const (
	valueSize = vg.Length(8.5)
	valueStep = vg.Length(11) // between values of one abscissa
	valueGap  = vg.Length(6)  // of a value from its marker
)

// past returns how far a value lies beyond an end of the y axis, if it is positive.
func past(p *experiment.Panel, y float64) float64 {
	if !p.Ends() {
		return 0
	}
	return max(p.YEnds[0]-y, y-p.YEnds[1])
}

// add adds the marker i of a curve, and reports whether it lies beyond an end.
func (b *beyond) add(p *experiment.Panel, l experiment.Line, i int) bool {
	y, by := l.Y[i], past(p, l.Y[i])
	if by > 0 {
		*b = append(*b, outlier{l, l.X[i], y, y > p.YEnds[1], by})
	}
	return by > 0
}

// draw draws the markers at their abscissae.
func (b beyond) draw(c *draw.Canvas, tx func(float64) vg.Length) {
	slices.SortStableFunc(b, func(a, b outlier) int { return cmp.Compare(b.by, a.by) })
	type column struct {
		x     float64
		above bool
	}
	placed := map[column]vg.Length{}
	for _, o := range b {
		from := placed[column{o.x, o.above}] + valueStep/2
		placed[column{o.x, o.above}] += valueStep
		at, arrow := vg.Point{X: tx(o.x), Y: c.Min.Y + from}, "↓ "
		if o.above {
			at.Y, arrow = c.Max.Y-from, "↑ "
		}
		marker(c, o.line, at)
		sty := style(valueSize, false)
		sty.Color, sty.XAlign, sty.YAlign = colorOf(o.line.Color), draw.XLeft, draw.YCenter
		label := vg.Point{X: at.X + valueGap, Y: at.Y}
		if at.X > c.Center().X {
			sty.XAlign, label.X = draw.XRight, at.X-valueGap
		}
		c.FillText(sty, label, arrow+strconv.FormatFloat(o.y, 'g', 3, 64))
	}
}
