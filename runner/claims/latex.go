package claims

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode"
)

// LaTeX writes the table for \input into a document that loads array and booktabs. The
// text is plain ASCII, so that every engine and input encoding reads it.
func LaTeX(w io.Writer, e *Evaluated) error {
	g := Layout(e, true)
	if len(g.Columns) > 9 { // too wide for a page of text
		g = Layout(e, false)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%% %s, written by `run table`; needs \\usepackage{array,booktabs}\n", asciiComment(e.Table))
	b.WriteString("\\begin{table}\n  \\centering\\small\\setlength{\\tabcolsep}{4pt}\n")
	fmt.Fprintf(&b, "  \\caption{%s}\n  \\label{tab:%s}\n", escapeLaTeX(e.Heading()), labelName(e.Table))
	fmt.Fprintf(&b, "  \\begin{tabular}{@{}%s@{}}\n    \\toprule\n", g.latexColumns())
	if len(g.Groups) > 0 {
		var cells, rules []string
		at := 1
		for _, gr := range g.Groups {
			if gr.Title == "" {
				cells = append(cells, strings.TrimSuffix(strings.Repeat(" & ", gr.Span), " & "))
			} else {
				cells = append(cells, fmt.Sprintf("\\multicolumn{%d}{c}{%s}", gr.Span, escapeLaTeX(gr.Title)))
				rules = append(rules, fmt.Sprintf("\\cmidrule(lr){%d-%d}", at, at+gr.Span-1))
			}
			at += gr.Span
		}
		fmt.Fprintf(&b, "    %s \\\\\n    %s\n", strings.Join(cells, " & "), strings.Join(rules, " "))
	}
	var head []string
	for _, c := range g.Columns {
		head = append(head, c.Title)
	}
	fmt.Fprintf(&b, "    %s \\\\\n    \\midrule\n", strings.Join(head, " & "))
	for i, l := range g.Lines {
		repeated := g.Repeated(i)
		fields := make([]string, len(l))
		for c, f := range l {
			if repeated[c] {
				continue
			}
			fields[c] = escapeLaTeX(f.Text)
			if f.Verdict != "" && !f.Verdict.plain() {
				fields[c] = "\\textbf{" + fields[c] + "}"
			}
			if m := strings.Trim(marks(f.Notes), " []"); m != "" {
				fields[c] += "\\textsuperscript{" + m + "}"
			}
		}
		line := strings.TrimLeft(strings.Join(fields, " & "), " ")
		if strings.HasPrefix(line, "[") {
			line = "{}" + line // not the optional argument of the \\ before
		}
		fmt.Fprintf(&b, "    %s \\\\\n", line)
	}
	b.WriteString("    \\bottomrule\n  \\end{tabular}\n\n  \\begin{minipage}{\\linewidth}\\footnotesize\\medskip\n")
	fmt.Fprintf(&b, "    %s.\n", escapeLaTeX(e.SummaryText()))
	for i, n := range g.Notes {
		fmt.Fprintf(&b, "    \\par\\textsuperscript{%d}~%s\n", i+1, escapeLaTeX(n))
	}
	for _, f := range e.Footnotes {
		fmt.Fprintf(&b, "    \\par %s\n", escapeLaTeX(f))
	}
	b.WriteString("  \\end{minipage}\n\\end{table}\n")
	_, err := w.Write(b.Bytes())
	return err
}

// latexColumns lets a column whose texts are too long for the page break its
// lines, at its share of the page.
func (g *Grid) latexColumns() string {
	const page = 74 // characters of \small type across a page of text, with some room
	natural := g.widths(math.MaxInt)
	narrowed := natural
	// Numbers keep their width, so the texts may have to give way further.
	for target := page; target > page/2; target-- {
		narrowed = g.widths(target)
		total := 0
		for c, col := range g.Columns {
			if col.Right {
				narrowed[c] = natural[c]
			}
			total += narrowed[c] + 1
		}
		if total <= page {
			break
		}
	}
	var b strings.Builder
	for c, col := range g.Columns {
		switch {
		case col.Right:
			b.WriteString("r")
		case narrowed[c] < natural[c]:
			fmt.Fprintf(&b, ">{\\raggedright\\arraybackslash}p{%.2f\\linewidth}", float64(narrowed[c])/page)
		default:
			b.WriteString("l")
		}
	}
	return b.String()
}

// latexRunes are the characters that have a meaning in LaTeX or are not ASCII.
var latexRunes = map[rune]string{
	'\\': `\textbackslash{}`, '{': `\{`, '}': `\}`, '$': `\$`, '&': `\&`, '#': `\#`, '_': `\_`, '%': `\%`,
	'~': `\textasciitilde{}`, '^': `\textasciicircum{}`, '<': `$<$`, '>': `$>$`, '|': `$|$`,
	'\n': " ", '\r': "", '\t': " ", '\u00a0': "~",
	'–': "--", '—': "---", '−': "$-$", '“': "``", '”': "''", '‘': "`", '’': "'", '…': `\ldots{}`,
	'±': `$\pm$`, '×': `$\times$`, '·': `$\cdot$`, '÷': `$\div$`, '√': `$\surd$`, '∞': `$\infty$`, '°': `$^\circ$`,
	'≤': `$\le$`, '≥': `$\ge$`, '≠': `$\neq$`, '≈': `$\approx$`, '∼': `$\sim$`, '≡': `$\equiv$`, '≺': `$\prec$`, '≻': `$\succ$`,
	'→': `$\to$`, '←': `$\leftarrow$`, '∈': `$\in$`, '‖': `$\|$`, '∑': `$\sum$`, '∏': `$\prod$`, '∂': `$\partial$`, '∝': `$\propto$`,
	'⊂': `$\subset$`, '⊆': `$\subseteq$`, '∪': `$\cup$`, '∩': `$\cap$`, '∀': `$\forall$`, '∃': `$\exists$`, '⌊': `$\lfloor$`, '⌋': `$\rfloor$`,
	'⌈': `$\lceil$`, '⌉': `$\rceil$`, '½': `$\frac12$`, 'ᵀ': `$^{\mathsf T}$`, '⁺': `$^{+}$`, '⁻': `$^{-}$`, '†': `\dag{}`,
	'⁰': `$^{0}$`, '¹': `$^{1}$`, '²': `$^{2}$`, '³': `$^{3}$`, '⁴': `$^{4}$`, '⁵': `$^{5}$`, '⁶': `$^{6}$`, '⁷': `$^{7}$`, '⁸': `$^{8}$`, '⁹': `$^{9}$`,
	'₀': `$_{0}$`, '₁': `$_{1}$`, '₂': `$_{2}$`, '₃': `$_{3}$`, '₄': `$_{4}$`, '₅': `$_{5}$`, '₆': `$_{6}$`, '₇': `$_{7}$`, '₈': `$_{8}$`, '₉': `$_{9}$`,
	'α': `$\alpha$`, 'β': `$\beta$`, 'γ': `$\gamma$`, 'δ': `$\delta$`, 'ε': `$\varepsilon$`, 'ζ': `$\zeta$`, 'η': `$\eta$`, 'θ': `$\theta$`,
	'ι': `$\iota$`, 'κ': `$\kappa$`, 'λ': `$\lambda$`, 'μ': `$\mu$`, 'µ': `$\mu$`, 'ν': `$\nu$`, 'ξ': `$\xi$`, 'π': `$\pi$`, 'ρ': `$\rho$`,
	'σ': `$\sigma$`, 'τ': `$\tau$`, 'υ': `$\upsilon$`, 'φ': `$\varphi$`, 'χ': `$\chi$`, 'ψ': `$\psi$`, 'ω': `$\omega$`,
	'Γ': `$\Gamma$`, 'Δ': `$\Delta$`, 'Θ': `$\Theta$`, 'Λ': `$\Lambda$`, 'Ξ': `$\Xi$`, 'Π': `$\Pi$`, 'Σ': `$\Sigma$`, 'Φ': `$\Phi$`, 'Ψ': `$\Psi$`, 'Ω': `$\Omega$`,
	'á': `\'a`, 'é': `\'e`, 'í': `\'{\i}`, 'ó': `\'o`, 'ú': `\'u`, 'Á': `\'A`, 'É': `\'E`, 'Ó': `\'O`, 'à': "\\`a", 'è': "\\`e",
	'ä': `\"a`, 'ö': `\"o`, 'ü': `\"u`, 'Ä': `\"A`, 'Ö': `\"O`, 'Ü': `\"U`, 'ß': `\ss{}`, 'ñ': `\~n`, 'ç': `\c{c}`, 'ø': `\o{}`, 'å': `\aa{}`, 'ê': `\^e`, 'ô': `\^o`,
}

// escapeLaTeX makes any text appear as it is. A character that it does not know
// appears as its code point, so that the document still compiles.
func escapeLaTeX(s string) string {
	var b strings.Builder
	quotes := 0
	for _, r := range s {
		switch t, ok := latexRunes[r]; {
		case r == '"':
			b.WriteString([]string{"``", "''"}[quotes%2])
			quotes++
		case ok:
			b.WriteString(t)
		case r < 0x20 || r == 0x7f:
		case r <= unicode.MaxASCII:
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "\\texttt{U+%04X}", r)
		}
	}
	return b.String()
}

func asciiComment(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r > 0x7e {
			return '?'
		}
		return r
	}, s)
}

func labelName(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, s)
}
