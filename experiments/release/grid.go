package release

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
)

// Sizes of the fixed-point numbers behind a grid.
const (
	// scaleBits are the binary digits of a scale behind the grid's unit.
	scaleBits = 20
	// queryBits are those of a query.
	queryBits = 32
	// coarseness is the least ratio of a scale to its grid; the largest is twice
	// that.
	coarseness = 1000
	// maxSteps bounds a query in units of its grid.
	maxSteps = 1 << 60
)

// grid is noise of a scale on the multiples of a power of two: a query is rounded
// to 2^-queryBits of the unit, real-valued noise is added to it, and the sum is
// rounded to the nearest multiple of the unit.
type grid struct {
	exponent int    // the unit is 2^exponent
	multiple uint64 // the scale is multiple · 2^(exponent − scaleBits)
}

// mostFine bounds how much finer a grid may be, so that a scale has less than 2^52 of its parts.
const mostFine = 20

// newGrid returns the grid for noise of at least that scale, finer by a factor of 2^fine.
func newGrid(scale float64, fine int) (grid, error) {
	if !(scale > 0) || math.IsInf(scale, 1) {
		return grid{}, fmt.Errorf("noise of scale %g cannot be drawn: a positive, finite number is required", scale)
	}
	_, exponent := math.Frexp(scale / coarseness) // in [1/2, 1) · 2^exponent
	g := grid{exponent: exponent - 1 - fine}
	if scale/coarseness == 0 || g.exponent < -1000 || g.exponent > 900 {
		return grid{}, fmt.Errorf("noise of scale %g is too small or too large for double precision: bring the data to "+
			"a scale nearer one", scale)
	}
	g.multiple = uint64(math.Ceil(math.Ldexp(scale, scaleBits-g.exponent)))
	return g, nil
}

// unit is the spacing of the grid, and scale that of the noise, both exact.
func (g grid) unit() float64  { return math.Ldexp(1, g.exponent) }
func (g grid) scale() float64 { return math.Ldexp(float64(g.multiple), g.exponent-scaleBits) }

// queryError bounds the rounding of a query.
func (g grid) queryError() float64 { return math.Ldexp(1, g.exponent-queryBits-1) }

// fits reports whether a query of that size can be released.
func (g grid) fits(size float64) bool { return math.Ldexp(size, -g.exponent) < maxSteps }

// fixedPoint is a query in units of the grid: whole + fraction/2^queryBits.
type fixedPoint struct {
	whole    int64
	fraction uint32
}

// fixed rounds a query, which must fit.
func (g grid) fixed(query float64) fixedPoint {
	v := math.Ldexp(query, -g.exponent)
	// Below 2^30 the query has digits to round off; above, all digits of a float64
	// are kept.
	if math.Abs(v) < 1<<30 {
		n := int64(math.RoundToEven(v * (1 << queryBits)))
		return fixedPoint{n >> queryBits, uint32(n)}
	}
	whole := math.Floor(v)
	return fixedPoint{int64(whole), uint32((v - whole) * (1 << queryBits))}
}

// value is a query in its own unit, to the precision of a float64.
func (g grid) value(f fixedPoint) float64 {
	return math.Ldexp(float64(f.whole)+math.Ldexp(float64(f.fraction), -queryBits), g.exponent)
}

// add returns the multiple of the unit that is nearest to query ± scale·m, halves
// upwards, exactly: of the real-valued m as many digits are drawn as it
// takes to separate that multiple from its neighbours.
func (g grid) add(query fixedPoint, negative bool, m *magnitude, b *bitReader) int64 {
	// In units of 2^-52: m lies in [t, t+1)·2^-32 and the noise in
	// [multiple·t, multiple·(t+1))·2^-52.
	const unitBits = scaleBits + 32
	const mask = 1<<unitBits - 1
	hi, lo := bits.Mul64(g.multiple, uint64(m.whole)<<32|uint64(m.fraction.first))
	whole, part := int64(hi<<(64-unitBits)|lo>>unitBits), int64(lo&mask)
	// The sum is whole units and a remainder, with one half for the rounding.
	rest := int64(query.fraction)<<(unitBits-queryBits) + 1<<(unitBits-1)
	var low, high int64 // remainders: the sum lies between them
	if negative {
		whole = query.whole - whole
		high = rest - part
		low = high - int64(g.multiple)
	} else {
		whole += query.whole
		low = rest + part
		high = low + int64(g.multiple) - 1
	}
	if n := low >> unitBits; n == high>>unitBits {
		return whole + n
	}
	return g.addSlowly(query, negative, m, b)
}

// addSlowly is add with as many digits as it takes. Each further chunk leaves the
// answer open with a probability of 2^-32.
func (g grid) addSlowly(query fixedPoint, negative bool, m *magnitude, b *bitReader) int64 {
	multiple := new(big.Int).SetUint64(g.multiple)
	for places := uint(1); ; places++ {
		known := new(big.Int).SetUint64(uint64(m.whole))
		for i := range places {
			known.Lsh(known, 32).Or(known, new(big.Int).SetUint64(uint64(m.fraction.digits(int(i), b))))
		}
		unitBits := scaleBits + 32*places
		sum := new(big.Int).Lsh(big.NewInt(query.whole), queryBits)
		sum.Add(sum, new(big.Int).SetUint64(uint64(query.fraction)))
		sum.Lsh(sum, unitBits-queryBits)
		sum.Add(sum, new(big.Int).Lsh(big.NewInt(1), unitBits-1))
		noise := new(big.Int).Mul(multiple, known)
		low, high := new(big.Int), new(big.Int)
		if negative {
			high.Sub(sum, noise)
			low.Sub(high, multiple)
		} else {
			low.Add(sum, noise)
			high.Add(low, multiple).Sub(high, big.NewInt(1))
		}
		low.Rsh(low, unitBits) // rounds down, as >> does
		if high.Rsh(high, unitBits); low.Cmp(high) == 0 {
			return low.Int64()
		}
	}
}
