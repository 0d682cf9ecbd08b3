package score

import (
	"fmt"
	"io"
	"strings"

	"privkern/runner/claims/judge"
	"privkern/runner/show/tables"
)

// Outside are values outside their bands and statements that do not hold, of one table and
// with one note, which says what was tried or why.
type Outside struct {
	Table string        `json:"table"`
	Note  string        `json:"note"`
	Cells []OutsideCell `json:"cells"`
}

// OutsideCell is one of them.
type OutsideCell struct {
	Place     string        `json:"place"`     // row and column
	Published string        `json:"published"` // print, statement or both
	Ours      string        `json:"ours"`
	Trials    int           `json:"trials"`
	Verdict   judge.Verdict `json:"verdict"`
}

// outside adds those of a table, in its order: of each value and claim what is judged.
func (b *Board) outside(e *judge.Evaluation) {
	at := map[string]int{}
	for i := range e.Cells {
		c := &e.Cells[i]
		if !c.Headline || c.Own || !c.Primary || c.Verdict != judge.Close && c.Verdict != judge.Differs {
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

// place is row and column, as far as they have names.
func place(c *judge.Comparison) string {
	var out []string
	for _, s := range []string{c.Row, c.Column} {
		if s != "" {
			out = append(out, s)
		}
	}
	return strings.Join(out, " / ")
}

// words are the cells in a sentence.
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

// WriteOutside writes what lies outside, as text or Markdown; JSON has it beside the
// scoreboard.
func WriteOutside(w io.Writer, b *Board, f tables.Format) error {
	var out strings.Builder
	for i := range b.Outside {
		o := &b.Outside[i]
		switch f {
		case tables.FormatText:
			out.WriteString(tables.Hang("  ", o.Table+", "+o.words(), 100))
		case tables.FormatMarkdown:
			out.WriteString("- `" + o.Table + "`, " + tables.EscapeMarkdown(o.words()) + "\n")
		default:
			return fmt.Errorf("values outside their bands are not written as %s", f)
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}
