package cloaking

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/cloaking/design"
	"privkern/experiments/internal/fault"
	"privkern/experiments/learn"
	"privkern/experiments/mechanism"
	"privkern/experiments/release"
	"privkern/graphs/engine"
	"privkern/graphs/kernel"
	"privkern/graphs/laplace"
	"privkern/graphs/op"
	"privkern/runner/experiment"
)

// labelSensitivity is how far a label can move: from −1 to +1.
const labelSensitivity = 2

// Values of the parameters of classification.
const (
	approximationDTC = "dtc"
	approximationSoR = "sor"

	probabilityAtMean   = "at-mean"
	probabilityAveraged = "averaged"

	iterationsAuto = "auto"
)

// convergedSteps is how many Newton steps are taken at most without noise when
// the number is not given; with the logistic likelihood a handful suffices.
const convergedSteps = 100

// classificationParams are the parameters of everything that classifies, with
// an experiment's own ones in their place.
func classificationParams(lengthscale float64, unit string, draws int, own ...experiment.Param) []experiment.Param {
	params := []experiment.Param{
		choice("method", methodStandard, "GP, or sparse GP with inducing inputs (Eq. 7)", methodStandard, methodSparse),
	}
	params = append(params, own...)
	params = append(params, budgetParams()...)
	params = append(params,
		experiment.Param{Name: "iterations", Kind: experiment.Integer, Default: iterationsAuto, Words: []string{iterationsAuto},
			Min: experiment.Bound(1), Max: experiment.Bound(1000),
			Doc: "Newton steps of the Laplace approximation, which share epsilon and delta equally; auto is one step with noise, " +
				"and without noise as many as converge (at most 100, else the trial fails)"},
		count("draws", draws, 1, 1e5, "draws of the noise, each a release of its own (with noise only)"),
		positive("lengthscale", lengthscale, unit, "lengthscale of the EQ kernel, the same in all dimensions"),
		positive("kernel_variance", 1.0, "", "variance of the kernel"),
		count("inducing", 5, 1, maxPoints, "sparse: how many inducing inputs k-means places on the training inputs"),
		choice("approximation", approximationDTC, "sparse: posterior variance of the deterministic training conditional or of the subset of regressors; their means are equal", approximationDTC, approximationSoR),
		choice("probability", probabilityAtMean, "probability of a class: logistic function of the posterior mean (as in the paper), or averaged over the posterior", probabilityAtMean, probabilityAveraged),
	)
	params = experiment.When(params, []string{"draws"}, noisy)
	params = experiment.When(params, []string{"inducing", "approximation"}, isSparse)
	params = experiment.When(params, []string{"approximation"}, experiment.Is("probability", probabilityAveraged))
	return append(params, noiseSolverParams(gradientStepsClassifier)...)
}

// checkClassification refuses combinations of classificationParams, for
// training sets of at least so many rows; 0 where that is not known yet.
func checkClassification(p experiment.Params, rows int) error {
	if _, err := stepFactor(p); err != nil {
		return err
	}
	if privacyless(p) && p.Text("rank") != "full" {
		return fmt.Errorf("rank = %d with epsilon = inf: the rank bounds the directions that noise is added to, and without noise all are released; use rank=full", rankOf(p))
	}
	if rows == 0 {
		return nil
	}
	if n := p.Int("inducing"); p.Text("method") == methodSparse && n > rows {
		return fmt.Errorf("inducing: %d inducing inputs, but there are only %d training rows", n, rows)
	}
	if rankOf(p) > rows {
		return fmt.Errorf("rank = %d: there are only %d training rows", rankOf(p), rows)
	}
	return nil
}

// newtonSteps is the number of Newton steps that are taken at most.
func newtonSteps(p experiment.Params) int {
	switch {
	case p.Text("iterations") != iterationsAuto:
		return p.Int("iterations")
	case privacyless(p):
		return convergedSteps
	}
	return 1
}

