package sketch

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// mostTokens is how many values of a set of columns are sampled.
const mostTokens = 1024

// candidate is a set of columns, or a mixture of values, whose values are sampled.
type candidate struct {
	sample map[uint64]*value
	level  int
	// rows and full are whether values were in one row alone: with equal rows counted each, or once.
	rows, full float64
	twice      int
}

// value is a sampled value of a set of columns.
type value struct {
	row   int // the first that has it
	count int
	other int // how many of them differ from the first
}

// sample collects the values of a level that leaves at most mostTokens of them.
func (m *maker) sample(token func(row int) uint64) *candidate {
	c := &candidate{sample: map[uint64]*value{}}
	for row := range m.n {
		t := m.key.mix(token(row), 0)
		if bits.LeadingZeros64(t) < c.level {
			continue
		}
		v := c.sample[t]
		if v != nil {
			v.count++
			if m.all[row] != m.all[v.row] {
				v.other++
			}
			continue
		}
		c.sample[t] = &value{row: row, count: 1}
		for len(c.sample) > mostTokens {
			c.level++
			for t := range c.sample {
				if bits.LeadingZeros64(t) < c.level {
					delete(c.sample, t)
				}
			}
		}
	}
	single, once := 0, 0
	for _, v := range c.sample {
		if v.count == 1 {
			single++
		}
		switch v.other {
		case 0:
			once++
		case 1:
			c.twice++
		}
	}
	c.rows = float64(single) / float64(len(c.sample))
	c.full = float64(once) / float64(len(c.sample))
	return c
}

// distinct estimates how many different values there are.
func (c *candidate) distinct() float64 { return float64(len(c.sample)) * math.Ldexp(1, c.level) }

// store replaces the sampled values by their HMACs.
func (m *maker) store(p projection) Set {
	set := Set{Chance: min(1, p.chance), Level: p.sample.level}
	mac := m.key.NewMAC()
	for t := range p.sample.sample {
		token := mac.short("columns", string(binary.BigEndian.AppendUint64(nil, t)))
		set.Tokens = append(set.Tokens, token&^levelBits|uint64(min(bits.LeadingZeros64(t), levelBits)))
	}
	slices.Sort(set.Tokens)
	return set
}
