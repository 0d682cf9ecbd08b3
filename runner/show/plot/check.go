package plot

import (
	"fmt"
	"math"

	"privkern/runner/experiment"
)

// maxCells bounds a heat map: each cell may become an element of the drawing.
const maxCells = 250_000

// check refuses a panel that cannot be drawn.
func check(p *experiment.Panel) error {
	curves := len(p.Lines) + len(p.Bands) + len(p.Points) + len(p.Bars) + len(p.Discs) + len(p.Violins)
	if p.EqualAspect && (p.LogX || p.LogY) {
		return fmt.Errorf("axes of equal aspect, one of which is logarithmic")
	}
	if p.Pictures != nil {
		if curves+len(p.Spans) > 0 || p.Heatmap != nil {
			return fmt.Errorf("pictures and curves or a heat map in one panel")
		}
		return checkPictures(p.Pictures)
	}
	if h := p.Heatmap; h != nil {
		switch {
		case curves+len(p.Spans) > 0 && !h.Ranged():
			return fmt.Errorf("a heat map without ranges of its axes and curves in one panel; give it XRange and YRange")
		case h.Ranged() && (p.LogX || p.LogY):
			return fmt.Errorf("a heat map on a logarithmic axis")
		}
		if err := checkHeatmap(h); err != nil {
			return err
		}
	} else if curves == 0 {
		return ErrNoData
	}
	for i, l := range append(append([]experiment.Line(nil), p.Lines...), p.Points...) {
		if err := checkCurve(p, l.X, l.Color, l.Y); err != nil {
			return fmt.Errorf("curve %d %q: %w", i+1, l.Name, err)
		}
		if l.Marker != "" && shapes[l.Marker] == nil {
			return fmt.Errorf("curve %d %q: no marker is called %q", i+1, l.Name, l.Marker)
		}
	}
	for i, d := range p.Discs {
		if err := checkDiscs(p, &d); err != nil {
			return fmt.Errorf("discs %d %q: %w", i+1, d.Name, err)
		}
	}
	for i, v := range p.Violins {
		if err := checkViolin(p, &v); err != nil {
			return fmt.Errorf("violin %d %q: %w", i+1, v.Name, err)
		}
	}
	for i, b := range p.Bands {
		if err := checkCurve(p, b.X, b.Color, b.Low, b.High); err != nil {
			return fmt.Errorf("band %d %q: %w", i+1, b.Name, err)
		}
	}
	for i, b := range p.Bars {
		if err := checkBars(p, &b); err != nil {
			return fmt.Errorf("bars %d %q: %w", i+1, b.Name, err)
		}
	}
	for i, s := range p.Spans {
		if math.IsNaN(s.Low) || math.IsNaN(s.High) || s.Low > s.High || math.IsInf(s.Low, 1) || math.IsInf(s.High, -1) {
			return fmt.Errorf("span %d %q: from %v to %v is no interval", i+1, s.Name, s.Low, s.High)
		}
	}
	return nil
}

func checkCurve(p *experiment.Panel, x []float64, color int, ys ...[]float64) error {
	if color < 0 {
		return fmt.Errorf("color %d is negative", color)
	}
	for _, y := range ys {
		if len(x) != len(y) {
			return fmt.Errorf("%d values of x, but %d of y", len(x), len(y))
		}
	}
	for i, v := range x {
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			return fmt.Errorf("x[%d] is %v", i, v)
		case p.LogX && v <= 0:
			return fmt.Errorf("x[%d] is %v, on a logarithmic axis", i, v)
		}
	}
	for _, y := range ys {
		finite := 0
		for i, v := range y {
			switch {
			case math.IsInf(v, 0):
				return fmt.Errorf("y[%d] is %v", i, v)
			case p.LogY && v <= 0:
				return fmt.Errorf("y[%d] is %v, on a logarithmic axis", i, v)
			case !math.IsNaN(v):
				finite++
			}
		}
		switch {
		case len(y) == 0:
			return ErrNoData
		case finite == 0:
			return fmt.Errorf("all values of y are NaN: %w", ErrNoData)
		}
	}
	return nil
}