// stepFactor is the ratio σ/Δ of the noise of one Newton step, 0 for
// epsilon = inf. The steps share the budget equally, ε/T and δ/T each, by basic
// composition.
func stepFactor(p experiment.Params) (float64, error) {
	if privacyless(p) {
		return 0, nil
	}
	steps := float64(newtonSteps(p))
	factor, err := mechanism.Calibration(p.Text("calibration")).Factor(p.Float("epsilon")/steps, p.Float("delta")/steps)
	if err != nil && steps > 1 {
		return 0, fmt.Errorf("each of %g Newton steps: %w", steps, err)
	}
	return factor, err
}

// classifier fits GP classifiers whose Laplace approximation sees the labels
// through cloaking alone.
type classifier struct {
	t     *experiment.Trial
	e     *engine.Engine
	scale float64 // of the noise of one Newton step; 0 for none
	steps int
	// converge says that the steps, without noise, must converge.
	converge bool
	draws    int
	// source is where the noise of a release comes from; nil where releases are
	// judged, with noise from the trial's streams.
	source *release.Source
}

// newClassifier opens the engine, which the caller closes.
func newClassifier(t *experiment.Trial) (*classifier, error) {
	factor, err := stepFactor(t.Params)
	if err != nil {
		return nil, err
	}
	c := &classifier{t: t, scale: factor * labelSensitivity, steps: newtonSteps(t.Params), draws: 1,
		converge: t.Params.Text("iterations") == iterationsAuto}
	if factor > 0 && !c.publishes() {
		c.draws = t.Params.Int("draws")
	}
	c.e, err = engine.Open(t.Backend, t.DType, t.Workers)
	return c, err
}

// publishes says whether the record is to leave out what is computed from the
// labels without noise, and to have one draw: the mean of many has less noise.
func (c *classifier) publishes() bool { return c.t.Secure && c.scale > 0 }

// latent is the posterior of the latent function at P test inputs, for each of
// D draws of the noise.
type latent struct {
	mean, variance *mat.Dense // P×D
	steps          int        // Newton steps taken
	moved          float64    // without noise: by how much the last given step moved f, 0 for rounding errors only
	releases       []quality  // of every step, and from the second on of every draw
}

// rank is the smallest number of released directions, gap the largest
// certificate over the designs.
func (l *latent) rank() (rank int, gap float64) {
	for i, q := range l.releases {
		if i == 0 || q.rank < rank {
			rank = q.rank
		}
		gap = max(gap, q.gap)
	}
	return rank, gap
}

// probabilities returns those of the positive class (P×D).
func (l *latent) probabilities(p experiment.Params) *mat.Dense {
	out := mat.DenseCopyOf(l.mean)
	averaged := p.Text("probability") == probabilityAveraged
	out.Apply(func(i, j int, mean float64) float64 {
		if averaged {
			return averagedLogistic(mean, l.variance.At(i, j))
		}
		return logistic(mean)
	}, out)
	return out
}

// covariances of a training set with itself and with test inputs, as
// [laplace.Model] wants them.
type covariances struct {
	model *laplace.Model
	cross *mat.Dense
	// prior is what the variance at each test input starts from, and sign says
	// whether the model's part is added to it or subtracted.
	prior []float64
	sign  float64
}

func (c *classifier) covariances(ctx context.Context, train *mat.Dense, g grouped, test *mat.Dense, purpose string) (*covariances, error) {
	p := c.t.Params
	k := kernel.EQ(p.Float("lengthscale"), p.Float("kernel_variance"))
	points, _ := test.Dims()
	out := &covariances{prior: slices.Repeat([]float64{p.Float("kernel_variance")}, points)}
	if p.Text("method") == methodStandard {
		return out, out.full(c.e, k, g.rows, g.count, test)
	}
	if n := p.Int("inducing"); n > len(g.count) {
		return nil, fmt.Errorf("inducing: %d inducing inputs, but there are only %d different training inputs", n, len(g.count))
	}
	clusters, err := learn.KMeans(train, p.Int("inducing"), c.t.Stream(purposed("k-means", purpose)),
		learn.KMeansOptions{Iterations: fault.Capped(ctx, learn.KMeansIterations)})
	if err != nil {
		return nil, fmt.Errorf("inducing inputs: %w", err)
	}
	return out, out.sparse(ctx, c.e, k, clusters.Centres, g.rows, g.count, test, p.Text("approximation"))
}

