package plot

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"privkern/runner/experiment"
)

// violinSteps is the number of points of a density.
const violinSteps = 128

// plotViolins draws violins of equal maximum width.
func plotViolins(c draw.Canvas, violins []experiment.Violin, tx, ty func(float64) vg.Length) {
	half := halfWidth(violins)
	for _, v := range violins {
		ys, density := densityOf(&v)
		if len(ys) == 1 {
			c.StrokeLine2(lineStyle(experiment.Line{Color: v.Color}), tx(v.At-half), ty(ys[0]), tx(v.At+half), ty(ys[0]))
			continue
		}
		outline := make([]vg.Point, 0, 2*len(ys)+1)
		scale := half / slices.Max(density)
		for i, y := range ys {
			outline = append(outline, vg.Point{X: tx(v.At - scale*density[i]), Y: ty(y)})
		}
		for i, y := range slices.Backward(ys) {
			outline = append(outline, vg.Point{X: tx(v.At + scale*density[i]), Y: ty(y)})
		}
		fill(c, barColor(v.Color), outline)
		c.StrokeLines(barOutline(v.Color), append(outline, outline[0]))
	}
}

// halfWidth returns half the width of a panel's violins in units of the x axis: a little less
// than half of the smallest distance between two.
func halfWidth(violins []experiment.Violin) float64 {
	at := make([]float64, len(violins))
	for i, v := range violins {
		at[i] = v.At
	}
	slices.Sort(at)
	smallest := math.Inf(1)
	for i := range at[min(1, len(at)):] {
		if d := at[i+1] - at[i]; d > 0 {
			smallest = min(smallest, d)
		}
	}
	if math.IsInf(smallest, 1) {
		smallest = 1
	}
	return 0.42 * smallest
}

// densityOf returns the density of a violin's sample at heights from low to
// high; a single height where the sample has no spread.
func densityOf(v *experiment.Violin) (ys, density []float64) {
	low, high, bandwidth := reach(v)
	if low == high {
		return []float64{low}, []float64{1}
	}
	ys, density = make([]float64, violinSteps), make([]float64, violinSteps)
	kernel := func(d float64) float64 { return math.Exp(-d * d / (2 * bandwidth * bandwidth)) }
	bounded := v.Range != [2]float64{}
	for i := range ys {
		y := interval{low, high}.at(float64(i) / (violinSteps - 1))
		ys[i] = y
		for _, x := range v.Values {
			density[i] += kernel(y - x)
			if bounded { // the reflections of x at both ends
				density[i] += kernel(y-2*v.Range[0]+x) + kernel(y-2*v.Range[1]+x)
			}
		}
	}
	return ys, density
}

// reach returns the ends of a violin and the bandwidth of its density. The ends are equal
// where the sample has no spread.
func reach(v *experiment.Violin) (low, high, bandwidth float64) {
	low, high = slices.Min(v.Values), slices.Max(v.Values)
	if high-low <= 1e-12*max(math.Abs(low), math.Abs(high)) {
		return low, low, 0
	}
	bandwidth = silverman(v.Values)
	if v.Range != [2]float64{} {
		low, high = max(low-3*bandwidth, v.Range[0]), min(high+3*bandwidth, v.Range[1])
	}
	return low, high, bandwidth
}

// silverman returns the bandwidth 0.9·min(s, IQR/1.34)·n^(−1/5) of B. W. Silverman,
// Density Estimation for Statistics and Data Analysis (1986), Eq. (3.31), with
// s alone where half of the sample has one value.
func silverman(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	spread := stat.StdDev(sorted, nil)
	quartile := func(p float64) float64 { return stat.Quantile(p, stat.LinInterp, sorted, nil) }
	if r := (quartile(0.75) - quartile(0.25)) / 1.34; r > 0 {
		spread = min(spread, r)
	}
	return 0.9 * spread * math.Pow(float64(len(values)), -0.2)
}
