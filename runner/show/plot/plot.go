// Package plot draws the panels of a figure as SVG and as PNG.
//
// The drawing is deterministic: equal panels give equal bytes. It stands on a
// white card of its own, so that it reads on light and dark pages; its colours
// are distinct with every common form of colour blindness.
//
// An experiment describes a figure in the terms of its data: lines, bands, discs,
// bars, violins, heat maps (experiment.Panel). This package determines their look.
// Panels are checked first: an infinite number is an error that names panel and
// curve, not a distorted drawing; NaN in y is a gap.
package plot

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"privkern/runner/experiment"
)

// Options controls a drawing. The zero value is usable.
type Options struct {
	// Title and Description are the drawing's alternative text, for readers who
	// do not see it. They are not drawn.
	Title, Description string
	// ID makes the identifiers inside the drawing unique in a page with several drawings.
	ID string
}

// ErrNoData is the error of a figure without data.
var ErrNoData = errors.New("no data to draw")

// SVG draws panels side by side as one SVG element, without an XML prolog, so
// that it is a file as well as a part of an HTML page. It returns an error that
// names panel and curve where data are missing, not finite (but for NaN in y,
// which is a gap), of unequal length, or not positive on a logarithmic axis.
func SVG(w io.Writer, panels []experiment.Panel, o Options) error {
	l, err := newDrawing(panels)
	if err != nil {
		return err
	}
	canvas := vgsvg.New(l.width, l.height)
	l.draw(draw.New(canvas))
	var raw bytes.Buffer
	if _, err := canvas.WriteTo(&raw); err != nil {
		return err
	}
	_, err = w.Write(finish(raw.Bytes(), l.width, l.height, o))
	return err
}

// newDrawing checks panels, and lays them out.
func newDrawing(panels []experiment.Panel) (*layout, error) {
	if len(panels) == 0 {
		return nil, fmt.Errorf("a figure without panels: %w", ErrNoData)
	}
	for i := range panels {
		if err := check(&panels[i]); err != nil {
			return nil, fmt.Errorf("panel %d %q: %w", i+1, panels[i].Title, err)
		}
	}
	return newLayout(panels), nil
}

// layout places panels and legends. All lengths are in points; y goes up.
type layout struct {
	tiles         []*tile
	columns       int
	width, height vg.Length
	rows          []row
	shared        *legend // one legend for all panels; nil: each has its own
}

type tile struct {
	panel  *experiment.Panel
	title  string // broken into lines
	yLabel string // of the vertical axis, broken into lines
	plot   *axes
	legend *legend
	// pictures replaces plot in a panel of pictures.
	pictures *pictureGrid
}

type row struct {
	panels vg.Length // height of the panels
	legend vg.Length // height of the legends under them
}

const (
	margin    = vg.Length(10) // around the drawing
	gutter    = vg.Length(18) // between panels
	legendGap = vg.Length(8)  // above a legend
)

func newLayout(panels []experiment.Panel) *layout {
	l := &layout{columns: min(len(panels), 3)}
	if len(panels) == 4 {
		l.columns = 2
	}
	width, height := []vg.Length{460, 330, 270}[l.columns-1], vg.Length(250)
	for i := range panels {
		t := &tile{panel: &panels[i], title: wrap(panels[i].Title, titleStyle(), width*0.9),
			yLabel: wrap(panels[i].YLabel, style(10.5, false), height*0.7), legend: legendOf(&panels[i])}
		if p := panels[i].Pictures; p != nil {
			t.pictures = newPictureGrid(p, panels[i].XLabel, width-t.labelWidth())
		} else {
			t.plot = newAxes(&panels[i], width, height)
		}
		l.tiles = append(l.tiles, t)
	}
	l.width = 2*margin + vg.Length(l.columns)*(width+gutter) - gutter
	l.shared = sharedLegend(l.tiles)
	l.height = 2 * margin
	for start := 0; start < len(l.tiles); start += l.columns {
		tiles := l.tiles[start:min(start+l.columns, len(l.tiles))]
		r := row{panels: rowHeight(tiles, width, height)}
		if l.shared == nil {
			for _, t := range tiles {
				r.legend = max(r.legend, t.legend.height(width))
			}
		}
		if r.legend > 0 {
			r.legend += legendGap
		}
		if start > 0 {
			l.height += gutter
		}
		l.height += r.panels + r.legend
		l.rows = append(l.rows, r)
	}
	if h := l.shared.height(l.width - 2*margin); h > 0 {
		l.height += legendGap + h
	}
	return l
}

// rowHeight returns the height of a row's panels: the usual one, unless pictures or axes of
// equal aspect need another. A row of such panels only may be lower than usual.
func rowHeight(tiles []*tile, width, height vg.Length) vg.Length {
	needed := vg.Length(0)
	for _, t := range tiles {
		switch {
		case t.pictures != nil:
			needed = max(needed, t.titleHeight()+t.pictures.height())
		case t.panel.EqualAspect:
			needed = max(needed, t.equalHeight(width, height))
		default:
			needed = max(needed, height)
		}
	}
	return needed
}

