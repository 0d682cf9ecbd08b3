package summary

import (
	"io"
	"strings"

	"privkern/runner/show/tables"
)

// latexRows is the number of rows that fit a page; a table with more is a longtable.
const latexRows = 40

// LaTeX writes the tables with booktabs rules, as a longtable where they are too long for a page. Best
// means are bold.
func LaTeX(w io.Writer, all []*MetricTable) error {
	for _, t := range all {
		p := newPrinter(w)
		p.print("%% %s\n", t.Experiment)
		t.latex(p)
		if err := p.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// LaTeXFragment writes the table for \input into a document that loads [tables.LaTeXPackages], with a
// heading. The file states in its first line which command wrote it.
func (t *MetricTable) LaTeXFragment(w io.Writer, title, command string) error {
	p := newPrinter(w)
	p.print("%% %s, written by `%s`; needs \\usepackage{%s}\n", t.Experiment, command,
		strings.Join(tables.LaTeXPackages, ","))
	heading := "\\texttt{" + tables.EscapeLaTeX(t.Experiment) + "}"
	if title != "" {
		heading = tables.EscapeLaTeX(title) + " (" + heading + ")"
	}
	p.print("\\begingroup\\centering\\small\\setlength{\\tabcolsep}{4pt}\n\\noindent %s\\par\\medskip\n", heading)
	t.latex(p)
	p.print("\\par\\endgroup\n")
	return p.Flush()
}

// latex writes the table with its remarks.
func (t *MetricTable) latex(p printer) {
	environment := "tabular"
	if len(t.Rows) > latexRows {
		environment = "longtable"
	}
	p.print("\\begin{%s}{%s}\n\\toprule\n", environment, strings.Repeat("l", len(t.Varying)+1+len(t.Metrics)))
	head := true
	for row := range t.cells(latexCell) {
		p.print("%s\n", tables.LaTeXRow(row))
		switch {
		case head && environment == "longtable":
			p.print("\\midrule\n\\endhead\n")
		case head:
			p.print("\\midrule\n")
		}
		head = false
	}
	p.print("\\bottomrule\n\\end{%s}\n", environment)
	if s := t.ClassNote(); s != "" {
		p.print("\\par{\\footnotesize %s}\n", tables.EscapeLaTeX(s))
	}
	p.print("\n")
}

func latexCell(text string, best bool) string {
	text = tables.EscapeLaTeX(text)
	if number, negative := strings.CutPrefix(text, "-"); negative && number != "" && number[0] >= '0' && number[0] <= '9' {
		text = "$-$" + number // not a hyphen
	}
	if best {
		return "\\textbf{" + text + "}"
	}
	return text
}
