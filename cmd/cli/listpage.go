package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"privkern/runner/experiment"
	"privkern/runner/text"
)

// listPage writes a listing for people, in lines of a bounded number of columns.
type listPage struct {
	strings.Builder
	columns int
}

// heading begins a section.
func (p *listPage) heading(indent int, text string) {
	if p.Len() > 0 {
		p.WriteByte('\n')
	}
	for i, line := range wrap(text, p.columns-indent-2) {
		p.WriteString(strings.Repeat(" ", indent+2*min(i, 1)) + line + "\n")
	}
}

// paragraph writes a text behind an indent.
func (p *listPage) paragraph(indent int, text string) {
	for _, line := range wrap(text, p.columns-indent) {
		p.WriteString(strings.Repeat(" ", indent) + line + "\n")
	}
}

// row writes a name and a text in the next column, which goes on in the same column; where
// it must not, its rest is left out. Where the column has no room, the text is below the name.
func (p *listPage) row(width int, name, text string, oneLine bool) {
	const room = 20
	indent := 2 + width + 2
	if p.columns-indent < room {
		p.paragraph(2, name)
		p.paragraph(4, text)
		return
	}
	lines := wrap(text, p.columns-indent)
	if oneLine && len(lines) > 1 {
		lines = []string{wrap(text, p.columns-indent-2)[0] + " …"}
	}
	for _, line := range lines {
		fmt.Fprintf(p, "  %-*s  %s\n", width, name, line)
		name = ""
	}
}

// widest returns the length of the longest name of entries.
func widest[T any](entries []T, name func(T) string) int {
	width := 0
	for _, e := range entries {
		width = max(width, utf8.RuneCountInString(name(e)))
	}
	return width
}

// paperOf is the paper of an experiment or a table.
func paperOf(name string) string {
	paper, _, _ := strings.Cut(name, "/")
	return paper
}

// overview lists experiments by paper, one a line, and the numbers of other entries.
func (p *listPage) overview(l *listing) {
	width := widest(l.Experiments, func(e experimentEntry) string { return e.Name })
	paper := ""
	for _, e := range l.Experiments {
		if paperOf(e.Name) != paper {
			paper = paperOf(e.Name)
			p.heading(0, paper+": "+l.titles[paper])
		}
		p.row(width, e.Name, e.Summary, true)
	}
	if len(l.Tables) > 0 {
		p.heading(0, "Tables and figures (run list tables: their titles; run table PAPER/NAME)")
		papers, of := []string{}, map[string][]string{}
		for _, t := range l.Tables {
			paper, name, _ := strings.Cut(t.Name, "/")
			if of[paper] == nil {
				papers = append(papers, paper)
			}
			of[paper] = append(of[paper], name)
		}
		for _, paper := range papers {
			p.row(widest(papers, func(s string) string { return s }), paper, strings.Join(of[paper], ", "), false)
		}
	}
	if len(l.Datasets) > 0 {
		sets := make([]string, len(l.Datasets))
		for i, s := range l.Datasets {
			sets[i] = s.Name
		}
		p.heading(0, "Data sets (run list data: their titles; run data list: where they are)")
		p.paragraph(2, strings.Join(sets, ", "))
	}
	p.heading(0, "run list NAME shows the settings and metrics of an experiment.")
}

// details describes the listed entries.
func (p *listPage) details(l *listing) {
	for _, e := range l.Experiments {
		p.experiment(e)
	}
	if len(l.Tables) > 0 {
		p.heading(0, "Tables and figures (run table NAME)")
		width := widest(l.Tables, func(t tableEntry) string { return t.Name })
		for _, t := range l.Tables {
			parts := fmt.Sprintf("%d values", t.Cells)
			if t.Kind == suiteKind {
				parts = text.Count(t.Cells, "comparison")
			}
			p.row(width, t.Name, fmt.Sprintf("%s (%s)", t.Title, parts), false)
		}
	}
	if len(l.Datasets) > 0 {
		p.heading(0, "Data sets (run data list)")
		width := widest(l.Datasets, func(s datasetEntry) string { return s.Name })
		for _, s := range l.Datasets {
			p.row(width, s.Name, s.Title, false)
		}
	}
}

// experiment describes one experiment.
func (p *listPage) experiment(e experimentEntry) {
	p.heading(0, e.Name)
	p.paragraph(2, e.Summary)
	p.paragraph(2, e.Source)
	p.heading(2, "Settings")
	for _, q := range e.Params {
		p.setting(q)
	}
	p.heading(2, "Metrics")
	for _, m := range e.Metrics {
		name := m.Name
		if m.Unit != "" {
			name += " [" + m.Unit + "]"
		}
		if role := m.role(); role != "" {
			name += " (" + role + ")"
		}
		p.paragraph(4, name)
		p.paragraph(8, m.Doc)
	}
	if len(e.datasets) > 0 {
		p.heading(2, "Data")
		p.paragraph(4, strings.Join(e.datasets, ", "))
	}
	if len(e.cost) > 0 {
		p.heading(2, "Time and memory")
		for _, text := range e.cost {
			p.paragraph(4, text)
		}
	}
	p.heading(2, "Example")
	p.paragraph(4, e.example)
}

// role is the place of a metric among those of its experiment, such as "result, higher is better".
func (m metricEntry) role() string {
	var parts []string
	if m.Result {
		parts = append(parts, "result")
	}
	switch m.Best {
	case experiment.HighIsBest:
		parts = append(parts, "higher is better")
	case experiment.LowIsBest:
		parts = append(parts, "lower is better")
	}
	return strings.Join(parts, ", ")
}

// setting describes one setting.
func (p *listPage) setting(q paramEntry) {
	text := q.Name + "=" + defaultText(q.Default)
	if q.Unit != "" {
		text += " " + q.Unit
	}
	text += " (" + q.Kind
	if q.Range != "" {
		text += " in " + q.Range
	}
	if len(q.Values) > 0 {
		text += "; " + strings.Join(q.Values, ", ")
	}
	p.paragraph(4, text+")")
	p.paragraph(8, q.Doc)
	if q.Applies != "" {
		p.paragraph(8, "applies "+q.Applies)
	}
}

func defaultText(v any) string {
	if v == nil {
		return "(required)"
	}
	if s, ok := v.(string); ok {
		return s
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	const long = 40
	if s := string(raw); len(s) <= long {
		return s
	}
	return string(raw[:long-3]) + "..."
}

// wrap breaks a text at spaces into lines of at most width columns; a longer word
// is broken where it must be.
func wrap(s string, width int) []string {
	width = max(width, 1)
	var lines []string
	var line []rune
	for field := range strings.FieldsSeq(s) {
		word := []rune(field)
		if len(line) > 0 && len(line)+1+len(word) > width {
			lines = append(lines, string(line))
			line = nil
		}
		if len(line) > 0 {
			line = append(line, ' ')
		}
		line = append(line, word...)
		for len(line) > width {
			lines = append(lines, string(line[:width]))
			line = line[width:]
		}
	}
	if len(line) > 0 {
		lines = append(lines, string(line))
	}
	return lines
}
