package score

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"privkern/runner/claims/judge"
	"privkern/runner/show/tables"
)

// Outside lists the values outside their bands and the statements that do not hold, of one
// table and with one note, which explains them.
type Outside struct {
	Table string        `json:"table"`
	Note  string        `json:"note"`
	Cells []OutsideCell `json:"cells"`
}

// OutsideCell is a value outside its band, or a statement that does not hold.
type OutsideCell struct {
	Place     string        `json:"place"`     // row and column
	Published string        `json:"published"` // print, statement or both
	Ours      string        `json:"ours"`
	Trials    int           `json:"trials"`
	Verdict   judge.Verdict `json:"verdict"`
}

// outside adds the judged values and claims of a table, in its order.
func (b *Board) outside(e *judge.Evaluation) {
	at := map[string]int{}
	for i := range e.Cells {
		c := &e.Cells[i]
		if !counts(c) || c.Verdict != judge.Close && c.Verdict != judge.Differs {
			continue
		}
		k, known := at[c.Note]
		if !known {
			k = len(b.Outside)
			at[c.Note] = k
			b.Outside = append(b.Outside, Outside{Table: e.Table, Note: c.Note})
		}
		cell := OutsideCell{Place: place(c), Published: tables.Published(c), Ours: tables.Ours(c), Verdict: c.Verdict}
		if c.Ours != nil {
			cell.Trials = c.Ours.Trials
		}
		b.Outside[k].Cells = append(b.Outside[k].Cells, cell)
	}
}

// SharpValue is a printed value whose verdict could exclude an inexact one, in the JSON of the scoreboard.
type SharpValue struct {
	Table  string `json:"table"`
	Row    string `json:"row"`
	Column string `json:"column"`
	Inside bool   `json:"inside"`
}

func (b *Board) sharp() []SharpValue {
	out := []SharpValue{}
	for _, e := range b.Evaluated {
		for i := range e.Cells {
			if c := &e.Cells[i]; counts(c) && c.Sharp() {
				out = append(out, SharpValue{e.Table, c.Row, c.Column, c.Verdict.Inside()})
			}
		}
	}
	return out
}

// counts reports whether the verdict of a cell counts in the scoreboard: it is the headline
// of an entry of the paper, and the primary cell of that entry.
func counts(c *judge.Comparison) bool { return c.Headline && c.Primary && !c.Own }

// place returns row and column, without empty ones.
func place(c *judge.Comparison) string { return joined(" / ", c.Row, c.Column) }

// joined joins the texts that are not empty.
func joined(separator string, texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), separator)
}

// words returns the cells in a sentence.
func (o *Outside) words() string {
	var cells []string
	for _, c := range o.Cells {
		cells = append(cells, c.Place+": "+c.Published+"; here "+c.Ours+", "+string(c.Verdict))
	}
	out := strings.Join(cells, ". ") + "."
	if o.Note != "" {
		out += " (" + o.Note + ")"
	}
	return out
}

// WriteOutside writes the board's Outside as text, in lines of a width, or Markdown; the scoreboard's JSON
// includes it.
func WriteOutside(w io.Writer, b *Board, f tables.Format, width int) error {
	if f != tables.FormatText && f != tables.FormatMarkdown {
		return fmt.Errorf("values outside their bands are not written as %s", f)
	}
	var out strings.Builder
	for i := range b.Outside {
		o := &b.Outside[i]
		out.WriteString(item(f, o.Table, o.words(), width))
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// item returns an item of a list of sentences on tables, in Markdown or as text in lines of a width.
func item(f tables.Format, table, words string, width int) string {
	if f == tables.FormatMarkdown {
		return "- `" + table + "`, " + tables.EscapeMarkdown(words) + "\n"
	}
	return tables.Hang("  ", table+", "+words, width)
}
