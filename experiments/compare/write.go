package compare

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"privkern/runner/experiment"
)

// quoting makes a word one that a shell reads back.
type quoting = func(word string) string

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
		return r.writeLaTeX(w)
	case Markdown:
		return r.writeMarkdown(w, quote)
	}
	return (&writer{Results: r, quote: quote, width: width}).write(w)
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

// writeMarkdown writes the table, and what it shows.
func (r *Results) writeMarkdown(w io.Writer, quote quoting) error {
	var b strings.Builder
	escape := strings.NewReplacer("|", `\|`, "*", `\*`, "~", `\~`, "_", `\_`).Replace
	row := func(fields []string) {
		for _, f := range fields {
			b.WriteString("| " + escape(f) + " ")
		}
		b.WriteString("|\n")
	}
	b.WriteString(escape(r.caption()) + "\n\n")
	row(r.header())
	b.WriteString("|" + strings.Repeat(" --- |", len(r.header())) + "\n")
	for _, l := range r.lines() {
		row(append(slices.Clone(l.fields), make([]string, len(r.header())-len(l.fields))...))
	}
	if legend := r.legend(); legend != "" {
		b.WriteString("\n" + escape(legend) + "\n")
	}
	for _, s := range slices.Concat(r.Sentences, r.remarks()) {
		b.WriteString("\n" + escape(s) + "\n")
	}
	for _, winner := range r.Winners {
		if winner != nil {
			b.WriteString("\n```sh\n" + command(winner, quote, Width) + "\n```\n")
		}
	}
	if !r.Contest.Published {
		b.WriteString("\n" + Looking + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// latexEscapes are those of characters with a meaning in LaTeX.
var latexEscapes = strings.NewReplacer(`\`, `\textbackslash{}`, "{", `\{`, "}", `\}`, "_", `\_`, "%", `\%`, "&", `\&`,
	"#", `\#`, "$", `\$`, "^", `\^{}`, "~", `$\sim$`, "±", `$\pm$`)

// writeLaTeX writes a table environment for the package booktabs.
func (r *Results) writeLaTeX(w io.Writer) error {
	var b strings.Builder
	columns := len(r.header())
	row := func(fields []string) {
		for i, f := range fields {
			if i > 0 {
				b.WriteString(" & ")
			}
			b.WriteString(latexEscapes.Replace(f))
		}
		b.WriteString(" \\\\\n")
	}
	fmt.Fprintf(&b, "\\begin{table}\n\\caption{%s %s}\n\\begin{tabular}{l%s}\n\\toprule\n",
		latexEscapes.Replace(r.caption()), latexEscapes.Replace(r.legend()), strings.Repeat("r", columns-1))
	row(r.header())
	b.WriteString("\\midrule\n")
	for _, l := range r.lines() {
		if l.heading {
			fmt.Fprintf(&b, "\\midrule\n\\multicolumn{%d}{l}{%s} \\\\\n", columns, latexEscapes.Replace(l.fields[0]))
			continue
		}
		row(l.fields)
	}
	b.WriteString("\\bottomrule\n\\end{tabular}\n\\end{table}\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// Page are the results in the parts of a page.
type Page struct {
	Caption string
	Header  []string
	Rows    [][]string // one field is the heading of a block
	Legend  string
	// Sentences state the outcome, and Remarks failures, suspicions and methods that take no part.
	Sentences, Remarks []string
	Releases           []Release
	Looking            string // at private data; empty for published ones
}

// Release is the command that releases the best method at an epsilon.
type Release struct{ Title, Command string }

// Page returns the results for a page. quote makes a word of a command one that a shell reads back.
func (r *Results) Page(quote func(word string) string) *Page {
	p := &Page{Caption: r.caption(), Header: r.header(), Legend: r.legend(), Sentences: r.Sentences, Remarks: r.remarks()}
	if !r.Contest.Published {
		p.Looking = Looking
	}
	for _, l := range r.lines() {
		p.Rows = append(p.Rows, l.fields)
	}
	for _, w := range r.Winners {
		if w != nil {
			p.Releases = append(p.Releases, Release{r.releaseTitle(w), command(w, quote, Width)})
		}
	}
	return p
}
