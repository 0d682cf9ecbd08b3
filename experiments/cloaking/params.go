package cloaking

import (
	"fmt"
	"slices"
	"strings"

	"privkern/experiments/cloaking/design"
	"privkern/runner/experiment"
)

// Values of the parameters in more than one experiment.
const (
	inputsAge       = "age"
	inputsAgeWeight = "age+weight"
	inputsSynthetic = "synthetic"

	solverCertified = "certified"
	solverGradient  = "gradient"

	normalisationPublished = "as-published"
	normalisationPublic    = "public"

	dataKung = "kung"
)

// Conditions on which parameters apply.
var (
	noisy        = experiment.IsNot("epsilon", "inf")
	isSparse     = experiment.Is("method", methodSparse)
	isGradient   = experiment.Is("solver", solverGradient)
	isOwnFile    = experiment.Is("dataset", "csv:*")
	isNotOwnFile = experiment.IsNot("dataset", "csv:*")
)

// positive is a Number above zero.
func positive(name string, def any, unit, doc string) experiment.Param {
	return experiment.Param{Name: name, Kind: experiment.Number, Default: def, Unit: unit, Doc: doc, Min: experiment.Bound(0), OpenMin: true}
}

// Bounds on what a trial may be asked for, far above what is of use: beyond
// them a slip of the pen would cost hours or all memory.
const (
	maxPoints     = 2000 // predictions that are released together
	maxIterations = 1e9
	maxDraws      = 1e6
)

// count is an Integer from low to high.
func count(name string, def, low, high int, doc string) experiment.Param {
	return experiment.Param{Name: name, Kind: experiment.Integer, Default: def, Doc: doc, Min: experiment.Bound(float64(low)), Max: experiment.Bound(float64(high))}
}

func choice(name, def, doc string, values ...string) experiment.Param {
	return experiment.Param{Name: name, Kind: experiment.Text, Default: def, Doc: doc, Values: values}
}

// hyperparameters are those of the kernel and the likelihood. Heights are
// measured in units in which the kernel's variance is kernel_variance; only its
// ratio to the noise's matters.
func hyperparameters() []experiment.Param {
	return []experiment.Param{
		positive("lengthscale", 15.0, "years or kg", "lengthscale of the EQ kernel, the same in all dimensions"),
		positive("kernel_variance", 1.0, "", "variance of the kernel"),
		positive("noise_variance", 2.0, "", "variance of the observation noise, in the unit of the kernel's"),
	}
}

func nonstationaryParams() []experiment.Param {
	return experiment.When([]experiment.Param{
		positive("kde_bandwidth", 6.0, "years or kg", "nonstationary: bandwidth of the density estimate, per dimension"),
		positive("kde_rows", 160.0, "", "nonstationary: n in l = 1/(1/m + density/n), the rows wanted within a lengthscale"),
		positive("max_lengthscale", 100.0, "years or kg", "nonstationary: m in l = 1/(1/m + density/n), the largest lengthscale"),
	}, []string{"kde_bandwidth", "kde_rows", "max_lengthscale"}, experiment.Is("method", methodNonstationary))
}

// solverParams say how the noise covariance is found. The steps of the gradient
// descent go by the name given, since classifiers have iterations of their own.
func solverParams(steps string) []experiment.Param {
	return experiment.When([]experiment.Param{
		choice("solver", solverCertified, "how the noise covariance is found: interior point, which ends at a certified gap "+
			"of 2e-8 nats or fails, or the paper's projected gradient descent, whose value after the given number of steps "+
			"is an upper bound (metric gap)", solverCertified, solverGradient),
		{Name: "rank", Kind: experiment.Integer, Default: "full", Words: []string{"full"}, Min: experiment.Bound(1), Max: experiment.Bound(maxPoints), Doc: "number of public directions that are released; full is the numerical rank of the cloaking matrix"},
		count(steps, 2000, 1, maxIterations, "gradient: number of steps, fewer where the gap falls to 1e-8 nats"),
		positive("learning_rate", 0.05, "", "gradient: length of a step"),
		{Name: "start", Kind: experiment.Number, Default: "uniform", Words: []string{"uniform"}, Min: experiment.Bound(0), OpenMin: true, Doc: "gradient: first weight of every distinct column; uniform is rank divided by their number"},
	}, []string{steps, "learning_rate", "start"}, isGradient)
}

