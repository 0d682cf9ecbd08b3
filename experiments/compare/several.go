package compare

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"slices"
)

// WriteSuite writes the results of the comparisons of a suite in a format, one below the other, each as
// [Results.Write] does; of JSON a list, and of CSV one table, which has the title of the comparison before the columns.
func WriteSuite(w io.Writer, s Suite, all []*Results, f Format, quote func(word string) string,
	width int) error {
	switch f {
	case JSON:
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(all)
	case CSV:
		return writeSeveral(w, all)
	}
	begin, note := &writer{width: width}, "note: "
	switch f {
	case Markdown:
		begin.WriteString("### " + s.Title + "\n\n`" + s.Name + "`\n\n")
		note = "- "
	case Text:
		begin.wrap(s.Name+": "+s.Title, "")
		begin.WriteString("\n")
	}
	if _, err := io.WriteString(w, begin.String()); err != nil {
		return err
	}
	for i, r := range all {
		if i > 0 {
			if _, err := io.WriteString(w, "\n"); err != nil {
				return err
			}
		}
		if err := r.Write(w, f, quote, width); err != nil {
			return err
		}
	}
	if f == LaTeX {
		return nil
	}
	notes := &writer{width: width}
	notes.WriteString("\n")
	for _, n := range s.Notes {
		notes.wrap(note+n, "  ")
	}
	_, err := io.WriteString(w, notes.String())
	return err
}

// writeSeveral writes the rows of all comparisons.
func writeSeveral(w io.Writer, all []*Results) error {
	var rows [][]string
	for i, r := range all {
		own := r.csvRows()
		if i > 0 {
			own = own[1:] // the header
		}
		for k, row := range own {
			of := []string{r.Title, r.Unit}
			if i == 0 && k == 0 {
				of = []string{"comparison", "unit"}
			}
			rows = append(rows, slices.Concat(of, row))
		}
	}
	return csv.NewWriter(w).WriteAll(rows)
}
