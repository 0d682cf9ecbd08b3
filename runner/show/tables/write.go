// Package tables writes evaluated tables for readers and programs: as text for a
// terminal, Markdown, LaTeX, CSV and JSON. [Layout] returns the grid that all formats
// for readers share.
//
// For readers, a number has one digit more than the print, or as many as its standard
// error supports, and long remarks are numbered notes below. For programs, CSV and
// JSON have every number in full and one line or object for each cell and variant;
// their columns and members are public, and only added to.
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

// Extension returns the usual extension of a file's name, with its dot.
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

// Write writes tables in a format, so that the whole has this format: one CSV header, one
// JSON object, an empty line between tables for readers. The options apply to text.
func Write(w io.Writer, f Format, o TextOptions, list ...*judge.Evaluation) error {
	var write func(io.Writer, *judge.Evaluation) error
	switch f {
	case FormatJSON:
		return writeJSON(w, list)
	case FormatCSV:
		return writeCSV(w, list)
	case FormatMarkdown:
		write = writeMarkdown
	case FormatLaTeX:
		write = writeLaTeX
	case FormatText:
		write = func(w io.Writer, e *judge.Evaluation) error { return writeText(w, e, o) }
	default:
		return experiment.Unknown("format", string(f), Formats)
	}
	for i, e := range list {
		if i > 0 {
			if _, err := io.WriteString(w, "\n"); err != nil {
				return err
			}
		}
		if err := write(w, e); err != nil {
			return err
		}
	}
	return nil
}
