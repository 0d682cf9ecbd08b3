package bench

import (
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"
)

// column is one of the table of a report.
type column struct {
	title string
	right bool // aligned
	cell  func(row) string
}

// row is a measurement, a row of an earlier report, or both.
type row struct {
	now  *Measurement // nil: only the earlier report has it
	then *Row         // nil: nothing is compared
}

var columns = []column{
	{"", false, func(r row) string {
		if r.now == nil {
			return r.then.Name
		}
		return r.now.Name
	}},
	{"now", true, func(r row) string {
		if r.now == nil {
			return "gone"
		}
		return fmt.Sprintf("%.4g", r.now.Value)
	}},
	{"", false, func(r row) string {
		if r.now == nil {
			return ""
		}
		return r.now.Unit
	}},
	{"spread", true, func(r row) string {
		if r.now == nil || len(r.now.Samples) < 2 {
			return ""
		}
		s := spread(r.now.Samples)
		if math.IsNaN(s) || math.IsInf(s, 0) { // of zeros
			return ""
		}
		return fmt.Sprintf("±%.1f %%", 100*s)
	}},
	{"peer", false, func(r row) string {
		if r.now == nil || r.now.Peer == nil {
			return ""
		}
		return fmt.Sprintf("%s %.4g s", r.now.Peer.Library, r.now.Peer.Value)
	}},
	{"to peer", true, func(r row) string {
		if r.now == nil || r.now.Peer == nil {
			return ""
		}
		return fmt.Sprintf("%.2f", r.now.Peer.Ratio)
	}},
	{"before", true, func(r row) string {
		switch {
		case r.then == nil:
			return ""
		case r.then.Before == nil:
			return "new"
		}
		return fmt.Sprintf("%.4g", *r.then.Before)
	}},
	{"change", true, func(r row) string {
		if r.then == nil {
			return ""
		}
		return r.then.change()
	}},
	{"", false, func(r row) string {
		if r.then == nil {
			return ""
		}
		return r.then.words()
	}},
	{"", false, func(r row) string {
		if r.now == nil {
			return ""
		}
		return r.now.target()
	}},
}

func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

// target says what a measurement is meant to keep, and whether it does.
func (m *Measurement) target() string {
	text, met := "", m.Met
	switch {
	case m.AtMost != nil:
		text = strings.TrimSpace(fmt.Sprintf("target at most %.4g %s", *m.AtMost, m.Unit))
	case m.AtLeast != nil:
		text = strings.TrimSpace(fmt.Sprintf("target at least %.4g %s", *m.AtLeast, m.Unit))
	case m.Peer != nil && m.Peer.AtMost != nil:
		text, met = fmt.Sprintf("target at most %.4g times the peer", *m.Peer.AtMost), m.Peer.Met
	}
	if met != nil {
		text += map[bool]string{true: ": met", false: ": MISSED"}[*met]
	}
	return text
}

// Text writes the report for a terminal: the machine in lines that begin with #, then the
// measurements, by benchmark. Columns without an entry are left out.
func (r *Report) Text(w io.Writer) error {
	var b strings.Builder
	for _, l := range machineLines {
		if v := *l.field(&r.Machine); v != "" {
			fmt.Fprintf(&b, "# %s: %s\n", l.name, v)
		}
	}
	rows := r.rows()
	cells := make([][]string, len(rows))
	widths := make([]int, len(columns))
	for i, x := range rows {
		for j, c := range columns {
			text := c.cell(x)
			cells[i] = append(cells[i], text)
			widths[j] = max(widths[j], utf8.RuneCountInString(text))
		}
	}
	titles := make([]string, len(columns))
	for j, c := range columns {
		if widths[j] > 0 {
			titles[j] = c.title
			widths[j] = max(widths[j], utf8.RuneCountInString(c.title))
		}
	}
	if len(rows) > 0 {
		b.WriteString(line(titles, widths))
	}
	last := ""
	for i, x := range rows {
		if name := x.benchmark(); name != last {
			last = name
			b.WriteString(name + "\n")
		}
		b.WriteString(line(cells[i], widths))
	}
	if c := r.Comparison; c != nil {
		b.WriteString(c.sentences())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// rows are the measurements beside what they are compared with, and after those of a
// benchmark what the earlier report alone has of it.
func (r *Report) rows() []row {
	if r.Comparison == nil {
		out := make([]row, len(r.Measurements))
		for i := range out {
			out[i].now = &r.Measurements[i]
		}
		return out
	}
	of := map[rowKey]*Measurement{}
	for i := range r.Measurements {
		of[r.Measurements[i].key()] = &r.Measurements[i]
	}
	var out []row
	for i := range r.Comparison.Rows {
		then := &r.Comparison.Rows[i]
		out = append(out, row{of[rowKey{then.Benchmark, then.Name, then.Unit}], then})
	}
	return out
}

func (r row) benchmark() string {
	if r.now == nil {
		return r.then.Benchmark
	}
	return r.now.Benchmark
}

// line aligns the cells of a row, two spaces apart.
func line(cells []string, widths []int) string {
	var b strings.Builder
	for j, text := range cells {
		if widths[j] == 0 {
			continue
		}
		pad := strings.Repeat(" ", widths[j]-utf8.RuneCountInString(text))
		b.WriteString("  ")
		if columns[j].right {
			b.WriteString(pad + text)
		} else {
			b.WriteString(text + pad)
		}
	}
	return strings.TrimRight(b.String(), " ") + "\n"
}
