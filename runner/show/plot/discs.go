package plot

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"privkern/runner/experiment"
)

// plotDiscs draws discs; those drawn later lie over the earlier ones.
func plotDiscs(c draw.Canvas, d *experiment.Discs, tx, ty func(float64) vg.Length) {
	for i, y := range d.Y {
		radius, opacity := tx(d.X[i]+d.Radius[i])-tx(d.X[i]), 1.0
		if d.Opacity != nil {
			opacity = d.Opacity[i]
		}
		if !math.IsNaN(y) && radius > 0 && opacity > 0 {
			disc(c, discColors(d, opacity), vg.Point{X: tx(d.X[i]), Y: ty(y)}, radius)
		}
	}
}

// discColor has the colours of a disc. Filled discs have no outline.
type discColor struct {
	fill, line color.NRGBA
	open       bool
}

func discColors(d *experiment.Discs, opacity float64) discColor {
	out := discColor{fill: colorOf(d.Color), line: colorOf(d.Color), open: d.Open}
	if d.Open {
		out.fill = color.NRGBA{0xff, 0xff, 0xff, 0xff}
	}
	out.fill.A = uint8(math.Round(255 * opacity))
	out.line.A = out.fill.A
	return out
}

// discOutline is the width of the outline, which lies inside the disc so that open and filled
// discs of one radius have equal size. That of small discs is a quarter of the radius, so
// that they look white.
const discOutline = vg.Length(0.6)

func disc(c draw.Canvas, col discColor, at vg.Point, radius vg.Length) {
	circle := func(r vg.Length) vg.Path {
		var p vg.Path
		p.Move(vg.Point{X: at.X + r, Y: at.Y})
		p.Arc(at, r, 0, 2*math.Pi)
		p.Close()
		return p
	}
	if !col.open {
		c.SetColor(col.fill)
		c.Fill(circle(radius))
		return
	}
	width := min(discOutline, radius/4)
	inner := circle(radius - width/2)
	c.SetColor(col.fill)
	c.Fill(inner)
	c.SetLineStyle(draw.LineStyle{Color: col.line, Width: width})
	c.Stroke(inner)
}
