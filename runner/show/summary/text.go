package summary

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"
)

// Width is that of texts that are not for a terminal.
const Width = 100

// leastWidth is the width below which lines are not broken further.
const leastWidth = 8

// bestMark is behind the best mean of a metric.
const bestMark = " best"

// Text writes the tables in lines of at most width characters. No value is cut: where the columns do
// not fit side by side, headers are broken at underscores, then the table is transposed or split into
// several blocks, and on a very narrow terminal every setting is a list.
func Text(w io.Writer, all []*MetricTable, width int) error {
	width = max(width, leastWidth)
	p := newPrinter(w)
	for _, t := range all {
		p.hang("", t.Experiment, width)
		t.text(p, width)
		for _, s := range append(slices.Clone(t.notes), t.ClassNote()) {
			if s != "" {
				p.hang("  ", s, width)
			}
		}
		p.print("\n")
	}
	return p.Flush()
}

func textCell(text string, best bool) string {
	if best {
		return text + bestMark
	}
	return text
}

// printer is a buffered writer that returns the first error from Flush.
type printer struct{ *bufio.Writer }

func newPrinter(w io.Writer) printer { return printer{bufio.NewWriter(w)} }

func (p printer) print(format string, args ...any) { _, _ = fmt.Fprintf(p, format, args...) }

// hang writes a text behind an indent.
func (p printer) hang(indent, text string, width int) {
	for _, line := range fold(text, width-utf8.RuneCountInString(indent)) {
		p.print("%s%s\n", indent, line)
	}
}

// column is the extent of a column in characters: natural that of its widest text, and least that below
// which a value would be broken.
type column struct{ natural, least int }

// comfortable is the width down to which values of settings are not broken.
const comfortable = 16

// measure returns the extents. The first labels columns are settings and the number of trials, which
// break where they must; a header breaks at underscores.
func measure(rows iter.Seq[[]string], labels int) (columns []column) {
	head := true
	for row := range rows {
		if head {
			columns = make([]column, len(row))
		}
		for i, text := range row {
			n := utf8.RuneCountInString(text)
			least := n - utf8.RuneCountInString(bestMark)
			switch {
			case head:
				least = longestPart(text)
			case i < labels:
				least = min(n, comfortable)
			case !strings.HasSuffix(text, bestMark):
				least = n
			}
			columns[i] = column{max(columns[i].natural, n), max(columns[i].least, least)}
		}
		head = false
	}
	return columns
}

// longestPart returns the length of the longest part of a name that an underscore ends.
func longestPart(name string) int {
	longest := 0
	for part := range strings.SplitAfterSeq(name, "_") {
		longest = max(longest, utf8.RuneCountInString(part))
	}
	return longest
}

// gap is the space before a column.
const gap = 2

// text writes the lines. Rows are formatted twice, because a large table would not fit into memory as
// text.
func (t *MetricTable) text(p printer, width int) {
	labels := len(t.Varying) + 1
	columns := measure(t.cells(textCell), labels)
	everything := make([]int, len(columns))
	for i := range everything {
		everything[i] = i
	}
	if widths := natural(columns); total(widths) <= width {
		p.align(t.cells(textCell), everything, widths)
		return
	}
	const few, many = 4, 6
	folded := shrink(columns, width)
	turnFirst := len(t.Rows) <= few && len(t.Metrics) > many
	if turnFirst && t.turned(p, width) {
		return
	}
	if folded != nil {
		p.align(t.cells(textCell), everything, folded)
		return
	}
	if t.turned(p, width) {
		return
	}
	parts := blocks(columns, labels, width)
	if parts == nil {
		p.lists(t.cells(textCell), width)
		return
	}
	for i, shown := range parts {
		if i > 0 {
			p.print("\n")
		}
		p.align(t.cells(textCell), shown, shrink(pick(columns, shown), width))
	}
}