func checkBars(p *experiment.Panel, b *experiment.Bars) error {
	switch {
	case b.Color < 0:
		return fmt.Errorf("color %d is negative", b.Color)
	case len(b.Heights) == 0:
		return ErrNoData
	case len(b.Edges) != len(b.Heights)+1:
		return fmt.Errorf("%d edges of %d bars; one more than bars is required", len(b.Edges), len(b.Heights))
	}
	for i, v := range b.Edges {
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			return fmt.Errorf("edge %d is %v", i, v)
		case i > 0 && v <= b.Edges[i-1]:
			return fmt.Errorf("edge %d is %v, not above the edge before", i, v)
		case p.LogX && v <= 0:
			return fmt.Errorf("edge %d is %v, on a logarithmic axis", i, v)
		}
	}
	drawn := false
	for i, v := range b.Heights {
		if !(v >= 0) || math.IsInf(v, 1) {
			return fmt.Errorf("height %d is %v; a finite number of at least 0 is required", i, v)
		}
		drawn = drawn || v > 0
	}
	if p.LogY && !drawn {
		return fmt.Errorf("all heights are 0, on a logarithmic axis: %w", ErrNoData)
	}
	return nil
}

// maxDiscs bounds a set of discs: each is an element of the drawing.
const maxDiscs = 50_000

func checkDiscs(p *experiment.Panel, d *experiment.Discs) error {
	n := len(d.X)
	switch {
	case p.LogX:
		return fmt.Errorf("on a logarithmic x axis, which gives no one length to a radius")
	case n > maxDiscs:
		return fmt.Errorf("%d discs; at most %d can be drawn", n, maxDiscs)
	case len(d.Radius) != n:
		return fmt.Errorf("%d radii of %d discs", len(d.Radius), n)
	case d.Opacity != nil && len(d.Opacity) != n:
		return fmt.Errorf("%d opacities of %d discs", len(d.Opacity), n)
	}
	for i, r := range d.Radius {
		if !(r >= 0) || math.IsInf(r, 1) {
			return fmt.Errorf("radius %d is %v; a finite number of at least 0 is required", i, r)
		}
	}
	for i, a := range d.Opacity {
		if !(a >= 0 && a <= 1) {
			return fmt.Errorf("opacity %d is %v; a number from 0 to 1 is required", i, a)
		}
	}
	return checkCurve(p, d.X, d.Color, d.Y)
}

// maxSample bounds the sample of a violin, whose density takes time for each
// value.
const maxSample = 100_000

func checkViolin(p *experiment.Panel, v *experiment.Violin) error {
	bounded := v.Range != [2]float64{}
	switch {
	case p.LogX || p.LogY:
		return fmt.Errorf("on a logarithmic axis")
	case v.Color < 0:
		return fmt.Errorf("color %d is negative", v.Color)
	case math.IsNaN(v.At) || math.IsInf(v.At, 0):
		return fmt.Errorf("at %v", v.At)
	case len(v.Values) == 0:
		return ErrNoData
	case len(v.Values) > maxSample:
		return fmt.Errorf("a sample of %d values; at most %d can be drawn", len(v.Values), maxSample)
	case bounded && !validRange(v.Range):
		return fmt.Errorf("the range %v: it must be finite, from low to high", v.Range)
	}
	for i, y := range v.Values {
		switch {
		case math.IsNaN(y) || math.IsInf(y, 0):
			return fmt.Errorf("value %d is %v", i, y)
		case bounded && (y < v.Range[0] || y > v.Range[1]):
			return fmt.Errorf("value %d is %v, outside the range %v", i, y, v.Range)
		}
	}
	return nil
}

// maxPixels bounds the picture that a grid of pictures becomes.
const maxPixels = 4_000_000

