package plot

import (
	"fmt"
	"math"
	"slices"

	"privkern/runner/experiment"
)

// check refuses a panel whose data cannot be drawn: they are missing, not finite, of unequal
// lengths, or not positive on a logarithmic axis. Data come from records, so that they may
// be anything; combinations of elements are up to the experiments.
func check(p *experiment.Panel) error {
	switch {
	case p.Pictures != nil:
		return checkPictures(p.Pictures)
	case p.Heatmap != nil:
		if err := checkHeatmap(p.Heatmap); err != nil {
			return err
		}
	case len(p.Lines)+len(p.Bands)+len(p.Points)+len(p.Bars)+len(p.Discs)+len(p.Violins) == 0:
		return ErrNoData
	}
	if low, high := p.YEnds[0], p.YEnds[1]; p.Ends() && (p.LogY || !(low < high && !math.IsInf(high-low, 0))) {
		return fmt.Errorf("the ends of the y axis are %v; a linear axis goes from low to high", p.YEnds)
	}
	for i, l := range slices.Concat(p.Lines, p.Points) {
		if err := checkCurve(p, l.X, l.Y); err != nil {
			return fmt.Errorf("curve %d %q: %w", i+1, l.Name, err)
		}
	}
	for i, d := range p.Discs {
		if err := checkDiscs(p, &d); err != nil {
			return fmt.Errorf("discs %d %q: %w", i+1, d.Name, err)
		}
	}
	for i, v := range p.Violins {
		if err := checkValues("value", v.Values, false, false); err != nil {
			return fmt.Errorf("violin %d %q: %w", i+1, v.Name, err)
		}
	}
	for i, b := range slices.Concat(p.Bands, p.Whiskers) {
		if err := checkCurve(p, b.X, b.Low, b.High); err != nil {
			return fmt.Errorf("band %d %q: %w", i+1, b.Name, err)
		}
	}
	for i, b := range p.Bars {
		if err := checkBars(p, &b); err != nil {
			return fmt.Errorf("bars %d %q: %w", i+1, b.Name, err)
		}
	}
	if err := checkNames(p); err != nil {
		return err
	}
	for i, s := range p.Spans {
		if !(s.Low <= s.High) {
			return fmt.Errorf("span %d %q: from %v to %v is no interval", i+1, s.Name, s.Low, s.High)
		}
	}
	return nil
}

// checkNames refuses names and ranges that the axes cannot show.
func checkNames(p *experiment.Panel) error {
	for i, n := range p.XNames {
		if math.IsNaN(n.At) || math.IsInf(n.At, 0) || p.LogX && n.At <= 0 || i > 0 && !(p.XNames[i-1].At < n.At) {
			return fmt.Errorf("name %d %q stands at %v; names stand at ascending places of the axis", i+1, n.Text, n.At)
		}
	}
	for _, c := range []struct {
		axis        string
		logarithmic bool
		ranges      [][2]float64
	}{{"x", p.LogX, [][2]float64{p.XCovers, p.XNumbers}}, {"y", p.LogY, [][2]float64{p.YCovers}}} {
		for _, r := range c.ranges {
			if r != [2]float64{} && (!(r[0] <= r[1]) || math.IsInf(r[1]-r[0], 0) || c.logarithmic && r[0] <= 0) {
				return fmt.Errorf("the %s axis cannot cover %v", c.axis, r)
			}
		}
	}
	return nil
}

// checkCurve checks abscissae, and ordinates in which NaN is a gap.
func checkCurve(p *experiment.Panel, x []float64, ys ...[]float64) error {
	for _, y := range ys {
		if len(x) != len(y) {
			return fmt.Errorf("%d values of x, but %d of y", len(x), len(y))
		}
		if err := checkValues("y", y, p.LogY, true); err != nil {
			return err
		}
	}
	return checkValues("x", x, p.LogX, false)
}

