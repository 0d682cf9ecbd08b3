package dpgp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset"
	modelfile "privkern/experiments/dpgp/released"
	"privkern/experiments/internal/fault"
	"privkern/experiments/learn"
	"privkern/experiments/mechanism"
	"privkern/experiments/release"
	"privkern/graphs/engine"
	"privkern/graphs/kernel"
	"privkern/graphs/sparsegp"
	"privkern/runner/experiment"
)

const (
	// dataSimulated are the data of Section 6.1.
	dataSimulated = "simulated"
	simulatedRows = 1024

	none      = "none"
	boundAuto = "auto"
)

func regression() *experiment.Experiment {
	bound := func(name, doc string) experiment.Param {
		return experiment.Param{Name: name, Kind: experiment.Number, Default: none, Words: []string{none}, Doc: doc}
	}
	own, onGrid := experiment.Is("dataset", "csv:*"), experiment.IsNot("inducing", "csv:*")
	text := func(name, def, doc string) experiment.Param {
		return experiment.Param{Name: name, Kind: experiment.Text, Default: def, Doc: doc}
	}
	return &experiment.Experiment{
		Name:    "dpgp/regression",
		Version: 2,
		Summary: "your own data predicted with protection of inputs and outputs; a model that can be released",
		Source:  "Honkela 2021, Section 3, Algorithm 1",
		Params: slices.Concat([]experiment.Param{
			text("dataset", dataSimulated, "simulated, 1024 observations of sin(2x)/(2x), or csv:PATH, your own file: comma-separated values with a header"),
			text("inputs", "x", "names of the columns that are predicted from, joined by + or commas; they are protected. All inputs share one lengthscale: bring your columns to one scale, by public constants").Where(own),
			text("output", "y", "the column that is predicted; it is protected").Where(own),
			bound("low", "lower end of the public range of the output, to which it is clipped (csv only, where it must be given); it must not be read off the data"),
			bound("high", "upper end of the public range of the output (csv only, where it must be given)"),
			text("inducing", "9", "inducing inputs, which are public: how many on a regular grid from input_low to input_high in every input, or csv:PATH, a file with the columns of the inputs. They must not be rows of the data"),
			bound("input_low", "lower end of the grid, in every input (with csv data it must be given for a grid); it must not be read off the data").Where(onGrid),
			bound("input_high", "upper end of the grid").Where(onGrid),
			positive("lengthscale", 1, "lengthscale of the EQ kernel, in the unit of the inputs; public"),
			positive("kernel_variance", 1, "variance of the kernel for outputs scaled to [-1, 1]; public"),
			positive("sigma", 0.1, "standard deviation of the observation noise for outputs scaled to [-1, 1]; public"),
		}, ownBudgetParams(), []experiment.Param{
			positive("ratio", 1, "standard deviation of the noise in A over that in B"),
			choice("bound", boundAuto, "bound on the norm of a row's kernel vector: auto is the exact maximum for one input, Eq. (8) for more", append([]string{boundAuto}, bounds...)...),
			choice("covariance", string(sparsegp.Exact), "what the noise adds to the posterior's covariance: Eq. (14) with symmetric noise, or as printed", string(sparsegp.Exact), string(sparsegp.Printed)).
				Where(noisy),
			choice("regularisation", regularisationCorrected, "lambda as in Eq. (10), or with the square root of its last factor", regularisationPublished, regularisationCorrected).
				Where(noisy),
			experiment.Param{Name: "rho", Kind: experiment.Number, Default: 0.01, Min: experiment.Bound(0), OpenMin: true, Max: experiment.Bound(1), OpenMax: true, Doc: "rho in lambda: the probability with which the noise may exceed its bound"}.
				Where(noisy),
			{Name: "jitter", Kind: experiment.Number, Default: 1e-8, Min: experiment.Bound(0), Doc: "added to the diagonal of the inducing inputs' covariance"},
			{Name: "holdout", Kind: experiment.Number, Default: 0.2, Min: experiment.Bound(0), OpenMin: true, Max: experiment.Bound(1), OpenMax: true, Doc: "share of the rows that is drawn for testing; a release is made from all rows"},
			count("repeats", 10, 1, maxRepeats, "splits into rows for training and testing, each with noise of its own; metrics are means over them"),
		}),
		Metrics: []experiment.Metric{
			{Name: "rmse", Doc: "root mean square error at the test rows, in the unit of the output"},
			{Name: "rmse_without_noise", Doc: "the same from sums without noise"},
			{Name: "rmse_centre", Doc: "the same of the middle of the output's range: what costs no privacy"},
			{Name: "coverage_95", Doc: "share of the test outputs inside the central region of 95 %, with the variance of observations"},
			{Name: "mean_sd", Doc: "mean standard deviation of the function at the test rows, in the unit of the output"},
			{Name: "used_rows", Doc: "rows that were used"},
			{Name: "dropped_rows", Doc: "rows left out because an input or the output has no value"},
			{Name: "inducing_inputs", Doc: "how many there are"},
			{Name: "r_k_sq", Doc: "bound on the squared norm of a kernel vector"},
			modelMetrics[0], modelMetrics[1], modelMetrics[2],
			{Name: "clipped_fraction", Doc: "share of the outputs that were outside of low to high and clipped"},
		},
		Datasets: regressionDatasets,
		Tables: func(p experiment.Params) []experiment.Table {
			inputs := inputNames(p)
			columns := map[string][]string{p.Text("inducing"): inputs}
			columns[p.Text("dataset")] = append(slices.Clone(inputs), p.Text("output")) // which has the inputs, too
			return dataset.TablesOf(columns)
		},
		Complete: func(p experiment.Params, given func(string) bool) error {
			if !isFile(p, "dataset") {
				return nil
			}
			return release.CompleteOwn(p, given)
		},
		Check:        checkRegression,
		Run:          runRegression,
		CheckRelease: checkRegressionRelease,
		Release:      release.Planned(PlanRegression),
	}
}

