package plot

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"privkern/runner/experiment"
)

// style returns the text style of a size in points.
func style(size vg.Length, bold bool) text.Style {
	f := regular
	if bold {
		f = heavy
	}
	return text.Style{Color: ink, Font: font.From(f, size), Handler: handler()}
}

func titleStyle() text.Style {
	s := style(11.5, true)
	s.XAlign, s.YAlign = draw.XCenter, draw.YTop
	return s
}

// verticalLabelStyle returns the style of text that reads upwards.
func verticalLabelStyle() text.Style {
	s := style(10.5, false)
	s.XAlign, s.YAlign, s.Rotation = draw.XCenter, draw.YTop, math.Pi/2
	return s
}

// newAxes prepares a checked panel.
func newAxes(p *experiment.Panel, width, height vg.Length) *axes {
	align := func(s text.Style, x draw.XAlignment, y draw.YAlignment) text.Style {
		s.XAlign, s.YAlign = x, y
		return s
	}
	of := func(label text.Style) axis { return axis{ticker: linearTicks{}, tickLength: 4, tickLabel: label} }
	out := &axes{x: of(align(style(9.5, false), draw.XCenter, draw.YTop)),
		y: of(align(style(9.5, false), draw.XRight, draw.YCenter))}
	// The label of the vertical axis is the tile's, which knows the middle of the data.
	out.x.labelStyle = align(style(10.5, false), draw.XCenter, draw.YBottom)
	out.x.label = wrap(p.XLabel, out.x.labelStyle, width*0.85)
	if p.Heatmap != nil && !p.Heatmap.Ranged() {
		prepareHeatmap(out, p.Heatmap, width, height)
		return out
	}
	if p.LogX {
		out.x.logarithmic, out.x.ticker = true, logTicks{}
	}
	if p.LogY {
		out.y.logarithmic, out.y.ticker = true, logTicks{}
	}
	x, y := ranges(p)
	if len(p.XNames) > 0 {
		out.x.name(p, x, width)
	}
	addRadii(p, &y, float64((y.high-y.low)/(x.high-x.low))*float64(width/height))
	out.x.low, out.x.high = x.padded(0.02, p.LogX)
	out.y.low, out.y.high = y.padded(0.06, p.LogY)
	if len(p.Bars) > 0 && !p.LogY && y.low == 0 {
		out.y.low = 0 // bars stand on the axis
	}
	if h := p.Heatmap; h != nil {
		// The axes end with the heat map, except where a curve leaves it.
		hx, hy := heatmapRanges(h)
		out.x.low, out.x.high = around(hx, x, out.x.low, out.x.high)
		out.y.low, out.y.high = around(hy, y, out.y.low, out.y.high)
		out.data = []drawing{cells{h}, curves{p}}
		return out
	}
	out.data = []drawing{grid{}, curves{p}}
	return out
}

// interval is a range of values; empty while low > high.
type interval struct{ low, high float64 }

func (r *interval) add(v float64) {
	if !math.IsNaN(v) && !math.IsInf(v, 0) {
		r.low, r.high = min(r.low, v), max(r.high, v)
	}
}

// padded widens the range by a fraction on both sides, so that curves do not touch the frame,
// and gives a width to a single value.
func (r interval) padded(share float64, logarithmic bool) (low, high float64) {
	if logarithmic {
		low, high = math.Log(r.low), math.Log(r.high)
		d := (high - low) * share
		if d == 0 {
			d = math.Ln2
		}
		// Within the range of float64.
		return max(math.Exp(low-d), 0x1p-1021), min(math.Exp(high+d), math.MaxFloat64/4)
	}
	d := r.high*share - r.low*share
	if r.high-r.low <= 1e-12*max(math.Abs(r.low), math.Abs(r.high)) {
		d = max(math.Abs(r.low)*0.05, 0x1p-500)
		if r.low == 0 {
			d = 1
		}
	}
	return max(r.low-d, -math.MaxFloat64/4), min(r.high+d, math.MaxFloat64/4)
}

// around widens the range of a heat map to the padded one of the curves, at the
// ends at which they leave it.
func around(heatmap, curves interval, paddedLow, paddedHigh float64) (low, high float64) {
	low, high = heatmap.low, heatmap.high
	if curves.low < low {
		low = paddedLow
	}
	if curves.high > high {
		high = paddedHigh
	}
	return low, high
}

