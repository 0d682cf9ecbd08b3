package plot

import (
	"testing"

	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"privkern/runner/experiment"
)

// A long label of the vertical axis takes no room above the axes, on a linear
// and on a logarithmic axis.
func TestLongLabelLeavesNoGap(t *testing.T) {
	for _, logarithmic := range []bool{false, true} {
		above := func(label string) float64 {
			p := experiment.Panel{Title: "T", YLabel: label, LogY: logarithmic, Points: []experiment.Line{{Name: "a", X: []float64{1, 80}, Y: []float64{4, 88}}}}
			l := newLayout([]experiment.Panel{p, p}, Options{})
			got, _ := l.tiles[0].margins(draw.New(vgsvg.New(l.width, l.height)))
			return got.Points()
		}
		if short, long := above(""), above("standard deviation of the noise (cm)"); long > short+1 {
			t.Errorf("logarithmic %v: %v pt above the axes with a long label, %v with none", logarithmic, long, short)
		}
	}
}
