package dpgp

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/kernel"
	"privkern/graphs/sparsegp"
	"privkern/runner/experiment"
)

// Bounds on what a trial may be asked for, far above what is of use.
const (
	maxInducing = 500
	maxData     = 1e6
	maxRepeats  = 1e5
	// maxKernel bounds the kernel matrix between data and inducing inputs, which
	// every worker holds twice: 160 MB in float64.
	maxKernel = 2e7
)

// Conditions on which parameters apply.
var (
	noisy = experiment.IsNot("epsilon", "inf")
	// isCount is that inducing inputs are on a grid.
	isCount = experiment.Condition{Params: []string{"inducing"}, Words: "inducing is a count",
		Holds: func(p experiment.Params) bool { return p.Points("inducing").Values == nil }}
	isSpacedBound = experiment.Is("bound", boundEq7Printed, boundEq7, boundEq8)
)

func positive(name string, def float64, doc string) experiment.Param {
	return experiment.Param{Name: name, Kind: experiment.Number, Default: def, Doc: doc, Min: experiment.Bound(0), OpenMin: true}
}

// count is an Integer from low to high.
func count(name string, def, low, high int, doc string) experiment.Param {
	return experiment.Param{Name: name, Kind: experiment.Integer, Default: def, Doc: doc, Min: experiment.Bound(float64(low)), Max: experiment.Bound(float64(high))}
}

func choice(name, def, doc string, values ...string) experiment.Param {
	return experiment.Param{Name: name, Kind: experiment.Text, Default: def, Doc: doc, Values: values}
}

// budgetParams say how strongly the data are protected.
func budgetParams(infinite bool) []experiment.Param {
	doc := "privacy parameter"
	if infinite {
		doc += "; inf adds no noise"
	}
	params := []experiment.Param{
		{Name: "epsilon", Kind: experiment.Number, Default: 1.0, Min: experiment.Bound(0), OpenMin: true, Infinite: infinite, Doc: doc},
		{Name: "delta", Kind: experiment.Number, Default: 1e-4, Min: experiment.Bound(0), OpenMin: true, Max: experiment.Bound(1), OpenMax: true, Doc: "privacy parameter"},
	}
	if infinite {
		return experiment.When(params, []string{"delta"}, noisy)
	}
	return params
}

// inducingParams say where the inducing inputs are, and what the kernel is.
func inducingParams(number int, low, high float64) []experiment.Param {
	return []experiment.Param{
		{Name: "inducing", Kind: experiment.CountOrNumbers, Default: number, Doc: "inducing inputs: how many on a regular grid from low to high, or a list; they are public"},
		{Name: "low", Kind: experiment.Number, Default: low, Doc: "lower end of the grid of inducing inputs"},
		{Name: "high", Kind: experiment.Number, Default: high, Doc: "upper end of the grid of inducing inputs"},
		positive("lengthscale", 1, "lengthscale of the EQ kernel"),
		positive("kernel_variance", 1, "variance of the kernel"),
	}
}

// sensitivityParams say how far one row of the data can move the sums.
func sensitivityParams(outputBound float64) []experiment.Param {
	return []experiment.Param{
		positive("r_y", outputBound, "bound on the size of an output"),
		positive("ratio", 1, "standard deviation of the noise in A over that in B"),
	}
}

// spacingParam is the distance that the bounds rest on.
func spacingParam() experiment.Param {
	return experiment.Param{Name: "spacing", Kind: experiment.Number, Default: "auto", Words: []string{"auto"}, Min: experiment.Bound(0), OpenMin: true, Doc: "least distance of inducing inputs that Eqs. (7) and (8) assume; auto is the one they have, and a larger one is refused"}
}

