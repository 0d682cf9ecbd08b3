package compare

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"privkern/experiments/mechanism"
	"privkern/experiments/page"
	"privkern/runner/experiment"
)

// Write writes the results in a format ([page.Write]).
func (r *Results) Write(w io.Writer, f page.Format, shell page.Shell, width int) error {
	return page.Write(w, r, f, shell, width)
}

// CSV returns a row for each method and epsilon, and those of the trivial rule and without privacy, below a header.
// Where methods are attacked, there is a row for each outcome, whose metric is membership_auc.
func (r *Results) CSV() [][]string {
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
	for _, row := range r.attacked() {
		for _, a := range row.Attacked {
			if a.AUC != nil {
				rows = append(rows, []string{row.Method, row.Protects, "false", experiment.FormatNumber(a.Epsilon), r.Delta,
					"membership_auc", experiment.FormatNumber(*a.AUC), "", "", "", "", "", ""})
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
	refused := ""
	if slices.ContainsFunc(r.Warnings, func(l *Warned) bool {
		return strings.Contains(l.Text, mechanism.LargeDelta) &&
			slices.ContainsFunc(l.Methods, func(m *Counted) bool { return m.Method == w.Method })
	}) {
		refused = fmt.Sprintf("; with delta = %s, which is not below 1/n, it is refused unless --allow-large-delta is added",
			r.Delta)
	}
	return fmt.Sprintf("The release of %s at epsilon %s, which protects one %s%s:", w.Method,
		experiment.FormatNumber(w.Epsilon), r.protected(r.first()), refused)
}
