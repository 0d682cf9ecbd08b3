package show

import (
	"io"
	"path/filepath"
	"strings"

	"privkern/runner/claims/judge"
	"privkern/runner/show/summary"
	"privkern/runner/show/tables"
)

// WriteTables writes OUT/tables: every evaluated table as Markdown, CSV, LaTeX
// and JSON, and all metrics as summary.csv and summary.md.
func (r *Results) WriteTables() error {
	return r.EachTable(r.writeTo(filepath.Join(r.Store.Dir(), TablesDir)))
}

// WriteComparison writes a file into OUT/comparison.
func (r *Results) WriteComparison(name string, write func(io.Writer) error) error {
	return r.writeTo(filepath.Join(r.Store.Dir(), ComparisonDir))(name, write)
}

// TablesDir, PlotsDir and ComparisonDir are folders of the output folder.
const (
	TablesDir     = "tables"
	PlotsDir      = "plots"
	ComparisonDir = "comparison"
)

// Visitor receives the name of a file and a function that writes its content.
type Visitor func(name string, write func(io.Writer) error) error

// EachTable visits the files of OUT/tables.
func (r *Results) EachTable(visit Visitor) error {
	for _, e := range r.Evaluated {
		files, err := tableFiles(e)
		if err != nil {
			return err
		}
		for _, f := range files {
			if err := visit(f.name, func(w io.Writer) error { _, err := w.Write(f.data); return err }); err != nil {
				return err
			}
		}
	}
	if err := visit("summary.csv", func(w io.Writer) error { return summary.CSV(w, r.Summary) }); err != nil {
		return err
	}
	return visit("summary.md", func(w io.Writer) error { return summary.Markdown(w, r.ForPeople()) })
}

// tableFile is a table in one format.
type tableFile struct {
	name string
	data []byte
}

// tableFiles returns a table in the formats of OUT/tables.
func tableFiles(e *judge.Evaluation) ([]tableFile, error) {
	var out []tableFile
	for _, f := range []tables.Format{tables.FormatMarkdown, tables.FormatCSV, tables.FormatLaTeX, tables.FormatJSON} {
		var b strings.Builder
		if err := tables.Write(&b, f, tables.TextOptions{}, e); err != nil {
			return nil, err
		}
		out = append(out, tableFile{strings.ReplaceAll(e.Table, "/", "-") + f.Extension(), []byte(b.String())})
	}
	return out, nil
}
