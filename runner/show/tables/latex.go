package tables

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode"

	"privkern/runner/claims/judge"
)

// LaTeXPackages are the packages that tables need.
var LaTeXPackages = []string{"array", "booktabs", "longtable"}

// writeLaTeX writes the table for \input into a document that loads [LaTeXPackages]:
// as a float, or as a longtable where it is too high for a page. The text is
// plain ASCII, so that every engine and input encoding reads it.
func writeLaTeX(w io.Writer, e *judge.Evaluation) error {
	g, size := latexLayout(e)
	notes := latexNotes(e, g)
	long := g.latexHeight(notes) > 1
	packages := LaTeXPackages[:2]
	if long {
		packages = LaTeXPackages
	}
	caption := fmt.Sprintf("\\caption{%s}", EscapeLaTeX(Heading(e)))
	label := fmt.Sprintf("\\label{tab:%s}", labelName(e.Table))
	var b bytes.Buffer
	fmt.Fprintf(&b, "%% %s, written by `run table`; needs \\usepackage{%s}\n", asciiComment(e.Table),
		strings.Join(packages, ","))
	if long {
		b.WriteString("\\begingroup" + size.command + "\\setlength{\\tabcolsep}{4pt}\n")
		fmt.Fprintf(&b, "  \\begin{longtable}{@{}%s@{}}\n    %s%s \\\\\n", g.latexColumns(size), caption, label)
		g.latexHead(&b)
		b.WriteString("    \\endfirsthead\n")
		g.latexHead(&b)
		b.WriteString("    \\endhead\n    \\bottomrule\n    \\endfoot\n")
		g.latexLines(&b)
		fmt.Fprintf(&b, "  \\end{longtable}\n\n  \\noindent\\footnotesize\n%s  \\par\n\\endgroup\n", notes)
	} else {
		b.WriteString("\\begin{table}\n  \\centering" + size.command + "\\setlength{\\tabcolsep}{4pt}\n")
		fmt.Fprintf(&b, "  %s\n  %s\n  \\begin{tabular}{@{}%s@{}}\n", caption, label, g.latexColumns(size))
		g.latexHead(&b)
		g.latexLines(&b)
		b.WriteString("    \\bottomrule\n  \\end{tabular}\n\n  \\begin{minipage}{\\linewidth}\\footnotesize\\medskip\n")
		fmt.Fprintf(&b, "%s  \\end{minipage}\n\\end{table}\n", notes)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// latexHeight estimates the height of the table in pages of small paper.
func (g *Grid) latexHeight(notes string) float64 {
	const lines, noteLines, noteColumns = 48, 56, 95
	height := float64(g.height(TextOptions{Width: latexPage})) / lines
	for l := range strings.Lines(notes) {
		height += math.Ceil(float64(len(l))/noteColumns) / noteLines
	}
	return height
}

// latexHead writes the headings, with the rules around them.
func (g *Grid) latexHead(b *bytes.Buffer) {
	b.WriteString("    \\toprule\n")
	var head []string
	for _, c := range g.Columns {
		head = append(head, c.Title)
	}
	fmt.Fprintf(b, "    %s \\\\\n    \\midrule\n", strings.Join(head, " & "))
}

// latexLines writes the lines of the table's body.
func (g *Grid) latexLines(b *bytes.Buffer) {
	for i, l := range g.Lines {
		repeated := g.Repeated(i)
		fields := make([]string, len(l.Fields))
		for c, f := range l.Fields {
			if repeated[c] {
				continue
			}
			fields[c] = EscapeLaTeX(f.Text)
			if f.Indent {
				fields[c] = `\quad ` + fields[c]
			}
			if number, negative := strings.CutPrefix(fields[c], "-"); negative && g.Columns[c].Right {
				fields[c] = "$-$" + number // not a hyphen
			}
			if f.Verdict != "" && !f.Verdict.Plain() {
				fields[c] = "\\textbf{" + fields[c] + "}"
			}
			if m := strings.Trim(marks(f.Notes), " []"); m != "" {
				fields[c] += "\\textsuperscript{" + m + "}"
			}
		}
		fmt.Fprintf(b, "    %s\n", LaTeXRow(fields))
	}
}

// LaTeXRow returns a line of a table's body from fields in LaTeX.
func LaTeXRow(fields []string) string {
	row := strings.TrimLeft(strings.Join(fields, " & "), " ")
	if strings.HasPrefix(row, "[") || strings.HasPrefix(row, "*") {
		row = "{}" + row // not the optional argument, or the star, of the \\ before
	}
	return row + ` \\`
}

// latexNotes returns the text below a table: the tally, notes and footnotes, each a paragraph
// on a line of its own.
func latexNotes(e *judge.Evaluation, g *Grid) string {
	var b strings.Builder
	fmt.Fprintf(&b, "    %s\n", EscapeLaTeX(e.Sentence()))
	for _, s := range e.Jointly() {
		fmt.Fprintf(&b, "    \\par %s\n", EscapeLaTeX(s))
	}
	for i, n := range g.Notes {
		fmt.Fprintf(&b, "    \\par\\textsuperscript{%d}~%s\n", i+1, EscapeLaTeX(n))
	}
	for _, f := range e.Footnotes {
		fmt.Fprintf(&b, "    \\par %s\n", EscapeLaTeX(f))
	}
	return b.String()
}

// latexSize is a size of type.
type latexSize struct {
	command string
	page    int  // characters across a page of text, with some room
	breaks  bool // columns of numbers may break, such as "0.2 <= 0.4 fails"
}

// latexSizes are tried in turn.
var latexSizes = []latexSize{
	{command: `\small`, page: latexPage}, {command: `\footnotesize`, page: 84}, {command: `\scriptsize`, page: 94},
	{command: `\scriptsize`, page: 94, breaks: true},
}

// latexPage is the width of a page in characters of \small type.
const latexPage = 74

// latexLayout lays the table out in the largest size of type that fits the page.
func latexLayout(e *judge.Evaluation) (*Grid, latexSize) {
	g := Layout(e)
	for _, size := range latexSizes {
		if _, total := g.latexWidths(size); total <= size.page {
			return g, size
		}
	}
	return g, latexSizes[len(latexSizes)-1]
}

// latexWidths returns the widths of the columns, narrowed to the page, and their
// total with the gaps. Numbers keep their width, so texts are narrowed further, and
// the total may still exceed the page.
func (g *Grid) latexWidths(size latexSize) (narrowed []int, total int) {
	natural := g.widths(math.MaxInt, false)
	for target := size.page; target > size.page/2; target-- {
		narrowed = g.widths(target, false)
		total = 0
		for c, col := range g.Columns {
			if col.Right && !size.breaks {
				narrowed[c] = natural[c]
			}
			total += narrowed[c] + 1
		}
		if total <= size.page {
			break
		}
	}
	return narrowed, total
}

// latexColumns returns the column specification. Columns that were narrowed break their
// lines at their share of the page.
func (g *Grid) latexColumns(size latexSize) string {
	natural := g.widths(math.MaxInt, false)
	narrowed, _ := g.latexWidths(size)
	var b strings.Builder
	for c, col := range g.Columns {
		switch {
		case narrowed[c] < natural[c]:
			ragged := "raggedright"
			if col.Right {
				ragged = "raggedleft"
			}
			fmt.Fprintf(&b, ">{\\%s\\arraybackslash}p{%.2f\\linewidth}", ragged, float64(narrowed[c])/float64(size.page))
		case col.Right:
			b.WriteString("r")
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
	'≤': `$\le$`, '≥': `$\ge$`, '≠': `$\neq$`, '≈': `$\approx$`, '∼': `$\sim$`, '≡': `$\equiv$`,
	'≺': `$\prec$`, '≻': `$\succ$`, '⪯': `$\preceq$`, '⪰': `$\succeq$`, '′': `$'$`,
	'→': `$\to$`, '←': `$\leftarrow$`, '∈': `$\in$`, '‖': `$\|$`, '∑': `$\sum$`, '∏': `$\prod$`,
	'∂': `$\partial$`, '∝': `$\propto$`,
	'⊂': `$\subset$`, '⊃': `$\supset$`, '⊆': `$\subseteq$`, '∪': `$\cup$`, '∩': `$\cap$`,
	'∀': `$\forall$`, '∃': `$\exists$`,
	'⌊': `$\lfloor$`, '⌋': `$\rfloor$`, '⟨': `$\langle$`, '⟩': `$\rangle$`, 'ṽ': `\~v`, 'Ŷ': `\^Y`,
	'⌈': `$\lceil$`, '⌉': `$\rceil$`, '½': `$\frac12$`, 'ᵀ': `$^{\mathsf T}$`, '⁺': `$^{+}$`, '⁻': `$^{-}$`, '†': `\dag{}`,
	'⁰': `$^{0}$`, '¹': `$^{1}$`, '²': `$^{2}$`, '³': `$^{3}$`, '⁴': `$^{4}$`, '⁵': `$^{5}$`, '⁶': `$^{6}$`, '⁷': `$^{7}$`,
	'⁸': `$^{8}$`, '⁹': `$^{9}$`,
	'₀': `$_{0}$`, '₁': `$_{1}$`, '₂': `$_{2}$`, '₃': `$_{3}$`, '₄': `$_{4}$`, '₅': `$_{5}$`, '₆': `$_{6}$`, '₇': `$_{7}$`,
	'₈': `$_{8}$`, '₉': `$_{9}$`,
	'α': `$\alpha$`, 'β': `$\beta$`, 'γ': `$\gamma$`, 'δ': `$\delta$`, 'ε': `$\varepsilon$`, 'ζ': `$\zeta$`,
	'η': `$\eta$`, 'θ': `$\theta$`,
	'ι': `$\iota$`, 'κ': `$\kappa$`, 'λ': `$\lambda$`, 'μ': `$\mu$`, 'µ': `$\mu$`, 'ν': `$\nu$`, 'ξ': `$\xi$`,
	'π': `$\pi$`, 'ρ': `$\rho$`,
	'σ': `$\sigma$`, 'τ': `$\tau$`, 'υ': `$\upsilon$`, 'φ': `$\varphi$`, 'χ': `$\chi$`, 'ψ': `$\psi$`, 'ω': `$\omega$`,
	'Γ': `$\Gamma$`, 'Δ': `$\Delta$`, 'Θ': `$\Theta$`, 'Λ': `$\Lambda$`, 'Ξ': `$\Xi$`, 'Π': `$\Pi$`, 'Σ': `$\Sigma$`,
	'Φ': `$\Phi$`, 'Ψ': `$\Psi$`, 'Ω': `$\Omega$`,
	'á': `\'a`, 'é': `\'e`, 'í': `\'{\i}`, 'ó': `\'o`, 'ú': `\'u`, 'Á': `\'A`, 'É': `\'E`, 'Ó': `\'O`,
	'à': "\\`a", 'è': "\\`e",
	'ä': `\"a`, 'ö': `\"o`, 'ü': `\"u`, 'Ä': `\"A`, 'Ö': `\"O`, 'Ü': `\"U`, 'ß': `\ss{}`, 'ñ': `\~n`, 'ç': `\c{c}`,
	'ø': `\o{}`, 'å': `\aa{}`, 'ê': `\^e`, 'ô': `\^o`,
}

// latexAccents are the combining characters.
var latexAccents = map[rune]string{'\u0302': `\^`, '\u0303': `\~`, '\u0304': `\=`}

// EscapeLaTeX returns ASCII that LaTeX shows as the text. An unknown character becomes
// its code point, so that the document still compiles.
func EscapeLaTeX(s string) string {
	var b strings.Builder
	quotes := 0
	runes := []rune(s)
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		if i+1 < len(runes) {
			if accent, ok := latexAccents[runes[i+1]]; ok { // it follows its base
				b.WriteString(accent + "{" + EscapeLaTeX(string(r)) + "}")
				i++
				continue
			}
		}
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
