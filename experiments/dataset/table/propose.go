package table

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"privkern/experiments/dataset"
)

// looked is how many rows of a text are looked at to see how it is written.
const looked = 200

// Propose returns settings that read a text as it seems to be written, by its first rows; the defaults where these
// read it, and for data that are no text. Where day and month could be exchanged, the day comes first.
func Propose(name, path string) (Reading, error) {
	r := Reading{}.complete()
	if dataset.OwnKind(name) != dataset.OwnCSV {
		return r, nil
	}
	head, err := headOf(path, shown(name), &r)
	if err != nil || head == "" {
		return r, err
	}
	lines := linesOf(head)
	if c := commentOf(lines); c != "" {
		r.Comment = c
		lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, c) })
	}
	if len(lines) == 0 {
		return r, nil
	}
	usually := string(separator([]byte(lines[0]), 0))
	if best := separatorOf(lines, usually); best != usually {
		r.Separator = best
		for word, c := range separators {
			if string(c) == best && len(word) > len(r.Separator) && word != `\t` {
				r.Separator = word
			}
		}
	}
	rows := r.firstRows(path, name)
	if len(rows) > 1 && isHeaderless(rows) {
		r.Header = withoutNames
	} else if len(rows) > 0 {
		rows = rows[1:]
	}
	r.Decimal = decimalOf(rows)
	r.Missing = missingOf(rows, r)
	if form := datesOf(rows); form != "" {
		r.Dates = form
	}
	return r, nil
}

// headOf returns the start of a text, and notes its encoding.
func headOf(path, shown string, r *Reading) (string, error) {
	f, err := openFile(path, shown)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	as, raw := usual, bufio.NewReaderSize(f, headerBytes)
	head, err := peek(raw, shown)
	if err != nil {
		return "", err
	}
	if packed, err := gzip.NewReader(bytes.NewReader(head)); err == nil {
		n, _ := io.ReadFull(packed, head[:min(len(head), utf8.UTFMax)]) // damage is reported by reading it
		head = head[:n]
	}
	for _, m := range marks {
		if strings.HasPrefix(string(head), m.bytes) {
			if slices.Contains(unread, m.encoding) {
				return "", nil // which reading it reports
			}
			r.Encoding = m.encoding
			break
		}
	}
	if r.Encoding != utf8Name {
		if as, err := r.form(); err == nil {
			return decodedHead(f, shown, as), nil
		}
		return "", nil
	}
	text := decodedHead(f, shown, &as)
	if cut := strings.LastIndexByte(text, '\n'); cut > 0 {
		text = text[:cut]
	}
	if !utf8.ValidString(text) {
		r.Encoding = "windows-1252"
		if as, err := r.form(); err == nil {
			return decodedHead(f, shown, as), nil
		}
	}
	return text, nil
}

// decodedHead is the start of a text; "" where it is none, which reading it reports.
func decodedHead(f *os.File, shown string, as *form) string {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return ""
	}
	_, head, _, err := textOfFile(f, shown, as)
	if err != nil {
		return ""
	}
	return string(head)
}

// linesOf are the lines of the start of a text that are whole and not empty.
func linesOf(head string) []string {
	lines := strings.Split(head, "\n")
	if len(lines) > 1 && len(head) >= headerBytes-4*utf8.UTFMax {
		lines = lines[:len(lines)-1] // cut off
	}
	var out []string
	for _, line := range lines {
		if line = strings.TrimRight(line, "\r"); strings.TrimSpace(line) != "" && len(out) < looked {
			out = append(out, line)
		}
	}
	return out
}

// commentOf is the character that begins the first lines, and is none of a name.
func commentOf(lines []string) string {
	for _, c := range []string{"#", "%"} {
		if n := slices.IndexFunc(lines, func(line string) bool { return !strings.HasPrefix(line, c) }); n > 0 {
			return c
		}
	}
	return ""
}

// separatorOf returns the character that divides the lines into most fields, equally many of each; the usual one
// where no other divides them better.
func separatorOf(lines []string, usual string) string {
	best, most := usual, 1
	for _, c := range []string{usual, ",", ";", "\t", "|", " "} {
		n := fieldsOf(lines[0], c)
		equal := 0
		for _, line := range lines {
			if fieldsOf(line, c) == n {
				equal++
			}
		}
		if n > most && 10*equal >= 9*len(lines) {
			if best, most = c, n; c == usual {
				return c
			}
		}
	}
	return best
}

// fieldsOf counts the fields of a line.
func fieldsOf(line, separator string) int {
	n, quoted := 1, false
	if separator == " " {
		return len(strings.Fields(line))
	}
	for i := range len(line) {
		switch {
		case line[i] == '"':
			quoted = !quoted
		case !quoted && line[i] == separator[0]:
			n++
		}
	}
	return n
}

