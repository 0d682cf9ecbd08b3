package corpus

import (
	"math/rand/v2"

	"gorgonia.org/gorgonia"
)

// given are fixed numbers.
func given(shape []int, v ...float64) Input {
	return label(Input{Shape: shape, Draw: func(_ *rand.Rand, i int) float64 { return v[i] }})
}

// losses are those of sequences.
func losses() (graphs []Graph) {
	const steps, batch, classes = 6, 3, 5
	rows := given([]int{batch, 4}, 1, 2, 2, 3, 4, 1, 1, 1, 3, 2, 4, 4)
	flat := given([]int{9}, 1, 2, 2, 3, 4, 1, 3, 2, 4)
	for _, c := range []struct {
		name            string
		labels          Input
		lengths, counts []float64
		reduction       gorgonia.Reduction
		raw             bool // logarithms of probabilities that do not add up to one
	}{
		{"sum", rows, []float64{6, 6, 6}, []float64{4, 2, 3}, gorgonia.ReductionSum, false},
		{"sum, labels in one vector", flat, []float64{6, 6, 6}, []float64{4, 2, 3}, gorgonia.ReductionSum, false},
		{"mean", rows, []float64{6, 6, 6}, []float64{4, 2, 3}, gorgonia.ReductionMean, false},
		{"sum, sequences of different lengths", rows, []float64{6, 4, 5}, []float64{4, 2, 3}, gorgonia.ReductionSum, false},
		{"sum, no labels", rows, []float64{6, 6, 6}, []float64{0, 2, 0}, gorgonia.ReductionSum, false},
		{"sum, no softmax", rows, []float64{6, 6, 6}, []float64{4, 2, 3}, gorgonia.ReductionSum, true},
	} {
		g := Graph{Name: "temporal classification, " + c.name, Condition: 100,
			In: []Input{normal(steps, batch, classes), c.labels, given([]int{batch}, c.lengths...),
				given([]int{batch}, c.counts...)},
			Build: func(in gorgonia.Nodes) gorgonia.Nodes {
				x := in[0]
				if !c.raw {
					x = must(gorgonia.LogSoftMax(x, 2))
				}
				return gorgonia.Nodes{must(gorgonia.CTCLoss(x, indices(in[1]), indices(in[2]), indices(in[3]), c.reduction))}
			}}
		graphs = append(graphs, g, alone(g))
	}
	boxes := func(in gorgonia.Nodes) gorgonia.Nodes {
		anchors := []float32{10, 13, 16, 30, 33, 23, 30, 61}
		return gorgonia.Nodes{must(gorgonia.YOLOv3(in[0], anchors, []int{0, 1, 3}, 64, 2, 0.5, in[1:]...))}
	}
	found := Graph{Name: "boxes", In: []Input{normal(1, 3*7, 4, 4)}, Build: boxes, Single: true, Condition: 10}
	return append(graphs, found, alone(found), Graph{Name: "boxes with targets", Build: boxes, Single: true,
		In: []Input{normal(1, 3*7, 4, 4), given([]int{1, 1, 4, 4}, 5, 1, .5, .5, .2, .3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)}})
}
