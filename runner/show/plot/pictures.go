package plot

import (
	"image"
	"image/color"
	"math"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"privkern/runner/experiment"
)

// pictureGrid is a grid of pictures with its labels, laid out for a width. The
// whole grid becomes one image, which keeps the drawing small.
type pictureGrid struct {
	pictures           *experiment.Pictures
	rowLabels          []string // broken into lines
	xLabel             string
	left, above, below vg.Length // room for the labels
	pixel              vg.Length // side of a pixel
}

const (
	largestPicture = vg.Length(64) // maximum side of a picture
	pictureLabel   = vg.Length(5)  // between labels and pictures
)

// newPictureGrid lays the grid out for a width.
func newPictureGrid(p *experiment.Pictures, xLabel string, width vg.Length) *pictureGrid {
	g := &pictureGrid{pictures: p}
	for _, s := range p.RowLabels {
		s = wrap(s, rowLabelStyle(), width*0.25)
		g.rowLabels = append(g.rowLabels, s)
		// More than its width: the viewer's font may be wider than the one measured.
		g.left = max(g.left, 1.18*rowLabelStyle().Width(s)+pictureLabel)
	}
	columns, _ := g.size()
	g.pixel = min((width-g.left)/columns, largestPicture/vg.Length(max(p.Rows, p.Columns)))
	if len(g.rowLabels) > 0 {
		// A label may be higher than a picture.
		tallest := vg.Length(0)
		for _, s := range g.rowLabels {
			tallest = max(tallest, rowLabelStyle().Height(s))
		}
		g.above = max(g.above, (tallest-g.pixel*vg.Length(p.Rows))/2)
		g.below = max(0, (tallest-g.pixel*vg.Length(p.Rows))/2)
	}
	xStyle := style(10.5, false)
	if g.xLabel = wrap(xLabel, xStyle, columns*g.pixel); g.xLabel != "" {
		g.below += pictureLabel + xStyle.Height(g.xLabel)
	}
	return g
}

// gap returns the number of pixels between pictures.
func (g *pictureGrid) gap() int { return max(1, min(g.pictures.Rows, g.pictures.Columns)/14) }

// step returns the distance of adjacent pictures in pixels.
func (g *pictureGrid) step(side int) vg.Length { return vg.Length(side + g.gap()) }

// size returns the size of the grid in pixels.
func (g *pictureGrid) size() (columns, rows vg.Length) {
	p, gap := g.pictures, vg.Length(g.gap())
	return vg.Length(len(p.Grid[0]))*g.step(p.Columns) - gap, vg.Length(len(p.Grid))*g.step(p.Rows) - gap
}

func (g *pictureGrid) height() vg.Length {
	_, rows := g.size()
	return g.above + rows*g.pixel + g.below
}

func rowLabelStyle() text.Style {
	s := style(9.5, false)
	s.XAlign, s.YAlign = draw.XRight, draw.YCenter
	return s
}

// draw draws the grid at the top of the canvas, centred, and returns the area of the pictures.
func (g *pictureGrid) draw(c draw.Canvas) draw.Canvas {
	columns, rows := g.size()
	// The grid shrinks where it has less room than it was laid out for.
	pixel := min(g.pixel, (c.Max.Y-c.Min.Y-g.above-g.below)/rows)
	x0 := c.Min.X + g.left + (c.Max.X-c.Min.X-g.left-columns*pixel)/2
	y1 := c.Max.Y - g.above
	area := draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
		Min: vg.Point{X: x0, Y: y1 - rows*pixel}, Max: vg.Point{X: x0 + columns*pixel, Y: y1}}}
	c.DrawImage(area.Rectangle, g.image())
	p := g.pictures
	for i, s := range g.rowLabels {
		c.FillText(rowLabelStyle(),
			vg.Point{X: x0 - pictureLabel, Y: y1 - pixel*(vg.Length(i)*g.step(p.Rows)+vg.Length(p.Rows)/2)}, s)
	}
	if g.xLabel != "" {
		s := style(10.5, false)
		s.XAlign, s.YAlign = draw.XCenter, draw.YTop
		c.FillText(s, vg.Point{X: area.Center().X, Y: area.Min.Y - pictureLabel}, g.xLabel)
	}
	return area
}

// image paints all pictures on white.
func (g *pictureGrid) image() image.Image {
	p := g.pictures
	columns, rows := g.size()
	out := image.NewGray(image.Rect(0, 0, int(columns), int(rows)))
	for i := range out.Pix {
		out.Pix[i] = 0xff
	}
	for i, row := range p.Grid {
		for j, pixels := range row {
			x, y := j*(p.Columns+g.gap()), i*(p.Rows+g.gap())
			for k, v := range pixels {
				out.SetGray(x+k%p.Columns, y+k/p.Columns, grey(v))
			}
		}
	}
	return out
}

func grey(v float64) color.Gray {
	if !(v > 0) {
		return color.Gray{}
	}
	return color.Gray{Y: uint8(math.Round(255 * min(v, 1)))}
}
