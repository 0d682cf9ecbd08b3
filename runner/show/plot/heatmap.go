package plot

import (
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"privkern/runner/experiment"
)

// scaleWidth is the room for the colour scale, at the right of a heat map.
const scaleWidth = vg.Length(62)

// seam is the overlap of neighbouring cells.
const seam = vg.Length(0.6)

// prepareHeatmap sets up the axes of a heat map without ranges: the cell of row
// i and column j is centred at (j, rows−1−i).
func prepareHeatmap(out *axes, h *experiment.Heatmap, width, height vg.Length) {
	rows, columns := len(h.Values), len(h.Values[0])
	out.x.low, out.x.high = -0.5, float64(columns)-0.5
	out.y.low, out.y.high = -0.5, float64(rows)-0.5
	reversed := make([]string, len(h.YTicks))
	for i, s := range h.YTicks {
		reversed[len(reversed)-1-i] = s
	}
	// How many labels fit: by their width on the x axis, by their height on the
	// y axis.
	widest := vg.Length(0)
	for _, s := range h.XTicks {
		widest = max(widest, out.x.tickLabel.Width(cut(clean(s), longestName)))
	}
	room := width - scaleWidth - 40
	fit := int(room / (widest + 6))
	if h.Written && fit < columns {
		out.x.tickLabel, fit = upwards(out.x.tickLabel), int(room/nameStep)
	}
	out.x.ticker = nominal(h.XTicks, fit)
	out.x.tickLength, out.y.tickLength = 2, 2
	fit = int(height * 0.7 / 12)
	if h.Written {
		fit = int((height - out.x.height()) / nameStep)
	}
	out.y.ticker = nominal(reversed, fit)
	out.data = []drawing{cells{h}}
}

// nominal places labels at 0, 1, 2, .... Where more than fit are given, it keeps the first and
// every k-th after it.
func nominal(labels []string, fit int) constantTicks {
	every := 1
	if len(labels) > 0 {
		every = (len(labels) + max(fit, 1) - 1) / max(fit, 1)
	}
	ticks := constantTicks{}
	for i := 0; i < len(labels); i += every {
		ticks = append(ticks, tick{float64(i), cut(clean(labels[i]), longestName)})
	}
	return ticks
}

// extent returns the smallest and largest finite value, or those of the range to be covered.
func extent(h *experiment.Heatmap) interval {
	r := interval{math.Inf(1), math.Inf(-1)}
	if h.Covers != [2]float64{} {
		r = interval{h.Covers[0], h.Covers[1]}
	}
	for _, row := range h.Values {
		for _, v := range row {
			r.add(v)
		}
	}
	return r
}

// fraction returns the position of v in the range; 0.5 where the range is a single value.
func (r interval) fraction(v float64) float64 {
	if r.high == r.low && !math.IsNaN(v) {
		return 0.5
	}
	return (v/2 - r.low/2) / (r.high/2 - r.low/2)
}

// heatmapRanges returns the ranges of the axes: those given, or those of prepareHeatmap.
func heatmapRanges(h *experiment.Heatmap) (x, y interval) {
	if h.Ranged() {
		return interval{h.XRange[0], h.XRange[1]}, interval{h.YRange[0], h.YRange[1]}
	}
	return interval{-0.5, float64(len(h.Values[0])) - 0.5}, interval{-0.5, float64(len(h.Values)) - 0.5}
}

// at returns the value that lies at a share of the range.
func (r interval) at(share float64) float64 { return r.low*(1-share) + r.high*share }

type cells struct{ h *experiment.Heatmap }

// hasScale reports whether the heat map has a scale of colours at its right.
func hasScale(h *experiment.Heatmap) bool { return h != nil && len(h.Categories) == 0 }

// color returns the colour of a value, where r is the extent of all.
func (d cells) color(v float64, r interval) color.NRGBA {
	if len(d.h.Categories) == 0 {
		return shadeOf(r.fraction(v))
	}
	if math.IsNaN(v) {
		return blank
	}
	return tint(int(v))
}

