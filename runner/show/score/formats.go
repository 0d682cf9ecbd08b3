package score

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"privkern/runner/claims/judge"
	"privkern/runner/experiment"
	"privkern/runner/show/tables"
	"privkern/runner/text"
)

// head lists the columns with their titles for readers and names for programs.
var head = []struct{ title, name string }{
	{"paper", "paper"}, {"values", "values"}, {"", "judged"}, {"", "inside"}, {"wide", "wide"}, {"close", "close"},
	{"", "expected"}, {"claims", "claims"}, {"judged", "claims_judged"}, {"hold", "hold"}, {"not judged", "not_judged"},
	{"sharp", "sharp"}, {"inside", "sharp_inside"}, {"expected", "sharp_expected"}, {"beyond", "wide_outside"},
	{"jointly", "joint"},
}

// shown are the columns for readers, in their order: sharp values first.
var shown = []int{0, 1, 11, 12, 13, 4, 14, 5, 15, 7, 8, 9, 10}

// notes explain the scoreboard.
var notes = []string{
	"values: distinct printed values of the paper; sharp: judged by our trials, on the paper's data, with a band that " +
		"is no wider than the tolerance, so that it could exclude an inexact value; inside: of these within the band; " +
		"expected: how many would be, were all exact; wide: inside a band wider than the tolerance, which cannot tell; " +
		"beyond: outside such a band; close: of all outside, within the tolerance.",
	"jointly: tables and metrics by the verdict on all their values together (run table --all --joint).",
	"claims: statements in words, each once; hold: of those judged.",
}

// line returns the fields of a paper's line.
func line(name string, t *judge.Tally, joint string) []string {
	n, share := strconv.Itoa, func(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }
	return []string{name, n(t.Values), n(t.Judged), n(t.Inside), n(t.Wide), n(t.Close), share(t.Expected), n(t.Claims),
		n(t.ClaimsJudged), n(t.Hold), t.LeftText(), n(t.Sharp), n(t.SharpInside), share(t.SharpExpected),
		n(t.WideOutside), joint}
}

// lines returns the lines of the papers and that of all.
func (b *Board) lines() [][]string {
	var out [][]string
	for i := range b.Papers {
		out = append(out, line(b.Papers[i].Name, &b.Papers[i].Tally, judge.JointCounts(b.of(b.Papers[i].Name)...)))
	}
	all := b.All()
	return append(out, line("all", &all, judge.JointCounts(b.Evaluated...)))
}

// Write writes the scoreboard in a format of tables, as text in lines of a width.
func Write(w io.Writer, b *Board, f tables.Format, width int) error {
	switch f {
	case tables.FormatText:
		return b.text(w, width)
	case tables.FormatMarkdown:
		return b.markdown(w)
	case tables.FormatLaTeX:
		return b.latex(w)
	case tables.FormatCSV:
		return b.csv(w)
	case tables.FormatJSON:
		return b.json(w)
	}
	return experiment.Unknown("format", string(f), tables.Formats)
}

func (b *Board) text(w io.Writer, width int) error {
	var out strings.Builder
	out.WriteString(b.grid().text(width) + "\n")
	notes := notes
	if all := b.All(); all.Wide > 0 {
		notes = append(slices.Clone(notes), fmt.Sprintf("of the %s more trials could settle %d: in the others the draws "+
			"behind the print make the band wider than the tolerance, whatever the number of ours.",
			text.Count(all.Wide, "wide value"), all.Settle))
	}
	for _, n := range notes {
		out.WriteString(tables.Hang("  ", n, width))
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func (b *Board) markdown(w io.Writer) error {
	_, err := io.WriteString(w, b.grid().markdown())
	return err
}

func (b *Board) grid() grid {
	g := grid{}
	for _, c := range shown {
		g.titles = append(g.titles, head[c].title)
		g.left = append(g.left, slices.Contains([]string{"paper", "jointly", "not judged"}, head[c].title))
	}
	for _, all := range b.lines() {
		var fields []string
		for _, c := range shown {
			fields = append(fields, all[c])
		}
		g.lines = append(g.lines, fields)
	}
	return g
}

// grid is a table of texts.
type grid struct {
	titles []string
	left   []bool // columns that are aligned to the left
	lines  [][]string
}

// text returns the table in lines of a width.
func (g grid) text(width int) string {
	right := make([]bool, len(g.left))
	for c := range g.left {
		right[c] = !g.left[c]
	}
	return tables.GridOf(g.titles, right, g.lines).Text(width)
}

func (g grid) markdown() string {
	var out strings.Builder
	row := func(fields []string) { out.WriteString("| " + strings.Join(fields, " | ") + " |\n") }
	var rule []string
	for c := range g.titles {
		if g.left[c] {
			rule = append(rule, "---")
		} else {
			rule = append(rule, "---:")
		}
	}
	row(g.titles)
	row(rule)
	for _, l := range g.lines {
		escaped := make([]string, len(l))
		for c := range l {
			escaped[c] = tables.EscapeMarkdown(l[c])
		}
		row(escaped)
	}
	return out.String()
}

func (b *Board) latex(w io.Writer) error {
	var out strings.Builder
	out.WriteString("% the scoreboard, written by `run table --all`; needs \\usepackage{booktabs}\n")
	g, columns := b.grid(), ""
	for _, left := range g.left {
		columns += map[bool]string{true: "l", false: "r"}[left]
	}
	out.WriteString("\\begin{tabular}{@{}" + columns + "@{}}\n  \\toprule\n  ")
	out.WriteString(strings.Join(g.titles, " & ") + " \\\\\n  \\midrule\n")
	for _, l := range g.lines {
		for c := range l {
			l[c] = tables.EscapeLaTeX(l[c])
		}
		out.WriteString("  " + tables.LaTeXRow(l) + "\n")
	}
	out.WriteString("  \\bottomrule\n\\end{tabular}\n")
	_, err := io.WriteString(w, out.String())
	return err
}

func (b *Board) csv(w io.Writer) error {
	out := csv.NewWriter(w)
	var names []string
	for _, h := range head {
		names = append(names, h.name)
	}
	if err := out.Write(names); err != nil {
		return err
	}
	if err := out.WriteAll(b.lines()); err != nil {
		return err
	}
	out.Flush()
	return out.Error()
}

func (b *Board) json(w io.Writer) error {
	type paper struct {
		Paper string `json:"paper"`
		judge.Tally
	}
	var out struct {
		Schema  int          `json:"schema"`
		Papers  []paper      `json:"papers"`
		All     judge.Tally  `json:"all"`
		Trials  int          `json:"trials"`
		Files   int          `json:"files"`
		Skipped []string     `json:"skipped"`
		Sharp   []SharpValue `json:"sharp"`
		Outside []Outside    `json:"outside"`
		Joint   []jointTable `json:"joint"`
		Sources []Source     `json:"sources"`
	}
	out.Schema, out.Trials, out.Files, out.Skipped = tables.Schema, b.Trials, b.Files, append([]string{}, b.Skipped...)
	out.Sharp, out.Outside = b.sharp(), append([]Outside{}, b.Outside...)
	out.Joint = b.joint()
	out.Sources = append([]Source{}, b.Sources...)
	for i := range b.Papers {
		out.Papers = append(out.Papers, paper{b.Papers[i].Name, b.Papers[i].Tally})
	}
	out.All = b.All()
	if err := tables.EncodeJSON(w, out); err != nil {
		return fmt.Errorf("the scoreboard: %w", err)
	}
	return nil
}
