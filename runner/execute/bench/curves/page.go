package curves

import (
	"cmp"
	"fmt"
	"strings"

	"privkern/runner/experiment"
)

// Page is a page of curves.
type Page struct {
	Subjects []Subject
	*Log
	*Costs
	Peers string // their libraries, or the reason why there are none
	Limit string // of a method
}

// kinds are the panels of a family, as far as their axes. These cover the same decades in all families, so that they
// compare and noise does not fill a panel.
var kinds = []struct {
	axis     Axis
	quantity Quantity
	panel    experiment.Panel
}{
	{Rows, Time, experiment.Panel{Title: "time", XLabel: "rows, with 10 inputs", XCovers: [2]float64{100, 1e5}}},
	{Rows, Memory, experiment.Panel{Title: "memory", XLabel: "rows, with 10 inputs", XCovers: [2]float64{100, 1e5}}},
	{Inputs, Time, experiment.Panel{Title: "time", XLabel: "inputs", XCovers: [2]float64{1, 1000}}},
	{Inner, Time, experiment.Panel{Title: "time", XLabel: "number of the method's own", XCovers: [2]float64{1, 1000}}},
}

// Panels are those of the figure: for each family a row with time and memory by rows and time by inputs, and then for
// each time by the methods' own numbers.
func (p *Page) Panels() []experiment.Panel {
	var out, own []experiment.Panel
	for i := 0; i < len(p.Subjects); {
		family := p.Subjects[i:]
		end := 1
		for end < len(family) && family[end].Family == family[0].Family {
			end++
		}
		family, i = family[:end], i+end
		for _, k := range kinds {
			panel := k.panel
			panel.Title = family[0].Family + ": " + panel.Title
			panel.YLabel, panel.YCovers = "processor time [s]", [2]float64{.02, 10}
			if k.quantity == Memory {
				panel.YLabel, panel.YCovers = "peak memory [MB]", [2]float64{50, 1000}
			}
			panel.LogX, panel.LogY, panel.Lines = true, true, p.lines(family, k.axis, k.quantity)
			switch {
			case len(panel.Lines) == 0:
			case k.axis == Inner:
				own = append(own, panel)
			default:
				out = append(out, panel)
			}
		}
	}
	return append(out, own...)
}

// lines are the curves of some subjects, with their exponents; those of peers are dashed.
func (p *Page) lines(subjects []Subject, a Axis, q Quantity) (out []experiment.Line) {
	for i, s := range subjects {
		_, name, found := strings.Cut(s.Name, "/")
		if !found {
			name = s.Name
		}
		if a == Inner {
			name += ", " + s.Inner
		}
		if l, ok := p.Laws[s.Name][q][a]; ok {
			name += " " + l.exponent()
		}
		line := experiment.Line{Name: name, Color: i, Marked: true, Dashed: s.Peer}
		for _, point := range p.along(s.Name, a) {
			y := point.CPU
			if q == Memory {
				y = float64(point.Peak) / 1e6
			}
			if y > 0 {
				line.X, line.Y = append(line.X, float64(*point.along(a))), append(line.Y, y)
			}
		}
		if len(line.X) > 1 {
			out = append(out, line)
		}
	}
	return out
}

// exponent is that of a law with its uncertainty, for people.
func (l Law) exponent() string {
	switch {
	case l.Flat():
		return "flat"
	case l.Error < 0:
		return fmt.Sprintf("%.1f", l.Exponent)
	case l.Uncertain():
		return fmt.Sprintf("%.1f±%.1f", l.Exponent, l.Error)
	}
	return fmt.Sprintf("%.2f±%.2f", l.Exponent, l.Error)
}

// Markdown is the page, whose picture and measurements are files of the same folder.
func (p *Page) Markdown() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `# Time and memory by size

Processor time, user and system, and peak memory of trials at default settings, with their start and the reading of the
file, each a process of its own on one core of %s, revision %s.

Data are simulated: inputs uniform in [0, 1], 10 of them while the rows grow. A method has %s of processor time, of
which rows get half, but three sizes of rows at least.

Peers: %s.

This page is written by `+"`run bench scaling`"+`, with [the measurements](scaling.csv). A cost is fitted by
fixed + scale · size^exponent; exponents stand with half their central 95 %% region, and hold for the sizes that were
measured: "flat" is a cost of which less than a fifth grows. Costs in brackets are predicted,
"perhaps" where the law is uncertain there. Dashed curves are peers.

![curves](scaling.svg)

`, p.Machine, p.Revision, p.Limit, p.Peers)
	p.table(&b, "Processor time", Time, Seconds)
	p.table(&b, "Peak memory", Memory, Bytes)
	b.WriteString("## Sizes that were refused\n\nThe first reason of each method.\n\n")
	for _, s := range p.Subjects {
		var sizes []string
		first := ""
		for _, point := range p.Points {
			if point.Subject == s.Name && point.Stopped != "" {
				sizes, first = append(sizes, point.String()), cmp.Or(first, point.Stopped)
			}
		}
		if len(sizes) > 0 {
			fmt.Fprintf(&b, "- %s: %s: %s\n", s.Name, strings.Join(sizes, "; "), first)
		}
	}
	return []byte(b.String())
}

// table writes one of the quantities.
func (p *Page) table(b *strings.Builder, title string, q Quantity, text func(float64) string) {
	fmt.Fprintf(b, "## %s\n\n", title)
	b.WriteString("| method | fixed | 1,000 rows | 10,000 | 100,000 | by rows | inputs | its own number |\n" +
		"|---|---|---|---|---|---|---|---|\n")
	for _, s := range p.Subjects {
		l, ok := p.Laws[s.Name][q][Rows]
		if !ok {
			continue
		}
		cells := []string{s.Name, text(l.Fixed)}
		for _, rows := range []int{1000, 10_000, 100_000} {
			size, cell := Size{Rows: rows, Inputs: Usual}, "–"
			if point, ok := p.find(s.Name, Rows, size); ok && point.Stopped == "" {
				cell = text(map[Quantity]float64{Time: point.CPU, Memory: float64(point.Peak)}[q])
			} else if cost, ok := p.Predict(s.Name, q, size); ok {
				cell = "(" + cost.Text(text) + ")"
			}
			cells = append(cells, cell)
		}
		for _, a := range []Axis{Rows, Inputs, Inner} {
			cell := "–"
			if l, ok := p.Laws[s.Name][q][a]; ok {
				cell = strings.TrimPrefix(map[Axis]string{Inner: s.Inner}[a]+" ", " ") + l.exponent()
			}
			cells = append(cells, cell)
		}
		fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
	}
	b.WriteString("\n")
}