// ownBudgetParams are budgetParams where a user's file has no default δ.
func ownBudgetParams() []experiment.Param {
	params := budgetParams(true)
	params[1].Doc += "; csv: it must be given, far below 1/n for n rows"
	return params
}

func regressionDatasets(p experiment.Params) []string {
	var names []string
	for _, param := range []string{"dataset", "inducing"} {
		name := p.Text(param)
		if _, file := dataset.FilePath(name); file && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func isFile(p experiment.Params, param string) bool {
	_, file := dataset.FilePath(p.Text(param))
	return file
}

// inputNames are the columns that are predicted from.
func inputNames(p experiment.Params) []string {
	names := strings.Split(strings.ReplaceAll(p.Text("inputs"), ",", "+"), "+")
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	return names
}

// interval returns two public bounds, or those of simulated data where none are
// given.
func interval(p experiment.Params, low, high string, simulated float64) (a, b float64) {
	if p.Text(low) == none && p.Text(high) == none {
		return -simulated, simulated
	}
	return p.Float(low), p.Float(high)
}

func outputRange(p experiment.Params) (low, high float64) { return interval(p, "low", "high", 1) }

func gridRange(p experiment.Params) (low, high float64) {
	return interval(p, "input_low", "input_high", 3.5)
}

// gridCount is how many inducing inputs a grid has in every input.
func gridCount(p experiment.Params) (int, error) {
	param := count("inducing", 1, 1, maxInducing, "")
	v, err := param.Convert(p.Text("inducing"))
	if err != nil {
		return 0, fmt.Errorf("%w, nor csv:PATH, a file of inducing inputs", err)
	}
	return v.(int), nil
}

func checkRegression(p experiment.Params) error {
	own := isFile(p, "dataset")
	if !own && p.Text("dataset") != dataSimulated {
		return fmt.Errorf("dataset = %q: it is %s or csv:PATH, a file of your own", p.Text("dataset"), dataSimulated)
	}
	inputs := inputNames(p)
	for i, name := range inputs {
		switch {
		case name == "":
			return fmt.Errorf("inputs = %q: write the names of one or more columns, joined by + or commas", p.Text("inputs"))
		case slices.Contains(inputs[:i], name):
			return fmt.Errorf("inputs = %q: %q is named twice", p.Text("inputs"), name)
		case name == p.Text("output"):
			return fmt.Errorf("output = %s: it is one of the inputs, too", name)
		}
	}
	if !own && len(inputs) > 1 {
		return fmt.Errorf("inputs = %s: simulated data have one input", p.Text("inputs"))
	}
	for _, b := range []struct {
		low, high, what string
		needed          bool
	}{
		{"low", "high", "the public range of the output, such as low=0 high=100; its length decides the noise, and it must not be read off the data", own},
		{"input_low", "input_high", "the public range of the inputs over which the grid of inducing inputs is laid; it must not be read off the data", own && !isFile(p, "inducing")},
	} {
		given, other := p.Text(b.low) != none, p.Text(b.high) != none
		switch {
		case given != other, b.needed && !given:
			return fmt.Errorf("%s and %s are not given: they are %s", b.low, b.high, b.what)
		case given && !(p.Float(b.low) < p.Float(b.high) && !math.IsInf(p.Float(b.high)-p.Float(b.low), 0)):
			return fmt.Errorf("%s = %g and %s = %g: %s must be below %s", b.low, p.Float(b.low), b.high, p.Float(b.high), b.low, b.high)
		}
	}
	if b := p.Text("bound"); len(inputs) > 1 && (b == boundEq7 || b == boundEq7Printed || b == boundExact) {
		return fmt.Errorf("bound = %s is for one input, and there are %d; use %s or %s", b, len(inputs), boundAuto, boundEq8)
	}
	if isFile(p, "inducing") {
		return nil
	}
	n, err := gridCount(p)
	if err != nil {
		return err
	}
	if all := math.Pow(float64(n), float64(len(inputs))); all > maxInducing {
		return fmt.Errorf("inducing = %d: a grid in %d inputs has %.4g points; at most %d are possible: use fewer, or give points with inducing=csv:PATH", n, len(inputs), all, maxInducing)
	}
	return nil
}

// lattice is a regular grid (count^d × d).
func lattice(n, d int, low, high float64) *mat.Dense {
	all := 1
	for range d {
		all *= n
	}
	out := mat.NewDense(all, d, nil)
	for i := range all {
		for j, rest := d-1, i; j >= 0; j, rest = j-1, rest/n {
			v := low + (high-low)/2
			if n > 1 {
				v = low + (high-low)*float64(rest%n)/float64(n-1)
			}
			out.Set(i, j, v)
		}
	}
	return out
}

// regressor is a trial of dpgp/regression.
type regressor struct {
	*problem
	x       *mat.Dense // N×d
	y       []float64  // scaled to [−1, 1], clipped there
	raw     []float64  // scaled, not clipped
	outputs []float64  // as they were read
	dropped int
	clipped int
	inputs  []string
	output  modelfile.Output
	bound   string
}

// newRegressor reads the data and opens the engine, which the caller closes.
func newRegressor(t *experiment.Trial) (*regressor, error) {
	p := t.Params
	r := &regressor{inputs: inputNames(p)}
	low, high := outputRange(p)
	r.output = modelfile.Output{Name: p.Text("output"), Centre: low + (high-low)/2, Scale: (high - low) / 2}
	if name := p.Text("dataset"); isFile(p, "dataset") {
		table, err := dataset.LoadTable(t.Dataset(name), r.inputs, p.Text("output"))
		if err != nil {
			return nil, dataset.AsWritten(err, name)
		}
		r.x, r.outputs, r.dropped = table.Inputs, table.Output, table.Dropped
	} else {
		r.inputs, r.output.Name = []string{"x"}, "y" // whatever names are given, no column has them
		r.x = uniformInputs(simulatedRows, t.Stream("inputs"))
		r.outputs = observe(values(sinc, r.x), 0.1, t.Stream("observation noise"))
	}
	for _, v := range r.outputs {
		scaled := (v - r.output.Centre) / r.output.Scale
		cut := max(-1, min(1, scaled))
		if cut != scaled {
			r.clipped++
		}
		r.raw, r.y = append(r.raw, scaled), append(r.y, cut)
	}
	z, err := r.inducing(t)
	if err != nil {
		return nil, err
	}
	number, d := z.Dims()
	if n := len(r.y); n*number > maxKernel {
		return nil, fmt.Errorf("%d rows with %d inducing inputs: their kernel matrix has more than %.0e elements; use fewer of either", n, number, maxKernel)
	}
	m := &model{lengthscale: p.Float("lengthscale"), variance: p.Float("kernel_variance"), noise: p.Float("sigma") * p.Float("sigma")}
	m.inducing = sparsegp.Inducing{Kernel: kernel.EQ(m.lengthscale, m.variance), Z: z, Jitter: p.Float("jitter")}
	if r.bound = p.Text("bound"); r.bound == boundAuto {
		r.bound = boundExact
		if d > 1 {
			r.bound = boundEq8
		}
	}
	noise, err := m.calibrate(p.Float("epsilon"), p.Float("delta"), 1, p.Float("ratio"), r.bound, 0)
	if err != nil {
		return nil, err
	}
	e, err := engine.Open(t.Backend, t.DType, t.Workers)
	if err != nil {
		return nil, err
	}
	r.problem = &problem{t: t, e: e, model: m, noise: noise, update: update{p.Float("rho"), p.Text("regularisation"), sparsegp.Form(p.Text("covariance"))}}
	return r, nil
}

// inducing returns the inducing inputs, which no data have a part in.
func (r *regressor) inducing(t *experiment.Trial) (*mat.Dense, error) {
	if !isFile(t.Params, "inducing") {
		n, err := gridCount(t.Params)
		if err != nil {
			return nil, err
		}
		low, high := gridRange(t.Params)
		return lattice(n, len(r.inputs), low, high), nil
	}
	name := t.Params.Text("inducing")
	z, err := dataset.LoadInputs(t.Dataset(name), r.inputs)
	if err != nil {
		return nil, dataset.AsWritten(err, name)
	}
	n, _ := z.Dims()
	path, _ := dataset.FilePath(name)
	if n > maxInducing {
		return nil, fmt.Errorf("%s: %d inducing inputs; at most %d are possible", path, n, maxInducing)
	}
	if n > 1 {
		if i, j, distance := nearest(z); distance == 0 {
			return nil, fmt.Errorf("%s: the inducing inputs %d and %d are equal, which makes their covariance singular", path, min(i, j)+1, max(i, j)+1)
		}
	}
	return z, nil
}

// fitted is Algorithm 1 on some rows.
func (r *regressor) fitted(ctx context.Context, x *mat.Dense, y []float64, noise mechanismNoise, rng *rand.Rand) (*released, error) {
	s, err := sparsegp.Sum(ctx, r.e, r.model.inducing, x, y, nil)
	if err != nil {
		return nil, err
	}
	return r.model.infer(ctx, r.e, noise.noisyCopy(s, rng), noise, r.update)
}

// outcome is what one split gives, in the unit of the output.
type outcome struct{ rmse, exact, centre, coverage, sd float64 }

// tests is how many rows of a split are for testing.
func (r *regressor) tests() int {
	return int(math.Round(r.t.Params.Float("holdout") * float64(len(r.y))))
}

func (r *regressor) splitOnce(ctx context.Context, repeat int) (out outcome, err error) {
	n := len(r.y)
	order := r.t.Stream(stream("split", repeat)).Perm(n)
	tests := r.tests()
	if tests < 1 || tests >= n {
		return out, fmt.Errorf("holdout = %g leaves %d of %d rows for testing: at least one is needed for testing, and one for training", r.t.Params.Float("holdout"), tests, n)
	}
	var y []float64
	for _, row := range order[tests:] {
		y = append(y, r.y[row])
	}
	x, at := learn.SelectRows(r.x, order[tests:]), learn.SelectRows(r.x, order[:tests])
	noise := r.t.Stream(stream("mechanism", repeat))
	noisy, err := r.fitted(ctx, x, y, r.noise, noise)
	if err != nil {
		return out, err
	}
	exact, err := r.fitted(ctx, x, y, mechanismNoise{}, nil)
	if err != nil {
		return out, err
	}
	mean, variances, err := noisy.predict(ctx, r.e, at)
	if err != nil {
		return out, err
	}
	without, _, err := exact.predict(ctx, r.e, at)
	if err != nil {
		return out, err
	}
	scale, k := r.output.Scale, float64(tests)
	for i, row := range order[:tests] {
		truth := r.raw[row]
		miss := truth - mean[i]
		out.rmse += miss * miss / k
		out.exact += (truth - without[i]) * (truth - without[i]) / k
		out.centre += truth * truth / k
		out.sd += scale * math.Sqrt(variances[0][i]) / k
		if math.Abs(miss) <= 1.959963984540054*math.Sqrt(variances[0][i]+r.model.noise) {
			out.coverage += 1 / k
		}
	}
	out.rmse, out.exact, out.centre = scale*math.Sqrt(out.rmse), scale*math.Sqrt(out.exact), scale*math.Sqrt(out.centre)
	return out, nil
}

// publicMetrics tell of what is public.
func (r *regressor) publicMetrics() map[string]float64 {
	number, _ := r.model.inducing.Z.Dims()
	return map[string]float64{
		"inducing_inputs": float64(number), "r_k_sq": r.noise.normSquared, "sensitivity": r.noise.sensitivity,
		"sigma_a": r.noise.sigmaA, "lambda": r.noise.ridge(r.model, r.rho, r.regularisation),
	}
}

func runRegression(ctx context.Context, t *experiment.Trial) (result *experiment.Result, err error) {
	r, err := newRegressor(t)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.e.Close()) }()
	out, err := repeated(ctx, r.problem, r.splitOnce)
	if err != nil {
		return nil, err
	}
	metrics, k := r.publicMetrics(), float64(len(out))
	for _, o := range out {
		metrics["rmse"] += o.rmse / k
		metrics["rmse_without_noise"] += o.exact / k
		metrics["rmse_centre"] += o.centre / k
		metrics["coverage_95"] += o.coverage / k
		metrics["mean_sd"] += o.sd / k
	}
	n := len(r.y)
	metrics["used_rows"], metrics["dropped_rows"], metrics["clipped_fraction"] = float64(n), float64(r.dropped), float64(r.clipped)/float64(n)
	warnings := r.e.Warnings()
	if r.dropped > 0 {
		warnings = append(warnings, fmt.Sprintf("%d of %d rows have no value in an input or the output and were left out", r.dropped, r.dropped+n))
	}
	warnings = append(warnings, r.suspicions(metrics, out)...)
	privacy := r.guarantee()
	if privacy != nil {
		privacy.Notes = append([]string{"this record itself is not private: its metrics are computed from the data; what may be published is what --release writes"},
			append(privacy.Notes, "every split (repeats) spends a budget of its own")...)
	}
	return &experiment.Result{Metrics: metrics, Privacy: privacy, Warnings: warnings}, nil
}

