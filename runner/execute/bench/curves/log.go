package curves

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Log is a file of measurements, comma-separated values with a header, to which each is appended as it is made. Those of
// other programs or machines stay in the file and count for nothing.
type Log struct {
	Path string
	// Dropped is how many lines were torn, and Foreign how many of another program or machine.
	Dropped, Foreign int

	by     [2]string // program and machine
	points []Point
	torn   bool // the file ends within a line
}

var header = []string{"method", "rows", "inputs", "inner", "cpu_s", "peak_bytes", "stopped", "revision", "machine"}

// OpenLog reads the file, if there is one. The error tells of a file that is none of measurements, which stays as it is.
func OpenLog(path, revision, machine string) (*Log, error) {
	l := &Log{Path: path, by: [2]string{revision, machine}}
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(raw) == 0 {
		return l, nil
	}
	if err != nil {
		return nil, err
	}
	first, rest, _ := bytes.Cut(raw, []byte("\n"))
	if string(first) != strings.Join(header, ",") {
		return nil, fmt.Errorf("%s is no file of measurements, which begins with %q: move it away or name another folder",
			path, strings.Join(header, ","))
	}
	for line := range bytes.Lines(rest) {
		l.torn = !bytes.HasSuffix(line, []byte("\n"))
		p, by, err := parse(line)
		switch {
		case l.torn || err != nil:
			l.Dropped++
		case by != l.by:
			l.Foreign++
		default:
			l.points = append(l.points, p)
		}
	}
	return l, nil
}

// parse reads a line.
func parse(line []byte) (p Point, by [2]string, err error) {
	r := csv.NewReader(bytes.NewReader(line))
	r.FieldsPerRecord = len(header)
	f, err := r.Read()
	if err != nil {
		return p, by, err
	}
	p.Subject, p.Stopped = f[0], f[6]
	var errs [5]error
	p.Rows, errs[0] = strconv.Atoi(f[1])
	p.Inputs, errs[1] = strconv.Atoi(f[2])
	p.Inner, errs[2] = strconv.Atoi(f[3])
	p.CPU, errs[3] = strconv.ParseFloat(f[4], 64)
	p.Peak, errs[4] = strconv.ParseInt(f[5], 10, 64)
	if err = errors.Join(errs[:]...); err == nil && (!(p.CPU >= 0 && p.CPU < 1e9) || p.Rows < 1 || p.Inputs < 1) {
		err = errors.New("a number is out of its range")
	}
	return p, [2]string{f[7], f[8]}, err
}

// Points are the measurements of this program on this machine.
func (l *Log) Points() []Point { return l.points }

func (l *Log) find(subject string, s Size) (Point, bool) {
	i := slices.IndexFunc(l.points, func(p Point) bool { return p.Subject == subject && p.Size == s })
	if i < 0 {
		return Point{}, false
	}
	return l.points[i], true
}

// line encodes a measurement.
func (l *Log) line(p Point) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write([]string{p.Subject, strconv.Itoa(p.Rows), strconv.Itoa(p.Inputs), strconv.Itoa(p.Inner),
		strconv.FormatFloat(p.CPU, 'g', 6, 64), strconv.FormatInt(p.Peak, 10), p.Stopped, l.by[0], l.by[1]})
	w.Flush() // into memory
	return b.Bytes()
}

// append keeps a measurement.
func (l *Log) append(p Point) (err error) {
	f, err := os.OpenFile(l.Path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	line := l.line(p)
	if l.torn {
		line = append([]byte("\n"), line...)
	}
	if info, statErr := f.Stat(); statErr == nil && info.Size() == 0 {
		line = append([]byte(strings.Join(header, ",")+"\n"), line...)
	}
	if _, err = f.Write(line); err == nil {
		l.points, l.torn = append(l.points, p), false
	}
	return err
}

// CSV is the file with the measurements of this program on this machine alone, by subjects and sizes.
func (l *Log) CSV() []byte {
	sorted := slices.Clone(l.points)
	slices.SortStableFunc(sorted, func(p, q Point) int {
		if p.Subject != q.Subject {
			return strings.Compare(p.Subject, q.Subject)
		}
		return slices.Compare([]int{p.Inner, p.Inputs, p.Rows}, []int{q.Inner, q.Inputs, q.Rows})
	})
	out := []byte(strings.Join(header, ",") + "\n")
	for _, p := range sorted {
		out = append(out, l.line(p)...)
	}
	return out
}
