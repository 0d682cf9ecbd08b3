package learn

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"
)

// ForestOptions adjusts [TrainForest]; zero values stand for the defaults.
type ForestOptions struct {
	Trees    int // default 100
	Features int // tried for each split; default ⌊√d⌋
	Depth    int // bound on the splits above a leaf; default none
	Workers  int // that grow trees at the same time; default as many as the processor runs
}

// Forest is a random forest (Breiman, "Random forests", Machine Learning 45, 2001) of
// classification trees. Trees vote by the shares of the classes in their leaves, not by
// one class each as Breiman's do, which matters where leaves are mixed only.
type Forest struct {
	Classes []int // in increasing order
	trees   []tree
}

// tree is a binary tree; its root is node 0.
type tree struct {
	nodes []treeNode
	mixed []float64 // shares of the classes in leaves of several
}

// treeNode sends a sample whose feature is at most the threshold to left, and
// others to right. In a leaf feature is −1: its class is left, or the shares of
// the classes start at mixed[right] where left is −1.
type treeNode struct {
	threshold   float64
	feature     int32
	left, right int32
}

// TrainForest grows trees on the rows of x (N×d) and their labels. Each tree
// sees N samples drawn with replacement, and splits by the smallest Gini
// impurity over features drawn at random, more of them where all that were
// drawn are constant, until leaves are of one class or all features are
// constant.
//
// Every tree has a random stream of its own, drawn from rng: the result does
// not depend on the number of workers. It returns an error where there are no
// samples, a number is not finite, or an option is negative.
//
// A tree costs O(√d N log²N) operations on average: a split sorts the samples of its
// node by each feature that is tried. It holds 24 bytes a node and at most 2N−1 nodes.
func TrainForest(x *mat.Dense, labels []int, rng *rand.Rand, opts ForestOptions) (*Forest, error) {
	const who = "random forest"
	if err := checkSamples(who, x, labels); err != nil {
		return nil, err
	}
	n, d := x.Dims()
	if opts.Trees < 0 || opts.Features < 0 || opts.Features > d || opts.Depth < 0 || opts.Workers < 0 {
		return nil, fmt.Errorf("%s: the options are %+v; none may be negative, and of %d features not more can be tried",
			who, opts, d)
	}
	if opts.Trees == 0 {
		opts.Trees = 100
	}
	if opts.Features == 0 {
		opts.Features = int(math.Sqrt(float64(d)))
	}
	if opts.Depth == 0 {
		opts.Depth = n
	}
	if opts.Workers == 0 {
		opts.Workers = runtime.GOMAXPROCS(0)
	}
	samples := rankSamples(x, labels)
	f := &Forest{Classes: samples.classes, trees: make([]tree, opts.Trees)}
	seeds := make([][2]uint64, opts.Trees)
	for t := range seeds {
		seeds[t] = [2]uint64{rng.Uint64(), rng.Uint64()}
	}
	next := make(chan int, opts.Trees)
	for t := range seeds {
		next <- t
	}
	close(next)
	var workers sync.WaitGroup
	for range min(opts.Workers, opts.Trees) {
		workers.Go(func() {
			g := newGrower(samples, opts)
			for t := range next {
				f.trees[t] = g.grow(rand.New(rand.NewPCG(seeds[t][0], seeds[t][1])))
			}
		})
	}
	workers.Wait()
	return f, nil
}

// Predict returns the class of each row of x (M×d): the one with the largest
// sum, over the trees, of its share in the leaf; the smallest of equals.
// A row takes the depth of each tree.
func (f *Forest) Predict(x *mat.Dense) []int {
	sums := f.Sums(x)
	n, _ := x.Dims()
	out := make([]int, n)
	for i := range out {
		out[i] = f.Classes[mostVoted(sums.RawRowView(i))]
	}
	return out
}

