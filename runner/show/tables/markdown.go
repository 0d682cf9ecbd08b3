package tables

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"privkern/runner/claims/judge"
)

// writeMarkdown writes the table as a pipe table. An arrow marks a folded variant.
func writeMarkdown(w io.Writer, e *judge.Evaluation) error {
	g := Layout(e)
	var b bytes.Buffer
	fmt.Fprintf(&b, "### %s\n\n`%s`\n\n", EscapeMarkdown(Heading(e)), e.Table)
	var head, rule []string
	for _, c := range g.Columns {
		head = append(head, c.Title)
		if c.Right {
			rule = append(rule, "---:")
		} else {
			rule = append(rule, "---")
		}
	}
	line := func(fields []string) { b.WriteString("| " + strings.Join(fields, " | ") + " |\n") }
	line(head)
	line(rule)
	for _, l := range g.Lines {
		fields := make([]string, len(l.Fields))
		for c, f := range l.Fields {
			fields[c] = EscapeMarkdown(f.Text)
			if f.Indent {
				fields[c] = "↳ " + fields[c]
			}
			if f.Verdict != "" && !f.Verdict.Plain() {
				fields[c] = "**" + fields[c] + "**"
			}
			fields[c] += EscapeMarkdown(marks(f.Notes))
		}
		line(fields)
	}
	b.WriteString("\n" + EscapeMarkdown(e.Sentence()) + "\n")
	for _, s := range e.Jointly() {
		b.WriteString("\n" + EscapeMarkdown(s) + "\n")
	}
	if len(g.Notes) > 0 {
		b.WriteString("\n")
		for i, n := range g.Notes {
			fmt.Fprintf(&b, "- \\[%d\\] %s\n", i+1, EscapeMarkdown(n))
		}
	}
	b.WriteString("\n")
	for _, f := range e.Footnotes {
		b.WriteString("- " + EscapeMarkdown(f) + "\n")
	}
	_, err := w.Write(b.Bytes())
	return err
}

var markdownEscapes = strings.NewReplacer(`\`, `\\`, "|", `\|`, "*", `\*`, "_", `\_`, "`", "\\`",
	"<", "&lt;", ">", "&gt;",
	"[", `\[`, "]", `\]`, "&", "&amp;", "\r", "", "\n", " ", "~", `\~`, "#", `\#`)

// EscapeMarkdown returns one line that Markdown shows as the text.
func EscapeMarkdown(s string) string { return markdownEscapes.Replace(s) }