// firstRows are the first rows as texts, the header among them.
func (r Reading) firstRows(path, name string) [][]string {
	r.Header = withoutNames
	as, err := r.form()
	if err != nil {
		return nil
	}
	in, err := openCSV(path, shown(name), as)
	if err != nil {
		return nil
	}
	defer in.close()
	var rows [][]string
	text := in.(*csvReader)
	for len(rows) < looked && text.next() == nil {
		row := make([]string, len(text.fields))
		for i, field := range text.fields {
			row[i] = strings.Clone(strings.TrimSpace(field))
		}
		rows = append(rows, row)
	}
	return rows
}

// isHeaderless reports whether the first row has values: a number or a date, or the value of a row below it.
func isHeaderless(rows [][]string) bool {
	return slices.ContainsFunc(rows[0], func(text string) bool {
		c := textCell(text)
		return c.kind == number || c.kind == date || commaForm.MatchString(text)
	})
}

// commaForm is a number with a decimal comma.
var commaForm = regexp.MustCompile(`^[+-]?[0-9]*,[0-9]+([eE][+-]?[0-9]+)?$`)

// thousandsForm is a number whose comma may also group thousands.
var thousandsForm = regexp.MustCompile(`^[+-]?[1-9][0-9]{0,2},[0-9]{3}$`)

// decimalOf returns the mark before decimals: the comma where numbers have it, not all of which may be grouped
// thousands, and none has a point.
func decimalOf(rows [][]string) Decimal {
	commas := 0
	for _, row := range rows {
		for _, text := range row {
			switch {
			case commaForm.MatchString(text):
				if !thousandsForm.MatchString(text) {
					commas++
				}
			case strings.Contains(text, ".") && textCell(text).kind == number:
				return pointMark
			}
		}
	}
	if commas > 0 {
		return commaMark
	}
	return pointMark
}

// missingTexts are texts that often stand for a missing value.
var missingTexts = []string{"?", "-", "--", ".", "*", "null", "NULL", "none", "None", "N/A", "n/a", "#N/A", "NaT",
	"nil", "\\N"}

// missingOf returns the texts that stand in columns of numbers or dates otherwise.
func missingOf(rows [][]string, r Reading) string {
	as, err := Reading{Decimal: r.Decimal}.form()
	if err != nil || len(rows) == 0 {
		return ""
	}
	var out []string
	for j := range rows[0] {
		values, others := 0, map[string]bool{}
		for _, row := range rows {
			switch c := as.cell(row[j]); {
			case c.kind == number || c.kind == date || dateForms(row[j]) != nil:
				values++
			case c.kind != missing:
				others[row[j]] = true
			}
		}
		for text := range others {
			if values > len(rows)/2 && slices.Contains(missingTexts, text) && !slices.Contains(out, text) {
				out = append(out, text)
			}
		}
	}
	slices.Sort(out)
	return strings.Join(out, ",")
}

// datesOf returns the form that most columns of dates have; "" for none. A form counts for a column where at least
// nine of ten of its texts have it.
func datesOf(rows [][]string) string {
	if len(rows) == 0 {
		return ""
	}
	columns := map[string]int{}
	for j := range rows[0] {
		counts, texts := map[string]int{}, 0
		for _, row := range rows {
			if c := textCell(row[j]); c.kind == word || c.kind == broken {
				texts++
				for _, form := range dateForms(row[j]) {
					counts[form]++
				}
			}
		}
		for form, n := range counts {
			if 10*n >= 9*texts && 2*texts >= len(rows) {
				columns[form]++
			}
		}
	}
	best := ""
	for form, n := range columns {
		if best == "" || cmp.Or(cmp.Compare(n, columns[best]), strings.Compare(best, form)) > 0 {
			best = form
		}
	}
	return best
}

// First returns the first rows of data as they are read, at most so many, as texts: dates as in 2024-01-31, and
// nothing for missing values.
func First(name, path string, reading Reading, most int) (columns []string, rows [][]string, err error) {
	r, err := open(name, path, reading)
	if err != nil {
		return nil, nil, err
	}
	defer r.close()
	header, _ := r.header()
	var at []int
	for i, column := range header {
		if unusable(r, i) == nil {
			at, columns = append(at, i), append(columns, column)
		}
	}
	if err := r.want(at, make([]bool, len(at))); err != nil {
		return nil, nil, err
	}
	for len(rows) < most {
		if err := r.next(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, nil, err
		}
		row := make([]string, len(at))
		for i := range row {
			row[i] = strings.Clone(r.cell(i).shown())
		}
		rows = append(rows, row)
	}
	return columns, rows, nil
}

// shown is a cell as it is understood.
func (c cell) shown() string {
	switch c.kind {
	case number:
		if !c.beyond() {
			return numberName(c.value)
		}
	case date:
		return dateText(c.value)
	}
	return c.text
}
