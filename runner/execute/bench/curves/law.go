package curves

import "math"

// Law is a cost that grows as fixed + scale·(x/at)^exponent with a number x, fitted to measurements. That of a flat
// cost, whose exponent would be that of noise, is linear.
type Law struct {
	Fixed    float64 `json:"fixed"`
	Scale    float64 `json:"scale"`
	At       float64 `json:"at"`
	Exponent float64 `json:"exponent"`
	// Error is half the width of the exponent's central 95 % region; −1 where the points are too few for one.
	Error float64 `json:"error"`
	From  float64 `json:"from"` // the range of x
	To    float64 `json:"to"`
	// Refused is the least x beyond the range that was refused; 0 for none.
	Refused float64 `json:"refused,omitempty"`
}

// quantiles are the 97.5 % quantiles of Student's t for 1, 2, ... degrees of freedom.
var quantiles = []float64{12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365}

// Fit fits a law to positive costs at increasing x: least squares of the relative residuals, which are those of
// logarithms to first order, with neither part below 0. For each exponent of a grid the parts follow from linear
// equations. The error is that of the exponents whose sum of squares is below Student's bound for the best one, where
// measurements vary by 2 % at least. It needs three points; ok is false for fewer.
func Fit(x, cost []float64) (l Law, ok bool) {
	n := len(x)
	if n < 3 {
		return l, false
	}
	const step, steepest, noise = .005, 6., .02
	l = Law{At: x[n-1], From: x[0], To: x[n-1], Error: -1}
	least := math.Inf(1)
	var sums []float64
	for b := step; b < steepest; b += step {
		fixed, scale, sum := parts(x, cost, l.At, b)
		if sums = append(sums, sum); sum < least {
			least, l.Fixed, l.Scale, l.Exponent = sum, fixed, scale, b
		}
	}
	if l.Flat() {
		l.Exponent = 1
		l.Fixed, l.Scale, _ = parts(x, cost, l.At, l.Exponent)
		return l, true
	}
	free := n - 2
	if l.Fixed > 0 {
		free--
	}
	if free > 0 {
		t := quantiles[min(free, len(quantiles))-1]
		bound, inside := least+t*t*max(least/float64(free), noise*noise), 0
		for _, sum := range sums {
			if sum <= bound {
				inside++
			}
		}
		l.Error = float64(inside) * step / 2
	}
	return l, true
}

// parts are the parts of a law with an exponent, and the sum of its squared relative residuals.
func parts(x, cost []float64, at, exponent float64) (fixed, scale, sum float64) {
	var uu, uv, vv, u1, v1 float64
	for i, c := range cost {
		u, v := 1/c, math.Pow(x[i]/at, exponent)/c
		uu, uv, vv, u1, v1 = uu+u*u, uv+u*v, vv+v*v, u1+u, v1+v
	}
	det := uu*vv - uv*uv
	fixed, scale = (u1*vv-v1*uv)/det, (v1*uu-u1*uv)/det
	switch {
	case !(det > 1e-12*uu*vv) || fixed < 0:
		fixed, scale = 0, v1/vv
	case scale < 0:
		fixed, scale = u1/uu, 0
	}
	for i, c := range cost {
		r := (fixed+scale*math.Pow(x[i]/at, exponent))/c - 1
		sum += r * r
	}
	return fixed, scale, sum
}

// Flat reports whether less than a fifth of the cost grows within the range.
func (l Law) Flat() bool {
	return l.Scale*(1-math.Pow(l.From/l.At, l.Exponent)) < .2*(l.Fixed+l.Scale)
}

// refuses reports whether so large an x was refused.
func (l Law) refuses(x float64) bool { return l.Refused > 0 && x >= l.Refused }

// Uncertain reports whether little follows beyond the range.
func (l Law) Uncertain() bool { return l.Error < 0 || l.Error > .5 }

// Grown is the part of the cost at x that grows: beyond the range of an uncertain law with the least exponent of its
// region, or as x does where that is more.
func (l Law) Grown(x float64) float64 {
	if !l.Uncertain() || x <= l.To {
		return l.Scale * math.Pow(x/l.At, l.Exponent)
	}
	least := 1.
	if l.Error >= 0 {
		least = max(1, l.Exponent-l.Error)
	}
	return l.Grown(l.To) * math.Pow(x/l.To, least)
}
