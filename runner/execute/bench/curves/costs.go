package curves

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the table of costs
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Costs are the laws of all subjects, with which sizes are predicted.
type Costs struct {
	Machine, Revision string

	laws map[key]Law
}

// Quantity is a measured cost.
type Quantity string

// The quantities: processor time in s, and peak memory in bytes.
const (
	Time   Quantity = "time"
	Memory Quantity = "memory"
)

type key struct {
	subject  string
	quantity Quantity
	axis     Axis
}

// FitAll fits laws to the measurements.
func FitAll(points []Point, machine, revision string) *Costs {
	c := &Costs{Machine: machine, Revision: revision, laws: map[key]Law{}}
	for _, p := range points {
		for _, a := range []Axis{Rows, Inputs, Inner} {
			if _, done := c.laws[key{p.Subject, Time, a}]; done {
				continue
			}
			var x, cpu, bytes []float64
			for _, q := range ByAxis(points, p.Subject, a) {
				x, cpu, bytes = append(x, float64(q.of(a))), append(cpu, max(q.CPU, 1e-3)), append(bytes, float64(q.Peak))
			}
			if l, ok := Fit(x, cpu); ok {
				l.Refused = refused(points, p.Subject, a, l.To)
				c.laws[key{p.Subject, Time, a}] = l
			}
			if l, ok := Fit(x, bytes); ok && bytes[0] > 0 {
				c.laws[key{p.Subject, Memory, a}] = l
			}
		}
	}
	return c
}

// refused is the least number along an axis, above those that were measured, that was refused; 0 for none.
func refused(points []Point, subject string, a Axis, above float64) (least float64) {
	for _, p := range points {
		on := map[Axis]bool{Rows: p.Inputs == Usual && p.Inner == 0, Inputs: p.Inputs != Usual, Inner: p.Inner > 0}[a]
		x := float64(p.of(a))
		if p.Subject == subject && p.Stopped != "" && on && x > above && (least == 0 || x < least) {
			least = x
		}
	}
	return least
}

// Law returns a law; ok is false where too little was measured.
func (c *Costs) Law(subject string, q Quantity, a Axis) (l Law, ok bool) {
	l, ok = c.laws[key{subject, q, a}]
	return l, ok
}

// Prediction is the cost of a size.
type Prediction struct {
	Cost   float64
	Beyond bool // more rows or inputs than were measured
	Least  bool // the cost is at least that, as the law is uncertain there
}

// text is the cost for people.
func (p Prediction) text(unit func(float64) string) string {
	if p.Least {
		return "at least " + unit(p.Cost)
	}
	return "about " + unit(p.Cost)
}

// Predict predicts the time or the memory of a size at default settings by the law of rows. Its growing part is as many
// times as large as that of the law of inputs is at their number; where that law is flat, its whole cost counts. ok is
// false for unknown subjects.
func (c *Costs) Predict(subject string, q Quantity, s Size) (p Prediction, ok bool) {
	l, ok := c.Law(subject, q, Rows)
	if !ok {
		return p, false
	}
	rows, inputs := float64(s.Rows), float64(s.Inputs)
	p.Beyond = rows > l.To
	p.Least = p.Beyond && l.Uncertain()
	grows := l.Grown(rows)
	if d, known := c.Law(subject, q, Inputs); known {
		fixed := 0.
		if d.Flat() {
			fixed = d.Fixed
		}
		grows *= (fixed + d.Grown(inputs)) / (fixed + d.Grown(Usual))
		p.Beyond = p.Beyond || inputs > d.To
		p.Least = p.Least || inputs > d.To && d.Uncertain()
	} else {
		p.Beyond = p.Beyond || s.Inputs > Usual
		p.Least = p.Least || s.Inputs > Usual
	}
	p.Cost = l.Fixed + grows
	return p, true
}

