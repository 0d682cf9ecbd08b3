package cloaktest

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// Scales are lengthscales of the inputs a, b and c of [Scaled], which differ by factors of
// a thousand.
var Scales = [3]float64{7, 300, 0.4}

// Scaled is a file of a user's with 36 rows: inputs a, b and c, an output y and a class (0 or
// 1) that depend on all of them. Inputs are divided by the given lengthscales, in float64 and
// written in full.
func Scaled(t *testing.T, by [3]float64) (path string) {
	t.Helper()
	var b strings.Builder
	b.WriteString("a,b,c,y,class\n")
	for i := range 36 {
		u, v, w := float64(i%9)/3, float64(i*i%11)/4, float64(i*7%5)/2
		y := 50 + 20*math.Sin(u) + 12*math.Cos(v) - 9*w
		class := 0
		if y+math.Sin(float64(17*i)) > 43 {
			class = 1
		}
		fmt.Fprintf(&b, "%.17g,%.17g,%.17g,%.6f,%d\n", u*Scales[0]/by[0], v*Scales[1]/by[1], w*Scales[2]/by[2], y, class)
	}
	return File(t, b.String())
}

// Unscaled leave inputs as they are.
var Unscaled = [3]float64{1, 1, 1}
