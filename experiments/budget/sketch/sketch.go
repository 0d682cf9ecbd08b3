package sketch

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"math"
	"math/bits"
	"slices"

	"privkern/experiments/dataset/table"
)

// The numbers of the package comment.
const (
	// Share is the part of the smaller table's values of a set of columns that two tables share when
	// they are held to be of the same people.
	Share = 0.3
	// Fewest is how many values they share at least.
	Fewest = 3
	most   = 0.9

	// A set of columns is sketched where its columns could take that many times as many values as
	// they do, and where so much of its values belong to one row alone.
	room  = 20
	alone = 0.85

	// A column of numbers is fine where its grid has that many points for each of its values.
	fineGrid = 100

	mostTokens  = 1024 // of a set of columns
	mostSingles = 8    // sets of one column
	mostSets    = 48
	narrow      = 16 // columns of a table of which each may be left out
	pairs       = 8  // columns of a table of which all pairs are taken
)

// Key is the secret of the hashes of a ledger.
type Key [32]byte

// Sketch holds samples of a table's rows, each projected to a few columns.
type Sketch struct {
	Sets []Set `json:"sets"`
}

// Set is the sample of the values of a set of columns. The columns have no names: sets are compared
// with all others.
type Set struct {
	// Chance bounds the expected share of the values that a table of other people from the same
	// population has, too.
	Chance float64 `json:"chance"`
	// Tokens are HMACs of values; their last six bits are the level: half of all values have a level
	// of 1 or more, a quarter 2 or more, and so on. Those of a level from Level on are all here.
	Tokens Tokens `json:"tokens"`
	Level  int    `json:"level"`
}

// Tokens are ascending numbers, which are written as base64.
type Tokens []uint64

const levelBits = 63

// MarshalText writes the numbers, 8 bytes each.
func (t Tokens) MarshalText() ([]byte, error) {
	raw := make([]byte, 0, 8*len(t))
	for _, x := range t {
		raw = binary.BigEndian.AppendUint64(raw, x)
	}
	return base64.StdEncoding.AppendEncode(nil, raw), nil
}

// UnmarshalText reads them.
func (t *Tokens) UnmarshalText(text []byte) error {
	raw, err := base64.StdEncoding.AppendDecode(nil, text)
	if err != nil || len(raw)%8 != 0 {
		return errors.New("hashes are expected in base64, 8 bytes each")
	}
	out := make(Tokens, len(raw)/8)
	for i := range out {
		out[i] = binary.BigEndian.Uint64(raw[8*i:])
		if i > 0 && out[i] <= out[i-1] {
			return errors.New("hashes are expected in ascending order")
		}
	}
	*t = out
	return nil
}

// Check refuses a sketch that [New] does not make.
func (s *Sketch) Check() error {
	for i, set := range s.Sets {
		if !(set.Chance >= 0 && set.Chance <= 1) || set.Level < 0 || set.Level > levelBits {
			return fmt.Errorf("set %d: its chance is %v, its level %d", i+1, set.Chance, set.Level)
		}
	}
	return nil
}

// Shared reports whether a number is in both.
func (t Tokens) Shared(other Tokens) bool {
	for len(t) > 0 && len(other) > 0 {
		switch {
		case t[0] < other[0]:
			t = t[1:]
		case t[0] > other[0]:
			other = other[1:]
		default:
			return true
		}
	}
	return false
}

// Union has the numbers of both.
func (t Tokens) Union(other Tokens) Tokens {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(t, other))))
}

// Matches reports whether two sketches are of the same people.
func (s *Sketch) Matches(other *Sketch) bool {
	for i := range s.Sets {
		for j := range other.Sets {
			if s.Sets[i].matches(&other.Sets[j]) {
				return true
			}
		}
	}
	return false
}

// Similar reports whether a sketch is nearly the same as another: of every set of columns nine values
// of ten.
func (s *Sketch) Similar(other *Sketch) bool {
	if len(s.Sets) != len(other.Sets) {
		return false
	}
	for i := range s.Sets {
		a, b := &s.Sets[i], &other.Sets[i]
		if shared, _ := a.shared(b); a.Level != b.Level || float64(shared) < most*float64(max(len(a.Tokens), len(b.Tokens))) {
			return false
		}
	}
	return true
}