// updateParams say how the posterior is made from noisy sums.
func updateParams(outputBound float64, forms ...string) []experiment.Param {
	params := slices.Concat(sensitivityParams(outputBound), []experiment.Param{
		choice("bound", boundEq7Printed, "bound on the norm of a row's kernel vector: Eq. (4), (7) as printed or corrected, (8), or the exact maximum "+
			"for the inducing inputs, which is bounded from above to 1e-12 of it, on dense grids to 1e-6", bounds...),
		spacingParam().Where(isSpacedBound),
		choice("covariance", string(sparsegp.Exact), "what the noise adds to the posterior's covariance: Eq. (14) with symmetric noise, Eq. (14) as printed, or nothing", forms...),
		choice("regularisation", regularisationPublished, "lambda as in Eq. (10), or with the square root of its last factor", regularisationPublished, regularisationCorrected),
		{Name: "rho", Kind: experiment.Number, Default: 0.01, Min: experiment.Bound(0), OpenMin: true, Max: experiment.Bound(1), OpenMax: true, Doc: "rho in lambda: the probability with which the noise may exceed its bound"},
		{Name: "jitter", Kind: experiment.Number, Default: 0.0, Min: experiment.Bound(0), Doc: "added to the diagonal of the inducing inputs' covariance"},
		{Name: "strict", Kind: experiment.Flag, Default: false, Doc: "refuse outputs beyond r_y instead of clipping them"},
	})
	return experiment.When(params, []string{"covariance", "regularisation", "rho"}, noisy)
}

// Values of the parameters.
const (
	regularisationPublished = "as-published"
	regularisationCorrected = "corrected"
	covarianceNaive         = "naive"
)

// inducingOf returns the inducing inputs as they are given, or on a grid.
func inducingOf(p experiment.Params) []float64 {
	z := p.Points("inducing")
	if z.Values != nil {
		return z.Values
	}
	low, high := p.Float("low"), p.Float("high")
	if z.Count == 1 {
		return []float64{low + (high-low)/2}
	}
	grid := make([]float64, z.Count)
	for i := range grid {
		grid[i] = low + (high-low)*float64(i)/float64(z.Count-1)
	}
	return grid
}

// checkInducing refuses inducing inputs that no model can have.
func checkInducing(p experiment.Params) error {
	if low, high := p.Float("low"), p.Float("high"); !(low < high) {
		return fmt.Errorf("low = %g, high = %g: low must be below high", low, high)
	}
	points := p.Points("inducing")
	if n := max(points.Count, len(points.Values)); n > maxInducing {
		return fmt.Errorf("inducing: %d inducing inputs; at most %d are possible", n, maxInducing)
	}
	z := slices.Sorted(slices.Values(inducingOf(p)))
	for i, v := range z {
		if i > 0 && v == z[i-1] {
			return fmt.Errorf("inducing: %g is given twice; equal inducing inputs make their covariance singular", v)
		}
	}
	return nil
}

// checkModel refuses what no trial of a model can have.
func checkModel(p experiment.Params) error {
	if err := checkInducing(p); err != nil {
		return err
	}
	if n, z := p.Int("n"), len(inducingOf(p)); n*z > maxKernel {
		return fmt.Errorf("n = %d with %d inducing inputs: their kernel matrix has more than %.0e elements; use fewer of either", n, z, maxKernel)
	}
	m, bound := modelOf(p), p.Text("bound")
	if bound == boundExact {
		// It is found by a search, which is no part of a check: ledgers hold
		// hundreds of settings. That of Eq. (4) is as finite.
		bound = boundEq4
	}
	if _, ok := p["r_y"]; !ok {
		_, err := m.normSquared(bound, spacingOf(p))
		return err
	}
	_, err := m.calibrate(p.Float("epsilon"), p.Float("delta"), p.Float("r_y"), p.Float("ratio"), bound, spacingOf(p))
	return err
}

// spacingOf is the spacing that is asked for; 0 stands for the one there is.
func spacingOf(p experiment.Params) float64 {
	if p.Text("spacing") == "auto" {
		return 0
	}
	return p.Float("spacing")
}

// modelOf returns the model that the parameters describe.
func modelOf(p experiment.Params) *model {
	z := inducingOf(p)
	m := &model{lengthscale: p.Float("lengthscale"), variance: p.Float("kernel_variance")}
	m.inducing = sparsegp.Inducing{Kernel: kernel.EQ(m.lengthscale, m.variance), Z: mat.NewDense(len(z), 1, slices.Clone(z))}
	if sigma, ok := p["sigma"].(float64); ok {
		m.noise = sigma * sigma
	}
	if jitter, ok := p["jitter"].(float64); ok {
		m.inducing.Jitter = jitter
	}
	return m
}

// privacyless says whether a trial adds no noise.
func privacyless(p experiment.Params) bool { return math.IsInf(p.Float("epsilon"), 1) }
