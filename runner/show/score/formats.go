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
	{"paper", "paper"}, {"values", "values"}, {"judged", "judged"}, {"inside", "inside"}, {"wide", "wide"},
	{"close", "close"}, {"expected", "expected"}, {"claims", "claims"}, {"judged", "claims_judged"}, {"hold", "hold"},
	{"not judged", "not_judged"},
}

// notes explain the scoreboard.
var notes = []string{
	"values: distinct printed values of the paper; judged: those of which our trials, on the paper's data, allow a " +
		"verdict; inside: within the band of an exact reproduction; wide: of those inside, in a band wider than the " +
		"tolerance, which an inexact reproduction can meet, too; close: outside the band, within the tolerance; " +
		"expected: how many would be inside, were all exact.",
	"claims: statements in words, each once; hold: of those judged.",
}

// line returns the fields of a paper's line.
func line(name string, t *judge.Tally) []string {
	n := strconv.Itoa
	return []string{name, n(t.Values), n(t.Judged), n(t.Inside), n(t.Wide), n(t.Close),
		strconv.FormatFloat(t.Expected, 'f', 1, 64), n(t.Claims), n(t.ClaimsJudged), n(t.Hold), t.LeftText()}
}

// lines returns the lines of the papers and that of all.
func (b *Board) lines() [][]string {
	var out [][]string
	for i := range b.Papers {
		out = append(out, line(b.Papers[i].Name, &b.Papers[i].Tally))
	}
	all := b.All()
	return append(out, line("all", &all))
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
	g := grid{lines: b.lines()}
	for c, h := range head {
		g.titles = append(g.titles, h.title)
		g.left = append(g.left, c == 0 || c == len(head)-1)
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
	out.WriteString("\\begin{tabular}{@{}l" + strings.Repeat("r", len(head)-2) + "l@{}}\n  \\toprule\n  ")
	var titles []string
	for _, h := range head {
		titles = append(titles, h.title)
	}
	out.WriteString(strings.Join(titles, " & ") + " \\\\\n  \\midrule\n")
	for _, l := range b.lines() {
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
		Schema  int         `json:"schema"`
		Papers  []paper     `json:"papers"`
		All     judge.Tally `json:"all"`
		Trials  int         `json:"trials"`
		Files   int         `json:"files"`
		Skipped []string    `json:"skipped"`
		Outside []Outside   `json:"outside"`
		Sources []Source    `json:"sources"`
	}
	out.Schema, out.Trials, out.Files, out.Skipped = tables.Schema, b.Trials, b.Files, append([]string{}, b.Skipped...)
	out.Outside = append([]Outside{}, b.Outside...)
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
