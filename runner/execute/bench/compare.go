package bench

import (
	"fmt"
	"slices"
	"strings"

	"privkern/runner/text"
)

// DefaultTolerance is the share by which a row may be slower than before: what the clock of
// a shared machine and the placement of a program in memory make between two runs.
const DefaultTolerance = 0.15

// Verdict is what a comparison says of a row.
type Verdict string

// The verdicts. Only processor times are judged: what a wall clock shows depends on what
// else the machine does, and other values have no direction. They are Unjudged, as is what
// another machine took without a peer.
const (
	Unjudged Verdict = "unjudged"
	Same     Verdict = "same"   // the difference is within the noise of the measures
	Within   Verdict = "within" // it is beyond the noise, and within the tolerance
	Slower   Verdict = "slower" // it is beyond both
	Faster   Verdict = "faster"
	New      Verdict = "new"  // only the run has the row
	Gone     Verdict = "gone" // only the earlier report has it
)

// Basis is what a comparison divides.
type Basis string

const (
	// Times are measured values, those of both runs on one machine.
	Times Basis = "times"
	// PeerRatios are the measured values in times those of the peers of the same run.
	PeerRatios Basis = "ratios to peers"
)

// Comparison is a report beside an earlier one.
type Comparison struct {
	Earlier   string   `json:"earlier"` // the name of the earlier report
	Tolerance float64  `json:"tolerance"`
	Basis     Basis    `json:"basis"`
	Machine   Machine  `json:"machine"` // of the earlier report
	Warnings  []string `json:"warnings,omitempty"`
	Rows      []Row    `json:"rows"`
}

// Row is a row of a report, of an earlier one, or of both.
type Row struct {
	Benchmark string   `json:"benchmark"`
	Name      string   `json:"name"`
	Unit      string   `json:"unit"`
	Before    *float64 `json:"before,omitempty"` // the value in the earlier report; nil: it has none
	// Change is the value in times Before, or the ratio to the peer in times that before; nil
	// where they cannot be divided.
	Change  *float64 `json:"change,omitempty"`
	Verdict Verdict  `json:"verdict"`
}

// rowKey identifies a row. Some have their rate under the name of their time.
type rowKey struct{ benchmark, name, unit string }

func (m *Measurement) key() rowKey { return rowKey{m.Benchmark, m.Name, m.Unit} }

// Compare puts a report beside an earlier one. Every processor time is compared with that
// of the row of the same name.
//
// Where the processors differ, their times say nothing of the program; what is compared is
// the ratio to the peer, which both runs measured in turns with the same work, and rows
// without a peer are not judged. A difference is within the noise where the middle halves of
// both rows' samples overlap. With few samples that is no test at a level; it keeps a row
// that varies by itself from being called slower.
//
// Rows of benchmarks that were not selected are left out of the earlier report.
func Compare(now, earlier *Report, name string, tolerance float64, selected func(benchmark string) bool) *Comparison {
	c := &Comparison{Earlier: name, Tolerance: tolerance, Basis: Times, Machine: earlier.Machine}
	c.compareMachines(&now.Machine, &earlier.Machine)
	before := map[rowKey]*Measurement{}
	for i := range earlier.Measurements {
		before[earlier.Measurements[i].key()] = &earlier.Measurements[i]
	}
	var order []string // of the benchmarks
	rows := map[string][]Row{}
	add := func(r Row) {
		if !slices.Contains(order, r.Benchmark) {
			order = append(order, r.Benchmark)
		}
		rows[r.Benchmark] = append(rows[r.Benchmark], r)
	}
	for i := range now.Measurements {
		m := &now.Measurements[i]
		add(c.row(m, before[m.key()]))
		delete(before, m.key())
	}
	for i := range earlier.Measurements {
		m := &earlier.Measurements[i]
		if _, left := before[m.key()]; left && selected(m.Benchmark) {
			add(Row{Benchmark: m.Benchmark, Name: m.Name, Unit: m.Unit, Before: &m.Value, Verdict: Gone})
		}
	}
	for _, b := range order {
		c.Rows = append(c.Rows, rows[b]...)
	}
	return c
}

