package compare

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"privkern/runner/experiment"
)

// width is that of text output, in characters.
const width = 80

// quoting makes a word one that a shell reads back.
type quoting = func(word string) string

// WriteText writes the results for a terminal of 80 columns. Columns that have no room go on below. quote makes a word
// of a command one that a shell reads back.
func (r *Results) WriteText(w io.Writer, quote func(word string) string) error {
	var b strings.Builder
	b.WriteString(wrap(r.caption(), "") + "\n\n")
	r.writeColumns(&b)
	if legend := r.legend(); legend != "" {
		b.WriteString(legend + "\n\n")
	}
	for _, s := range r.Sentences {
		b.WriteString(wrap(s, "  ") + "\n")
	}
	if remarks := r.remarks(); len(remarks) > 0 {
		b.WriteString("\n")
		for _, text := range remarks {
			b.WriteString(wrap(text, "  ") + "\n")
		}
	}
	for _, winner := range r.Winners {
		if winner != nil {
			title := fmt.Sprintf("The release of %s at epsilon %s, which protects one %s:", winner.Method,
				experiment.FormatNumber(winner.Epsilon), r.protected(r.first()))
			b.WriteString("\n" + wrap(title, "") + "\n" + command(winner, quote) + "\n")
		}
	}
	b.WriteString("\n" + wrap(Looking, "") + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// writeColumns writes the table, and columns that have no room in tables below it.
func (r *Results) writeColumns(b *strings.Builder) {
	header, lines := r.header(), r.lines()
	widths := make([]int, len(header))
	for _, l := range append([]line{{fields: header}}, lines...) {
		for i, f := range l.fields {
			if !l.heading {
				widths[i] = max(widths[i], utf8.RuneCountInString(f))
			}
		}
	}
	for next := 1; next < len(header); {
		total, shown := widths[0], []int{0}
		for next < len(header) && (len(shown) == 1 || total+2+widths[next] <= width) {
			total, shown, next = total+2+widths[next], append(shown, next), next+1
		}
		r.writeLine(b, line{fields: header}, shown, widths)
		for _, l := range lines {
			r.writeLine(b, l, shown, widths)
		}
		b.WriteString("\n")
	}
}

// writeLine writes some fields of a line.
func (r *Results) writeLine(b *strings.Builder, l line, shown, widths []int) {
	if l.heading {
		b.WriteString(l.fields[0] + "\n")
		return
	}
	text := ""
	for _, i := range shown {
		if i > 0 {
			text += "  "
		}
		text += l.fields[i] + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(l.fields[i]))
	}
	b.WriteString(strings.TrimRight(text, " ") + "\n")
}

// wrap breaks a text into lines; those after the first are indented.
func wrap(text, indent string) string {
	var lines []string
	current := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case current == "":
			current = word
		case utf8.RuneCountInString(current)+1+utf8.RuneCountInString(word) > width:
			lines, current = append(lines, current), indent+word
		default:
			current += " " + word
		}
	}
	return strings.Join(append(lines, current), "\n")
}

// command is a command line, broken where it is long.
func command(w *Winner, quote quoting) string {
	text, current := "", "  run"
	for _, a := range w.Arguments {
		word := quote(a)
		if utf8.RuneCountInString(current)+len(word)+3 > width {
			text, current = text+current+" \\\n", "     "
		}
		current += " " + word
	}
	return text + current
}

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

// Write writes the results in a format. quote is that of [Results.WriteText].
func (r *Results) Write(w io.Writer, f Format, quote func(word string) string) error {
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
	return r.WriteText(w, quote)
}

// writeCSV writes a row for each method and epsilon, and those of the trivial rule and without privacy.
func (r *Results) writeCSV(w io.Writer) error {
	out := csv.NewWriter(w)
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
	return out.WriteAll(rows)
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
			b.WriteString("\n```sh\n" + command(winner, quote) + "\n```\n")
		}
	}
	b.WriteString("\n" + Looking + "\n")
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
