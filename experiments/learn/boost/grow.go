package boost

import (
	"slices"

	"gonum.org/v1/gonum/mat"
)

const (
	// mostBins is the largest number of bins of an input.
	mostBins = 255
	// leastCurvature is the smallest H of a leaf, as scikit-learn has it.
	leastCurvature = 1e-3
)

// sums are G, H and the number of the samples of a bin, or of a node.
type sums struct {
	g, h float64
	n    int
}

func (s *sums) add(o sums) { s.g, s.h, s.n = s.g+o.g, s.h+o.h, s.n+o.n }

func (s sums) less(o sums) sums { return sums{s.g - o.g, s.h - o.h, s.n - o.n} }

func (s sums) gain() float64 { return s.g * s.g / s.h }

// leaf is one that may be split.
type leaf struct {
	at   int // in the tree
	rows []int32
	all  sums
	bins [][]sums // of each feature
	// The best split, of which rows in bins up to bin go left; gain is 0 where there is none.
	gain         float64
	feature, bin int
	left         sums
}

// grower grows trees one after the other on the same samples.
type grower struct {
	Options
	ends [][]float64 // of a feature: the upper ends of all bins but the last
	bin  [][]uint8   // of a feature: the bin of each sample
	g, h []float64   // N
	rows []int32
}

func newGrower(x *mat.Dense, o Options) *grower {
	n, d := x.Dims()
	grow := &grower{Options: o, g: make([]float64, n), h: make([]float64, n), rows: make([]int32, n)}
	column := make([]float64, n)
	for j := range d {
		ends := endsOf(mat.Col(column, j, x), o.Bins)
		bins := make([]uint8, n)
		for i, v := range column {
			k, _ := slices.BinarySearch(ends, v) // the first end that is v or more
			bins[i] = uint8(k)
		}
		grow.ends, grow.bin = append(grow.ends, ends), append(grow.bin, bins)
	}
	return grow
}

// endsOf returns the ends between bins: in the middle between neighbouring values, all of them or those at quantiles.
func endsOf(column []float64, most int) []float64 {
	values := slices.Sorted(slices.Values(column))
	n := len(values)
	distinct := slices.Compact(slices.Clone(values))
	between := func(a, b float64) float64 {
		if m := a/2 + b/2; a <= m && m < b {
			return m
		}
		return a
	}
	var ends []float64
	if len(distinct) <= most {
		for i := range len(distinct) - 1 {
			ends = append(ends, between(distinct[i], distinct[i+1]))
		}
		return ends
	}
	for k := 1; k < most; k++ {
		below := values[max(0, k*n/most-1)]
		i, _ := slices.BinarySearch(distinct, below)
		if i+1 < len(distinct) {
			ends = append(ends, between(below, distinct[i+1]))
		}
	}
	return slices.Compact(ends)
}

// tree grows the tree of the derivatives, and writes its value for each sample to steps (N).
func (grow *grower) tree(steps []float64) tree {
	for i := range grow.rows {
		grow.rows[i] = int32(i)
	}
	out := tree{{feature: -1}}
	root := &leaf{rows: grow.rows}
	for _, i := range root.rows {
		root.all.add(sums{grow.g[i], grow.h[i], 1})
	}
	grow.histogram(root)
	leaves := []*leaf{root}
	for len(leaves) < grow.Leaves {
		best := 0
		for k, l := range leaves {
			if l.gain > leaves[best].gain {
				best = k
			}
		}
		l := leaves[best]
		if !(l.gain > 0) {
			break
		}
		left, right := grow.split(l)
		left.at, right.at = len(out), len(out)+1
		out[l.at] = node{feature: l.feature, threshold: grow.ends[l.feature][l.bin], left: left.at, right: right.at}
		out = append(out, node{feature: -1}, node{feature: -1})
		leaves[best] = left
		leaves = append(leaves, right)
	}
	for _, l := range leaves {
		if l.all.h > 0 {
			out[l.at].value = -grow.Rate * l.all.g / max(l.all.h, leastCurvature)
		}
		for _, i := range l.rows {
			steps[i] = out[l.at].value
		}
	}
	return out
}

// split returns the children of a leaf, of which the larger one gets its sums by subtraction.
func (grow *grower) split(l *leaf) (left, right *leaf) {
	bins, k := grow.bin[l.feature], 0
	for at, i := range l.rows {
		if int(bins[i]) <= l.bin {
			l.rows[at], l.rows[k] = l.rows[k], i
			k++
		}
	}
	left = &leaf{rows: l.rows[:k], all: l.left}
	right = &leaf{rows: l.rows[k:], all: l.all.less(l.left)}
	small, large := left, right
	if len(small.rows) > len(large.rows) {
		small, large = large, small
	}
	grow.histogram(small)
	for j, bins := range l.bins {
		for b := range bins {
			bins[b] = bins[b].less(small.bins[j][b])
		}
	}
	large.bins, l.bins = l.bins, nil
	grow.best(large)
	return left, right
}

// histogram sums over the bins of a leaf's samples, and finds its best split.
func (grow *grower) histogram(l *leaf) {
	l.bins = make([][]sums, len(grow.bin))
	for j, bin := range grow.bin {
		bins := make([]sums, len(grow.ends[j])+1)
		for _, i := range l.rows {
			b := &bins[bin[i]]
			b.g += grow.g[i]
			b.h += grow.h[i]
			b.n++
		}
		l.bins[j] = bins
	}
	grow.best(l)
}

// best finds the split of a leaf that gains most, the first of equal ones.
func (grow *grower) best(l *leaf) {
	if l.all.n < 2*grow.Least {
		return
	}
	before := l.all.gain()
	for j, bins := range l.bins {
		var left sums
		for b, s := range bins[:len(bins)-1] {
			left.add(s)
			right := l.all.less(left)
			if left.n < grow.Least || left.h < leastCurvature {
				continue
			}
			if right.n < grow.Least || right.h < leastCurvature {
				break
			}
			if gain := left.gain() + right.gain() - before; gain > l.gain {
				l.gain, l.feature, l.bin, l.left = gain, j, b, left
			}
		}
	}
}