func ranges(p *experiment.Panel) (x, y interval) {
	x, y = interval{math.Inf(1), math.Inf(-1)}, interval{math.Inf(1), math.Inf(-1)}
	add := func(xs []float64, ys ...[]float64) {
		for _, v := range xs {
			x.add(v)
		}
		for _, c := range ys {
			for _, v := range c {
				y.add(v)
			}
		}
	}
	for _, l := range p.Lines {
		add(l.X, l.Y)
	}
	for _, l := range p.Points {
		add(l.X, l.Y)
	}
	for _, b := range slices.Concat(p.Bands, p.Whiskers) {
		add(b.X, b.Low, b.High)
	}
	for _, b := range p.Bars {
		add(b.Edges)
		if !p.LogY {
			y.add(0)
		}
		for _, v := range b.Heights {
			if v > 0 {
				y.add(v)
			}
		}
	}
	for _, d := range p.Discs {
		for i, v := range d.X {
			add([]float64{v - d.Radius[i], v + d.Radius[i]}, d.Y[i:i+1])
		}
	}
	half := halfWidth(p.Violins)
	for _, v := range p.Violins {
		add([]float64{v.At - half, v.At + half}, v.Values)
		if low, high, _ := reach(&v); low < high {
			add(nil, []float64{low, high})
		}
	}
	for _, s := range p.Spans {
		for _, v := range []float64{s.Low, s.High} {
			if !p.LogX || v > 0 {
				x.add(v)
			}
		}
	}
	for _, c := range []struct {
		of     *interval
		covers [2]float64
	}{{&x, p.XCovers}, {&y, p.YCovers}} {
		if c.covers != [2]float64{} {
			c.of.add(c.covers[0])
			c.of.add(c.covers[1])
		}
	}
	for _, n := range p.XNames {
		x.add(n.At)
	}
	if p.Ends() {
		y.low, y.high = max(y.low, p.YEnds[0]), min(y.high, p.YEnds[1])
	}
	return x, y
}

// addRadii widens the range of the y axis to the upper and lower ends of the discs. A unit of
// the x axis is about as long as unit units of the y axis.
func addRadii(p *experiment.Panel, y *interval, unit float64) {
	if p.EqualAspect {
		unit = 1
	}
	if p.LogY {
		return // the padding of the axis must suffice
	}
	for _, d := range p.Discs {
		for i, v := range d.Y {
			y.add(v - d.Radius[i]*unit)
			y.add(v + d.Radius[i]*unit)
		}
	}
}

// grid draws faint lines at the labelled ticks.
type grid struct{}

func (grid) draw(c draw.Canvas, p *axes) {
	tx, ty := p.transforms(&c)
	line := draw.LineStyle{Color: faint, Width: 0.6}
	for _, t := range p.x.all() {
		if x := tx(t.value); t.label != "" && c.ContainsX(x) {
			c.StrokeLine2(line, x, c.Min.Y, x, c.Max.Y)
		}
	}
	for _, t := range p.y.all() {
		if y := ty(t.value); t.label != "" && c.ContainsY(y) {
			c.StrokeLine2(line, c.Min.X, y, c.Max.X, y)
		}
	}
}

// curves draws spans, bands, bars, violins, lines, discs and markers, in this
// order.
type curves struct{ panel *experiment.Panel }

func (d curves) draw(c draw.Canvas, p *axes) {
	tx, ty := p.transforms(&c)
	for _, s := range d.panel.Spans {
		low, high := max(s.Low, p.x.low), min(s.High, p.x.high)
		fill(c, shade, []vg.Point{{X: tx(low), Y: c.Min.Y}, {X: tx(high), Y: c.Min.Y}, {X: tx(high), Y: c.Max.Y},
			{X: tx(low), Y: c.Max.Y}})
	}
	for _, b := range d.panel.Bands {
		for _, r := range runs(b.Low, b.High) {
			var outline []vg.Point
			for i := r.start; i < r.end; i++ {
				outline = append(outline, vg.Point{X: tx(b.X[i]), Y: ty(b.Low[i])})
			}
			for i := r.end - 1; i >= r.start; i-- {
				outline = append(outline, vg.Point{X: tx(b.X[i]), Y: ty(b.High[i])})
			}
			fill(c, bandColor(b.Color), d.polygon(c, outline))
		}
	}
	for _, b := range d.panel.Bars {
		for _, outline := range skyline(&b) {
			pts := make([]vg.Point, len(outline))
			for i, at := range outline {
				pts[i] = vg.Point{X: tx(at.x), Y: ty(max(at.y, p.y.low))}
			}
			fill(c, barColor(b.Color), pts)
			c.StrokeLines(barOutline(b.Color), pts)
		}
	}
	plotViolins(c, d.panel.Violins, tx, ty)
	for _, l := range d.panel.Lines {
		for _, r := range runs(l.Y) {
			var pts []vg.Point
			for i := r.start; i < r.end; i++ {
				pts = append(pts, vg.Point{X: tx(l.X[i]), Y: ty(l.Y[i])})
			}
			if len(pts) > 1 {
				c.StrokeLines(lineStyle(l), d.lines(c, pts)...)
			}
			for i, at := range pts { // a line of one point would not show
				if (l.Marked || len(pts) == 1) && past(d.panel, l.Y[r.start+i]) <= 0 {
					marker(&c, l, at)
				}
			}
		}
	}
	for _, b := range d.panel.Whiskers {
		whiskers(c, &b, tx, ty)
	}
	for _, s := range d.panel.Discs {
		plotDiscs(c, &s, tx, ty)
	}
	var edge beyond
	for _, l := range d.panel.Points {
		for i, y := range l.Y {
			if !math.IsNaN(y) && !edge.add(d.panel, l, i) {
				marker(&c, l, vg.Point{X: tx(l.X[i]), Y: ty(y)})
			}
		}
	}
	edge.draw(&c, tx)
}

