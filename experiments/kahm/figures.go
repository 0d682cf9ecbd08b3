package kahm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"sync"

	"github.com/goccy/go-yaml"

	"privkern/runner/experiment"
)

// setting writes parameters but for some names, so that equal texts are equal
// settings.
func setting(p experiment.Params, but ...string) string {
	p = maps.Clone(p)
	for _, name := range but {
		delete(p, name)
	}
	text, err := json.Marshal(p)
	if err != nil {
		return fmt.Sprint(p)
	}
	return string(text)
}

// bySetting groups trials whose parameters agree but for some names, in the
// order of their first ones.
func bySetting(trials []experiment.Finished, but ...string) [][]experiment.Finished {
	var groups [][]experiment.Finished
	place := map[string]int{}
	for _, t := range trials {
		key := t.Experiment + setting(t.Params, but...)
		i, ok := place[key]
		if !ok {
			i = len(groups)
			place[key] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], t)
	}
	return groups
}

// distinct leaves out repetitions of a setting with another seed.
func distinct(trials []experiment.Finished) []experiment.Finished {
	var first []experiment.Finished
	for _, g := range bySetting(trials) {
		first = append(first, g[0])
	}
	return first
}

// having returns the trials with a series.
func having(trials []experiment.Finished, series string) []experiment.Finished {
	return slices.DeleteFunc(slices.Clone(trials), func(t experiment.Finished) bool { return len(t.Series[series]["x"]) == 0 })
}

// meanOver returns a metric over a parameter: the mean of the trials of each of
// its values, in increasing order.
func meanOver(trials []experiment.Finished, param, metric string) (x, y []float64) {
	sum, count := map[float64]float64{}, map[float64]float64{}
	for _, t := range trials {
		if v, ok := t.Metrics[metric]; ok {
			at := t.Params.Float(param)
			sum[at] += v
			count[at]++
		}
	}
	for _, at := range slices.Sorted(maps.Keys(sum)) {
		if !math.IsInf(at, 0) {
			x, y = append(x, at), append(y, sum[at]/count[at])
		}
	}
	return x, y
}

// printedCell is a value that the paper prints.
type printedCell struct {
	Metric    string
	Published string
	Value     *float64
	Params    map[string]any
}

// number is the printed value, NaN for a text.
func (c *printedCell) number() float64 {
	if c.Value != nil {
		return *c.Value
	}
	if v, err := strconv.ParseFloat(c.Published, 64); err == nil {
		return v
	}
	return math.NaN()
}

// param is a number that the cell's trials have as a parameter, NaN for none.
func (c *printedCell) param(name string) float64 {
	v, err := strconv.ParseFloat(fmt.Sprint(c.Params[name]), 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

// printedTables are the tables of the ledger, whose one list of printed values
// the figures share. What does not read as such is not drawn; package claims
// says what is wrong with it.
var printedTables = sync.OnceValue(func() map[string][]printedCell {
	var file struct {
		Tables []struct {
			Name  string
			Cells []printedCell
		}
	}
	if err := yaml.NewDecoder(bytes.NewReader(ledger)).Decode(&file); err != nil {
		return nil
	}
	out := map[string][]printedCell{}
	for _, t := range file.Tables {
		out[t.Name] = t.Cells
	}
	return out
})

// printedOver returns the printed values of the cells that satisfy a condition,
// over what x says of them, in increasing order.
func printedOver(table string, x func(*printedCell) float64, condition func(*printedCell) bool) experiment.Line {
	type point struct{ x, y float64 }
	var points []point
	for _, c := range printedTables()[table] {
		if at, v := x(&c), c.number(); condition(&c) && !math.IsNaN(at) && !math.IsNaN(v) {
			points = append(points, point{at, v})
		}
	}
	slices.SortStableFunc(points, func(a, b point) int {
		switch {
		case a.x < b.x:
			return -1
		case a.x > b.x:
			return 1
		}
		return 0
	})
	line := experiment.Line{Dashed: true}
	for _, p := range points {
		line.X, line.Y = append(line.X, p.x), append(line.Y, p.y)
	}
	return line
}