// equalHeight returns the height at which axes of equal aspect fill the width, within 60 %
// and 160 % of the usual height.
func (t *tile) equalHeight(width, height vg.Length) vg.Length {
	c := draw.NewCanvas(vgsvg.New(width, height), width, height)
	data := t.plot.between(t.labelled(c)).Rectangle.Size()
	return min(max(height-data.Y+data.X/t.aspect(), 0.6*height), 1.6*height)
}

// aspect returns the ratio of width to height of the axes in a panel of equal aspect.
func (t *tile) aspect() vg.Length {
	return vg.Length((t.plot.x.high - t.plot.x.low) / (t.plot.y.high - t.plot.y.low))
}

func (l *layout) draw(c draw.Canvas) {
	top := c.Max.Y - margin
	width := (l.width-2*margin+gutter)/vg.Length(l.columns) - gutter
	for i, r := range l.rows {
		tiles := l.tiles[i*l.columns : min((i+1)*l.columns, len(l.tiles))]
		areas := make([]draw.Canvas, len(tiles))
		// The axes of a row are aligned although titles and tick labels differ in height.
		var above, below vg.Length
		for k := range tiles {
			x := c.Min.X + margin + vg.Length(k)*(width+gutter)
			areas[k] = draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
				Min: vg.Point{X: x, Y: top - r.panels}, Max: vg.Point{X: x + width, Y: top}}}
			a, b := tiles[k].margins(areas[k])
			above, below = max(above, a), max(below, b)
		}
		for k, t := range tiles {
			a, b := t.margins(areas[k])
			if t.pictures != nil {
				b = below // pictures have no axis to align, and use the room
			}
			t.draw(draw.Crop(areas[k], 0, 0, below-b, a-above))
			if l.shared == nil {
				t.legend.draw(draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
					Min: vg.Point{X: areas[k].Min.X, Y: areas[k].Min.Y - r.legend},
					Max: vg.Point{X: areas[k].Max.X, Y: areas[k].Min.Y - legendGap}}})
			}
		}
		top -= r.panels + r.legend + gutter
	}
	top += gutter
	l.shared.draw(draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
		Min: vg.Point{X: c.Min.X + margin, Y: c.Min.Y}, Max: vg.Point{X: c.Max.X - margin, Y: top - legendGap}}})
}

// margins returns the heights of the areas above and below the axes.
func (t *tile) margins(c draw.Canvas) (above, below vg.Length) {
	if t.pictures != nil {
		return t.titleHeight() + t.pictures.above, 0
	}
	data := t.plot.between(t.inner(c))
	return c.Max.Y - data.Max.Y, data.Min.Y - c.Min.Y
}

// inner returns the area of the axes and their labels: without the title, and without a heat
// map's colour scale. Axes of equal aspect get its middle part.
func (t *tile) inner(c draw.Canvas) draw.Canvas {
	c = t.labelled(c)
	if t.pictures != nil || !t.panel.EqualAspect {
		return c
	}
	for range 3 { // the room of the tick labels changes a little with every cut
		data := t.plot.between(c).Rectangle.Size()
		if w := data.Y * t.aspect(); w < data.X {
			c = draw.Crop(c, (data.X-w)/2, (w-data.X)/2, 0, 0)
		} else {
			h := data.X / t.aspect()
			c = draw.Crop(c, 0, 0, (data.Y-h)/2, (h-data.Y)/2)
		}
	}
	return c
}

// labelled returns the area for axes and labels, without regard to an equal aspect.
func (t *tile) labelled(c draw.Canvas) draw.Canvas {
	if hasScale(t.panel.Heatmap) {
		c = draw.Crop(c, 0, -scaleWidth, 0, 0)
	}
	return draw.Crop(c, t.labelWidth(), 0, 0, -t.titleHeight())
}

const labelGap = vg.Length(4)

// labelWidth returns the width of the vertical axis's label.
func (t *tile) labelWidth() vg.Length {
	if t.yLabel == "" {
		return 0
	}
	return style(10.5, false).Height(t.yLabel) + labelGap
}

const titleGap = vg.Length(7)

func (t *tile) titleHeight() vg.Length {
	if t.title == "" {
		return 0
	}
	return titleStyle().Height(t.title) + titleGap
}

func (t *tile) draw(c draw.Canvas) {
	inner := t.inner(c)
	var data draw.Canvas
	above := t.titleHeight()
	if t.pictures != nil {
		data = t.pictures.draw(inner)
		above += t.pictures.above
	} else {
		t.plot.draw(inner)
		data = t.plot.between(inner)
	}
	if t.title != "" {
		// Over the axes, and at the same height in all panels of a row.
		c.FillText(titleStyle(), vg.Point{X: data.Center().X, Y: data.Max.Y + above}, t.title)
	}
	if t.yLabel != "" {
		c.FillText(verticalLabelStyle(), vg.Point{X: inner.Min.X - t.labelWidth(), Y: data.Center().Y}, t.yLabel)
	}
	if hasScale(t.panel.Heatmap) {
		drawScale(draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
			Min: vg.Point{X: inner.Max.X + 10, Y: data.Min.Y}, Max: vg.Point{X: c.Max.X, Y: data.Max.Y}}}, t.panel.Heatmap)
	}
}