func checkPictures(p *experiment.Pictures) error {
	if p.Rows < 1 || p.Columns < 1 {
		return fmt.Errorf("pictures of %d × %d pixels; at least 1 × 1 is required", p.Rows, p.Columns)
	}
	if p.Rows > maxPixels || p.Columns > maxPixels {
		return fmt.Errorf("pictures of %d × %d pixels; at most %d pixels can be drawn", p.Rows, p.Columns, maxPixels)
	}
	pictures, columns := 0, 0
	for i, row := range p.Grid {
		columns = max(columns, len(row))
		if len(row) != len(p.Grid[0]) {
			return fmt.Errorf("row %d of the pictures has %d of them, row 0 has %d", i, len(row), len(p.Grid[0]))
		}
		for j, pixels := range row {
			if pixels == nil {
				continue
			}
			pictures++
			if len(pixels) != p.Rows*p.Columns {
				return fmt.Errorf("the picture at row %d, column %d has %d pixels; %d × %d are required", i, j,
					len(pixels), p.Rows, p.Columns)
			}
		}
	}
	switch {
	case pictures == 0:
		return fmt.Errorf("a grid without pictures: %w", ErrNoData)
	case len(p.Grid)*columns > maxPixels/(p.Rows*p.Columns):
		return fmt.Errorf("%d × %d pictures of %d × %d pixels; at most %d pixels can be drawn", len(p.Grid), columns,
			p.Rows, p.Columns, maxPixels)
	case len(p.RowLabels) > 0 && len(p.RowLabels) != len(p.Grid):
		return fmt.Errorf("%d labels for %d rows of pictures", len(p.RowLabels), len(p.Grid))
	case len(p.ColumnLabels) > 0 && len(p.ColumnLabels) != columns:
		return fmt.Errorf("%d labels for %d columns of pictures", len(p.ColumnLabels), columns)
	}
	return nil
}

func checkHeatmap(h *experiment.Heatmap) error {
	rows := len(h.Values)
	if rows == 0 || len(h.Values[0]) == 0 {
		return fmt.Errorf("an empty heat map: %w", ErrNoData)
	}
	columns, finite := len(h.Values[0]), 0
	for i, r := range h.Values {
		if len(r) != columns {
			return fmt.Errorf("row %d of the heat map has %d values, row 0 has %d", i, len(r), columns)
		}
		for j, v := range r {
			if math.IsInf(v, 0) {
				return fmt.Errorf("the heat map is %v at row %d, column %d", v, i, j)
			}
			if n := len(h.Categories); n > 0 && !math.IsNaN(v) && (v < 0 || v >= float64(n) || v != math.Trunc(v)) {
				return fmt.Errorf("the heat map is %v at row %d, column %d; an index of its %d categories is required", v, i, j, n)
			}
			if !math.IsNaN(v) {
				finite++
			}
		}
	}
	switch {
	case finite == 0:
		return fmt.Errorf("all values of the heat map are NaN: %w", ErrNoData)
	case rows*columns > maxCells:
		return fmt.Errorf("a heat map of %d × %d cells; at most %d can be drawn", rows, columns, maxCells)
	case h.Ranged() && (!validRange(h.XRange) || !validRange(h.YRange)):
		return fmt.Errorf("the heat map's ranges %v and %v: both must be finite, from low to high", h.XRange, h.YRange)
	case h.Ranged() && len(h.XTicks)+len(h.YTicks) > 0:
		return fmt.Errorf("a heat map with both ranges and labels of its rows or columns")
	case len(h.XTicks) > 0 && len(h.XTicks) != columns:
		return fmt.Errorf("%d labels for %d columns of the heat map", len(h.XTicks), columns)
	case len(h.YTicks) > 0 && len(h.YTicks) != rows:
		return fmt.Errorf("%d labels for %d rows of the heat map", len(h.YTicks), rows)
	}
	return nil
}

func validRange(r [2]float64) bool {
	return r[0] < r[1] && !math.IsInf(r[0], -1) && !math.IsInf(r[1], 1)
}
