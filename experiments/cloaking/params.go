package cloaking

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/cloaking/design"
	"privkern/graphs/cloak"
	"privkern/graphs/engine"
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

// positive is a Number above zero.
func positive(name string, def any, unit, doc string) experiment.Param {
	return experiment.Param{Name: name, Kind: experiment.Number, Default: def, Unit: unit, Doc: doc, Min: experiment.Bound(0), OpenMin: true}
}

// count is an Integer from low up.
func count(name string, def, low int, doc string) experiment.Param {
	return experiment.Param{Name: name, Kind: experiment.Integer, Default: def, Doc: doc, Min: experiment.Bound(float64(low))}
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
	return []experiment.Param{
		positive("kde_bandwidth", 6.0, "years or kg", "nonstationary: bandwidth of the density estimate, per dimension"),
		positive("kde_rows", 160.0, "", "nonstationary: n in l = 1/(1/m + density/n), the rows wanted within a lengthscale"),
		positive("max_lengthscale", 100.0, "years or kg", "nonstationary: m in l = 1/(1/m + density/n), the largest lengthscale"),
	}
}

// solverParams say how the noise covariance is found.
func solverParams() []experiment.Param {
	return []experiment.Param{
		choice("solver", solverCertified, "how the noise covariance is found: interior point with certificate, or the paper's projected gradient descent", solverCertified, solverGradient),
		{Name: "rank", Kind: experiment.Integer, Default: "full", Words: []string{"full"}, Min: experiment.Bound(1), Doc: "number of public directions that are released; full is the numerical rank of the cloaking matrix"},
		count("iterations", 2000, 1, "gradient: number of steps"),
		positive("learning_rate", 0.05, "", "gradient: length of a step"),
		{Name: "start", Kind: experiment.Number, Default: "uniform", Words: []string{"uniform"}, Min: experiment.Bound(0), OpenMin: true, Doc: "gradient: first weight of every distinct column; uniform is rank divided by their number"},
	}
}

// mechanismParams say what is protected and how strongly.
func mechanismParams() []experiment.Param {
	return []experiment.Param{
		{Name: "epsilon", Kind: experiment.Number, Default: 1.0, Min: experiment.Bound(0), OpenMin: true, Infinite: true, Doc: "privacy parameter; inf adds no noise"},
		{Name: "delta", Kind: experiment.Number, Default: 0.01, Min: experiment.Bound(0), OpenMin: true, Max: experiment.Bound(1), OpenMax: true, Doc: "privacy parameter"},
		positive("sensitivity_cm", 100.0, "cm", "largest change of one height; heights are clipped to an interval of this length"),
		choice("calibration", "hall", "ratio of noise to sensitivity: Hall et al. 2013 (epsilon <= 1 only), or the exact one of Balle and Wang 2018", "hall", "analytic"),
		choice("normalisation", normalisationPublished, "where the clipping interval and the prior mean come from: the private heights (as published) or public constants", normalisationPublished, normalisationPublic),
		positive("public_low_cm", 60.0, "cm", "normalisation public: lower end of the interval of heights; the prior mean is its middle"),
	}
}

// rankOf returns the rank parameter as [design.Whiten] takes it.
func rankOf(p experiment.Params) int {
	if p.Text("rank") == "full" {
		return design.FullRank
	}
	return p.Int("rank")
}

// solveDesign finds the noise covariance for a cloaking matrix as the
// parameters of solverParams say.
func solveDesign(ctx context.Context, e *engine.Engine, c *mat.Dense, p experiment.Params) (*design.Range, *design.Design, error) {
	tolerance := design.Tolerance64
	if e.DType() == "float32" {
		tolerance = design.Tolerance32
	}
	r, err := design.Whiten(c, rankOf(p), tolerance)
	if err != nil {
		return nil, nil, err
	}
	if p.Text("solver") == solverCertified {
		d, err := design.Solve(ctx, r, 0)
		return r, d, err
	}
	d, err := descend(ctx, e, r, p)
	return r, d, err
}

// descend is the paper's projected gradient descent, on the distinct columns.
func descend(ctx context.Context, e *engine.Engine, r *design.Range, p experiment.Params) (*design.Design, error) {
	columns := r.DistinctColumns()
	_, n := columns.Dims()
	opts := cloak.Options{Iterations: p.Int("iterations"), LearningRate: p.Float("learning_rate"), Tolerance: design.DefaultGap}
	if p.Text("start") != "uniform" {
		opts.Start = make([]float64, n)
		for i := range opts.Start {
			opts.Start[i] = p.Float("start")
		}
	}
	result, err := cloak.Descend(ctx, e, columns, opts)
	if err != nil {
		return nil, fmt.Errorf("%w; try another learning_rate or start, or solver=certified", err)
	}
	_, all := r.B.Dims()
	lambda := make([]float64, all)
	for i, column := range r.Distinct() {
		lambda[column] = result.Lambda[i]
	}
	d, err := design.FromWeights(r, lambda)
	if err != nil {
		return nil, err
	}
	d.Iterations = result.Iterations
	return d, nil
}
