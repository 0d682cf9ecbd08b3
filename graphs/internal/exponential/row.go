// Package exponential computes exponentials in float32, eight at a time where the
// processor can.
package exponential

import "math"

// generic overwrites row by exp(row − shift) in float32 arithmetic, with a
// relative error below 2e-7. Every argument must be at most shift: results
// below the smallest normal number become zero. NaN stays NaN.
//
// It reduces to exp(x) = 2^k · exp(r), |r| ≤ ½ log 2, rounds x/log 2 by adding
// and subtracting 1.5·2²³, and takes a polynomial of degree 6 (the minimax
// coefficients of the Cephes library's expf).
func generic(row []float32, shift float32) {
	const (
		lowest = -87.3
		toLog2 = 1.44269504088896341
		magic  = 12582912
		high   = 0.693359375 // log 2 in two parts: the first is exact
		low    = -2.12194440e-4
	)
	for j, v := range row {
		x := v - shift
		if x < lowest {
			row[j] = 0
			continue
		}
		k := x*toLog2 + magic
		n := k - magic
		r := x - n*high - n*low
		p := float32(1.9875691500e-4)
		p = p*r + 1.3981999507e-3
		p = p*r + 8.3334519073e-3
		p = p*r + 4.1665795894e-2
		p = p*r + 1.6666665459e-1
		p = p*r + 5.0000001201e-1
		e := p*r*r + r + 1
		row[j] = e * math.Float32frombits(uint32(int32(n)+127)<<23)
	}
}
