package ground

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dpgp/sparse"
	"privkern/runner/experiment"
)

// simulatedRows is the number of rows of the simulated data, and simulatedEnd the end of their public range.
const (
	simulatedRows = 1024
	simulatedEnd  = 4
)

// simulateValues observes sin(2x)/(2x) with noise of standard deviation 0.1.
func simulateValues(t *experiment.Trial) (x *mat.Dense, y []float64) {
	x = sparse.UniformInputs(simulatedRows, t.Stream("inputs"))
	return x, sparse.Observe(sparse.Values(sparse.Sinc, x), 0.1, t.Stream("observation noise"))
}

// simulateClasses draws one of two classes, the second with probability 1/(1 + exp(−x)).
func simulateClasses(t *experiment.Trial) (x *mat.Dense, labels []float64) {
	x = sparse.UniformInputs(simulatedRows, t.Stream("inputs"))
	rng := t.Stream("labels")
	labels = make([]float64, simulatedRows)
	for i := range labels {
		if rng.Float64() < 1/(1+math.Exp(-x.At(i, 0))) {
			labels[i] = 1
		}
	}
	return x, labels
}
