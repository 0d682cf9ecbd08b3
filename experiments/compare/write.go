package compare

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"

	"privkern/experiments/page"
	"privkern/runner/experiment"
)

// Format is a format of output.
type Format string

// The formats.
const (
	Text     Format = "table"
	JSON     Format = "json"
	CSV      Format = "csv"
	LaTeX    Format = "latex"
	Markdown Format = "markdown"
)

// Write writes the results in a format. quote makes a word of a command one that a shell reads back, and width is that
// of text, in characters.
func (r *Results) Write(w io.Writer, f Format, quote func(word string) string, width int) error {
	switch f {
	case JSON:
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(r)
	case CSV:
		return r.writeCSV(w)
	case LaTeX:
		return r.Page().LaTeX(w)
	case Markdown:
		return r.Page().Markdown(w, quote)
	}
	return r.Page().Text(w, quote, width)
}

// writeCSV writes a row for each method and epsilon, and those of the trivial rule and without privacy.
func (r *Results) writeCSV(w io.Writer) error {
	return csv.NewWriter(w).WriteAll(r.csvRows())
}

// csvRows are those of [Results.writeCSV], with a header.
func (r *Results) csvRows() [][]string {
	rows := [][]string{{"method", "protects", "ranked", "epsilon", "delta", "metric", "mean", "standard_error", "splits",
		"failed", "best", "p", "cpu_seconds"}}
	add := func(method, protects string, ranked bool, epsilon float64, m *Mean, ok int, rest ...string) {
		mean, se := "", ""
		if m != nil {
			if mean = experiment.FormatNumber(m.Mean); m.StandardError != nil {
				se = experiment.FormatNumber(*m.StandardError)
			}
		}
		rows = append(rows, append([]string{method, protects, fmt.Sprint(ranked), experiment.FormatNumber(epsilon), r.Delta,
			r.Measure.Name, mean, se, fmt.Sprint(ok), fmt.Sprint(r.Splits - ok)}, rest...))
	}
	for _, b := range r.Blocks {
		for _, row := range b.Rows {
			for _, c := range row.Cells {
				p := ""
				if c.P != nil {
					p = experiment.FormatNumber(*c.P)
				}
				add(row.Method, row.Protects, !b.Less, c.Epsilon, c.Mean, c.OK, fmt.Sprint(c.Best), p,
					experiment.FormatNumber(row.CPU))
			}
		}
	}
	for i, epsilon := range r.Epsilons {
		if r.Trivial != nil {
			add(TrivialName(r.Contest.Task), "", false, epsilon, &r.Trivial[i], r.Splits, "false", "", "")
		}
		if r.Exact != nil {
			add("without privacy", "", false, epsilon, r.Exact, r.Splits, "false", "", "")
		}
	}
	return rows
}

// Page returns the results for readers.
func (r *Results) Page() *page.Page {
	p := &page.Page{Caption: r.caption(), Header: r.header(), Rows: r.rows(), Legend: r.legend(), Sentences: r.Sentences,
		Remarks: r.remarks()}
	if !r.Contest.Published {
		p.Looking = Looking
	}
	for _, w := range r.Winners {
		if w != nil {
			p.Releases = append(p.Releases, page.Release{Title: r.releaseTitle(w), Arguments: w.Arguments})
		}
	}
	return p
}

// releaseTitle introduces the command of a release.
func (r *Results) releaseTitle(w *Winner) string {
	return fmt.Sprintf("The release of %s at epsilon %s, which protects one %s:", w.Method,
		experiment.FormatNumber(w.Epsilon), r.protected(r.first()))
}