// full sets the model with the kernel itself. Counts are the labels at each of
// the training inputs.
func (v *covariances) full(e *engine.Engine, k kernel.Kernel, train *mat.Dense, counts []float64, test *mat.Dense) error {
	all, err := k.Matrix(e, train, train)
	if err != nil {
		return err
	}
	if v.cross, err = k.Matrix(e, train, test); err != nil {
		return err
	}
	v.sign = -1
	v.model, err = laplace.Full(e, all, counts)
	return err
}

// sparse sets the model with the subset of regressors (Eq. 7) in place of the
// kernel. The approximation says what the variance starts from.
func (v *covariances) sparse(ctx context.Context, e *engine.Engine, k kernel.Kernel, inducing, train *mat.Dense, counts []float64, test *mat.Dense, approximation string) error {
	kmm, err := k.Matrix(e, inducing, inducing)
	if err != nil {
		return err
	}
	features := make([]*mat.Dense, 2)
	for i, x := range []*mat.Dense{train, test} {
		cross, err := k.Matrix(e, inducing, x)
		if err != nil {
			return err
		}
		features[i], err = laplace.Features(ctx, e, kmm, cross)
		var notPD *op.NotPositiveDefiniteError
		if errors.As(err, &notPD) {
			return fmt.Errorf("%w; the inducing inputs lie too near each other for the lengthscale: use fewer of them", err)
		}
		if err != nil {
			return err
		}
	}
	v.cross, v.sign = features[1], 1
	for i := range v.prior {
		if approximation == approximationSoR {
			v.prior[i] = 0
			continue
		}
		column := mat.Col(nil, i, v.cross)
		v.prior[i] = max(0, v.prior[i]-dot(column, column))
	}
	v.model, err = laplace.LowRank(e, mat.DenseCopyOf(features[0].T()), counts)
	return err
}

// prepared is what a fit needs besides the labels: all of it is public.
type prepared struct {
	inputs grouped
	cov    *covariances
	// first is the release of the first Newton step, where it is calibrated
	// already.
	first *cloaked
}

// prepare computes what is public of a fit at the training inputs (N×d) whose
// latent function is wanted at the test inputs (P×d). The purpose names the random
// streams; "" where there is one fit only.
func (c *classifier) prepare(ctx context.Context, train, test *mat.Dense, purpose string) (*prepared, error) {
	p := &prepared{inputs: group(train)}
	var err error
	p.cov, err = c.covariances(ctx, train, p.inputs, test, purpose)
	return p, err
}

// predict fits the classifier to the labels (±1) of the training inputs and
// returns the latent function at the test inputs.
func (c *classifier) predict(ctx context.Context, train *mat.Dense, labels []float64, test *mat.Dense,
	purpose string) (*latent, error) {
	p, err := c.prepare(ctx, train, test, purpose)
	if err != nil {
		return nil, err
	}
	return c.fit(ctx, p, labels, purpose)
}

// fit is predict after prepare.
//
// Labels at equal inputs are taken together, which changes nothing but the size
// of the matrices: each still is an output of its own, that moves a step by the
// column of its input.
//
// All that is used of the labels is what the Newton steps release: at each, in
// the whitened coordinates B of the cloaking matrix's range, the vector
// w = By + noise. [design.Range.Labels] turns it into labels with noise, with
// which the step is the ordinary one.
func (c *classifier) fit(ctx context.Context, p *prepared, labels []float64, purpose string) (*latent, error) {
	sums := make([]float64, len(p.inputs.count))
	for i, u := range p.inputs.of {
		sums[u] += labels[i]
	}
	out := new(latent)
	if c.scale == 0 {
		m, err := findMode(ctx, c.e, p.cov.model, sums, p.inputs.count, c.steps, nil)
		if err != nil {
			return nil, err
		}
		switch {
		case m.converged():
		case c.converge:
			return nil, m.short()
		default:
			out.moved = m.change
		}
		out.steps = m.steps
		return out, c.posterior(ctx, p.cov, [][]float64{m.f}, []*mat.Dense{mat.NewDense(len(m.dual), 1, m.dual)}, out)
	}
	modes := [][]float64{make([]float64, len(sums))} // f at the training inputs: one until the draws part
	var duals []*mat.Dense
	var err error
	for out.steps = 0; out.steps < c.steps; out.steps++ {
		if c.source != nil {
			modes, duals, err = c.publish(ctx, p, modes[0], sums, out)
		} else {
			modes, duals, err = c.step(ctx, p.cov.model, modes, sums, purpose, out)
		}
		if err != nil {
			return nil, fmt.Errorf("step %d of the Laplace approximation: %w", out.steps+1, err)
		}
	}
	return out, c.posterior(ctx, p.cov, modes, duals, out)
}

