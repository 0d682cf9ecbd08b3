// Package tables writes evaluated tables for readers and programs: as text for a
// terminal, Markdown, LaTeX, CSV and JSON. [Layout] is the grid that all forms for
// readers share.
//
// For readers, a number has one digit more than the print, or as many as its standard
// error supports, and long remarks are numbered notes below. For programs, CSV and
// JSON have every number in full and one line or object a cell and variant; their
// columns and members are public, and only added to.
package tables

import (
	"io"

	"privkern/runner/claims/judge"
	"privkern/runner/experiment"
)

// Format is an output format of a table.
type Format string

// The formats.
const (
	FormatText     Format = "table"
	FormatMarkdown Format = "markdown"
	FormatCSV      Format = "csv"
	FormatLaTeX    Format = "latex"
	FormatJSON     Format = "json"
)

// Formats lists the names of the formats.
var Formats = []string{string(FormatText), string(FormatJSON), string(FormatCSV),
	string(FormatLaTeX), string(FormatMarkdown)}

// ParseFormat returns the format of that name, or an *experiment.UnknownError.
func ParseFormat(name string) (Format, error) {
	for _, f := range Formats {
		if f == name {
			return Format(f), nil
		}
	}
	return "", experiment.Unknown("format", name, Formats)
}

// Extension returns the usual ending of a file's name, with its dot.
func (f Format) Extension() string {
	switch f {
	case FormatMarkdown:
		return ".md"
	case FormatCSV:
		return ".csv"
	case FormatLaTeX:
		return ".tex"
	case FormatJSON:
		return ".json"
	}
	return ".txt"
}

// Write writes the table in a format. The options are of the text format.
func Write(w io.Writer, e *judge.Evaluation, f Format, o TextOptions) error {
	switch f {
	case FormatMarkdown:
		return Markdown(w, e)
	case FormatCSV:
		return CSV(w, e)
	case FormatLaTeX:
		return LaTeX(w, e)
	case FormatJSON:
		return JSON(w, e)
	case FormatText:
		return Text(w, e, o)
	}
	return experiment.Unknown("format", string(f), Formats)
}

// WriteAll writes several tables so that the whole is still of the format: one
// CSV header, one JSON object (with the tables in a list, where there is not
// exactly one), an empty line between other tables.
func WriteAll(w io.Writer, list []*judge.Evaluation, f Format, o TextOptions) error {
	switch {
	case f == FormatJSON && len(list) != 1:
		return jsonAll(w, list)
	case f == FormatCSV:
		return csvAll(w, list)
	}
	for i, e := range list {
		if i > 0 {
			if _, err := io.WriteString(w, "\n"); err != nil {
				return err
			}
		}
		if err := Write(w, e, f, o); err != nil {
			return err
		}
	}
	return nil
}
