package page

import (
	"encoding/csv"
	"encoding/json"
	"io"
)

// Format is a format of output.
type Format string

// The formats.
const (
	Text     Format = "table"
	JSON     Format = "json"
	CSV      Format = "csv"
	LaTeX    Format = "latex"
	Markdown Format = "markdown"
)

// Results are written in all formats; their JSON is that of the value itself.
type Results interface {
	Page() *Page
	// CSV returns the rows of a table of all numbers, below a header.
	CSV() [][]string
}

// Write writes results in a format. shell writes a command, and width is that of text, in characters.
func Write(w io.Writer, r Results, f Format, shell Shell, width int) error {
	switch f {
	case JSON:
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(r)
	case CSV:
		return csv.NewWriter(w).WriteAll(r.CSV())
	case LaTeX:
		return r.Page().LaTeX(w)
	case Markdown:
		return r.Page().Markdown(w, shell)
	}
	return r.Page().Text(w, shell, width)
}
