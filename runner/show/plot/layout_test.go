package plot

import (
	"math"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"privkern/runner/experiment"
)

// In a panel of equal aspect a unit of both axes has one length, also where a neighbour
// changes its height; discs stay inside the axes.
func TestEqualAspect(t *testing.T) {
	wide := experiment.Panel{Title: "T", XLabel: "x", YLabel: "y", EqualAspect: true,
		Discs: []experiment.Discs{{X: []float64{0, 12}, Y: []float64{0, 3}, Radius: []float64{0.5, 0.2}}}}
	tall := wide
	tall.Discs = []experiment.Discs{{X: []float64{0, 3}, Y: []float64{0, 12}, Radius: []float64{0.5, 0.2}}}
	other := experiment.Panel{Title: "Other", Points: []experiment.Line{{X: []float64{1, 80}, Y: []float64{4, 88}}}}
	for name, panels := range map[string][]experiment.Panel{"wide": {wide}, "tall": {tall}, "both": {wide, tall},
		"beside": {other, wide, tall}} {
		t.Run(name, func(t *testing.T) {
			l := newLayout(panels)
			width := (l.width-2*margin+gutter)/vg.Length(l.columns) - gutter
			for i, tile := range l.tiles {
				if !panels[i].EqualAspect {
					continue
				}
				room := draw.NewCanvas(vgsvg.New(width, l.rows[0].panels), width, l.rows[0].panels)
				data := tile.plot.between(tile.inner(room))
				tx, ty := tile.plot.transforms(&data)
				x, y := tx(1)-tx(0), ty(1)-ty(0)
				if x <= 0 || math.Abs(float64(x/y-1)) > 0.002 {
					t.Errorf("%s: a unit is %v wide and %v high", name, x, y)
				}
				if data.Max.X > room.Max.X || data.Max.Y > room.Max.Y || data.Min.X < room.Min.X || data.Min.Y < room.Min.Y {
					t.Errorf("%s: the axes %v leave their room %v", name, data.Rectangle, room.Rectangle)
				}
				d := panels[i].Discs[0]
				for k := range d.X {
					if !data.ContainsX(tx(d.X[k]-d.Radius[k])) || !data.ContainsX(tx(d.X[k]+d.Radius[k])) ||
						!data.ContainsY(ty(d.Y[k])-tx(d.Radius[k])+tx(0)) || !data.ContainsY(ty(d.Y[k])+tx(d.Radius[k])-tx(0)) {
						t.Errorf("%s: disc %d leaves the axes", name, k)
					}
				}
			}
		})
	}
}

// A long label of the vertical axis takes no room above the axes, on a linear
// and on a logarithmic axis.
func TestLongLabelLeavesNoGap(t *testing.T) {
	for _, logarithmic := range []bool{false, true} {
		above := func(label string) float64 {
			p := experiment.Panel{Title: "T", YLabel: label, LogY: logarithmic,
				Points: []experiment.Line{{Name: "a", X: []float64{1, 80}, Y: []float64{4, 88}}}}
			l := newLayout([]experiment.Panel{p, p})
			got, _ := l.tiles[0].margins(draw.New(vgsvg.New(l.width, l.height)))
			return got.Points()
		}
		if short, long := above(""), above("standard deviation of the noise (cm)"); long > short+1 {
			t.Errorf("logarithmic %v: %v pt above the axes with a long label, %v with none", logarithmic, long, short)
		}
	}
}
