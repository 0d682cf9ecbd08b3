package curves

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// Log is a file of measurements, comma-separated values with a header, to which each is appended as it is made. Lines
// that are torn, or of another program or machine, stay in the file and count for nothing.
type Log struct {
	Path    string
	Points  []Point // in the order of measuring
	LeftOut int     // lines

	by   string // program and machine
	torn bool   // the file ends within a line
}

const header = "method,axis,rows,inputs,inner,cpu_s,peak_bytes,stopped,by\n"

// OpenLog reads the file, if there is one. A file that is none of measurements is an error, and stays as it is.
func OpenLog(path, by string) (*Log, error) {
	l := &Log{Path: path, by: by}
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(raw) == 0 {
		return l, nil
	}
	rest, found := bytes.CutPrefix(raw, []byte(header))
	if err == nil && !found {
		err = fmt.Errorf("%s is no file of measurements, which begins with %q: move it away or name another folder", path,
			header)
	}
	for line := range bytes.Lines(rest) {
		l.torn = !bytes.HasSuffix(line, []byte("\n"))
		if p, by, err := parse(line); err != nil || l.torn || by != l.by {
			l.LeftOut++
		} else {
			l.Points = append(l.Points, p)
		}
	}
	return l, err
}

// parse reads a line.
func parse(line []byte) (p Point, by string, err error) {
	r := csv.NewReader(bytes.NewReader(line))
	r.FieldsPerRecord = strings.Count(header, ",") + 1
	f, err := r.Read()
	if err != nil {
		return p, by, err
	}
	p.Subject, p.Axis, p.Stopped = f[0], Axis(f[1]), f[7]
	_, err = fmt.Sscan(strings.Join(f[2:7], " "), &p.Rows, &p.Inputs, &p.Inner, &p.CPU, &p.Peak)
	if err == nil && (!(p.CPU > 0 && p.CPU < 1e9) || p.along(p.Axis) == nil || *p.along(p.Axis) < 1) {
		err = errors.New("a number is out of its range")
	}
	return p, f[8], err
}

// along returns the points along an axis that were not refused.
func (l *Log) along(subject string, a Axis) (out []Point) {
	for _, p := range l.Points {
		if p.Subject == subject && p.Axis == a && p.Stopped == "" {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(p, q Point) int { return *p.along(a) - *q.along(a) })
	return out
}

// regime returns the points along an axis; of rows those since more of them last took a tenth less time, where the
// method goes about them in another way. Less than .1 s is noise.
func (l *Log) regime(subject string, a Axis) []Point {
	points := l.along(subject, a)
	first := 0
	for i := 1; i < len(points) && a == Rows; i++ {
		if points[i].CPU < min(.9*points[i-1].CPU, points[i-1].CPU-.1) {
			first = i
		}
	}
	return points[first:]
}

func (l *Log) find(subject string, a Axis, s Size) (Point, bool) {
	for _, p := range l.Points {
		if p.Subject == subject && p.Axis == a && p.Size == s {
			return p, true
		}
	}
	return Point{}, false
}

// append keeps a measurement.
func (l *Log) append(p Point) (err error) {
	f, err := os.OpenFile(l.Path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	line := l.lines(p)
	if l.torn {
		line = append([]byte("\n"), line...)
	}
	if info, statErr := f.Stat(); statErr == nil && info.Size() == 0 {
		line = append([]byte(header), line...)
	}
	_, err = f.Write(line)
	l.Points, l.torn = append(l.Points, p), false
	return errors.Join(err, f.Close())
}

// CSV is the file with nothing left out.
func (l *Log) CSV() []byte { return append([]byte(header), l.lines(l.Points...)...) }

func (l *Log) lines(points ...Point) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	for _, p := range points {
		_ = w.Write([]string{p.Subject, string(p.Axis), fmt.Sprint(p.Rows), fmt.Sprint(p.Inputs), fmt.Sprint(p.Inner),
			fmt.Sprintf("%.6g", p.CPU), fmt.Sprint(p.Peak), p.Stopped, l.by})
	}
	w.Flush() // into memory
	return b.Bytes()
}