// draw fills adjacent cells of equal colour at once, which keeps the drawing small.
func (d cells) draw(c draw.Canvas, p *axes) {
	tx, ty := p.transforms(&c)
	r := extent(d.h)
	rows, columns := float64(len(d.h.Values)), float64(len(d.h.Values[0]))
	xs, ys := heatmapRanges(d.h)
	for i, row := range d.h.Values {
		y := rows - 1 - float64(i)
		for j := 0; j < len(row); {
			col := d.color(row[j], r)
			end := j + 1
			for end < len(row) && d.color(row[end], r) == col {
				end++
			}
			x0, x1 := tx(xs.at(float64(j)/columns)), tx(xs.at(float64(end)/columns))
			y0, y1 := ty(ys.at(y/rows)), ty(ys.at((y+1)/rows))
			// An overlap closes the seams that anti-aliasing leaves; the cells to
			// the right and below are drawn later, over it.
			x1, y0 = min(x1+seam, tx(xs.high)), max(y0-seam, ty(ys.low))
			fill(c, col, []vg.Point{{X: x0, Y: y0}, {X: x1, Y: y0}, {X: x1, Y: y1}, {X: x0, Y: y1}})
			j = end
		}
	}
	if d.h.Written {
		d.write(c, r)
	}
}

// write writes the values into the cells of equal size, where all of them fit.
func (d cells) write(c draw.Canvas, r interval) {
	sty := style(8.5, false)
	sty.XAlign, sty.YAlign = draw.XCenter, draw.YCenter
	size := c.Rectangle.Size()
	width, height := size.X/vg.Length(len(d.h.Values[0])), size.Y/vg.Length(len(d.h.Values))
	texts := make([][]string, len(d.h.Values))
	for i, row := range d.h.Values {
		for _, v := range row {
			text := ""
			if !math.IsNaN(v) {
				text = minus(strconv.FormatFloat(v, 'g', 3, 64))
			}
			if sty.Width(text)+3 > width || sty.Font.Size+2 > height {
				return
			}
			texts[i] = append(texts[i], text)
		}
	}
	for i, row := range texts {
		for j, text := range row {
			sty.Color = onLight
			if r.fraction(d.h.Values[i][j]) < 0.55 { // the dark half of the map
				sty.Color = onDark
			}
			at := vg.Point{X: c.Min.X + width*(vg.Length(j)+0.5), Y: c.Max.Y - height*(vg.Length(i)+0.5)}
			c.FillText(sty, at, text)
		}
	}
}

// drawScale draws the colour scale into the canvas, with its label at the right.
func drawScale(c draw.Canvas, h *experiment.Heatmap) {
	const steps, bar = 64, vg.Length(10)
	height := c.Max.Y - c.Min.Y
	for i := range steps {
		y0 := c.Min.Y + height*vg.Length(i)/steps
		y1 := min(c.Min.Y+height*vg.Length(i+1)/steps+seam, c.Max.Y)
		fill(c, shadeOf(float64(i)/(steps-1)),
			[]vg.Point{{X: c.Min.X, Y: y0}, {X: c.Min.X + bar, Y: y0}, {X: c.Min.X + bar, Y: y1}, {X: c.Min.X, Y: y1}})
	}
	r := extent(h)
	low, high := r.low, r.high
	if low == high {
		low, high = r.padded(0, false)
	}
	sty := style(9, false)
	sty.YAlign = draw.YCenter
	for _, t := range (linearTicks{}).ticks(low, high) {
		if t.label == "" || t.value < low || t.value > high {
			continue
		}
		y := c.Min.Y + height*vg.Length(interval{low, high}.fraction(t.value))
		c.StrokeLine2(draw.LineStyle{Color: frame, Width: 0.7}, c.Min.X+bar, y, c.Min.X+bar+3, y)
		c.FillText(sty, vg.Point{X: c.Min.X + bar + 5, Y: y}, t.label)
	}
	if h.Label == "" {
		return
	}
	label := style(9.5, false)
	label.Rotation = math.Pi / 2
	label.XAlign, label.YAlign = draw.XCenter, draw.YBottom
	c.FillText(label, vg.Point{X: c.Max.X, Y: c.Center().Y}, clean(h.Label))
}
