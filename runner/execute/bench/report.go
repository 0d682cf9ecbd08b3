package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"
)

// Schema is the version of a report as JSON.
const Schema = 2

// Machine names the hardware and the software of a report.
type Machine struct {
	CPU      string `json:"cpu"`
	BLAS     string `json:"blas"`
	Device   string `json:"device,omitempty"` // of --backend
	Revision string `json:"revision"`
	// Peers are the versions of the peers' libraries; empty without peers.
	Peers string `json:"peers,omitempty"`
}

// Report is the result of a run of benchmarks.
type Report struct {
	Schema       int           `json:"schema"`
	Machine      Machine       `json:"machine"`
	Measurements []Measurement `json:"measurements"`
}

// JSON writes a report as one JSON object.
func (r *Report) JSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	r.Schema = Schema
	return enc.Encode(r)
}

// columns are those of the table, with the alignment of each.
var columns = []struct {
	title string
	right bool
}{{"", false}, {"now", true}, {"", false}, {"spread", true}, {"peer", false}, {"to peer", true}, {"", false}}

// cells returns the row of a measurement.
func (m *Measurement) cells() []string {
	spreads, peer, ratio := "", "", ""
	if s := spread(m.Samples); len(m.Samples) > 1 && !math.IsNaN(s) && !math.IsInf(s, 0) { // not of zeros
		spreads = fmt.Sprintf("±%.1f %%", 100*s)
	}
	if m.Peer != nil {
		peer, ratio = fmt.Sprintf("%s %.4g s", m.Peer.Library, m.Peer.Value), fmt.Sprintf("%.2f", m.Peer.Ratio)
	}
	return []string{m.Name, fmt.Sprintf("%.4g", m.Value), m.Unit, spreads, peer, ratio, m.target()}
}

// target returns the bound of a measurement, and whether it is met.
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
	for _, l := range [][2]string{{"processor", r.Machine.CPU}, {"BLAS", r.Machine.BLAS}, {"device", r.Machine.Device},
		{"revision", r.Machine.Revision}, {"peers", r.Machine.Peers}} {
		if l[1] != "" {
			fmt.Fprintf(&b, "# %s: %s\n", l[0], l[1])
		}
	}
	titles, widths := make([]string, len(columns)), make([]int, len(columns))
	for i := range r.Measurements {
		for j, text := range r.Measurements[i].cells() {
			widths[j] = max(widths[j], utf8.RuneCountInString(text))
		}
	}
	for j, c := range columns {
		if widths[j] > 0 {
			titles[j], widths[j] = c.title, max(widths[j], len(c.title))
		}
	}
	if len(r.Measurements) > 0 {
		b.WriteString(line(titles, widths))
	}
	last := ""
	for i := range r.Measurements {
		m := &r.Measurements[i]
		if m.Benchmark != last {
			last = m.Benchmark
			b.WriteString(last + "\n")
		}
		b.WriteString(line(m.cells(), widths))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// line aligns the cells of a row, two spaces apart.
func line(cells []string, widths []int) string {
	var b strings.Builder
	for j, text := range cells {
		if widths[j] == 0 {
			continue
		}
		pad := strings.Repeat(" ", widths[j]-utf8.RuneCountInString(text))
		if columns[j].right {
			text, pad = pad+text, ""
		}
		b.WriteString("  " + text + pad)
	}
	return strings.TrimRight(b.String(), " ") + "\n"
}