// guarantee tells what a released model protects; nil without noise.
func (r *regressor) guarantee() *experiment.Privacy {
	if r.noise.sigmaA == 0 {
		return nil
	}
	p := r.t.Params
	number := experiment.FormatNumber
	return &experiment.Privacy{
		Guarantee: fmt.Sprintf("(%s, %s)-DP", number(p.Float("epsilon")), number(p.Float("delta"))),
		Unit:      fmt.Sprintf("one row, inputs (%s) and output (%s), substituted by any other", strings.Join(r.inputs, ", "), r.output.Name),
		Mechanism: "analytic Gaussian mechanism (Balle and Wang 2018) on the sums A and B of a sparse GP together (Honkela 2021, Algorithm 1), sensitivity by Eq. (6) with bound " + r.bound,
		Notes: []string{
			"protects inputs and outputs of a row; how many rows there are, and that each has all values, is taken as public",
			"public, and so not to be read off the data: the inducing inputs (or the range of their grid), the kernel with its lengthscale and variance, sigma, and the range of the output; the guarantee does not cover choosing them by the data",
			fmt.Sprintf("outputs are clipped to [%s, %s]; how many were outside is private", number(r.output.Centre-r.output.Scale), number(r.output.Centre+r.output.Scale)),
			"predictions from a released model cost nothing more, at any inputs and in any number; another release spends another budget",
		},
	}
}

