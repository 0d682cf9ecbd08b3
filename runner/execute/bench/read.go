package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// FileError says what is wrong with a file that is no report.
type FileError struct {
	Path string
	Line int // from 1; 0 for the file
	Text string
}

func (e *FileError) Error() string {
	where := e.Path
	if e.Line > 0 {
		where = fmt.Sprintf("%s, line %d", e.Path, e.Line)
	}
	return fmt.Sprintf("%s: %s; make one with `run bench --output json > FILE`", where, e.Text)
}

// Read reads the report that `run bench` printed into a file, as JSON or as a table. It fails
// with a *FileError where there is none.
func Read(path string) (*Report, error) {
	b, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &FileError{Path: path, Text: "there is no such file"}
	case err != nil:
		return nil, err
	}
	var r *Report
	switch trimmed := bytes.TrimSpace(b); {
	case len(trimmed) == 0:
		return nil, &FileError{Path: path, Text: "the file is empty"}
	case trimmed[0] == '{':
		r, err = readJSON(trimmed)
	default:
		r, err = readText(string(b))
	}
	if in := (*FileError)(nil); errors.As(err, &in) {
		in.Path = path
		return nil, in
	}
	for i := range r.Measurements {
		m := &r.Measurements[i]
		// Schema 1 and tables have the clock in the name.
		if m.Clock == "" && strings.HasSuffix(m.Name, " (CPU)") {
			m.Clock = CPU
		} else if m.Clock == "" && strings.HasSuffix(m.Name, " (wall)") {
			m.Clock = Wall
		}
	}
	return r, nil
}

// readJSON reads a report as JSON of any schema.
func readJSON(b []byte) (*Report, error) {
	r := new(Report)
	if err := json.Unmarshal(b, r); err != nil {
		line := 0
		if at := (*json.SyntaxError)(nil); errors.As(err, &at) {
			line = 1 + bytes.Count(b[:min(int(at.Offset), len(b))], []byte("\n"))
		}
		return nil, &FileError{Line: line, Text: "it is no report of run bench: " + err.Error()}
	}
	switch {
	case r.Schema > Schema:
		return nil, &FileError{Text: fmt.Sprintf("it has schema %d, of a later version of this program, which reads %d",
			r.Schema, Schema)}
	case r.Schema < 1:
		return nil, &FileError{Text: "it is no report of run bench: it has no schema"}
	case len(r.Measurements) == 0:
		return nil, &FileError{Text: "it has no measurements"}
	}
	for i, m := range r.Measurements {
		if m.Benchmark == "" || m.Name == "" {
			return nil, &FileError{Text: fmt.Sprintf("measurement %d has no benchmark or no name", i+1)}
		}
	}
	return r, nil
}

// machineLines are those above a table.
var machineLines = []struct {
	name  string
	field func(*Machine) *string
}{
	{"processor", func(m *Machine) *string { return &m.CPU }},
	{"BLAS", func(m *Machine) *string { return &m.BLAS }},
	{"device", func(m *Machine) *string { return &m.Device }},
	{"revision", func(m *Machine) *string { return &m.Revision }},
	{"peers", func(m *Machine) *string { return &m.Peers }},
}

// tableRow is a row of a table: name, value, unit, spread, peer and ratio to the peer. What
// follows is not read.
var tableRow = regexp.MustCompile(`^  (\S.*?) {2,}(-?[0-9][-+.e0-9]*)(?:  ?([^\s±0-9]\S*))?(?: +±([.0-9]+) %)?` +
	`(?: +(NumPy|SciPy|scikit-learn) ([-+.e0-9]+) s +([.0-9]+))?(?:  .*)?$`)

// readText reads a table.
func readText(text string) (*Report, error) {
	r := &Report{Schema: 1}
	benchmark := ""
	for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		line = strings.TrimRight(line, " \r")
		name, isComment := strings.CutPrefix(line, "# ")
		switch {
		case isComment:
			for _, l := range machineLines {
				if v, ok := strings.CutPrefix(name, l.name+": "); ok {
					*l.field(&r.Machine) = v
				}
			}
		case line == "" || benchmark == "" && strings.HasPrefix(line, "  "): // titles
		case !strings.HasPrefix(line, " "):
			benchmark = line
			if strings.ContainsAny(line, " \t") || !strings.Contains(line, "/") {
				return nil, &FileError{Line: i + 1,
					Text: fmt.Sprintf("it is no table of run bench: %.40q names no benchmark", line)}
			}
		default:
			m, ok := readRow(line)
			if !ok {
				return nil, &FileError{Line: i + 1, Text: fmt.Sprintf("%.40q is no row of a table of run bench", line)}
			}
			if m != nil {
				m.Benchmark = benchmark
				r.Measurements = append(r.Measurements, *m)
			}
		}
	}
	if len(r.Measurements) == 0 {
		return nil, &FileError{Text: "it has no measurements"}
	}
	return r, nil
}

// goneRow is a row that a comparison has listed, which the run did not measure.
var goneRow = regexp.MustCompile(`^  \S.* gone( |$)`)

// readRow reads a row of a table; nil for one without a value.
func readRow(line string) (*Measurement, bool) {
	if goneRow.MatchString(line) {
		return nil, true
	}
	f := tableRow.FindStringSubmatch(line)
	if f == nil {
		return nil, false
	}
	value, err := strconv.ParseFloat(f[2], 64)
	if err != nil {
		return nil, false
	}
	m := &Measurement{Name: f[1], Value: value, Unit: f[3]}
	if f[4] != "" {
		share, _ := strconv.ParseFloat(f[4], 64)
		m.spread = share / 100
	}
	if f[5] != "" {
		time, _ := strconv.ParseFloat(f[6], 64)
		ratio, _ := strconv.ParseFloat(f[7], 64)
		m.Peer = &Peer{Library: f[5], Value: time, Ratio: ratio}
	}
	return m, true
}
