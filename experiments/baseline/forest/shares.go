package forest

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// forest has the noisy numbers of the classes in all nodes of all trees, sums of those of the leaves.
type forest struct {
	*Body
	nodes   [][]float64 // T×((2^(depth+1) − 1)·C)
	classes int
	root    []float64 // C, the shares of all rows
}

func newForest(b *Body) *forest {
	f := &forest{Body: b, classes: len(b.Counts[0]) >> b.Structure.Depth}
	for t, counts := range b.Counts {
		inner := len(b.Structure.Columns[t])
		nodes := append(make([]float64, inner*f.classes), counts...)
		for k := inner - 1; k >= 0; k-- {
			for c := range f.classes {
				nodes[k*f.classes+c] = nodes[(2*k+1)*f.classes+c] + nodes[(2*k+2)*f.classes+c]
			}
		}
		f.nodes = append(f.nodes, nodes)
	}
	f.root = make([]float64, f.classes)
	for _, nodes := range f.nodes {
		floats.Add(f.root, nodes[:f.classes])
	}
	for c, v := range f.root {
		f.root[c] = max(v, 0)
	}
	if all := floats.Sum(f.root); all > 0 {
		floats.Scale(1/all, f.root)
	}
	return f
}

// shares has the shares of the classes at a point, and room for their computation.
type shares struct {
	of     []float64 // C
	levels []float64 // (depth+1)×C
}

func (f *forest) room() *shares {
	return &shares{make([]float64, f.classes), make([]float64, (f.Structure.Depth+1)*f.classes)}
}

// shares computes the shares of the classes at u. A row that is itself in the counts gives its label, and is left out
// of them; others give −1.
//
// At each level of the trees, the mean over them of the noisy numbers in the node that a point is in is a sum over rows
// with a random kernel, the share of the trees that have both points in one node (Breiman, "Some infinity theory for
// predictor ensembles", 2000). From the root down, the share S_c/S of a class corrects that of the level above by the
// weight v/(v + σ²/S² + 1/(4S)): v is the variance that a level explains, σ² that of the noise of a sum, and 1/(4S)
// bounds that of a share of S rows.
func (f *forest) shares(u []float64, label int, out *shares) {
	clear(out.levels)
	depth, trees := f.Structure.Depth, float64(len(f.nodes))
	for t, nodes := range f.nodes {
		k := f.Structure.leaf(t, u) + len(f.Structure.Columns[t])
		for level := depth; level >= 0; level-- {
			for c, v := range nodes[k*f.classes : (k+1)*f.classes] {
				out.levels[level*f.classes+c] += v
			}
			k = (k - 1) / 2
		}
	}
	for c := range out.of {
		out.of[c] = 1 / float64(f.classes)
	}
	for level := range depth + 1 {
		numbers, all := out.levels[level*f.classes:(level+1)*f.classes], 0.0
		for c := range numbers {
			if numbers[c] /= trees; c == label {
				numbers[c]--
			}
			all += numbers[c]
		}
		if all <= 0 {
			continue
		}
		noise := f.Deviation / math.Sqrt(trees) * math.Exp2(float64(depth-level)/2) / all
		weight := f.Variance / (f.Variance + noise*noise + 1/(4*all))
		for c, v := range numbers {
			out.of[c] += weight * (v/all - out.of[c])
		}
	}
}