func checkRegressionRelease(p experiment.Params) error {
	switch {
	case privacyless(p):
		return release.ErrNoNoise
	case !isFile(p, "dataset"):
		return errors.New("simulated data need no release; name your own with dataset=csv:PATH")
	case p.Text("dataset") == p.Text("inducing"):
		return errors.New("inducing names the file of the data: inducing inputs are released as they are")
	}
	if _, err := mechanism.SafeFactor(mechanism.Analytic, p.Float("epsilon"), p.Float("delta")); err != nil {
		return err
	}
	for _, name := range inputNames(p) {
		if slices.Contains(modelfile.Reserved, name) {
			return fmt.Errorf("inputs = %s: predictions have a column %q of their own; rename the input", p.Text("inputs"), name)
		}
	}
	return nil
}

// PlanRegression plans a release of dpgp/regression: a model from all rows, which
// depends on them through noisy sums alone.
func PlanRegression(ctx context.Context, t *experiment.Trial) (plan *release.Plan, err error) {
	if err := checkRegressionRelease(t.Params); err != nil {
		return nil, err
	}
	r, err := newRegressor(t)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.e.Close())
		}
	}()
	p := t.Params
	n, d := r.x.Dims()
	sums, err := newExactSums(ctx, r.model, n, p.Float("epsilon"), p.Float("delta"), r.noise.sensitivity, p.Float("ratio"))
	if err != nil {
		return nil, err
	}
	// What the update allows for is the noise that is drawn.
	r.noise.sigmaA, r.noise.sigmaB = sums.a.Scale(), sums.diagonal.Scale()
	private := mat.NewDense(n, d+1, nil)
	for i := range n {
		private.SetRow(i, append(slices.Clone(r.x.RawRowView(i)), r.outputs[i]))
	}
	planned := &plannedRegression{r, sums}
	return &release.Plan{
		Private: private,
		Spending: experiment.Spending{
			Data: dataset.Canonical(r.x, r.outputs), Row: dataset.CanonicalRows(r.x, r.outputs), Rows: n,
			// Whoever may replace a row may replace its output.
			Units:   []string{experiment.UnitRow, experiment.UnitOutput},
			Epsilon: p.Float("epsilon"), Delta: p.Float("delta"), Mu: 1 / sums.factor,
		},
		Publish: planned.publish,
		Close:   r.e.Close,
	}, nil
}