// compareMachines chooses the basis, and warns of what makes times differ beside the program.
func (c *Comparison) compareMachines(now, then *Machine) {
	warn := func(format string, args ...any) { c.Warnings = append(c.Warnings, fmt.Sprintf(format, args...)) }
	switch {
	case then.CPU == "":
		warn("%s does not say on which processor it was measured; its times are compared as those of this one", c.Earlier)
	case then.CPU != now.CPU:
		c.Basis = PeerRatios
		warn("%s was measured on %s, this is %s: ratios to peers are compared, and rows without a peer are not judged",
			c.Earlier, then.CPU, now.CPU)
	}
	if then.BLAS != "" && then.BLAS != now.BLAS {
		warn("%s was measured with %s, this run with %s", c.Earlier, then.BLAS, now.BLAS)
	}
	if then.Device != now.Device {
		warn("%s was measured on the device %q, this run on %q", c.Earlier, then.Device, now.Device)
	}
	if c.Basis == PeerRatios && then.Peers != now.Peers {
		warn("the peers of %s are %s, those of this run %s", c.Earlier, orNone(then.Peers), orNone(now.Peers))
	}
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// row compares a measurement with the earlier one; nil if there is none.
func (c *Comparison) row(m, before *Measurement) Row {
	r := Row{Benchmark: m.Benchmark, Name: m.Name, Unit: m.Unit, Verdict: New}
	if before == nil {
		return r
	}
	r.Before, r.Verdict = &before.Value, Unjudged
	a, b := m.estimate(c.Basis), before.estimate(c.Basis)
	if a == nil || b == nil || !(b.value > 0) {
		return r
	}
	change := a.value / b.value
	r.Change = &change
	switch limit := 1 + c.Tolerance; {
	case m.Clock != CPU || before.Clock != CPU:
	case a.middle.overlaps(b.middle):
		r.Verdict = Same
	case change > limit:
		r.Verdict = Slower
	case change < 1/limit:
		r.Verdict = Faster
	default:
		r.Verdict = Within
	}
	return r
}

// estimate is a value and the middle half of its samples.
type estimate struct {
	value  float64
	middle interval
}

// estimate is what of a measurement is compared; nil where it has none.
func (m *Measurement) estimate(b Basis) *estimate {
	value, samples := m.Value, m.Samples
	if b == PeerRatios {
		if m.Peer == nil {
			return nil
		}
		value, samples = m.Peer.Ratio, ratios(m.Samples, m.Peer.Samples)
	}
	if len(samples) > 0 {
		return &estimate{value, middle(samples)}
	}
	// The table has the spread in place of the samples.
	return &estimate{value, interval{value * (1 - m.spread), value * (1 + m.spread)}}
}

// Slower are the rows that are slower by more than the tolerance.
func (c *Comparison) Slower() []Row {
	return slices.DeleteFunc(slices.Clone(c.Rows), func(r Row) bool { return r.Verdict != Slower })
}

// Err says which rows are slower; nil if none is.
func (c *Comparison) Err() error {
	slower := c.Slower()
	if len(slower) == 0 {
		return nil
	}
	var of []string
	for _, r := range slower {
		of = append(of, fmt.Sprintf("%s, %s (%s)", r.Benchmark, r.Name, times(*r.Change)))
	}
	verb := "are"
	if len(slower) == 1 {
		verb = "is"
	}
	return fmt.Errorf("%s %s slower than in %s by more than %s: %s", text.Count(len(slower), "row"), verb, c.Earlier,
		percent(c.Tolerance), strings.Join(of, "; "))
}

func times(change float64) string { return fmt.Sprintf("%.2f times", change) }

// change is the cell of the table.
func (r *Row) change() string {
	switch {
	case r.Verdict == Same:
		return "~"
	case r.Change == nil:
		return ""
	}
	return fmt.Sprintf("%.2f", *r.Change)
}

// words is the verdict in the table, where there is something to say.
func (r *Row) words() string {
	switch r.Verdict {
	case Slower:
		return "SLOWER"
	case Faster:
		return "faster"
	}
	return ""
}

// sentences are the lines below the table: what was compared, and how many rows have which
// verdict.
func (c *Comparison) sentences() string {
	count := map[Verdict]int{}
	for _, r := range c.Rows {
		count[r.Verdict]++
	}
	judged := count[Same] + count[Within] + count[Slower] + count[Faster]
	return fmt.Sprintf("# compared with %s by %s: of %s, %d slower and %d faster by more than %s, %d within the "+
		"noise (~); %d new, %d gone\n", c.Earlier, c.Basis, text.Count(judged, "judged row"), count[Slower], count[Faster],
		percent(c.Tolerance), count[Same], count[New], count[Gone])
}