// matches compares the values of the same random part of both sets.
func (s *Set) matches(other *Set) bool {
	shared, smaller := s.shared(other)
	m := float64(smaller)
	chance := m * max(s.Chance, other.Chance)
	return shared >= Fewest && float64(shared) >= max(Share*m, min(most*m, 1.5*chance+4*math.Sqrt(chance)))
}

// shared returns how many values two sets share, and how many the smaller one has.
func (s *Set) shared(other *Set) (shared, smaller int) {
	level := uint64(max(s.Level, other.Level))
	a, b := s.Tokens, other.Tokens
	inA, inB := 0, 0
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0] < b[0]:
			inA += within(a[0], level)
			a = a[1:]
		case len(a) == 0 || b[0] < a[0]:
			inB += within(b[0], level)
			b = b[1:]
		default:
			n := within(a[0], level)
			shared, inA, inB = shared+n, inA+n, inB+n
			a, b = a[1:], b[1:]
		}
	}
	return shared, min(inA, inB)
}

func within(token, level uint64) int {
	if token&levelBits >= level {
		return 1
	}
	return 0
}

// sketch sketches a table whose texts were hashed by [Key.text].
func (k Key) sketch(w *table.Whole) *Sketch {
	m := newMaker(k, w)
	m.measure()
	var out Sketch
	for _, set := range m.sets() {
		out.Sets = append(out.Sets, m.store(set))
	}
	return &out
}

// text is the hash of a text in a table.
func (k Key) text(s string) uint64 {
	h := binary.BigEndian.Uint64(k[:]) // FNV-1a, which the key starts
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 0x100000001b3
	}
	return k.mix(h, 1)
}

