package budget

import (
	"math"
	"math/big"
	"strconv"

	"privkern/experiments/mechanism/loss"
)

// The sums of the filters are of rational numbers. Floating-point sums would need slack, and
// slack refuses the last of ten releases of 0.1 within 1. The cost, microseconds an
// entry, is far below that of the noise.

// binary returns x as it is: a number that is computed, and that nobody writes.
func binary(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }

// square returns x², of the binary number.
func square(x float64) *big.Rat {
	r := binary(x)
	return r.Mul(r, r)
}

// floor returns the largest float64 whose decimal form is not above r ≥ 0.
func floor(r *big.Rat) float64 {
	x, _ := r.Float64()
	for x = math.Min(x, math.MaxFloat64); x > 0 && loss.Decimal(x).Cmp(r) > 0; {
		x = math.Nextafter(x, 0)
	}
	return x
}

// rootFloor returns the largest float64 whose square is not above r ≥ 0.
func rootFloor(r *big.Rat) float64 {
	y, _ := r.Float64()
	x := math.Sqrt(math.Min(y, math.MaxFloat64))
	for x > 0 && square(x).Cmp(r) > 0 {
		x = math.Nextafter(x, 0)
	}
	return x
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
