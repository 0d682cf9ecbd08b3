package own

import (
	"math"

	"privkern/experiments/dataset/table"
	"privkern/experiments/kahm/wide"
)

const (
	// mostDirections and mostLayers are the paper's numbers, which it has for 784 inputs.
	mostDirections = 20
	mostLayers     = 5
	// halving is the ε of an entry, over d, with which a class has half of the further directions that it has without
	// noise.
	halving = 30
)

// Directions returns the default of n for a number of columns of the inputs, and an epsilon of an entry that changes by
// at most the share d of its range: half of the columns without noise, and with noise 1 and as many more as ε/d is
// large. Directions of small variance are those of the noise. docs/kahm.md, "Defaults on your own data", has the data
// sets that the rule was found and judged on.
func Directions(columns int, epsilon, d float64) int {
	most := float64(min(mostDirections, (columns+1)/2))
	share := 1.0
	if !math.IsInf(epsilon, 1) {
		share = epsilon / d / (epsilon/d + halving)
	}
	return int(math.Round(1 + (most-1)*share))
}

// Complete gives rows of named inputs the defaults that follow from the number of columns and from the budget:
// fabricated samples where there is an epsilon, [Directions], and as many layers, at most five.
func (d *Table) Complete(dataset string, data *wide.Data, p *wide.Pipeline, given func(field any) bool) {
	if given(&p.Epsilon) && !given(data) {
		*data = wide.Fabricated
	}
	columns := table.Width(table.Spec{Dataset: dataset, Inputs: d.Inputs}.Asked())
	if columns == 0 { // how many inputs * has is seen when the data are read
		return
	}
	if !given(&p.N) {
		epsilon := p.Epsilon
		if *data == wide.Original {
			epsilon = math.Inf(1)
		}
		if p.N = Directions(columns, epsilon, p.D); given(&p.Layers) {
			p.N = min(columns, max(p.N, p.Layers))
		}
	}
	if !given(&p.Layers) {
		p.Layers = min(mostLayers, p.N)
	}
}
