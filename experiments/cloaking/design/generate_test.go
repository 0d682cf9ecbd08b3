package design

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// The columns of a dense curve that break the bound lie close to one another: those of largest norm, at its ends,
// span no range that double precision tells from a smaller one. Column generation still reaches the certificate.
func TestGeneratedFromClusters(t *testing.T) {
	const k, n = 24, 6000
	c := mat.NewDense(k, n, nil)
	for j := range n {
		x := -1 + 2*float64(j)/(n-1)
		for i := range k {
			c.Set(i, j, math.Cos(float64(i)*math.Acos(x)))
		}
	}
	r, d := solve(t, c, FullRank)
	carried := 0
	for _, l := range d.Lambda {
		if l > 1e-6 {
			carried++
		}
	}
	// The optimum on the whole curve carries k points, each next to one or two of the grid.
	if len(r.Scale) != k || !(d.Gap <= 2*DefaultGap) || carried < k || carried > 2*k {
		t.Errorf("rank %d, gap %.2g, %d columns carry weight", len(r.Scale), d.Gap, carried)
	}
}
