// Package page writes results for readers: a table with sentences about it, in text, Markdown and LaTeX.
package page

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Page is a table with sentences about it. Empty texts are left out.
type Page struct {
	Caption string
	Header  []string
	Rows    [][]string // one field is the heading of those that follow
	Legend  string
	// Sentences state the outcome, and Remarks its restrictions.
	Sentences, Remarks []string
	Releases           []Release
	Looking            string // a caution about looking at private data
}

// Release is a command of the program, by its arguments, that makes a release.
type Release struct {
	Title     string
	Arguments []string
}

// Shell writes a command, by the arguments of the program, in lines of a width that a shell reads back.
type Shell = func(arguments []string, width int) string

// heading reports whether a row is one.
func heading(row []string) bool { return len(row) == 1 }

// Markdown writes the page for GitHub. shell writes a command.
func (p *Page) Markdown(w io.Writer, shell Shell) error {
	var b strings.Builder
	escape := strings.NewReplacer("|", `\|`, "*", `\*`, "~", `\~`, "_", `\_`).Replace
	row := func(fields []string) {
		for _, f := range fields {
			b.WriteString("| " + escape(f) + " ")
		}
		b.WriteString("|\n")
	}
	b.WriteString(escape(p.Caption) + "\n\n")
	row(p.Header)
	b.WriteString("|" + strings.Repeat(" --- |", len(p.Header)) + "\n")
	for _, r := range p.Rows {
		row(append(slices.Clone(r), make([]string, len(p.Header)-len(r))...))
	}
	if p.Legend != "" {
		b.WriteString("\n" + escape(p.Legend) + "\n")
	}
	for _, s := range slices.Concat(p.Sentences, p.Remarks) {
		b.WriteString("\n" + escape(s) + "\n")
	}
	for _, r := range p.Releases {
		b.WriteString("\n```sh\n" + shell(r.Arguments, Width) + "\n```\n")
	}
	if p.Looking != "" {
		b.WriteString("\n" + p.Looking + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// latexEscapes are those of characters with a meaning in LaTeX.
var latexEscapes = strings.NewReplacer(`\`, `\textbackslash{}`, "{", `\{`, "}", `\}`, "_", `\_`, "%", `\%`, "&", `\&`,
	"#", `\#`, "$", `\$`, "^", `\^{}`, "~", `$\sim$`, "±", `$\pm$`)

// LaTeX writes a table environment for the package booktabs.
func (p *Page) LaTeX(w io.Writer) error {
	var b strings.Builder
	columns := len(p.Header)
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
		latexEscapes.Replace(p.Caption), latexEscapes.Replace(p.Legend), strings.Repeat("r", columns-1))
	row(p.Header)
	b.WriteString("\\midrule\n")
	for _, r := range p.Rows {
		if heading(r) {
			fmt.Fprintf(&b, "\\midrule\n\\multicolumn{%d}{l}{%s} \\\\\n", columns, latexEscapes.Replace(r[0]))
			continue
		}
		row(r)
	}
	b.WriteString("\\bottomrule\n\\end{tabular}\n\\end{table}\n")
	_, err := io.WriteString(w, b.String())
	return err
}
