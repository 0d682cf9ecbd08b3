package curves

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"privkern/runner/experiment"
)

// Page is a page of curves.
type Page struct {
	Subjects []Subject
	Points   []Point
	*Costs
	// Peers are the libraries of the peers, or the reason why there are none.
	Peers string
	Limit string // of a method
}

// families are those of the subjects, in their order.
func (p *Page) families() (out []string) {
	for _, s := range p.Subjects {
		if len(out) == 0 || out[len(out)-1] != s.Family {
			out = append(out, s.Family)
		}
	}
	return out
}

// kinds are the panels of a family. Axes cover the same decades in all families, so that these compare and noise does
// not fill a panel.
var kinds = []struct {
	axis            Axis
	quantity        Quantity
	title, x, y     string
	xCovers, covers [2]float64
}{
	{Rows, Time, "time", fmt.Sprintf("rows, with %d inputs", Usual), "processor time [s]", [2]float64{100, 1e5},
		[2]float64{.02, 10}},
	{Rows, Memory, "memory", fmt.Sprintf("rows, with %d inputs", Usual), "peak memory [MB]", [2]float64{100, 1e5},
		[2]float64{50, 1000}},
	{Inputs, Time, "time", "inputs", "processor time [s]", [2]float64{1, 1000}, [2]float64{.02, 10}},
	{Inner, Time, "time", "number of the method's own", "processor time [s]", [2]float64{1, 1000}, [2]float64{.02, 10}},
}

// Panels are those of the figure: for each family a row with time and memory by rows and time by inputs, and then for
// each time by the methods' own numbers.
func (p *Page) Panels() []experiment.Panel {
	var out, own []experiment.Panel
	for _, f := range p.families() {
		var all []Subject
		for _, s := range p.Subjects {
			if s.Family == f {
				all = append(all, s)
			}
		}
		for _, kind := range kinds {
			panel := experiment.Panel{Title: f + ": " + kind.title, XLabel: kind.x, LogX: true, LogY: true, YLabel: kind.y,
				XCovers: kind.xCovers, YCovers: kind.covers, Lines: p.lines(all, kind.axis, kind.quantity)}
			switch {
			case len(panel.Lines) == 0:
			case kind.axis == Inner:
				own = append(own, panel)
			default:
				out = append(out, panel)
			}
		}
	}
	return append(out, own...)
}

// lines are the curves of some subjects, of which those of peers are dashed.
func (p *Page) lines(subjects []Subject, a Axis, q Quantity) (out []experiment.Line) {
	for i, s := range subjects {
		line := experiment.Line{Name: s.short(a), Color: i, Marked: true, Dashed: s.Peer}
		for _, point := range ByAxis(p.Points, s.Name, a) {
			y := point.CPU
			if q == Memory {
				y = float64(point.Peak) / 1e6
			}
			if y > 0 {
				line.X, line.Y = append(line.X, float64(point.of(a))), append(line.Y, y)
			}
		}
		if l, ok := p.Law(s.Name, q, a); ok {
			line.Name += " " + exponent(l)
		}
		if len(line.X) > 1 {
			out = append(out, line)
		}
	}
	return out
}

// short is the name without the family, and with the setting of the axis.
func (s Subject) short(a Axis) string {
	_, name, found := strings.Cut(s.Name, "/")
	if !found {
		name = s.Name
	}
	if a == Inner {
		name += " (" + s.Inner + ")"
	}
	return name
}

// exponent is that of a law with its uncertainty.
func exponent(l Law) string {
	switch {
	case l.Flat():
		return "flat"
	case math.IsNaN(l.Error):
		return fmt.Sprintf("%.1f", l.Exponent)
	case l.Error >= .5:
		return fmt.Sprintf("%.1f±%.1f", l.Exponent, l.Error)
	}
	return fmt.Sprintf("%.2f±%.2f", l.Exponent, l.Error)
}

// Markdown is the page, whose picture is a file beside it.
func (p *Page) Markdown(picture string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `# Time and memory by size

Processor time, user and system, and peak memory of `+"`run trial`"+` at default settings, with its start and the reading
of the file, each a process of its own on one core (GOMAXPROCS=1) of
%s, revision %s. Data are simulated: inputs uniform in [0, 1], %d of them while the
rows grow. A method has %s of processor time, of which rows get half.
Peers: %s.

This page is what `+"`run bench scaling`"+` writes, with [the measurements](%s). A cost is fitted by
fixed + scale · x^exponent; exponents stand with half their central 95 %% region, and hold for the sizes that were
measured: "flat" is a cost of which less than a fifth grows. Costs in brackets are predicted.

![curves](%s)

`, p.Machine, p.Revision, Usual, p.Limit, p.Peers, strings.TrimSuffix(picture, "svg")+"csv", picture)
	p.table(&b, "Processor time", Time, Seconds)
	p.table(&b, "Peak memory", Memory, Bytes)
	p.ends(&b)
	return []byte(b.String())
}

// table writes one of the quantities.
func (p *Page) table(b *strings.Builder, title string, q Quantity, text func(float64) string) {
	fmt.Fprintf(b, "## %s\n\n| method | fixed | 1,000 | 10,000 | 100,000 rows | by rows | by inputs | by its own number |\n"+
		"|---|---|---|---|---|---|---|---|\n", title)
	for _, s := range p.Subjects {
		l, ok := p.Law(s.Name, q, Rows)
		if !ok {
			continue
		}
		cells := []string{s.Name, text(l.Fixed)}
		for _, rows := range []int{1000, 10_000, 100_000} {
			cells = append(cells, p.cell(s.Name, q, Size{Rows: rows, Inputs: Usual}, text))
		}
		for _, a := range []Axis{Rows, Inputs, Inner} {
			cell := "–"
			if l, ok := p.Law(s.Name, q, a); ok {
				cell = exponent(l)
			}
			if a == Inner && cell != "–" {
				cell = s.Inner + ": " + cell
			}
			cells = append(cells, cell)
		}
		fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
	}
	b.WriteString("\n")
}

// cell is the cost of a size as measured, or as predicted in brackets where no more than ten times as many rows were.
func (p *Page) cell(subject string, q Quantity, s Size, text func(float64) string) string {
	for _, point := range p.Points {
		if point.Subject == subject && point.Size == s && point.Stopped == "" {
			return text(map[Quantity]float64{Time: point.CPU, Memory: float64(point.Peak)}[q])
		}
	}
	l, _ := p.Law(subject, q, Rows)
	if cost, ok := p.Predict(subject, q, s); ok && float64(s.Rows) <= 10*l.To {
		return "(" + cost.text(text) + ")"
	}
	return "–"
}

// ends writes the sizes that methods refused, with the reason of the first.
func (p *Page) ends(b *strings.Builder) {
	b.WriteString("## Sizes that were refused\n\n")
	none := true
	for _, s := range p.Subjects {
		var refused []string
		first := ""
		for _, point := range p.Points {
			if point.Subject == s.Name && point.Stopped != "" {
				refused = append(refused, point.Size.String())
				first = cmp.Or(first, point.Stopped)
			}
		}
		if len(refused) > 0 {
			none = false
			fmt.Fprintf(b, "- %s: %s: %s\n", s.Name, strings.Join(refused, "; "), first)
		}
	}
	if none {
		b.WriteString("None.\n")
	}
}