// Sums returns, for each row of x (M×d) and each of the L classes, the sum over the trees of its share in the leaf
// (M×L).
func (f *Forest) Sums(x *mat.Dense) *mat.Dense {
	n, _ := x.Dims()
	out := mat.NewDense(n, len(f.Classes), nil)
	for i := range n {
		row, sums := x.RawRowView(i), out.RawRowView(i)
		for t := range f.trees {
			tree := &f.trees[t]
			node := &tree.nodes[0]
			for node.feature >= 0 {
				if row[node.feature] <= node.threshold {
					node = &tree.nodes[node.left]
				} else {
					node = &tree.nodes[node.right]
				}
			}
			if node.left >= 0 {
				sums[node.left]++
				continue
			}
			for c := range sums {
				sums[c] += tree.mixed[int(node.right)+c]
			}
		}
	}
	return out
}

// rankedSamples are the samples with their values replaced by ranks, which
// sort as the values do, and faster.
type rankedSamples struct {
	classes []int
	class   []int32     // of each sample, its index
	rank    [][]uint32  // of a feature: of each sample, the index of its value
	values  [][]float64 // of a feature: the different values in increasing order
}

// A rank and a row number share a 64-bit word, so a node sorts machine words; nothing
// depends on the values but their order, and the thresholds.
func rankSamples(x *mat.Dense, labels []int) *rankedSamples {
	n, d := x.Dims()
	s := &rankedSamples{class: make([]int32, n), rank: make([][]uint32, d), values: make([][]float64, d)}
	s.classes, _ = byClass(labels)
	for i, label := range labels {
		c, _ := slices.BinarySearch(s.classes, label)
		s.class[i] = int32(c)
	}
	column := make([]float64, n)
	for j := range d {
		mat.Col(column, j, x)
		values := slices.Clone(column)
		slices.Sort(values)
		values = slices.Clip(slices.Compact(values))
		ranks := make([]uint32, n)
		for i, v := range column {
			r, _ := slices.BinarySearch(values, v)
			ranks[i] = uint32(r)
		}
		s.rank[j], s.values[j] = ranks, values
	}
	return s
}

// grower grows trees one after the other.
type grower struct {
	*rankedSamples
	opts        ForestOptions
	rng         *rand.Rand
	tree        tree
	weight      []int    // of each sample: how often it was drawn
	rows        []int32  // the samples that were drawn, those of a node together
	keys, spare []uint64 // rank and sample, for sorting
	features    []int
	left, right []int // weights of the classes on both sides of a split
}

// newGrower allocates the buffers that all trees of a worker share.
func newGrower(s *rankedSamples, opts ForestOptions) *grower {
	n := len(s.class)
	g := &grower{
		rankedSamples: s, opts: opts, weight: make([]int, n), keys: make([]uint64, n), spare: make([]uint64, n),
		features: make([]int, len(s.rank)),
		left:     make([]int, len(s.classes)), right: make([]int, len(s.classes)),
	}
	return g
}

// grow draws the bootstrap sample, as weights of the samples, and grows a tree on it.
// The drawn samples keep their order.
func (g *grower) grow(rng *rand.Rand) tree {
	n := len(g.weight)
	g.rng, g.tree, g.rows = rng, tree{}, g.rows[:0]
	clear(g.weight)
	for range n {
		g.weight[rng.IntN(n)]++
	}
	for i, w := range g.weight {
		if w > 0 {
			g.rows = append(g.rows, int32(i))
		}
	}
	for j := range g.features {
		g.features[j] = j
	}
	g.node(g.rows, g.opts.Depth)
	return g.tree
}

