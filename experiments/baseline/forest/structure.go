package forest

import (
	"fmt"
	"math/rand/v2"

	"privkern/experiments/dataset/table"
	"privkern/experiments/model"
)

// structure has T complete binary trees of a depth, whose nodes are numbered from 0, the root, level after level: the
// children of node k are 2k+1 and 2k+2.
type structure struct {
	Depth   int         `json:"depth"`
	Columns [][]int     `json:"columns"` // T×(2^depth − 1), the column of the inputs that a node cuts
	Cuts    [][]float64 `json:"cuts"`    // of the same shape, in [−1, 1]
}

// newStructure draws trees: an input of a node uniformly, and the cut of a number uniformly from what the nodes above
// leave of its range. A category is cut into one of its levels and the others; where that level is decided
// above, another input or level is drawn, for a few times.
func newStructure(rng *rand.Rand, inputs []table.Input, trees, depth int) structure {
	s := structure{Depth: depth}
	first := make([]int, len(inputs))
	for i := 1; i < len(inputs); i++ {
		first[i] = first[i-1] + max(1, inputs[i-1].Levels)
	}
	nodes := 1<<depth - 1
	for range trees {
		columns, cuts := make([]int, nodes), make([]float64, nodes)
		for k := range nodes {
			for range 8 {
				i := rng.IntN(len(inputs))
				columns[k] = first[i]
				if inputs[i].Levels > 0 {
					columns[k] += rng.IntN(inputs[i].Levels)
				}
				low, high := remains(columns, cuts, k)
				if cuts[k] = low + (high-low)*rng.Float64(); inputs[i].Levels == 0 {
					break
				}
				if cuts[k] = 0; low < 0 && high > 0 {
					break
				}
			}
		}
		s.Columns, s.Cuts = append(s.Columns, columns), append(s.Cuts, cuts)
	}
	return s
}

// remains returns the part of the range of a node's column that the nodes above leave.
func remains(columns []int, cuts []float64, node int) (low, high float64) {
	low, high = -1, 1
	for k := node; k > 0; {
		above := (k - 1) / 2
		if columns[above] == columns[node] {
			if k == 2*above+1 {
				high = min(high, cuts[above])
			} else {
				low = max(low, cuts[above])
			}
		}
		k = above
	}
	return low, high
}

// leaf returns the leaf of tree t that u is in, from 0.
func (s *structure) leaf(t int, u []float64) int {
	columns, cuts, k := s.Columns[t], s.Cuts[t], 0
	for range s.Depth {
		if k = 2*k + 1; !(u[columns[(k-1)/2]] < cuts[(k-1)/2]) {
			k++
		}
	}
	return k - len(columns)
}

// check checks a structure that was read.
func (s *structure) check(c *model.Checker, inputs int) {
	const field = "parameters.structure"
	c.Require(s.Depth >= 1 && s.Depth <= deepest, field+".depth", "it is %d; a number from 1 to %d is required", s.Depth,
		deepest)
	c.Some(field+".columns", len(s.Columns))
	c.Require(len(s.Cuts) == len(s.Columns), field+".cuts", "there are %d for %d trees", len(s.Cuts), len(s.Columns))
	if c.Failed() {
		return
	}
	nodes := 1<<s.Depth - 1
	c.Rows(field+".cuts", s.Cuts, nodes, "nodes")
	for t, columns := range s.Columns {
		at := fmt.Sprintf("%s.columns[%d]", field, t)
		c.Require(len(columns) == nodes, at, "it has %d numbers for %d nodes", len(columns), nodes)
		for _, column := range columns {
			if column < 0 || column >= inputs {
				c.Require(false, at, "there is no column %d", column)
			}
		}
	}
}

// deepest bounds the depth of trees.
const deepest = 12

// check refuses forests that are too large for any data.
func check(s *Settings) error {
	if s.Trees.IsWord || s.Depth.IsWord {
		return nil
	}
	return checkSize(s.Trees.Number, s.Depth.Number, 2)
}

func checkSize(trees, depth, classes int) error {
	if trees*(classes<<depth) > largestForest {
		return fmt.Errorf("trees = %d, depth = %d: a forest for %d classes has more than %d numbers", trees, depth, classes,
			largestForest)
	}
	return nil
}
