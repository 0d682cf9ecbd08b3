package cloaking

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/cloaking/design"
	"privkern/experiments/learn"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// predictionParams are the parameters of everything that predicts heights from
// one of the given inputs, with an experiment's own ones in their place.
func predictionParams(inputs []string, own ...experiment.Param) []experiment.Param {
	params := []experiment.Param{
		choice("inputs", inputs[0], "what heights are predicted from", inputs...),
		choice("method", methodStandard, "GP, sparse GP (FITC), or GP with Gibbs' nonstationary kernel", methodStandard, methodSparse, methodNonstationary),
	}
	params = append(params, own...)
	params = append(params, mechanismParams()...)
	params = append(params, experiment.When(hyperparameters(), []string{"lengthscale"},
		experiment.IsNot("method", methodNonstationary))...)
	params = append(params, experiment.Param{Name: "inducing", Kind: experiment.CountOrNumbers, Default: 5, Unit: "years", Doc: "sparse: how many inducing inputs k-means places on the training inputs; with inputs=age also the inducing inputs themselves"}.Where(isSparse))
	params = append(params, nonstationaryParams()...)
	params = append(params, noiseSolverParams(gradientSteps)...)
	return experiment.When(params, []string{"public_low_cm"}, experiment.Is("normalisation", normalisationPublic))
}

// checkPrediction refuses combinations of predictionParams, for training sets
// of at least so many rows.
func checkPrediction(p experiment.Params, rows int) error {
	if err := checkNoise(p); err != nil {
		return err
	}
	return checkInducing(p, "inducing", rows)
}

// checkNoise refuses privacy parameters that the calibration cannot have, and a
// rank without noise.
func checkNoise(p experiment.Params) error {
	if _, err := noiseFactor(p); err != nil {
		return err
	}
	if privacyless(p) && p.Text("rank") != "full" {
		return fmt.Errorf("rank = %d with epsilon = inf: the rank bounds the directions that noise is added to, and without noise all are released; use rank=full", rankOf(p))
	}
	return nil
}

// predictor is what the trials that predict outputs work with.
type predictor struct {
	t     *experiment.Trial
	e     *engine.Engine
	data  *problem
	scale float64 // sensitivity times the calibration's factor; 0 for no noise
	model *model  // without inducing inputs
}

// newPredictor reads the trial's data and opens the engine, which the caller closes.
func newPredictor(t *experiment.Trial) (*predictor, error) {
	data, err := loadProblem(t)
	if err != nil {
		return nil, err
	}
	factor, err := noiseFactor(t.Params)
	if err != nil {
		return nil, err
	}
	e, err := engine.Open(t.Backend, t.DType, t.Workers)
	if err != nil {
		return nil, err
	}
	return &predictor{t: t, e: e, data: data, scale: factor * data.width, model: modelOf(t.Params, data.inputs)}, nil
}

// modelOf returns the trial's model without inducing inputs. All inputs are
// public, so that the density estimate uses them all.
func modelOf(p experiment.Params, inputs *mat.Dense) *model {
	m := &model{
		method:         p.Text("method"),
		lengthscale:    p.Float("lengthscale"),
		kernelVariance: p.Float("kernel_variance"),
		noiseVariance:  p.Float("noise_variance"),
	}
	if m.method == methodNonstationary {
		m.lengthscales = &kdeFunction{inputs: inputs, bandwidth: p.Float("kde_bandwidth"), rows: p.Float("kde_rows"), largest: p.Float("max_lengthscale")}
	}
	return m
}

// matrix returns the cloaking matrix from the given rows of the data to the
// rows of test, and the inducing inputs, if any. Those that are not given are
// placed with the named random stream.
func (r *predictor) matrix(ctx context.Context, train []int, test *mat.Dense, stream string) (c, inducing *mat.Dense,
	err error) {
	inputs := learn.SelectRows(r.data.inputs, train)
	m := *r.model
	if m.method == methodSparse {
		if m.inducing, err = inducingInputs(ctx, r.t.Params.Points("inducing"), inputs, r.t.Stream(stream)); err != nil {
			return nil, nil, err
		}
	}
	c, err = m.matrix(r.e, inputs, test)
	return c, m.inducing, err
}

// single is one release of predictions from the whole census.
type single struct {
	released

	inducing *mat.Dense // the inducing inputs, if any
	warnings []string
}

// single finds the noise for predictions at the rows of test, released together.
func (r *predictor) single(ctx context.Context, test *mat.Dense) (*single, error) {
	all := make([]int, len(r.data.output))
	for i := range all {
		all[i] = i
	}
	c, inducing, err := r.matrix(ctx, all, test, "k-means")
	if err != nil {
		return nil, err
	}
	releases, err := r.releases(ctx, []*mat.Dense{c}, [][]int{all})
	if err != nil {
		return nil, err
	}
	return &single{released: releases[0], inducing: inducing, warnings: r.warnings(releases)}, nil
}