// plannedRegression is what a release of a model needs besides the data.
type plannedRegression struct {
	*regressor
	sums *exactSums
}

// publish releases a model of rows (N×(D+1), the output last), whose outputs it
// clips.
func (p *plannedRegression) publish(ctx context.Context, private *mat.Dense,
	source *release.Source) (*experiment.Release, error) {
	r := p.regressor
	n, columns := private.Dims()
	y := make([]float64, n)
	for i := range y {
		y[i] = (private.At(i, columns-1) - r.output.Centre) / r.output.Scale
		if !fault.In(ctx).Unclipped {
			y[i] = max(-1, min(1, y[i]))
		}
	}
	noisy, err := p.sums.noisy(ctx, mat.DenseCopyOf(private.Slice(0, n, 0, columns-1)), y, r.t.Workers, source)
	if err != nil {
		return nil, err
	}
	post, err := r.model.infer(ctx, r.e, noisy, r.noise, r.update)
	if err != nil {
		return nil, err
	}
	privacy := r.guarantee()
	privacy.RNG = "secure" // there is no release with another
	privacy.Notes = append(privacy.Notes, "splits and repeats have no part in a release", release.ExactNoise)
	settings := r.t.Params
	return &experiment.Release{
		Model: &modelfile.Model{
			Format: modelfile.Format,
			About:  "A sparse Gaussian process, made with differential privacy: run predict THIS_FILE --at x.csv predicts. Mean and covariance are those of the function at the inducing inputs, for (output - centre)/scale; the kernel is variance exp(-|x-x'|^2/(2 lengthscale^2)).",
			Inputs: r.inputs, Output: r.output,
			Kernel: modelfile.Kernel{Name: "EQ", Lengthscale: r.model.lengthscale, Variance: r.model.variance},
			Noise:  r.model.noise, Jitter: r.model.inducing.Jitter,
			Inducing: rowsOf(r.model.inducing.Z), Mean: post.Mean, Covariance: rowsOf(post.Cov),
			Mechanism: modelfile.Mechanism{
				Epsilon: settings.Float("epsilon"), Delta: settings.Float("delta"), Sensitivity: r.noise.sensitivity, Bound: r.bound, NormSquared: r.noise.normSquared,
				SigmaA: r.noise.sigmaA, SigmaB: r.noise.sigmaB, Lambda: post.ridge,
			},
			Privacy: privacy,
		},
		Metrics:  r.publicMetrics(),
		Privacy:  privacy,
		Warnings: r.e.Warnings(),
	}, nil
}

// rowsOf returns copies of the rows of a.
func rowsOf(a *mat.Dense) [][]float64 {
	n, _ := a.Dims()
	out := make([][]float64, n)
	for i := range out {
		out[i] = slices.Clone(a.RawRowView(i))
	}
	return out
}
