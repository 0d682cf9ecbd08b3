package sketch

import (
	"math"
	"slices"

	"privkern/experiments/dataset/table"
)

// fineGrid is how many points a grid has for each value of a column that is fine.
const fineGrid = 100

// maker sketches one table.
type maker struct {
	key     Key
	n       int
	columns []*column // that are not constant
	all     []uint64  // the sum of a row's codes, by row
	seen    map[string]bool
	scaled  bool
	known   map[[2]*column]bool // of determines
}

// column is a column with the codes of its values.
type column struct {
	values []float64 // nil for one with texts; NaN where they are missing
	codes  []uint64
	room   float64 // about how many values it could take
	fine   bool    // its numbers are measured so finely that equal ones are of one row
	// numbers is whether it numbers the rows or names them one by one, as any table may.
	numbers bool
	first   uint64 // the least code in the sample, by which columns are ordered
}

func newMaker(key Key, w *table.Whole) *maker {
	m := &maker{key: key, n: w.Rows, all: make([]uint64, w.Rows), seen: map[string]bool{}, known: map[[2]*column]bool{}}
	mix := func(x uint64, purpose int) uint64 { return key.mix(x, purpose) }
	for i := range w.Columns {
		c := &column{values: w.Columns[i].Values, codes: make([]uint64, w.Rows)}
		texts := w.Columns[i].Texts
		if slices.ContainsFunc(texts, func(text uint64) bool { return text != 0 }) {
			c.values = nil
		}
		constant := true
		for row, v := range w.Columns[i].Values {
			switch {
			case !math.IsNaN(v):
				c.codes[row] = mix(math.Float64bits(canonical(v)), 2)
			case texts != nil:
				c.codes[row] = mix(texts[row], 3)
			}
			constant = constant && c.codes[row] == c.codes[0]
		}
		if constant {
			continue
		}
		m.columns = append(m.columns, c)
		for row, code := range c.codes {
			m.all[row] += code
		}
	}
	return m
}

// canonical is the number as float32, which other formats may have, but for whole numbers.
func canonical(v float64) float64 {
	if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
		return v
	}
	if short := float64(float32(v)); !math.IsInf(short, 0) {
		return short
	}
	return v
}

// measure estimates how many values each column could take.
func (m *maker) measure() {
	for _, c := range m.columns {
		s := m.sample(func(row int) uint64 { return c.codes[row] })
		c.first = math.MaxUint64
		same := 0.0
		var values []float64
		for t, v := range s.sample {
			c.first = min(c.first, t)
			same += float64(v.count) * float64(v.count-1)
			if c.values != nil && !math.IsNaN(c.values[v.row]) {
				values = append(values, c.values[v.row])
			}
		}
		// The chance that two rows have the same value is the sum of the squares of the
		// probabilities; its inverse is how many equally likely values there would be.
		n := float64(m.n)
		c.room = s.distinct()
		if same > 0 {
			c.room = min(c.room, n*(n-1)/(same*math.Ldexp(1, s.level)))
		}
		if c.values == nil {
			c.numbers = s.rows >= alone
			continue
		}
		grid := gridOf(values)
		if s.twice > 0 { // Chao's estimate of the values that are not there
			grid = min(grid, (1+s.full*s.full*float64(len(s.sample))/float64(2*s.twice))*s.distinct())
		}
		c.fine = grid >= fineGrid*s.distinct()
		if s.rows == 1 || c.fine {
			c.room = grid
			c.numbers = s.rows >= alone && grid < room*s.distinct()
		} else {
			c.room = min(grid, n*(n-1)/(same*math.Ldexp(1, s.level)))
		}
	}
	m.columns = slices.DeleteFunc(m.columns, func(c *column) bool {
		if c.numbers {
			for row, code := range c.codes {
				m.all[row] -= code
			}
		}
		return c.numbers
	})
}

// rescale brings the columns of numbers to the range from 0 to 1, which stays when they are written
// in another unit.
func (m *maker) rescale() {
	m.scaled = true
	clear(m.seen)
	for _, c := range m.columns {
		low, high := math.Inf(1), math.Inf(-1)
		for _, v := range c.values {
			if !math.IsNaN(v) {
				low, high = min(low, v), max(high, v)
			}
		}
		for row, v := range c.values {
			m.all[row] -= c.codes[row]
			if !math.IsNaN(v) {
				c.codes[row] = m.key.mix(math.Float64bits(float64(float32((v-low)/(high-low)))), 2)
			}
			m.all[row] += c.codes[row]
		}
	}
}

// determines reports whether a column that has equal values in several rows determines another
// one, in the first rows: then the two take no more values than the first.
func (m *maker) determines(a, b *column) bool {
	pair := [2]*column{a, b}
	known, there := m.known[pair]
	if !there {
		known = m.compare(a, b)
		m.known[pair] = known
	}
	return known
}

// compare is [maker.determines] without the pairs that are known.
func (m *maker) compare(a, b *column) bool {
	const first = 4096
	others := map[uint64]uint64{}
	n := min(first, m.n)
	for row := range n {
		if other, there := others[a.codes[row]]; there && other != b.codes[row] {
			return false
		}
		others[a.codes[row]] = b.codes[row]
	}
	return 2*len(others) <= n
}
