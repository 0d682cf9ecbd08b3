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
	if h := p.Heatmap; h != nil {
		if len(p.Lines)+len(p.Bands)+len(p.Points)+len(p.Spans) > 0 {
			return fmt.Errorf("a heat map and curves in one panel")
		}
		return checkHeatmap(h)
	}
	if len(p.Lines)+len(p.Bands)+len(p.Points) == 0 {
		return ErrNoData
	}
	for i, l := range append(append([]experiment.Line(nil), p.Lines...), p.Points...) {
		if err := checkCurve(p, l.X, l.Color, l.Y); err != nil {
			return fmt.Errorf("curve %d %q: %w", i+1, l.Name, err)
		}
	}
	for i, b := range p.Bands {
		if err := checkCurve(p, b.X, b.Color, b.Low, b.High); err != nil {
			return fmt.Errorf("band %d %q: %w", i+1, b.Name, err)
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
	case len(h.XTicks) > 0 && len(h.XTicks) != columns:
		return fmt.Errorf("%d labels for %d columns of the heat map", len(h.XTicks), columns)
	case len(h.YTicks) > 0 && len(h.YTicks) != rows:
		return fmt.Errorf("%d labels for %d rows of the heat map", len(h.YTicks), rows)
	}
	return nil
}
