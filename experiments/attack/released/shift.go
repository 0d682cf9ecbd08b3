package released

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// shiftLevel is the probability with which tables of one distribution are warned of, over all columns (Bonferroni).
const shiftLevel = 1e-3

// shifts warns of columns whose distributions differ between members and others: of numbers by the test of Kolmogorov
// and Smirnov, which ties make cautious, and of levels and classes by that of Pearson.
func (d *data) shifts() string {
	var names []string
	columns, column := len(d.Asked)+1, 0
	test := func(name string, p float64) {
		if p < shiftLevel/float64(columns) {
			names = append(names, name)
		}
	}
	for _, in := range d.Asked {
		if in.Levels > 0 {
			levels := make([]int, d.Len())
			for i := range levels {
				levels[i] = slices.Index(d.X.RawRowView(i)[column:column+in.Levels], 1)
			}
			test(in.Name, pearson(levels[:d.members], levels[d.members:], in.Levels))
		} else {
			values := mat.Col(nil, column, d.X)
			test(in.Name, smirnov(values[:d.members], values[d.members:]))
		}
		column += max(1, in.Levels)
	}
	if d.Labels != nil {
		test(d.Output, pearson(d.Labels[:d.members], d.Labels[d.members:], len(d.Classes)))
	} else {
		test(d.Output, smirnov(d.Values[:d.members], d.Values[d.members:]))
	}
	if names == nil {
		return ""
	}
	return fmt.Sprintf("members and others have different distributions of %s (p < %g over all columns): an attack may "+
		"find that difference, and not who is in the file", strings.Join(names, ", "), shiftLevel)
}

// smirnov returns the asymptotic p-value of the largest distance of two empirical distributions, Σ 2(−1)^(k−1)
// exp(−2k²λ²) with λ = √(mn/(m+n)) D.
func smirnov(a, b []float64) (p float64) {
	x, y := slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	m, n := float64(len(a)), float64(len(b))
	lambda := math.Sqrt(m*n/(m+n)) * stat.KolmogorovSmirnov(x, nil, y, nil)
	if lambda < .2 {
		return 1 // to 1e-12, where the series is slow
	}
	for k, sign := 1.0, 1.0; k <= 100; k, sign = k+1, -sign {
		p += 2 * sign * math.Exp(-2*k*k*lambda*lambda)
	}
	return min(1, max(0, p))
}

// rare is the number of rows, members and others together, below which levels are put together.
const rare = 10

// pearson returns the p-value of the chi-squared test of levels in two samples.
func pearson(a, b []int, levels int) float64 {
	counts := mat.NewDense(2, levels, nil)
	for i, sample := range [][]int{a, b} {
		for _, l := range sample {
			counts.Set(i, l, counts.At(i, l)+1)
		}
	}
	var cells [][2]float64
	var together [2]float64
	for l := range levels {
		x, y := counts.At(0, l), counts.At(1, l)
		if x+y < rare {
			together[0], together[1] = together[0]+x, together[1]+y
		} else {
			cells = append(cells, [2]float64{x, y})
		}
	}
	if together[0]+together[1] >= rare {
		cells = append(cells, together)
	}
	if len(cells) < 2 {
		return 1
	}
	var sums [2]float64
	for _, c := range cells {
		sums[0], sums[1] = sums[0]+c[0], sums[1]+c[1]
	}
	statistic := 0.0
	for _, c := range cells {
		for side, n := range c {
			expected := (c[0] + c[1]) * sums[side] / (sums[0] + sums[1])
			statistic += (n - expected) * (n - expected) / expected
		}
	}
	return distuv.ChiSquared{K: float64(len(cells) - 1)}.Survival(statistic)
}