// point is a point in the units of the axes.
type point struct{ x, y float64 }

// skyline returns the outlines of the histogram, one for each sequence of adjacent bars, from
// the ground up and back to it.
func skyline(b *experiment.Bars) [][]point {
	var out [][]point
	open := false
	for i, h := range b.Heights {
		if h == 0 {
			open = false
			continue
		}
		if !open {
			out, open = append(out, []point{{b.Edges[i], 0}}), true
		}
		last := len(out) - 1
		if n := len(out[last]); n > 1 {
			out[last] = out[last][:n-1] // the descent of the bar before
		}
		out[last] = append(out[last], point{b.Edges[i], h}, point{b.Edges[i+1], h}, point{b.Edges[i+1], 0})
	}
	return out
}

// run is a range of indices without a gap.
type run struct{ start, end int }

// runs returns the ranges of indices in which no slice has NaN.
func runs(ys ...[]float64) []run {
	var out []run
	open := false
	for i := range ys[0] {
		gap := false
		for _, y := range ys {
			gap = gap || math.IsNaN(y[i])
		}
		switch {
		case gap:
			open = false
		case open:
			out[len(out)-1].end = i + 1
		default:
			out = append(out, run{i, i + 1})
			open = true
		}
	}
	return out
}

func lineStyle(l experiment.Line) draw.LineStyle {
	width := vg.Length(1.6)
	if l.Thin {
		width = 0.5
	}
	return draw.LineStyle{Color: colorOf(l.Color), Width: width, Dashes: dashes(l.Color, l.Dashed)}
}

func barOutline(i int) draw.LineStyle { return draw.LineStyle{Color: colorOf(i), Width: 0.9} }

// glyphs distinguish sets of markers without colour.
var glyphs = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{},
	draw.CrossGlyph{}, draw.RingGlyph{}}

// shapes are the markers with names.
var shapes = map[experiment.Marker]draw.GlyphDrawer{experiment.Dot: draw.CircleGlyph{}, experiment.Cross: cross{}}

// marker draws a marker of the curve's colour and shape.
func marker(c *draw.Canvas, l experiment.Line, at vg.Point) {
	sty := draw.GlyphStyle{Color: colorOf(l.Color), Radius: 2.4, Shape: glyphs[l.Color%len(glyphs)]}
	switch l.Marker {
	case experiment.Dot:
		sty.Radius, sty.Shape = 1.3, shapes[l.Marker]
	case experiment.Cross:
		sty.Radius, sty.Shape = 4.2, shapes[l.Marker]
	}
	c.DrawGlyphNoClip(sty, at)
}

// cross is a × with thicker lines than gonum's, visible on a filled ground.
type cross struct{}

func (cross) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, at vg.Point) {
	line := draw.LineStyle{Color: sty.Color, Width: 1.4}
	r := sty.Radius * math.Sqrt2 / 2
	c.StrokeLine2(line, at.X-r, at.Y-r, at.X+r, at.Y+r)
	c.StrokeLine2(line, at.X-r, at.Y+r, at.X+r, at.Y-r)
}

func fill(c draw.Canvas, col color.Color, outline []vg.Point) {
	if len(outline) < 3 {
		return
	}
	c.SetColor(col)
	var path vg.Path
	path.Move(outline[0])
	for _, p := range outline[1:] {
		path.Line(p)
	}
	path.Close()
	c.Fill(path)
}
