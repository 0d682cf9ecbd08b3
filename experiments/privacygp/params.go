package privacygp

import (
	"fmt"
	"math"

	"privkern/experiments/privacygp/sdp"
	"privkern/runner/experiment"
)

// The variants of an experiment whose result an erratum changes.
const (
	corrected   = "corrected"
	asPublished = "as-published"
)

func variantParam(doc string) experiment.Param {
	return experiment.Param{Name: "variant", Kind: experiment.Text, Default: corrected,
		Values: []string{corrected, asPublished}, Doc: doc}
}

// gridParams describe the process of Examples 1 and 2.
func gridParams(most float64) []experiment.Param {
	return []experiment.Param{
		{Name: "points", Kind: experiment.Integer, Default: 9, Min: experiment.Bound(1), Max: experiment.Bound(most),
			Doc: "number of training inputs, at i/(points+1)"},
		{Name: "theta", Kind: experiment.Number, Default: 10.0, Min: experiment.Bound(0), OpenMin: true,
			Doc: "rate of the kernel K(x,y) = exp(-theta (x-y)^2)"},
		{Name: "noise_variance", Kind: experiment.Number, Default: 0.0, Min: experiment.Bound(0),
			Doc: "variance of the data's own noise, V = noise_variance * I"},
	}
}

// maxPoints bounds the number of training inputs where a trial takes a fixed
// number of eigen-decompositions (200 in example2): about a minute.
const maxPoints = 1000

// numericalRankDoc is of the metric numerical_rank.
const numericalRankDoc = "rank of K_XX + V in floating point: eigenvalues above 10 n 2^-52 times the largest " +
	"(2^-23 in float32); where it is below n, predictions are from its numerical range"

// solving passes a solver's progress on.
func solving(t *experiment.Trial) sdp.Progress {
	return func(done, total int) { t.Progress(done, total, "central path") }
}

// toleranceParam is a privacy tolerance ξ. Its upper end is the prior variance,
// which checkTolerance explains.
func toleranceParam(name, doc string) experiment.Param {
	return experiment.Param{Name: name, Kind: experiment.Number, Default: 0.5, Min: experiment.Bound(0), Doc: doc}
}

// checkTolerance refuses ξ ≥ K(s,s) = 1: noise in the data can raise the
// predictive variance towards the prior variance, never to it.
func checkTolerance(name string, xi float64) error {
	if xi >= 1 {
		return fmt.Errorf("%s is %s, but must be below the prior variance K(s,s) = 1: no noise raises the predictive variance to the prior variance",
			name, experiment.FormatNumber(xi))
	}
	return nil
}

// linspace returns n ≥ 1 points from low to high.
func linspace(low, high float64, n int) []float64 {
	if n == 1 {
		return []float64{low}
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = low + (high-low)*float64(i)/float64(n-1)
	}
	out[n-1] = high
	return out
}

// grid returns the training inputs i/(n+1), i = 1..n.
func grid(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(i+1) / float64(n+1)
	}
	return out
}

// within reports whether a and b are the same input to rounding.
func within(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(1, math.Abs(a)) }