// calibrated returns the release of a Newton step from a mode, which is public.
func (c *classifier) calibrated(ctx context.Context, p *prepared, mode []float64) (*cloaked, error) {
	values, vectors, err := p.cov.model.Spectrum(ctx, mode)
	if err != nil {
		return nil, err
	}
	r, err := design.FromSpectrum(values, vectors, rankOf(c.t.Params), rankTolerance(c.e))
	if err != nil {
		return nil, err
	}
	designs, err := solveRanges(ctx, c.e, []*design.Range{r}, c.t.Params, nil)
	if err != nil {
		return nil, err
	}
	return newCloakedLabels(ctx, r, designs[0], c.t.Params, c.steps, p.inputs.count)
}

// publish takes a Newton step of a release from a mode.
func (c *classifier) publish(ctx context.Context, p *prepared, mode, sums []float64, out *latent) (next [][]float64,
	duals []*mat.Dense, err error) {
	s := p.first
	if out.steps > 0 || s == nil {
		if s, err = c.calibrated(ctx, p, mode); err != nil {
			return nil, nil, err
		}
	}
	w, err := s.noisySums(sums, c.source)
	if err != nil {
		return nil, nil, err
	}
	step, err := p.cov.model.Step(ctx, mode, s.directions.Labels(w))
	if err != nil {
		return nil, nil, err
	}
	out.releases = append(out.releases, qualityOf(s.directions, s.design))
	c.t.Progress(out.steps+1, c.steps, "releases")
	return columns(step.Latent), []*mat.Dense{step.Dual}, nil
}

// drawsTogether bounds how many draws have their cloaking matrices and designs in
// memory.
const drawsTogether = 16

// step takes a Newton step from each of the modes. While there is one, its
// release is drawn as often as there are draws; from then on each draw has a
// cloaking matrix, a design and a release of its own.
func (c *classifier) step(ctx context.Context, m *laplace.Model, modes [][]float64, labels []float64, purpose string, out *latent) (next [][]float64, duals []*mat.Dense, err error) {
	for first := 0; first < len(modes); first += drawsTogether {
		block := modes[first:min(first+drawsTogether, len(modes))]
		ranges := make([]*design.Range, len(block))
		err := c.e.ParallelFor(ctx, len(block), 1, func(i, _ int) error {
			values, vectors, err := m.Spectrum(ctx, block[i])
			if err != nil {
				return err
			}
			ranges[i], err = design.FromSpectrum(values, vectors, rankOf(c.t.Params), rankTolerance(c.e))
			return err
		})
		if err != nil {
			return nil, nil, err
		}
		designs, err := solveRanges(ctx, c.e, ranges, c.t.Params, nil)
		if err != nil {
			return nil, nil, err
		}
		steps := make([]*laplace.Step, len(block))
		err = c.e.ParallelFor(ctx, len(block), 1, func(i, _ int) (err error) {
			name, draws := fmt.Sprintf("noise, step %d", out.steps+1), c.draws
			if out.steps > 0 {
				name, draws = fmt.Sprintf("%s, draw %d", name, first+i), 1
			}
			noise := designs[i].Coordinates(c.t.Stream(purposed(name, purpose)), draws)
			noise.Scale(c.scale, noise)
			steps[i], err = m.Step(ctx, block[i], ranges[i].Labels(ranges[i].Coordinates(labels, noise)))
			return err
		})
		if err != nil {
			return nil, nil, err
		}
		for _, s := range steps {
			next, duals = append(next, columns(s.Latent)...), append(duals, s.Dual)
		}
		for i, d := range designs {
			out.releases = append(out.releases, qualityOf(ranges[i], d))
		}
		c.t.Progress(out.steps*len(modes)+first+len(block), c.steps*len(modes), "releases")
	}
	return next, duals, nil
}