// node adds the tree of the given samples and returns its number.
//
// The samples are rows, not empty; it reorders them in place, so that every node owns a
// part of one array. A leaf is a node of one class, at the depth that is allowed, or of
// samples that no feature separates.
func (g *grower) node(rows []int32, depth int) int32 {
	number := int32(len(g.tree.nodes))
	g.tree.nodes = append(g.tree.nodes, treeNode{feature: -1})
	total := make([]int, len(g.classes))
	weight := 0
	for _, row := range rows {
		total[g.class[row]] += g.weight[row]
		weight += g.weight[row]
	}
	if total[g.class[rows[0]]] == weight {
		g.tree.nodes[number].left = g.class[rows[0]]
		return number
	}
	if depth > 0 {
		if feature, rank, upper, found := g.split(rows, total, weight); found {
			// Halfway, but never on the upper value.
			low, high := g.values[feature][rank], g.values[feature][upper]
			threshold := low/2 + high/2
			if threshold >= high || threshold < low {
				threshold = low
			}
			// Samples in front of the split change places with those behind it.
			k := 0
			for i, row := range rows {
				if g.rank[feature][row] <= rank {
					rows[i], rows[k] = rows[k], row
					k++
				}
			}
			left := g.node(rows[:k], depth-1)
			right := g.node(rows[k:], depth-1)
			g.tree.nodes[number] = treeNode{threshold: threshold, feature: int32(feature), left: left, right: right}
			return number
		}
	}
	g.tree.nodes[number].left, g.tree.nodes[number].right = -1, int32(len(g.tree.mixed))
	for _, w := range total {
		g.tree.mixed = append(g.tree.mixed, float64(w)/float64(weight))
	}
	return number
}

// split looks for the best split: ranks up to rank of the feature go left; upper is the
// next rank that occurs.
//
// The Gini impurity of a node of weight W with the class weights w_c is 1 − Σ(w_c/W)². A
// split lowers the weighted impurity most where
//
//	Σ_c w_c²/W on the left + Σ_c w_c²/W on the right
//
// is largest. Moving a sample of class c and weight w changes Σw_c² by w(2w_c + w): all
// splits of a feature come from one pass, with sums in integers, which are exact. Of
// equal splits the one that was found first is kept.
func (g *grower) split(rows []int32, total []int, weight int) (feature int, rank, upper uint32, found bool) {
	best := math.Inf(-1)
	d := len(g.features)
	for tried := 0; tried < d && (tried < g.opts.Features || !found); tried++ {
		// Features in random order, one step of a shuffle for each that is tried.
		pick := tried + g.rng.IntN(d-tried)
		g.features[tried], g.features[pick] = g.features[pick], g.features[tried]
		j := g.features[tried]
		ranks := g.rank[j]
		keys := g.keys[:len(rows)]
		for i, row := range rows {
			keys[i] = uint64(ranks[row])<<32 | uint64(row)
		}
		keys = g.sort(keys, len(g.values[j]))
		first, last := uint32(keys[0]>>32), uint32(keys[len(keys)-1]>>32)
		if first == last {
			continue // constant here
		}
		clear(g.left)
		copy(g.right, total)
		// Sums of the squared weights of the classes on both sides.
		leftSquares, rightSquares := 0, 0
		for _, w := range total {
			rightSquares += w * w
		}
		leftWeight := 0
		for i, key := range keys[:len(keys)-1] {
			row := uint32(key)
			c, w := g.class[row], g.weight[row]
			leftSquares += w * (2*g.left[c] + w)
			rightSquares -= w * (2*g.right[c] - w)
			g.left[c] += w
			g.right[c] -= w
			leftWeight += w
			after := uint32(keys[i+1] >> 32)
			if after == uint32(key>>32) {
				continue
			}
			score := float64(leftSquares)/float64(leftWeight) + float64(rightSquares)/float64(weight-leftWeight)
			if score > best {
				best, feature, rank, upper, found = score, j, uint32(key>>32), after, true
			}
		}
	}
	return feature, rank, upper, found
}

// sort sorts keys by their ranks below a number, and returns them in one of the buffers.
// Keys of one rank are in any order. Many are sorted by the digits of their ranks from the last on, which
// takes no comparison.
func (g *grower) sort(keys []uint64, ranks int) []uint64 {
	const digit = 8
	if len(keys) < 1<<digit {
		slices.Sort(keys)
		return keys
	}
	to := g.spare[:len(keys)]
	for shift := 32; shift < 32+bits.Len(uint(ranks-1)); shift += digit {
		var starts [1 << digit]int
		for _, key := range keys {
			starts[key>>shift&(1<<digit-1)]++
		}
		next := 0
		for value, count := range starts {
			starts[value] = next
			next += count
		}
		for _, key := range keys {
			at := &starts[key>>shift&(1<<digit-1)]
			to[*at] = key
			*at++
		}
		keys, to = to, keys
	}
	return keys
}