// singleMetrics document what every single release reports.
var singleMetrics = []experiment.Metric{
	clippedMetric,
	rankMetric,
	{Name: "gap", Doc: "certificate: " + gapMeaning + " (with noise only)"},
}

// metrics adds the values of singleMetrics to an experiment's own.
func (s *single) metrics(r *predictor, own map[string]float64) map[string]float64 {
	own[clippedMetric.Name] = float64(r.data.clipped)
	if s.design != nil {
		own["gap"], own[rankMetric.Name] = s.design.Gap, s.rank()
	}
	return own
}

// noisy is what a single release publishes.
func (s *single) noisy(r *predictor) []float64 {
	noise := s.noise(r.t.Stream("noise"), 1)
	return added(s.mean, mat.Col(nil, 0, noise), 1)
}

// released is one set of P predictions, with what it takes to publish it.
type released struct {
	mean    []float64 // what is released, without noise
	noiseSD []float64
	// Nil without noise.
	directions *design.Range
	design     *design.Design
	scale      float64 // what the design's factor is multiplied by
}

// releases finds the noise for sets of predictions, given by their cloaking
// matrices and training rows.
func (r *predictor) releases(ctx context.Context, matrices []*mat.Dense, train [][]int) ([]released, error) {
	out := make([]released, len(matrices))
	for i, c := range matrices {
		out[i].mean = r.data.predict(c, train[i])
		out[i].noiseSD = make([]float64, len(out[i].mean))
	}
	if r.scale == 0 {
		return out, nil
	}
	ranges, designs, err := solveDesigns(ctx, r.e, matrices, r.t.Params, func(done, total int) { r.t.Progress(done, total, "steps") })
	if err != nil {
		return nil, err
	}
	for i, d := range designs {
		out[i] = released{
			mean:       projected(ranges[i], out[i].mean, r.data.prior),
			noiseSD:    noiseSD(d, r.scale),
			directions: ranges[i],
			design:     d,
			scale:      r.scale * d.MaxMahalanobis,
		}
	}
	return out, nil
}

// rank is the number of released directions where there is noise.
func (r *released) rank() float64 { return float64(len(r.directions.Scale)) }

// noise returns draws of the noise (P×draws), zeros where there is none.
// Asking for more draws continues the stream.
func (r *released) noise(stream *rand.Rand, draws int) *mat.Dense {
	if r.design == nil {
		return mat.NewDense(len(r.mean), draws, nil)
	}
	factor := r.design.Factor()
	_, rank := factor.Dims()
	z := mat.NewDense(rank, draws, nil)
	for j := range draws {
		for i := range rank {
			z.Set(i, j, stream.NormFloat64())
		}
	}
	noise := new(mat.Dense)
	noise.Mul(factor, z)
	noise.Scale(r.scale, noise)
	return noise
}

// projected is the part of the predictions that the rank-r release shows: the
// projection acts on what depends on the data, not on the prior mean.
func projected(r *design.Range, mean []float64, prior float64) []float64 {
	f := make([]float64, len(mean))
	for i, v := range mean {
		f[i] = v - prior
	}
	f = r.Project(f)
	for i := range f {
		f[i] += prior
	}
	return f
}

// noiseSD is the standard deviation of the noise at each test point, scale·Δ
// times the root of the diagonal of M.
func noiseSD(d *design.Design, scale float64) []float64 {
	factor := d.Factor()
	p, _ := factor.Dims()
	sd := make([]float64, p)
	for i := range sd {
		sd[i] = scale * d.MaxMahalanobis * mat.Norm(factor.RowView(i), 2)
	}
	return sd
}

// warnings says what is computed but suspect in a trial with these releases.
func (r *predictor) warnings(releases []released) []string {
	return slices.Concat(r.publicWarnings(releases), r.data.clippingWarnings(), r.data.droppedWarnings())
}

// publicWarnings are those that say nothing of the outputs.
func (r *predictor) publicWarnings(releases []released) []string {
	var all []quality
	for _, s := range releases {
		if s.design != nil {
			all = append(all, qualityOf(s.directions, s.design))
		}
	}
	return slices.Concat(r.e.Warnings(), r.data.warnings, precisionWarnings(r.e, all, r.t.Params), designWarnings(all))
}

// publishes says whether the trial's record is to leave out the outputs and the
// predictions without noise: where the noise protects somebody, because it
// comes from the operating system's entropy.
func (r *predictor) publishes() bool { return r.t.Secure && r.scale > 0 }
