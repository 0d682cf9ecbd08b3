// Package printed reads the values that the paper prints from its ledger, for the figures: one
// list serves them and the tables.
package printed

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strconv"
	"sync"

	"github.com/goccy/go-yaml"

	"privkern/runner/experiment"
)

// Ledger holds the printed values of a ledger, which is read when they are first drawn.
type Ledger struct {
	cells func() map[string][]cell // by table
}

// cell is a value that the paper prints, with the settings that it states.
type cell struct {
	Metric    string
	Published string
	// Experiment is empty for that of the table. Minus is there for a difference, SameAs
	// where the paper prints the value again.
	Experiment string
	Minus      any
	SameAs     string `yaml:"same_as"`
	Value      *float64
	Params     map[string]any
}

// Read returns the printed values of a ledger; none of a malformed one, because package ledger
// reports its errors.
func Read(ledger []byte) *Ledger {
	return &Ledger{sync.OnceValue(func() map[string][]cell { return cellsOf(ledger) })}
}

// cellsOf reads the cells by table. A cell without a metric has that of its table.
func cellsOf(ledger []byte) map[string][]cell {
	var file struct {
		Tables []struct {
			Name, Metric string
			Cells        []cell
		}
	}
	if err := yaml.NewDecoder(bytes.NewReader(ledger)).Decode(&file); err != nil {
		return nil
	}
	out := map[string][]cell{}
	for _, t := range file.Tables {
		for i := range t.Cells {
			t.Cells[i].Metric = cmp.Or(t.Cells[i].Metric, t.Metric)
		}
		out[t.Name] = t.Cells
	}
	return out
}

// number returns the printed value, NaN for a text.
func (c *cell) number() float64 {
	if c.Value != nil {
		return *c.Value
	}
	if v, err := strconv.ParseFloat(c.Published, 64); err == nil {
		return v
	}
	return math.NaN()
}

// Over returns the printed values of a metric of the experiment x in a table, in
// increasing order of where at places the settings of a cell; at may leave cells out.
// Differences, values of other experiments and repeated ones are left out.
func Over[S, M any](l *Ledger, table string, x *experiment.Definition[S, M], metric func(*M) any,
	at func(*S) (where float64, shown bool)) experiment.Line {
	name := x.MetricName(metric)
	type point struct{ x, y float64 }
	var points []point
	for _, c := range l.cells()[table] {
		params, err := x.Resolve(c.Params)
		other := c.Minus != nil || c.SameAs != "" || c.Experiment != "" && c.Experiment != x.Name
		if err != nil || other || c.Metric != name || math.IsNaN(c.number()) {
			continue
		}
		if where, shown := at(x.Settings(params)); shown {
			points = append(points, point{where, c.number()})
		}
	}
	slices.SortStableFunc(points, func(a, b point) int { return cmp.Compare(a.x, b.x) })
	line := experiment.Line{Dashed: true}
	for _, p := range points {
		line.X, line.Y = append(line.X, p.x), append(line.Y, p.y)
	}
	return line
}