// checkValues refuses infinite values, NaN unless it is a gap, and numbers without a logarithm
// on a logarithmic axis. Values without a number are [ErrNoData].
func checkValues(name string, values []float64, logarithmic, gaps bool) error {
	numbers := 0
	for i, v := range values {
		switch {
		case math.IsNaN(v) && gaps:
		case math.IsNaN(v) || math.IsInf(v, 0):
			return fmt.Errorf("%s[%d] is %v", name, i, v)
		case logarithmic && v <= 0:
			return fmt.Errorf("%s[%d] is %v, on a logarithmic axis", name, i, v)
		default:
			numbers++
		}
	}
	switch {
	case len(values) == 0:
		return ErrNoData
	case numbers == 0:
		return fmt.Errorf("all values of %s are NaN: %w", name, ErrNoData)
	}
	return nil
}

// checkSizes refuses a number of sizes other than n, and sizes that are not finite or negative.
func checkSizes(name string, sizes []float64, n int) error {
	if len(sizes) != n {
		return fmt.Errorf("%d values of %s, but %d are required", len(sizes), name, n)
	}
	for i, v := range sizes {
		if !(v >= 0) || math.IsInf(v, 1) {
			return fmt.Errorf("%s[%d] is %v; a finite number of at least 0 is required", name, i, v)
		}
	}
	return nil
}

func checkBars(p *experiment.Panel, b *experiment.Bars) error {
	if err := checkValues("edge", b.Edges, p.LogX, false); err != nil {
		return err
	}
	if !slices.IsSorted(b.Edges) {
		return fmt.Errorf("the edges %v do not rise", b.Edges)
	}
	if err := checkSizes("height", b.Heights, len(b.Edges)-1); err != nil {
		return err
	}
	if p.LogY && !slices.ContainsFunc(b.Heights, func(v float64) bool { return v > 0 }) {
		return fmt.Errorf("all heights are 0, on a logarithmic axis: %w", ErrNoData)
	}
	return nil
}

func checkDiscs(p *experiment.Panel, d *experiment.Discs) error {
	if err := checkCurve(p, d.X, d.Y); err != nil {
		return err
	}
	if err := checkSizes("radius", d.Radius, len(d.X)); err != nil || d.Opacity == nil {
		return err
	}
	return checkSizes("opacity", d.Opacity, len(d.X))
}

// maxPixels bounds the image of a grid of pictures.
const maxPixels = 4_000_000

func checkPictures(p *experiment.Pictures) error {
	pictures := 0
	for i, row := range p.Grid {
		if len(row) != len(p.Grid[0]) {
			return fmt.Errorf("row %d of the pictures has %d of them, row 0 has %d", i, len(row), len(p.Grid[0]))
		}
		for j, pixels := range row {
			if pixels == nil {
				continue
			}
			pictures++
			if len(pixels) == 0 || len(pixels) != p.Rows*p.Columns {
				return fmt.Errorf("the picture at row %d, column %d has %d pixels; %d × %d are required", i, j,
					len(pixels), p.Rows, p.Columns)
			}
		}
	}
	if pictures == 0 {
		return fmt.Errorf("a grid without pictures: %w", ErrNoData)
	}
	if n := len(p.Grid) * len(p.Grid[0]); n*p.Rows*p.Columns > maxPixels {
		return fmt.Errorf("%d pictures of %d × %d pixels; at most %d pixels can be drawn", n, p.Rows, p.Columns, maxPixels)
	}
	return nil
}

// maxCells bounds a heat map, because each cell may become an element of the drawing.
const maxCells = 250_000

func checkHeatmap(h *experiment.Heatmap) error {
	if len(h.Values) == 0 || len(h.Values[0]) == 0 {
		return fmt.Errorf("an empty heat map: %w", ErrNoData)
	}
	columns := len(h.Values[0])
	for i, r := range h.Values {
		if len(r) != columns {
			return fmt.Errorf("row %d of the heat map has %d values, row 0 has %d", i, len(r), columns)
		}
	}
	for name, r := range map[string][2]float64{"XRange": h.XRange, "YRange": h.YRange} {
		if h.Ranged() && !(r[0] < r[1] && !math.IsInf(r[1]-r[0], 0)) {
			return fmt.Errorf("the heat map's %s is %v; it must be finite, from low to high", name, r)
		}
	}
	if n := len(h.Values) * columns; n > maxCells {
		return fmt.Errorf("a heat map of %d cells; at most %d can be drawn", n, maxCells)
	}
	return checkValues("cell", slices.Concat(h.Values...), false, true)
}