// mix scatters a number (the finaliser of MurmurHash3), with a key for each purpose. It decides which
// values are sampled; those that are stored get an HMAC besides.
func (k Key) mix(x uint64, purpose int) uint64 {
	x ^= binary.BigEndian.Uint64(k[8*(purpose%4):])
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// MAC computes HMACs with the key, one after the other.
type MAC struct{ h hash.Hash }

// NewMAC returns one.
func (k Key) NewMAC() *MAC { return &MAC{hmac.New(sha256.New, k[:])} }

// Sum is the HMAC of a text for a purpose, which is a word.
func (m *MAC) Sum(purpose, text string) []byte {
	m.h.Reset()
	_, _ = io.WriteString(m.h, purpose+" "+text)
	return m.h.Sum(nil)
}

// short is the beginning of an HMAC.
func (m *MAC) short(purpose, text string) uint64 {
	return binary.BigEndian.Uint64(m.Sum(purpose, text))
}

// Read reads the data of a name that lie at a path, and returns their sketch and the HMACs of the
// persons in a column; none for "".
func (k Key) Read(name, path, person string) (*Sketch, Tokens, error) {
	persons, mac := map[uint64]struct{}{}, k.NewMAC()
	w, err := table.ReadWhole(name, path, person, k.text, func(name string) {
		persons[mac.short("person", name)] = struct{}{}
	})
	if err != nil {
		return nil, nil, err
	}
	return k.sketch(w), slices.Sorted(maps.Keys(persons)), nil
}

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

// candidate is a set of columns, or a mixture of values, whose values are sampled.
type candidate struct {
	token  func(row int) uint64
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
	c := &candidate{token: token, sample: map[uint64]*value{}}
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
	others := make(map[uint64]uint64, first)
	n := min(first, m.n)
	for row := range n {
		if other, there := others[a.codes[row]]; there && other != b.codes[row] {
			return false
		}
		others[a.codes[row]] = b.codes[row]
	}
	return 2*len(others) <= n
}

// continuous is the number of points of a grid that is too fine to be one.
const continuous = 1e9

// gridOf returns how many points the grid has on which numbers lie, linear or logarithmic,
// up to continuous.
func gridOf(values []float64) float64 {
	if slices.Sort(values); len(values) < 2 {
		return 1
	}
	points := grid(values)
	if values[0] > 0 {
		for i, v := range values {
			values[i] = math.Log(v)
		}
		points = min(points, grid(values))
	}
	return points
}

func grid(ascending []float64) float64 {
	span := ascending[len(ascending)-1] - ascending[0]
	if !(span > 0) || math.IsInf(span, 0) {
		return continuous
	}
	step := 0.0
	for i := 1; i < len(ascending); i++ {
		a, b := step, ascending[i]-ascending[i-1]
		for b > span/continuous { // Euclid
			a, b = b, math.Mod(a, b)
			if a-b < span/continuous {
				b = 0
			}
		}
		if step = a; step < span/continuous {
			return continuous
		}
	}
	return math.Round(span/step) + 1
}

// projection is a set of columns that may be sketched.
type projection struct {
	sample *candidate
	chance float64
}

// sets returns the sets of columns that are sketched.
func (m *maker) sets() []projection {
	out := m.singles()
	if len(out) < narrow/4 {
		out = append(out, m.several()...)
		m.rescale()
	}
	return append(out, m.several()...)
}

// several are the sets of several columns that tell people apart.
func (m *maker) several() []projection {
	out := m.usable(m.columns)
	switch {
	case m.scaled:
	case len(m.columns) > narrow:
		return append(out, m.wide()...)
	case len(m.columns) <= pairs:
		for i, a := range m.columns {
			for _, b := range m.columns[:i] {
				out = append(out, m.usable([]*column{a, b})...)
			}
		}
	}
	for i := range m.columns[:min(len(m.columns), narrow)] {
		out = append(out, m.usable(slices.Delete(slices.Clone(m.columns), i, i+1))...)
	}
	return out
}

// singles are the columns that tell people apart on their own.
func (m *maker) singles() []projection {
	ordered := slices.Clone(m.columns)
	slices.SortStableFunc(ordered, func(a, b *column) int { return cmp.Compare(a.first, b.first) })
	var out []projection
	for _, c := range ordered {
		if len(out) < mostSingles && c.room > room {
			out = append(out, m.usable([]*column{c})...)
		}
	}
	return out
}

// usable returns the projection to columns where tables of other people would hardly share its
// values.
func (m *maker) usable(columns []*column) []projection {
	could, fine := 1.0, false
	name := make([]byte, 0, 8*len(columns))
	for i, c := range columns {
		if !slices.ContainsFunc(columns[:i], func(a *column) bool { return m.determines(a, c) || m.determines(c, a) }) {
			could *= c.room
		}
		fine = fine || c.fine
		name = binary.BigEndian.AppendUint64(name, uint64(slices.Index(m.columns, c)))
	}
	if len(columns) == 0 || m.seen[string(name)] {
		return nil
	}
	m.seen[string(name)] = true
	s := m.sample(sumOf(m, columns))
	chance := s.distinct() / could
	if chance > 1/float64(room) {
		return nil
	}
	own := s.rows
	if fine {
		own = max(own, s.full)
	}
	if own < alone {
		return nil
	}
	if !fine {
		chance = max(chance, 1-own)
	}
	return []projection{{s, chance + 2/float64(len(s.sample)+2)}}
}

// sumOf is the sum of a row's codes in some columns, whose order does not matter.
func sumOf(m *maker, columns []*column) func(row int) uint64 {
	if len(columns) == len(m.columns) {
		return func(row int) uint64 { return m.all[row] }
	}
	if 2*len(columns) > len(m.columns) {
		others := slices.DeleteFunc(slices.Clone(m.columns), func(c *column) bool { return slices.Contains(columns, c) })
		return func(row int) uint64 {
			sum := m.all[row]
			for _, c := range others {
				sum -= c.codes[row]
			}
			return sum
		}
	}
	return func(row int) (sum uint64) {
		for _, c := range columns {
			sum += c.codes[row]
		}
		return sum
	}
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

// wide are the projections of a table of many columns, of which none tells people apart on its
// own: the values of a row, or those of four columns in a row, that have the least hashes.
func (m *maker) wide() (out []projection) {
	const least = 8
	for _, width := range []int{1, 4} {
		for salt := range 2 {
			kept := make([]uint64, 0, least+1)
			s := m.sample(func(row int) uint64 {
				kept = kept[:0]
				sum := uint64(0)
				for i, c := range m.columns {
					if sum += c.codes[row]; i >= width {
						sum -= m.columns[i-width].codes[row]
					}
					if i+1 < width {
						continue
					}
					h := m.key.mix(sum+uint64(salt), 3)
					if len(kept) == least && h >= kept[least-1] {
						continue
					}
					if at, there := slices.BinarySearch(kept, h); !there {
						kept = slices.Insert(kept, at, h)[:min(len(kept)+1, least)]
					}
				}
				sum = 0
				for _, h := range kept {
					sum += h
				}
				return sum
			})
			if s.rows >= alone {
				out = append(out, projection{s, 1 - s.rows + 2/float64(len(s.sample)+2)})
			}
		}
	}
	return out
}

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
