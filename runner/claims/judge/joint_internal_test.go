package judge

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"privkern/runner/claims/ledger"
)

// jointWorld is a table whose cells share a part of their draws and differ by decades in scale.
type jointWorld struct {
	cells  int
	shared float64 // correlation of two cells
	skewed bool
	h      float64 // half a unit of the last printed digit, in units of a cell's deviation
	moved  float64 // of the print, in deviations of a cell
}

// draw returns a draw of all cells.
func (w jointWorld) draw(rng *rand.Rand) []float64 {
	next := rng.NormFloat64
	if w.skewed {
		next = func() float64 { return rng.ExpFloat64() - 1 }
	}
	common, out := next(), make([]float64, w.cells)
	for c := range out {
		out[c] = math.Pow(10, float64(c%4)) * (5 + math.Sqrt(w.shared)*common + math.Sqrt(1-w.shared)*next())
	}
	return out
}

// rejected is the share of tables whose print is found to be shifted at 5 %.
func (w jointWorld) rejected(rng *rand.Rand, n, repetitions int) float64 {
	count := 0
	prints, draws := make([]*ledger.Number, w.cells), make([][]float64, w.cells)
	for c := range draws {
		prints[c], draws[c] = &ledger.Number{}, make([]float64, n)
	}
	for range repetitions {
		for i := range n {
			for c, v := range w.draw(rng) {
				draws[c][i] = v
			}
		}
		for c, v := range w.draw(rng) {
			scale := math.Pow(10, float64(c%4))
			v += w.moved * scale
			p := prints[c]
			p.Rounding = w.h * scale
			if p.Value = v; w.h > 0 {
				p.Value = 2 * p.Rounding * math.Round(v/(2*p.Rounding))
			}
			draws[c] = rounded(draws[c], p)
		}
		if p := float64(1+rank(prints, draws)) / float64(n+1); p <= 0.05+1e-12 {
			count++
		}
	}
	return float64(count) / float64(repetitions)
}

// The joint test rejects exact reproductions in 5 ± 1 % of the tables, however their cells depend on
// each other, and finds shifts that no cell shows alone.
func TestJointSizeAndPower(t *testing.T) {
	const many, some = 6000, 400
	for _, c := range []struct {
		jointWorld
		n, repetitions int
		low, high      float64
	}{
		{jointWorld{cells: 20}, 19, many, 0.04, 0.06},
		{jointWorld{cells: 20, shared: 0.3}, 19, many, 0.04, 0.06},
		{jointWorld{cells: 20, shared: 0.9, skewed: true}, 19, many, 0.04, 0.06},
		{jointWorld{cells: 5, shared: 0.5, skewed: true, h: 0.1}, 59, many, 0.04, 0.06},
		{jointWorld{cells: 8, shared: 0.3, h: 0.02}, 199, many / 2, 0.04, 0.06},
		{jointWorld{cells: 2, shared: 0.5, h: 1}, 39, many, 0, 0.06}, // most draws are tied
		{jointWorld{cells: 40, moved: 0.7}, 19, some, 0.9, 1},
		{jointWorld{cells: 40, moved: -0.7}, 19, some, 0.9, 1},
		{jointWorld{cells: 40, moved: 0.6}, 199, some, 0.9, 1},
		{jointWorld{cells: 40, shared: 0.3, moved: 2}, 199, some, 0.9, 1},
		{jointWorld{cells: 2, moved: 0.6}, 199, some, 0, 0.3}, // two cells are too few for it
	} {
		t.Run(fmt.Sprintf("%+v n=%d", c.jointWorld, c.n), func(t *testing.T) {
			got := c.rejected(rand.New(rand.NewPCG(11, uint64(c.n))), c.n, c.repetitions)
			if got < c.low || got > c.high {
				t.Errorf("rejected in %.2f %% of the tables, want %g to %g", 100*got, 100*c.low, 100*c.high)
			}
		})
	}
}
