package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"privkern/runner/experiment"
)

// Limits of a figure's tables of numbers: maxPoints lines each, and about maxNumbers numbers
// together.
const (
	maxPoints  = 250
	maxNumbers = 5000
)

// dataTable holds the numbers of a panel, also as the alternative to the drawing.
type dataTable struct {
	Title   string
	Columns []string
	Rows    [][]string
	Omitted int // rows
	// Remark replaces a table of too many numbers.
	Remark string
}

// numbersOf returns the tables of a figure's panels, cut to the limits.
func numbersOf(panels []experiment.Panel) []dataTable {
	var out []dataTable
	left := maxNumbers
	for i := range panels {
		for _, t := range dataOf(&panels[i], i+1) {
			if n := max(left/max(len(t.Columns), 1), 3); len(t.Rows) > n {
				t.Rows, t.Omitted = t.Rows[:n], t.Omitted+len(t.Rows)-n
			}
			left -= len(t.Rows) * len(t.Columns)
			out = append(out, t)
		}
	}
	return out
}

// chartRows bounds the table of a chart's numbers: a page may have many charts, and each has a file of all of them.
const chartRows = 100

// tableOf returns numbers as a table, cut to the limit.
func tableOf(title string, n Numbers) dataTable {
	t := dataTable{Title: title, Columns: n.Header()}
	for row := range n.Each {
		if len(t.Rows) == chartRows {
			break
		}
		t.Rows = append(t.Rows, row)
	}
	t.Omitted = n.Len() - len(t.Rows)
	return t
}

// dataOf returns the tables of a panel, with the names of abscissae that have some: curves of the same abscissae share
// one.
func dataOf(p *experiment.Panel, number int) []dataTable {
	title := cmp.Or(p.Title, fmt.Sprintf("Panel %d", number))
	var out []dataTable
	x, y := cmp.Or(p.XLabel, "x"), cmp.Or(p.YLabel, "y")
	add := func(suffix string, columns []string, values ...[]float64) {
		t := newDataTable(title+suffix, columns, values)
		for _, n := range p.XNames {
			if row := slices.Index(values[0], n.At); columns[0] == x && row >= 0 && row < len(t.Rows) {
				t.Rows[row][0] = n.Text
			}
		}
		out = append(out, t)
	}
	curves := slices.Concat(p.Lines, p.Points)
	for len(curves) > 0 {
		columns, values := []string{x}, [][]float64{curves[0].X}
		var others []experiment.Line
		for _, c := range curves {
			if !slices.Equal(c.X, curves[0].X) {
				others = append(others, c)
				continue
			}
			columns, values = append(columns, cmp.Or(c.Name, y)), append(values, c.Y)
		}
		add("", columns, values...)
		curves = others
	}
	for _, b := range slices.Concat(p.Bands, p.Whiskers) {
		add("", []string{x, cmp.Or(b.Name, y) + ", from", cmp.Or(b.Name, y) + ", to"}, b.X, b.Low, b.High)
	}
	for _, b := range p.Bars {
		n := len(b.Heights)
		add("", []string{x + ", from", x + ", to", cmp.Or(b.Name, y)}, b.Edges[:n], b.Edges[1:n+1], b.Heights)
	}
	for _, d := range p.Discs {
		add("", []string{x, cmp.Or(d.Name, y), "radius"}, d.X, d.Y, d.Radius)
	}
	for _, v := range p.Violins {
		add(fmt.Sprintf(", at %s %s", x, shortNumber(v.At)), []string{cmp.Or(v.Name, y)}, v.Values)
	}
	for _, s := range p.Spans {
		add("", []string{cmp.Or(s.Name, x) + ", from", cmp.Or(s.Name, x) + ", to"}, []float64{s.Low}, []float64{s.High})
	}
	if h := p.Heatmap; h != nil {
		out = append(out, heatmapTable(title, h))
	}
	if p.Pictures != nil {
		out = append(out, dataTable{Title: title, Remark: "Pictures: their pixels are series of the records in trials/."})
	}
	return out
}

func newDataTable(title string, columns []string, values [][]float64) dataTable {
	t := dataTable{Title: title, Columns: columns}
	n := 0
	for _, v := range values {
		n = max(n, len(v))
	}
	t.Omitted = max(n-maxPoints, 0)
	for i := range n - t.Omitted {
		row := make([]string, len(values))
		for c, v := range values {
			if i < len(v) {
				row[c] = shortNumber(v[i])
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// heatmapTable returns a matrix in the order in which it is drawn, or a remark for a large one.
func heatmapTable(title string, h *experiment.Heatmap) dataTable {
	t := dataTable{Title: title}
	columns := 0
	if len(h.Values) > 0 {
		columns = len(h.Values[0])
	}
	if n := len(h.Values) * columns; n == 0 || n > 4*maxPoints {
		t.Remark = fmt.Sprintf("A map of %d × %d values: they are series of the records in trials/.", len(h.Values), columns)
		return t
	}
	t.Columns = []string{cmp.Or(h.Label, "value")}
	for c := range columns {
		t.Columns = append(t.Columns, tick(h.XTicks, c, "column"))
	}
	for r, values := range h.Values {
		row := []string{tick(h.YTicks, r, "row")}
		for _, v := range values {
			row = append(row, shortNumber(v))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// tick returns the label of a row or column of a heat map, by default its number.
func tick(labels []string, i int, axis string) string {
	if i < len(labels) && labels[i] != "" {
		return labels[i]
	}
	return fmt.Sprintf("%s %d", axis, i+1)
}

func shortNumber(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
