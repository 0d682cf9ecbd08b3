package plot

import (
	"reflect"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"privkern/runner/experiment"
)

// legend is the legend under the axes. A nil legend is empty.
type legend struct{ entries []entry }

// entry is a name with its samples, drawn over one another: a band and a line
// of one name share an entry.
type entry struct {
	name    string
	samples []sample
}

// sample is the appearance of a curve.
type sample struct {
	element string // one of elements
	color   int
	dashed  bool
	thin    bool
	open    bool
	marker  experiment.Marker
}

// elements are the elements of panels, from back to front.
var elements = []string{"region", "span", "band", "bars", "violin", "line", "discs", "points"}

const (
	sampleWidth = vg.Length(22)
	entryGap    = vg.Length(14)
	lineHeight  = vg.Length(14)
	legendSize  = vg.Length(10)
)

func legendOf(p *experiment.Panel) *legend {
	l := &legend{}
	for _, x := range p.Lines {
		l.add(x.Name, sample{element: "line", color: x.Color, dashed: x.Dashed, thin: x.Thin})
		if x.Marked {
			l.add(x.Name, sample{element: "points", color: x.Color, marker: x.Marker})
		}
	}
	for _, x := range p.Points {
		l.add(x.Name, sample{element: "points", color: x.Color, marker: x.Marker})
	}
	for _, x := range p.Discs {
		l.add(x.Name, sample{element: "discs", color: x.Color, open: x.Open})
	}
	for _, x := range p.Bands {
		l.add(x.Name, sample{element: "band", color: x.Color})
	}
	for _, x := range p.Bars {
		l.add(x.Name, sample{element: "bars", color: x.Color})
	}
	for _, x := range p.Violins {
		l.add(x.Name, sample{element: "violin", color: x.Color})
	}
	for _, x := range p.Spans {
		l.add(x.Name, sample{element: "span"})
	}
	if p.Heatmap != nil {
		for i, name := range p.Heatmap.Categories {
			l.add(name, sample{element: "region", color: i})
		}
	}
	return l
}

func (l *legend) add(name string, samples ...sample) {
	if name = clean(name); name == "" {
		return
	}
	i := slices.IndexFunc(l.entries, func(e entry) bool { return e.name == name })
	if i < 0 {
		l.entries = append(l.entries, entry{name: name})
		i = len(l.entries) - 1
	}
	for _, s := range samples {
		if !slices.Contains(l.entries[i].samples, s) {
			l.entries[i].samples = append(l.entries[i].samples, s)
		}
	}
}

// sharedLegend merges the legends of several panels where names and samples correspond one to
// one; otherwise it returns nil.
func sharedLegend(tiles []*tile) *legend {
	if len(tiles) < 2 {
		return nil
	}
	out := &legend{}
	for _, t := range tiles {
		for _, e := range t.legend.entries {
			for _, f := range out.entries {
				if (e.name == f.name) != reflect.DeepEqual(e.samples, f.samples) {
					return nil
				}
			}
			out.add(e.name, e.samples...)
		}
	}
	return out
}

// lines breaks the entries into lines that fit the width.
func (l *legend) lines(width vg.Length) [][]entry {
	if l == nil {
		return nil
	}
	var out [][]entry
	used := vg.Length(0)
	for _, e := range l.entries {
		w := e.width()
		if len(out) == 0 || used+entryGap+w > width {
			out = append(out, nil)
			used = -entryGap
		}
		out[len(out)-1] = append(out[len(out)-1], e)
		used += entryGap + w
	}
	return out
}

func (e entry) width() vg.Length {
	return sampleWidth + 5 + style(legendSize, false).Width(e.name)
}

func (l *legend) height(width vg.Length) vg.Length {
	return vg.Length(len(l.lines(width))) * lineHeight
}

// draw centres the lines of the legend, from the top of the canvas down.
func (l *legend) draw(c draw.Canvas) {
	y := c.Max.Y - lineHeight/2
	for _, line := range l.lines(c.Max.X - c.Min.X) {
		total := -entryGap
		for _, e := range line {
			total += entryGap + e.width()
		}
		x := max(c.Center().X-total/2, c.Min.X)
		for _, e := range line {
			e.draw(&c, x, y)
			x += e.width() + entryGap
		}
		y -= lineHeight
	}
}

func (e entry) draw(c *draw.Canvas, x, y vg.Length) {
	const h = 4.5 // half the height of a box
	box := []vg.Point{{X: x, Y: y - h}, {X: x + sampleWidth, Y: y - h}, {X: x + sampleWidth, Y: y + h}, {X: x, Y: y + h}}
	for _, element := range elements {
		for _, s := range e.samples {
			if s.element != element {
				continue
			}
			switch element {
			case "span":
				fill(*c, shade, box)
			case "region":
				fill(*c, tint(s.color), box)
			case "band":
				fill(*c, bandColor(s.color), box)
			case "bars", "violin":
				fill(*c, barColor(s.color), box)
				c.StrokeLines(barOutline(s.color), append(slices.Clone(box), box[0]))
			case "line":
				c.StrokeLine2(lineStyle(experiment.Line{Color: s.color, Dashed: s.dashed, Thin: s.thin}), x, y, x+sampleWidth, y)
			case "discs":
				disc(*c, discColors(&experiment.Discs{Color: s.color, Open: s.open}, 1), vg.Point{X: x + sampleWidth/2, Y: y}, h)
			case "points":
				marker(c, experiment.Line{Color: s.color, Marker: s.marker}, vg.Point{X: x + sampleWidth/2, Y: y})
			}
		}
	}
	sty := style(legendSize, false)
	sty.YAlign = draw.YCenter
	c.FillText(sty, vg.Point{X: x + sampleWidth + 5, Y: y}, e.name)
}