// noiseSolverParams are solverParams where the solver is for nothing but the noise.
func noiseSolverParams(steps string) []experiment.Param {
	return experiment.When(solverParams(steps), []string{"solver", "rank"}, noisy)
}

// Names that the gradient descent's steps go by.
const (
	gradientSteps           = "iterations"
	gradientStepsClassifier = "solver_iterations"
)

// budgetParams say how strongly something is protected.
func budgetParams() []experiment.Param {
	return experiment.When([]experiment.Param{
		{Name: "epsilon", Kind: experiment.Number, Default: 1.0, Min: experiment.Bound(0), OpenMin: true, Infinite: true, Doc: "privacy parameter; inf adds no noise"},
		{Name: "delta", Kind: experiment.Number, Default: 0.01, Min: experiment.Bound(0), OpenMin: true, Max: experiment.Bound(1), OpenMax: true, Doc: "privacy parameter"},
		choice("calibration", "hall", "ratio of noise to sensitivity: Hall et al. 2013 (epsilon <= 1 only), or the exact one of Balle and Wang 2018", "hall", "analytic"),
	}, []string{"delta", "calibration"}, noisy)
}

// mechanismParams say what of the heights is protected and how strongly.
func mechanismParams() []experiment.Param {
	return append(budgetParams(),
		positive("sensitivity_cm", 100.0, "cm", "largest change of one height; heights are clipped to an interval of this length"),
		choice("normalisation", normalisationPublished, "where the clipping interval and the prior mean come from: the private heights (as published) or public constants", normalisationPublished, normalisationPublic),
		positive("public_low_cm", 60.0, "cm", "normalisation public: lower end of the interval of heights; the prior mean is its middle"),
	)
}

// checkInducing refuses inducing inputs that the sparse method cannot have: more
// than the smallest training set has rows, the same twice, and given ones where
// there are several inputs, since a list of numbers names no pairs.
func checkInducing(p experiment.Params, name string, rows int) error {
	if p.Text("method") != methodSparse {
		return nil
	}
	z := p.Points(name)
	if n := max(z.Count, len(z.Values)); n > rows {
		return fmt.Errorf("%s: %d inducing inputs, but there are only %d training rows", name, n, rows)
	}
	switch {
	case z.Values == nil:
	case p.Text("inputs") == inputsAgeWeight && !ownFile(p):
		return fmt.Errorf("%s = %s: a list gives ages, but with inputs=%s an inducing input is a pair of weight and age; give how many k-means is to place", name, experiment.FormatValue(z), inputsAgeWeight)
	case ownFile(p) && len(ownInputs(p)) > 1:
		return fmt.Errorf("%s = %s: a list gives numbers, but with %d inputs an inducing input is as many numbers; give how many k-means is to place", name, experiment.FormatValue(z), len(ownInputs(p)))
	}
	for i, v := range z.Values {
		if slices.Contains(z.Values[:i], v) {
			return fmt.Errorf("%s: %g is given twice; equal inducing inputs make their kernel matrix singular", name, v)
		}
	}
	return nil
}

// checkPoints refuses test points that are too many, and a rank above their
// number. They are the elements of a list, or the pairs of two.
func checkPoints(p experiment.Params, lists ...string) error {
	points := 1
	for _, name := range lists {
		points *= len(p.Numbers(name))
	}
	name := strings.Join(lists, " × ")
	switch {
	case points > maxPoints:
		return fmt.Errorf("%s has %d elements; at most %d predictions are released together", name, points, maxPoints)
	case rankOf(p) > points:
		return fmt.Errorf("rank = %d: there are only %d %s", rankOf(p), points, name)
	}
	return nil
}

// rankOf returns the rank parameter as [design.Whiten] takes it.
func rankOf(p experiment.Params) int {
	if p.Text("rank") == "full" {
		return design.FullRank
	}
	return p.Int("rank")
}