// Tell are sentences on the time and the memory of some sizes, for people who have not run a method yet; empty for an
// unknown subject.
func (c *Costs) Tell(subject string) string {
	var told []string
	for _, rows := range []int{1000, 10_000, 100_000} {
		s := Size{Rows: rows, Inputs: Usual}
		l, _ := c.Law(subject, Time, Rows)
		time, ok := c.Predict(subject, Time, s)
		if ok && l.Refused > 0 && float64(rows) >= l.Refused {
			told = append(told, fmt.Sprintf("%s rows are refused", thousands(int(l.Refused))))
			break
		}
		if !ok || float64(rows) > 10*l.To {
			break
		}
		text := thousands(rows) + fmt.Sprintf(" rows × %d: ", Usual) + time.text(Seconds)
		if memory, ok := c.Predict(subject, Memory, s); ok {
			text += " and " + memory.text(Bytes)
		}
		if time.Beyond {
			text += fmt.Sprintf(" (beyond the %s rows that were measured)", thousands(int(l.To)))
		}
		told = append(told, text)
	}
	return strings.Join(told, "; ")
}

// columns are those of the table.
var columns = []string{"method", "cost", "axis", "fixed", "scale", "at", "exponent", "error", "from", "to", "refused"}

// Encode writes the table: a line with the machine and the revision, a header, a law in each line, and a line with the
// digest of all before it, without which it is torn.
func (c *Costs) Encode() []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write([]string{"costs", "1", c.Revision, c.Machine})
	_ = w.Write(columns)
	keys := make([]key, 0, len(c.laws))
	for k := range c.laws {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b key) int {
		return strings.Compare(a.subject+"\x00"+string(a.quantity)+string(a.axis),
			b.subject+"\x00"+string(b.quantity)+string(b.axis))
	})
	for _, k := range keys {
		line := []string{k.subject, string(k.quantity), string(k.axis)}
		l := c.laws[k]
		for _, v := range []float64{l.Fixed, l.Scale, l.At, l.Exponent, l.Error, l.From, l.To, l.Refused} {
			line = append(line, strconv.FormatFloat(v, 'g', 5, 64))
		}
		_ = w.Write(line)
	}
	w.Flush() // into memory
	fmt.Fprintf(&b, "end,%x\n", sha256.Sum256(b.Bytes()))
	return b.Bytes()
}

// Parse reads a table as [Costs.Encode] writes it, and refuses any other.
func Parse(raw []byte) (*Costs, error) {
	body := raw
	if i := bytes.LastIndex(raw, []byte("\nend,")); i >= 0 {
		body = raw[:i+1]
	}
	if !bytes.Equal(raw, fmt.Appendf(slices.Clone(body), "end,%x\n", sha256.Sum256(body))) {
		return nil, fmt.Errorf("the table of costs is torn or was edited: its last line has not the digest of the others")
	}
	r := csv.NewReader(bytes.NewReader(body))
	r.FieldsPerRecord = -1
	lines, err := r.ReadAll()
	if err != nil {
		return nil, err
	}
	if len(lines) < 2 || len(lines[0]) != 4 || lines[0][0] != "costs" || lines[0][1] != "1" ||
		!slices.Equal(lines[1], columns) {
		return nil, fmt.Errorf("it is no table of costs of version 1")
	}
	c := &Costs{Revision: lines[0][2], Machine: lines[0][3], laws: map[key]Law{}}
	for i, line := range lines[2:] {
		if len(line) != len(columns) {
			return nil, fmt.Errorf("line %d has %d columns in place of %d", i+3, len(line), len(columns))
		}
		var v [8]float64
		for k := range v {
			if v[k], err = strconv.ParseFloat(line[3+k], 64); err != nil {
				return nil, fmt.Errorf("line %d: %w", i+3, err)
			}
		}
		l := Law{v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]}
		if !(l.Fixed >= 0 && l.Scale >= 0 && l.At > 0 && l.Exponent >= 0 && l.From > 0 && l.To >= l.From) ||
			math.IsInf(l.Fixed+l.Scale+l.At+l.Exponent+l.To, 0) {
			return nil, fmt.Errorf("line %d: %q is no law", i+3, line)
		}
		c.laws[key{line[0], Quantity(line[1]), Axis(line[2])}] = l
	}
	return c, nil
}

//go:embed costs.csv
var embedded []byte

// Embedded is the table that the program was built with.
var Embedded = sync.OnceValues(func() (*Costs, error) { return Parse(embedded) })
