package audit

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Fault is a subject with a planted fault. It shows what the tests can see.
type Fault struct {
	Name    string
	Subject Subject
	// Honest says that nothing is wrong with the subject: what is found in it is a
	// false alarm.
	Honest bool
}

// FaultRow says which tests find a fault.
type FaultRow struct {
	Fault    string    `json:"fault"`
	Honest   bool      `json:"honest,omitempty"`
	Made     []Test    `json:"tests"` // that apply
	FoundBy  []Test    `json:"found_by"`
	Findings []Finding `json:"findings,omitempty"`
}

// OK says that a fault is found by something, and an honest subject by nothing.
func (r FaultRow) OK() bool { return r.Honest == (len(r.FoundBy) == 0) }

// RunFaults audits every subject by all tests.
func RunFaults(ctx context.Context, faults []Fault, o Options) ([]FaultRow, error) {
	var rows []FaultRow
	for _, f := range faults {
		s := f.Subject
		s.Name = "fault: " + f.Name // the streams of the real subject are others
		r, err := Run(ctx, s, o)
		if err != nil {
			return nil, err
		}
		row := FaultRow{Fault: f.Name, Honest: f.Honest, Made: r.Made, Findings: r.Findings}
		for _, t := range Tests() {
			if r.Found(t) {
				row.FoundBy = append(row.FoundBy, t)
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// FaultTable writes the rows as a Markdown table: a mark where a test finds a
// fault, a dash where the test does not apply.
func FaultTable(w io.Writer, rows []FaultRow) error {
	var b strings.Builder
	b.WriteString("| planted fault |")
	for _, t := range Tests() {
		fmt.Fprintf(&b, " %s |", t)
	}
	b.WriteString(" verdict |\n|---|" + strings.Repeat(":-:|", len(Tests())) + "---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s |", r.Fault)
		for _, t := range Tests() {
			mark := " "
			switch {
			case slices.Contains(r.FoundBy, t):
				mark = "x"
			case !slices.Contains(r.Made, t):
				mark = "–"
			}
			fmt.Fprintf(&b, " %s |", mark)
		}
		fmt.Fprintf(&b, " %s |\n", r.verdict())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (r FaultRow) verdict() string {
	switch {
	case r.Honest && r.OK():
		return "honest"
	case r.Honest:
		return "**false alarm**"
	case r.OK():
		return "found"
	}
	return "**missed**"
}
