package curves

import (
	"bytes"
	_ "embed" // the laws
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
)

// Costs are the laws of all subjects, with which sizes are predicted.
type Costs struct {
	Schema   string `json:"schema"`
	Machine  string `json:"machine"`
	Revision string `json:"revision"`
	// Laws are by subject, cost and axis.
	Laws map[string]map[Quantity]map[Axis]Law `json:"laws"`
}

// Quantity is a measured cost.
type Quantity string

// The quantities: processor time in s, and peak memory in bytes.
const (
	Time   Quantity = "time"
	Memory Quantity = "memory"
)

// schema tells the file from others.
const schema = "privkern/costs/1"

// FitAll fits laws to the measurements.
func FitAll(l *Log, machine, revision string) *Costs {
	c := &Costs{Schema: schema, Machine: machine, Revision: revision, Laws: map[string]map[Quantity]map[Axis]Law{}}
	for _, p := range l.Points {
		if c.Laws[p.Subject] != nil {
			continue
		}
		laws := map[Quantity]map[Axis]Law{Time: {}, Memory: {}}
		for _, a := range []Axis{Rows, Inputs, Inner} {
			var x, cpu, bytes []float64
			points := l.regime(p.Subject, a)
			if len(points) < enough {
				points = l.along(p.Subject, a)
			}
			for _, q := range points {
				x, cpu, bytes = append(x, float64(*q.along(a))), append(cpu, q.CPU), append(bytes, float64(q.Peak))
			}
			law, ok := Fit(x, cpu)
			if !ok {
				continue
			}
			for _, q := range l.Points {
				at := float64(*q.along(a))
				if q.Subject == p.Subject && q.Axis == a && q.Stopped != "" && at > law.To && law.Refused == 0 {
					law.Refused = at
				}
			}
			laws[Time][a] = law
			if bytes[0] > 0 {
				memory, _ := Fit(x, bytes)
				memory.Refused = law.Refused
				laws[Memory][a] = memory
			}
		}
		c.Laws[p.Subject] = laws
	}
	return c
}

// Prediction is the cost of a size.
type Prediction struct {
	Cost   float64
	Beyond bool // more rows or inputs than were measured
	Rough  bool // the law is uncertain there
}

// Text is the cost for people.
func (p Prediction) Text(unit func(float64) string) string {
	return map[bool]string{false: "about ", true: "perhaps "}[p.Rough] + unit(p.Cost)
}

// reach is how many times the largest size that was measured a law predicts at most: a method may go about larger data
// in another way.
const reach = 10

// Predict predicts the time or the memory of a size at default settings by the law of rows. Its growing part is as many
// times as large as that of the law of inputs is at their number; where that law is flat, its whole cost counts. ok is
// false for unknown subjects, for sizes beyond reach, and for rows that are refused.
func (c *Costs) Predict(subject string, q Quantity, s Size) (p Prediction, ok bool) {
	l, ok := c.Laws[subject][q][Rows]
	if !ok {
		return p, false
	}
	rows, inputs, d := float64(s.Rows), float64(s.Inputs), Law{Scale: 1, At: 1, Error: -1, To: Usual}
	if known, ok := c.Laws[subject][q][Inputs]; ok {
		d = known
	}
	if rows > reach*l.To || inputs > reach*d.To || l.refuses(rows) {
		return p, false
	}
	fixed := 0.
	if d.Flat() {
		fixed = d.Fixed
	}
	p.Cost = l.Fixed + l.Grown(rows)*(fixed+d.Grown(inputs))/(fixed+d.Grown(Usual))
	p.Beyond = rows > l.To || inputs > d.To
	p.Rough = rows > l.To && l.Uncertain() || inputs > d.To && d.Uncertain()
	return p, true
}

// Tell is the time and the memory of some sizes, for people who have not run a method yet; empty for an unknown one.
func (c *Costs) Tell(subject string) string {
	var told []string
	l := c.Laws[subject][Time][Rows]
	for _, rows := range []int{1000, 10_000, 100_000} {
		s := Size{Rows: rows, Inputs: Usual}
		time, ok := c.Predict(subject, Time, s)
		switch {
		case l.refuses(float64(rows)):
			return strings.Join(append(told, thousands(int(l.Refused))+" rows are refused"), "; ")
		case ok && float64(rows) >= l.From: // fewer may be of another regime
			memory, _ := c.Predict(subject, Memory, s)
			text := fmt.Sprintf("%s rows × %d: %s and %s", thousands(rows), Usual, time.Text(Seconds), memory.Text(Bytes))
			if time.Beyond {
				text += fmt.Sprintf(" (beyond the %s rows that were measured)", thousands(int(l.To)))
			}
			told = append(told, text)
		}
	}
	return strings.Join(told, "; ")
}

// Encode writes the laws, a line each.
func (c *Costs) Encode() ([]byte, error) {
	raw, err := json.Marshal(c)
	return append(bytes.ReplaceAll(raw, []byte(`},"`), []byte("},\n\"")), '\n'), err
}

// Parse reads the output of [Costs.Encode], and refuses a file that is torn or another one.
func Parse(raw []byte) (*Costs, error) {
	c := new(Costs)
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(c); err != nil {
		return nil, fmt.Errorf("the table of costs: %w", err)
	}
	if c.Schema != schema || !bytes.HasSuffix(raw, []byte("}\n")) || d.More() {
		return nil, errors.New("the table of costs is torn, or is another file")
	}
	for subject, quantities := range c.Laws {
		for _, axes := range quantities {
			for _, l := range axes {
				if !(l.Fixed >= 0 && l.Scale >= 0 && l.Fixed+l.Scale > 0 && l.At > 0 && l.From > 0 && l.To >= l.From) {
					return nil, fmt.Errorf("the table of costs: %s: %+v is no law", subject, l)
				}
			}
		}
	}
	return c, nil
}

//go:embed costs.json
var embedded []byte

// Embedded are the laws that the program was built with.
var Embedded = sync.OnceValues(func() (*Costs, error) { return Parse(embedded) })