// posterior computes mean and variance at the test inputs from the released
// modes alone: E[f_*] = k_*ᵀK⁻¹f (Section 3), and the variance with W at f.
func (c *classifier) posterior(ctx context.Context, cov *covariances, modes [][]float64, duals []*mat.Dense, out *latent) error {
	_, points := cov.cross.Dims()
	dual := duals[0]
	for _, d := range duals[1:] {
		wider := new(mat.Dense)
		wider.Augment(dual, d)
		dual = wider
	}
	out.mean = new(mat.Dense)
	out.mean.Mul(cov.cross.T(), dual)
	out.variance = mat.NewDense(points, len(modes), nil)
	return c.e.ParallelFor(ctx, len(modes), 1, func(j, _ int) error {
		part, err := cov.model.Variance(ctx, modes[j], cov.cross)
		if err != nil {
			return err
		}
		for i, v := range part {
			out.variance.Set(i, j, max(0, cov.prior[i]+cov.sign*v))
		}
		return nil
	})
}

// warnings says what is computed but suspect in a trial with these fits.
func (c *classifier) warnings(fits ...*latent) []string {
	var all []quality
	var given []string
	for _, l := range fits {
		all = append(all, l.releases...)
		if l.moved != 0 && given == nil {
			given = []string{fmt.Sprintf("the Laplace approximation is that after %d Newton steps, as iterations asks, "+
				"and has not converged: the last step moved the latent function by %.1e of its size or of 1", l.steps, l.moved)}
		}
	}
	return slices.Concat(c.e.Warnings(), given, precisionWarnings(c.e, all, c.t.Params), designWarnings(all))
}

// privacy tells what a release of one fit protects; nil without noise. What are
// the experiment's words for the labels, such as "whether a loan defaulted".
func (c *classifier) privacy(what string, notes ...string) *experiment.Privacy {
	if c.scale == 0 {
		return nil
	}
	record := "this record itself is not private: it holds labels, predictions without noise or accuracies measured on them; only one draw of the noisy predictions of one fit would be released"
	if c.publishes() {
		record = "this record itself is not private: its metrics are computed from the labels without noise; noise " +
			"covers the noisy predictions of one fit alone"
	}
	out := c.guarantee(what)
	out.Notes = slices.Concat([]string{
		record, "every draw is a release of its own and spends the whole budget again",
		"hyperparameters are taken as public; the guarantee does not cover choosing them by looking at the labels",
	}, out.Notes, notes)
	return out
}

// guarantee is privacy in words that say nothing of the labels.
func (c *classifier) guarantee(what string) *experiment.Privacy {
	p := c.t.Params
	notes := []string{
		"protects the training labels only (" + what + "): inputs and who is in the data are taken as public",
		"delta is not the probability that epsilon-privacy fails, although the paper says so",
	}
	if c.steps > 1 {
		notes = append(notes, fmt.Sprintf("the %d Newton steps each spend (%s, %s), by basic composition", c.steps,
			experiment.FormatNumber(p.Float("epsilon")/float64(c.steps)), experiment.FormatNumber(p.Float("delta")/float64(c.steps))))
	}
	return &experiment.Privacy{
		Guarantee: guarantee(p.Float("epsilon"), p.Float("delta")),
		Unit:      "one training label flipped",
		Mechanism: "cloaking of each Newton step of the Laplace approximation (Smith et al. 2019, Section 3), " + calibrationSource(p),
		Notes:     append(notes, solverNotes(p)...),
	}
}

// columns returns the columns of a.
func columns(a *mat.Dense) [][]float64 {
	_, c := a.Dims()
	out := make([][]float64, c)
	for j := range out {
		out[j] = mat.Col(nil, j, a)
	}
	return out
}

// purposed names the stream of one of several fits.
func purposed(name, purpose string) string {
	if purpose == "" {
		return name
	}
	return name + ", " + purpose
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}