// turned writes the table with a column for each setting, where that fits, and reports whether it did.
func (t *MetricTable) turned(p printer, width int) bool {
	if len(t.Rows) >= width/gap {
		return false
	}
	grid := transpose(slices.Collect(t.cells(textCell)))
	widths := natural(measure(slices.Values(grid), 0))
	if total(widths) > width {
		return false
	}
	everything := make([]int, len(widths))
	for i := range everything {
		everything[i] = i
	}
	p.align(slices.Values(grid), everything, widths)
	return true
}

// natural returns the widths of the widest texts.
func natural(columns []column) []int {
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = c.natural
	}
	return widths
}

// shrink returns widths that fit together, the widest columns narrowed first; nil where there are none.
func shrink(columns []column, width int) []int {
	widths := natural(columns)
	for over := total(widths) - width; over > 0; over-- {
		widest := -1
		for i, c := range columns {
			if widths[i] > c.least && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return nil
		}
		widths[widest]--
	}
	return widths
}

func pick[T any](from []T, indices []int) []T {
	out := make([]T, len(indices))
	for i, at := range indices {
		out[i] = from[at]
	}
	return out
}

// blocks splits columns that are too wide together; every block begins with the first labels ones. It is
// nil where a single column does not fit next to these.
func blocks(columns []column, labels, width int) [][]int {
	var out [][]int
	for from := labels; from < len(columns); {
		var block []int
		for i := range labels {
			block = append(block, i)
		}
		to := from
		for ; to < len(columns) && shrink(pick(columns, append(block, to)), width) != nil; to++ {
			block = append(block, to)
		}
		if to == from {
			return nil
		}
		out = append(out, block)
		from = to
	}
	return out
}

// total returns the width of columns next to each other.
func total(widths []int) int {
	n := 0
	for _, w := range widths {
		n += gap + w
	}
	return n
}

func transpose(grid [][]string) [][]string {
	out := make([][]string, len(grid[0]))
	for i := range out {
		for _, row := range grid {
			out[i] = append(out[i], row[i])
		}
	}
	return out
}

// align writes the shown columns of each row in these widths.
func (p printer) align(rows iter.Seq[[]string], shown, widths []int) {
	for row := range rows {
		folded := make([][]string, len(shown))
		height := 1
		for k, i := range shown {
			folded[k] = fold(row[i], widths[k])
			height = max(height, len(folded[k]))
		}
		for l := range height {
			var line strings.Builder
			for k := range shown {
				text := ""
				if l < len(folded[k]) {
					text = folded[k][l]
				}
				line.WriteString(strings.Repeat(" ", gap) + text +
					strings.Repeat(" ", widths[k]-utf8.RuneCountInString(text)))
			}
			p.print("%s\n", strings.TrimRight(line.String(), " "))
		}
	}
}

// lists writes every row as a list of names and values, a value below its name where the line would be too
// long.
func (p printer) lists(rows iter.Seq[[]string], width int) {
	var head []string
	for row := range rows {
		if head == nil {
			head = row
			continue
		}
		for i, text := range row {
			if line := head[i] + " " + text; text != "" && utf8.RuneCountInString(line) <= width-gap {
				p.hang("  ", line, width)
			} else if text != "" {
				p.hang("  ", head[i], width)
				p.hang("    ", text, width)
			}
		}
		p.print("\n")
	}
}

// fold breaks a text into lines of at most width characters: at a space, behind an underscore, or where
// there is neither, anywhere.
func fold(text string, width int) []string {
	width = max(width, 1)
	var lines []string
	runes := []rune(text)
	for len(runes) > width {
		cut, skip := width, 0
		for i := width; i > 0; i-- {
			if runes[i] == ' ' {
				cut, skip = i, 1
				break
			}
			if runes[i-1] == '_' {
				cut = i
				break
			}
		}
		lines = append(lines, string(runes[:cut]))
		runes = runes[cut+skip:]
	}
	return append(lines, string(runes))
}
